"""Token counts, both ways. `input_tokens` is the uncached part; `output_tokens` includes thinking."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.anthropic.constants import NAME
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.notes import Note
from thinkwire.usage import Usage, measure

_READ = frozenset(
    {
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens",
        "output_tokens_details",
        "thinking_tokens",
    }
)
_DETAILS = frozenset({"thinking_tokens"})


def read_usage(usage: Any) -> tuple[Usage | None, tuple[Note, ...]]:
    if type(usage) is not dict or not usage:
        return None, ()
    rest = {} if _READ.issuperset(usage) else unknown_fields(usage, _READ)
    thinking, details = usage.get("thinking_tokens"), usage.get("output_tokens_details")
    if type(details) is dict:
        thinking = details.get("thinking_tokens", thinking)
        if other := unknown_fields(details, _DETAILS):
            rest["output_tokens_details"] = other
    return measure(
        {NAME: rest} if rest else None,
        input_uncached=usage.get("input_tokens"),
        cache_read=usage.get("cache_read_input_tokens"),
        cache_write=usage.get("cache_creation_input_tokens"),
        output_total=usage.get("output_tokens"),
        output_reasoning=thinking,
    )


def write_usage(usage: Usage | None, notes: list[Note]) -> JsonObject:
    """The wire wants both numbers. One that nobody knows is written as 0, and said."""
    usage = usage or Usage()
    uncached, output = usage.input_uncached, usage.output_total
    if uncached is None and usage.input_total is not None:
        uncached = max(usage.input_total - (usage.cache_read or 0) - (usage.cache_write or 0), 0)
    if output is None and usage.output_visible is not None:
        output = usage.output_visible + (usage.output_reasoning or 0)
    if uncached is None or output is None:
        _note_unknown(uncached, output, notes)
    native: JsonObject = {"input_tokens": uncached or 0}
    if usage.cache_write is not None:
        native["cache_creation_input_tokens"] = usage.cache_write
    if usage.cache_read is not None:
        native["cache_read_input_tokens"] = usage.cache_read
    native["output_tokens"] = output or 0
    extras = usage.extras.get(NAME)
    details: JsonObject = {}
    if extras and "output_tokens_details" in extras:
        extras = dict(extras)
        held = extras.pop("output_tokens_details")
        details = dict(held) if isinstance(held, dict) else {}
    if usage.output_reasoning is not None:
        details["thinking_tokens"] = usage.output_reasoning
    if details:
        native["output_tokens_details"] = details
    return native | extras if extras else native


def _note_unknown(uncached: int | None, output: int | None, notes: list[Note]) -> None:
    counts = (("input_tokens", uncached), ("output_tokens", output))
    unknown = [name for name, count in counts if count is None]
    message = f"{' and '.join(unknown)} unknown; the wire wants a number, so 0 was written"
    notes.append(Note("field.changed", message, path="usage", detail={"fields": unknown}))
