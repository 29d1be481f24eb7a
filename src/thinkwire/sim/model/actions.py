"""What the scripted model can do in one step, before any vendor's wire is thought of."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Think(NamedTuple):
    text: str
    redacted: bool = False


class Say(NamedTuple):
    text: str
    refusal: bool = False


class Call(NamedTuple):
    tool: str
    arguments: str
    """JSON as text; a directive may break it on purpose."""


class Fail(NamedTuple):
    """The server breaks: as a status if nothing was said yet, else inside the stream."""

    status: int
    times: int | None = None
    """How many requests of the same words fail before one passes; None for all."""


class Cut(NamedTuple):
    """The connection ends here."""


class Stall(NamedTuple):
    seconds: float


Move: TypeAlias = Think | Say | Call | Fail | Cut | Stall
