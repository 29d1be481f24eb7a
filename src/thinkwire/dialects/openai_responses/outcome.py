"""How an answer ended, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from thinkwire.dialects.error_bodies import failure_from
from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.errors import Failure
from thinkwire.events import FinishReason
from thinkwire.jsonvalue import JsonObject, kind, unknown_fields
from thinkwire.messages import Block, Text, ToolCall
from thinkwire.notes import Note
from thinkwire.usage import Usage, measure

_INCOMPLETE: dict[str, FinishReason] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "refusal",
    "steered": "cancelled",
}
_UNFINISHED = frozenset({"queued", "in_progress"})
_NAMES = (
    *("input_tokens", "cached_tokens", "cache_write_tokens"),
    *("output_tokens", "reasoning_tokens", "total_tokens"),
)
"""The wire's names of its counts, as `unknown_tokens` has them."""
_UNKNOWN = "unknown_tokens"
_DETAILS = frozenset({"input_tokens_details", "output_tokens_details"})
_USAGE_FIELDS = _DETAILS | {"input_tokens", "output_tokens", "total_tokens", _UNKNOWN}
_INPUT_DETAILS = frozenset({"cached_tokens", "cache_write_tokens"})
_OUTPUT_DETAILS = frozenset({"reasoning_tokens"})

Ending = tuple[str, JsonObject | None]
"""`status` and `incomplete_details`."""


def usual_end(blocks: Iterable[Block]) -> FinishReason:
    """Why an answer with these blocks ended when nothing cut it short."""
    usual: FinishReason = "stop"
    for block in blocks:
        if isinstance(block, ToolCall):
            return "tool_calls"
        if isinstance(block, Text) and block.refusal:
            usual = "refusal"
    return usual


def read_finish(status: Any, details: Any, usual: FinishReason, notes: list[Note]) -> FinishReason | None:
    """The reason, None for an answer that is still being made. `usual` is the one for a completed answer."""
    if status is None or status == "completed":
        return usual
    if status == "cancelled":
        return "cancelled"
    if status == "failed":
        return "error"
    if isinstance(status, str) and status in _UNFINISHED:
        return None
    why = details.get("reason") if isinstance(details, dict) else None
    if status == "incomplete" and isinstance(why, str) and why in _INCOMPLETE:
        return _INCOMPLETE[why]
    notes.append(Note("finish.unknown", f"status {_shown(status)}, reason {_shown(why)}"))
    return "length" if status == "incomplete" else usual


def write_finish(finish: FinishReason | None, usual: FinishReason) -> Ending:
    match finish:
        case None:
            return "in_progress", None
        case "length" | "continue":
            return "incomplete", {"reason": "max_output_tokens"}
        case "cancelled":
            return "cancelled", None
        case "error":
            return "failed", None
        case "refusal" if usual != "refusal":
            return "incomplete", {"reason": "content_filter"}
    return "completed", None


def read_failure(error: Any, **beside: Any) -> Failure:
    """The `error` of a failed response, with what stood beside it."""
    return failure_from(
        {"error": error, **{key: value for key, value in beside.items() if value is not None}}
    )


def read_usage(value: Any) -> tuple[Usage | None, tuple[Note, ...]]:
    if type(value) is not dict:
        return None, ()
    extras = unknown_fields(value, _USAGE_FIELDS)
    prompt, output, total = value.get("input_tokens"), value.get("output_tokens"), value.get("total_tokens")
    given, spent = value.get("input_tokens_details"), value.get("output_tokens_details")
    cached = written = reasoning = None
    if type(given) is dict:
        cached, written = given.get("cached_tokens"), given.get("cache_write_tokens")
        if rest := unknown_fields(given, _INPUT_DETAILS):
            extras["input_tokens_details"] = rest
    if type(spent) is dict:
        reasoning = spent.get("reasoning_tokens")
        if rest := unknown_fields(spent, _OUTPUT_DETAILS):
            extras["output_tokens_details"] = rest
    unknown = value.get(_UNKNOWN)
    if type(unknown) is list:
        prompt, cached, written, output, reasoning, total = (
            None if name in unknown else count
            for name, count in zip(_NAMES, (prompt, cached, written, output, reasoning, total), strict=True)
        )
    usage, notes = measure(
        input_total=prompt,
        cache_read=cached,
        cache_write=written,
        output_total=output,
        output_reasoning=reasoning,
    )
    if total is not None and total != usage.total:
        extras["total_tokens"] = total
    return msgspec.structs.replace(usage, extras={NAME: extras}) if extras else usage, notes


def _shown(value: Any) -> str:
    return repr(value[:40]) if isinstance(value, str) else kind(value)


def write_usage(usage: Usage | None) -> JsonObject | None:
    """The native counts. The wire wants a number everywhere: unknown ones are 0, and named as unknown."""
    if usage is None:
        return None
    counts = (
        *(usage.input_total, usage.cache_read, usage.cache_write),
        *(usage.output_total, usage.output_reasoning, usage.total),
    )
    prompt, cached, written, output, reasoning, total = counts
    given: JsonObject = {"cached_tokens": cached or 0, "cache_write_tokens": written or 0}
    spent: JsonObject = {"reasoning_tokens": reasoning or 0}
    body: JsonObject = {
        "input_tokens": prompt or 0,
        "input_tokens_details": given,
        "output_tokens": output or 0,
        "output_tokens_details": spent,
        "total_tokens": (prompt or 0) + (output or 0),
    }
    extras = usage.extras.get(NAME)
    if None in counts:
        told = extras or {}
        unknown = [name for name, count in zip(_NAMES, counts, strict=True) if count is None]
        if total is None and "total_tokens" in told:
            unknown.remove("total_tokens")
        if unknown:
            body[_UNKNOWN] = unknown
    if not extras:
        return body
    given |= extras.get("input_tokens_details", {})
    spent |= extras.get("output_tokens_details", {})
    return body | unknown_fields(extras, _DETAILS)
