"""Ways to cut a stream, for the law that cuts do not matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from thinkwire.errors import ProviderError

S = TypeVar("S", bytes, str, list[bytes])
T = TypeVar("T")


def pieces(whole: S, size: int = 1) -> list[S]:
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def cut(draw: st.DataObject, whole: S) -> list[S]:
    """`whole` in any number of pieces, empty ones among them."""
    places: list[int] = sorted(draw.draw(st.lists(st.integers(0, len(whole)), max_size=12), label="cuts"))
    return [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)], strict=True)]


def run(feed: Callable[[S], list[T]], close: Callable[[], list[T]], parts: Sequence[S]) -> list[T]:
    """All that comes out when the parts go in one by one."""
    return [item for part in parts for item in feed(part)] + close()


def outcome(
    feed: Callable[[S], list[T]], close: Callable[[], list[T]], parts: Sequence[S]
) -> tuple[list[T], str | None]:
    """All that came out, and the message of the failure that ended it, if one did."""
    items: list[T] = []
    try:
        for part in parts:
            items += feed(part)
        items += close()
    except ProviderError as error:
        return items, str(error)
    return items, None
