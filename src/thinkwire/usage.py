"""Token counts in disjoint buckets that add up. Unknown is None, never 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from thinkwire.messages import Extras
from thinkwire.notes import Note


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


def measure(extras: Extras | None = None, **reported: Any) -> tuple[Usage, tuple[Note, ...]]:
    """Usage from whatever a provider reported, the rest derived where it is certain.

    Keywords are the field names of `Usage`. Values that are not counts become unknown, with a Note.
    """
    known, odd = _counts(reported)
    _derive_input(known, odd)
    _derive_output(known, odd)
    usage = Usage(**known, extras=extras or {})
    if not odd:
        return usage, ()
    return usage, (
        Note(
            "usage.impossible",
            "; ".join(odd),
            detail={
                "reported": {name: _shown(value) for name, value in reported.items() if value is not None}
            },
        ),
    )


def _counts(reported: dict[str, Any]) -> tuple[dict[str, int | None], list[str]]:
    known: dict[str, int | None] = {}
    odd: list[str] = []
    for name, value in reported.items():
        if type(value) is float and value.is_integer():
            value = int(value)
        if value is None or (type(value) is int and value >= 0):
            known[name] = value
        else:
            known[name] = None
            odd.append(f"{name} was reported as {_shown(value)}")
    return known, odd


def _shown(value: Any) -> str:
    return f"{value}"[:40] if isinstance(value, str | int | float) else f"a {type(value).__name__}"


def _derive_input(known: dict[str, int | None], odd: list[str]) -> None:
    uncached, total = known.get("input_uncached"), known.get("input_total")
    read, write = known.get("cache_read"), known.get("cache_write")
    cached = (read or 0) + (write or 0)
    if total is None and uncached is not None:
        known["input_total"] = uncached + cached
    elif total is not None and uncached is None and (read is not None or write is not None):
        if total >= cached:
            known["input_uncached"] = total - cached
        else:
            odd.append(f"{cached} cached tokens of {total} input tokens")


def _derive_output(known: dict[str, int | None], odd: list[str]) -> None:
    visible, reasoning = known.get("output_visible"), known.get("output_reasoning")
    total = known.get("output_total")
    if total is None and visible is not None:
        known["output_total"] = visible + (reasoning or 0)
    elif total is not None and visible is None and reasoning is not None:
        if total >= reasoning:
            known["output_visible"] = total - reasoning
        else:
            odd.append(f"{reasoning} reasoning tokens of {total} output tokens")


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
