"""What the laws of all dialects need from each: strategies and samples, in its own module."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from hypothesis.strategies import SearchStrategy

from thinkwire.dialects import NAMES
from thinkwire.events import Answer
from thinkwire.jsonvalue import JsonObject
from thinkwire.request import Request


class DialectSamples(Protocol):
    """The content of `tests/dialects/<dialect>/strategies.py`."""

    def requests(self) -> SearchStrategy[Request]:
        """Requests that the wire carries without loss."""
        ...

    def answers(self) -> SearchStrategy[Answer]:
        """Answers that a whole body carries without loss."""
        ...

    def streamed_answers(self) -> SearchStrategy[Answer]:
        """Answers that a stream carries without loss."""
        ...

    RICH_REQUEST: JsonObject
    """A request body with as many fields as possible."""
    RICH_ANSWER: JsonObject
    """The body of a whole answer with as many fields as possible."""
    RICH_STREAM: list[Any]
    """The frames of a streamed answer with as many kinds of frames as possible, complete and valid."""
    FRAMINGS: Mapping[str, Callable[[list[Any]], bytes]]
    """Every way to write frames as bytes; it must take frames that are any JSON value."""
    STREAMS: Mapping[str, bytes]
    """Streams that are written, broken or ended in different ways."""
    ALLOWED_NOTES: frozenset[str]
    """Codes of the notes that a drawn answer may cause when it is read."""
    ALWAYS_STARTS: bool
    """Whether a stream starts before its first note, and also if it fails before anything else."""


def samples_of(name: str) -> DialectSamples:
    """Import the strategies module of a registered dialect."""
    return cast(
        DialectSamples, importlib.import_module(f"tests.dialects.{name.replace('-', '_')}.strategies")
    )


ALL = {name: samples_of(name) for name in NAMES}
