"""Token counts, both ways. `input_tokens` is the uncached part; `output_tokens` includes thinking."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.anthropic.names import NAME
from thinkwire.dialects.common import as_extras, own
from thinkwire.jsonvalue import JsonObject, kind, leftover
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
    rest = leftover(usage, _READ)
    thinking, details = usage.get("thinking_tokens"), usage.get("output_tokens_details")
    if type(details) is dict:
        thinking = details.get("thinking_tokens", thinking)
        if other := leftover(details, _DETAILS):
            rest["output_tokens_details"] = other
    return measure(
        as_extras(NAME, rest),
        input_uncached=_plain(usage.get("input_tokens")),
        cache_read=_plain(usage.get("cache_read_input_tokens")),
        cache_write=_plain(usage.get("cache_creation_input_tokens")),
        output_total=_plain(usage.get("output_tokens")),
        output_reasoning=_plain(thinking),
    )


def _plain(value: Any) -> Any:
    return kind(value) if isinstance(value, (dict, list)) else value


def write_usage(usage: Usage | None, notes: list[Note]) -> JsonObject:
    """The wire wants both numbers. One that nobody knows is written as 0, and said."""
    usage = usage or Usage()
    uncached, output = _uncached(usage), _output(usage)
    unknown = [
        name for name, count in (("input_tokens", uncached), ("output_tokens", output)) if count is None
    ]
    if unknown:
        message = f"{' and '.join(unknown)} unknown; the wire wants a number, so 0 was written"
        notes.append(Note("field.changed", message, path="usage", detail={"fields": unknown}))
    native: JsonObject = {"input_tokens": uncached or 0}
    if usage.cache_write is not None:
        native["cache_creation_input_tokens"] = usage.cache_write
    if usage.cache_read is not None:
        native["cache_read_input_tokens"] = usage.cache_read
    native["output_tokens"] = output or 0
    extras = dict(own(usage.extras, NAME))
    details = extras.pop("output_tokens_details", None)
    details = dict(details) if isinstance(details, dict) else {}
    if usage.output_reasoning is not None:
        details["thinking_tokens"] = usage.output_reasoning
    if details:
        native["output_tokens_details"] = details
    return {**native, **extras}


def _uncached(usage: Usage) -> int | None:
    if usage.input_uncached is not None or usage.input_total is None:
        return usage.input_uncached
    return max(usage.input_total - (usage.cache_read or 0) - (usage.cache_write or 0), 0)


def _output(usage: Usage) -> int | None:
    if usage.output_total is not None or usage.output_visible is None:
        return usage.output_total
    return usage.output_visible + (usage.output_reasoning or 0)
