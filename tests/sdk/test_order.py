"""Every stream keeps the order rules of its dialect, and the rules know a stream that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests.grouping import for_each
from tests.sdk.rules import RULES, Frame, frames
from tests.sdk.samples import SAMPLES, Manner, encode, in_pieces, streams
from thinkwire.dialects import NAMES
from thinkwire.events import Answer

EVERY = [
    pytest.param(name, *case.values, id=f"{name}: {case.id}")  # type: ignore[attr-defined]
    for name in NAMES
    for case in streams(name)
]


@for_each("dialect, answer, manner", EVERY, group=lambda dialect, **_: dialect)
def test_a_stream_keeps_the_rules(dialect: str, answer: Answer, manner: Manner) -> None:
    RULES[dialect](frames(encode(dialect, manner(answer))))


Spoil: TypeAlias = Callable[[list[Frame]], list[Frame]]


def _without(index: int) -> Spoil:
    return lambda found: [frame for frame in found if frame is not found[index]]


def _exchanged(first: int, second: int) -> Spoil:
    def spoil(found: list[Frame]) -> list[Frame]:
        found = list(found)
        found[first], found[second] = found[second], found[first]
        return found

    return spoil


SPOILED: dict[str, tuple[Spoil, tuple[str, ...]]] = {
    "no first frame": (_without(0), ("anthropic", "openai-chat", "openai-responses")),
    "no second frame": (_without(1), ("anthropic", "openai-responses")),
    "no last frame": (_without(-1), NAMES),
    "no second to last frame": (_without(-2), ("anthropic", "openai-responses")),
    "two first frames": (lambda found: [found[0], *found], ("anthropic", "openai-chat", "openai-responses")),
    "two last frames": (lambda found: [*found, found[-1]], NAMES),
    "the last two exchanged": (_exchanged(-1, -2), NAMES),
    "first and third exchanged": (_exchanged(0, 2), ("anthropic", "openai-chat", "openai-responses")),
    "the finish too early": (_exchanged(-3, -4), ("anthropic", "openai-chat", "openai-responses")),
}


@pytest.mark.parametrize(
    ("spoil", "dialect"),
    [
        pytest.param(spoil, dialect, id=f"{dialect}: {name}")
        for name, (spoil, dialects) in SPOILED.items()
        for dialect in dialects
    ],
)
def test_a_spoiled_stream_breaks_the_rules(dialect: str, spoil: Spoil) -> None:
    sample = next(sample for sample in SAMPLES[dialect] if sample.name == "parallel tool calls")
    found = frames(encode(dialect, in_pieces(sample.answer)))
    with pytest.raises((AssertionError, KeyError, ValueError)):
        RULES[dialect](spoil(found))
