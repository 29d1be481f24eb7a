"""Token counts in disjoint buckets that add up. Unknown is None, never 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from thinkwire.jsonvalue import kind
from thinkwire.messages import Extras
from thinkwire.notes import Note

MOST = 2**53 - 1
"""Tokens. More are nobody's, and not every reader of JSON could tell them apart."""


class Usage(msgspec.Struct, frozen=True):
    """What one answer cost in tokens.

    `input_uncached + cache_read + cache_write = input_total` and `output_visible + output_reasoning =
    output_total` wherever the parts are known; a total may be known while its parts are not.
    """

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    input_total: int | None = None
    output_visible: int | None = None
    output_reasoning: int | None = None
    output_total: int | None = None
    extras: Extras = {}

    @property
    def total(self) -> int | None:
        if self.input_total is None or self.output_total is None:
            return None
        return self.input_total + self.output_total


def measure(
    extras: Extras | None = None,
    *,
    input_uncached: Any = None,
    input_total: Any = None,
    cache_read: Any = None,
    cache_write: Any = None,
    output_total: Any = None,
    output_visible: Any = None,
    output_reasoning: Any = None,
) -> tuple[Usage, tuple[Note, ...]]:
    """Usage from whatever a provider reported, the rest derived where it is certain.

    Values that are not counts become unknown, with a Note.
    """
    reported = (
        input_uncached,
        input_total,
        cache_read,
        cache_write,
        output_total,
        output_visible,
        output_reasoning,
    )
    odd: list[str] = []
    for value in reported:
        if value is not None and (type(value) is not int or not 0 <= value <= MOST):
            input_uncached, input_total, cache_read, cache_write, *output = _counts(reported, odd)
            output_total, output_visible, output_reasoning = output
            break
    cached = cache_write if cache_read is None else cache_read + (cache_write or 0)
    # Of a part, the rest and the total, one that is missing follows; a part below nothing stays unknown.
    if input_total is None:
        input_total = None if input_uncached is None else input_uncached + (cached or 0)
    elif input_uncached is None and cached is not None:
        if cached <= input_total:
            input_uncached = input_total - cached
        else:
            odd.append(f"{cached} cached tokens of {input_total} input tokens")
    if output_total is None:
        output_total = None if output_visible is None else output_visible + (output_reasoning or 0)
    elif output_visible is None and output_reasoning is not None:
        if output_reasoning <= output_total:
            output_visible = output_total - output_reasoning
        else:
            odd.append(f"{output_reasoning} reasoning tokens of {output_total} output tokens")
    usage = Usage(
        input_uncached,
        cache_read,
        cache_write,
        input_total,
        output_visible,
        output_reasoning,
        output_total,
        extras or {},
    )
    return usage, (_impossible(odd, reported),) if odd else ()


_REPORTED = (
    *("input_uncached", "input_total", "cache_read", "cache_write"),
    *("output_total", "output_visible", "output_reasoning"),
)
"""What `measure` takes, in its order."""


def _counts(reported: tuple[Any, ...], odd: list[str]) -> list[int | None]:
    """The counts among the values; what is none is said in `odd`."""
    counts: list[int | None] = []
    for name, value in zip(_REPORTED, reported, strict=True):
        if type(value) is float and value.is_integer():
            value = int(value)
        if value is None or (type(value) is int and 0 <= value <= MOST):
            counts.append(value)
        else:
            counts.append(None)
            odd.append(f"{name} was reported as {_shown(value)}")
    return counts


def _impossible(odd: list[str], reported: tuple[Any, ...]) -> Note:
    told = zip(_REPORTED, reported, strict=True)
    shown = {name: _shown(value) for name, value in told if value is not None}
    return Note("usage.impossible", "; ".join(odd), detail={"reported": shown})


def _shown(value: Any) -> str:
    return f"{value}"[:40] if isinstance(value, str | int | float) else kind(value)


_BUCKETS = tuple(name for name in Usage.__struct_fields__ if name != "extras")


def added(usages: Iterable[Usage | None]) -> Usage | None:
    """Token counts of several answers together; a bucket that one of them does not tell is unknown."""
    usages = list(usages)
    told = [usage for usage in usages if usage is not None]
    if not told or len(told) < len(usages):
        return None
    totals: dict[str, Any] = {name: _sum(getattr(usage, name) for usage in told) for name in _BUCKETS}
    return Usage(**totals)


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
