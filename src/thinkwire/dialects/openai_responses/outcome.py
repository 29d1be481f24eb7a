"""How an answer ended, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from thinkwire.dialects.common import as_extras, own
from thinkwire.dialects.failures import failure_from
from thinkwire.dialects.openai_responses.names import NAME
from thinkwire.errors import Failure
from thinkwire.events import FinishReason
from thinkwire.jsonvalue import JsonObject, kind, leftover
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
_COUNTS = (
    ("input_tokens", "input_total", None),
    ("cached_tokens", "cache_read", "input_tokens_details"),
    ("cache_write_tokens", "cache_write", "input_tokens_details"),
    ("output_tokens", "output_total", None),
    ("reasoning_tokens", "output_reasoning", "output_tokens_details"),
)
"""The wire's name of a count, ours, and the object that it stands in."""
_UNKNOWN = "unknown_tokens"
_USAGE_FIELDS = frozenset({"input_tokens", "output_tokens", "total_tokens", _UNKNOWN})
_DETAILS = {
    "input_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"}),
    "output_tokens_details": frozenset({"reasoning_tokens"}),
}

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
    if not isinstance(value, dict):
        return None, ()
    unknown = value.get(_UNKNOWN)
    unknown = unknown if isinstance(unknown, list) else []
    extras = leftover(value, _USAGE_FIELDS | _DETAILS.keys())
    reported: dict[str, Any] = {}
    for theirs, ours, where in _COUNTS:
        counts = value if where is None else value.get(where)
        if isinstance(counts, dict) and theirs not in unknown:
            reported[ours] = _plain(counts.get(theirs))
    for where, names in _DETAILS.items():
        details = value.get(where)
        rest = leftover(details, names) if isinstance(details, dict) else None
        if rest:
            extras[where] = rest
    usage, notes = measure(**reported)
    if "total_tokens" not in unknown and value.get("total_tokens") not in (None, usage.total):
        extras["total_tokens"] = value["total_tokens"]
    return msgspec.structs.replace(usage, extras=as_extras(NAME, extras)), notes


def _plain(value: Any) -> Any:
    """The value, or its kind when it is nothing that a count could be."""
    return kind(value) if isinstance(value, (dict, list)) else value


def _shown(value: Any) -> str:
    return repr(value[:40]) if isinstance(value, str) else kind(value)


def write_usage(usage: Usage | None) -> JsonObject | None:
    """The native counts. The wire wants a number everywhere: unknown ones are 0, and named as unknown."""
    if usage is None:
        return None
    extras = own(usage.extras, NAME)
    body: JsonObject = {}
    unknown: list[str] = []
    for theirs, ours, where in _COUNTS:
        counts = body if where is None else body.setdefault(where, {})
        counts[theirs] = getattr(usage, ours) or 0
        if getattr(usage, ours) is None:
            unknown.append(theirs)
    body["total_tokens"] = body["input_tokens"] + body["output_tokens"]
    if usage.total is None and "total_tokens" not in extras:
        unknown.append("total_tokens")
    if unknown:
        body[_UNKNOWN] = unknown
    for where in _DETAILS:
        body[where] |= extras.get(where, {})
    return body | leftover(extras, frozenset(_DETAILS))
