"""Why an answer ended, in the vendor's words and in ours."""

from __future__ import annotations

from typing import Any

from thinkwire.events import FinishReason
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note

_READ: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "continue",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "IMAGE_OTHER": "refusal",
    "OTHER": "error",
    "NO_IMAGE": "error",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "UNEXPECTED_TOOL_CALL": "error",
}
_WRITTEN: dict[FinishReason, str] = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "continue": "CONTINUATION",
    "refusal": "SAFETY",
    "error": "OTHER",
    "cancelled": "OTHER",
}


def given(native: Any) -> str | None:
    """The reason that a candidate names; the wire's word for none is none."""
    return native if isinstance(native, str) and native not in ("", "FINISH_REASON_UNSPECIFIED") else None


def read_finish(native: str | None, *, calls: bool) -> tuple[FinishReason, JsonObject, Note | None]:
    """The reason, the native word where ours does not give it back, and a Note on what had to be guessed.

    An answer with tool calls ends with `STOP` like any other.
    """
    reason = _READ.get(native or "")
    note = None
    if reason is None:
        reason = "stop"
        said = f"the finish reason {native} is not known" if native else "no finish reason was given"
        note = Note("finish.unknown", f"{said}; taken as a normal end")
    if reason == "stop" and calls:
        reason = "tool_calls"
    kept = {} if native is None or _WRITTEN[reason] == native else {"finishReason": native}
    return reason, kept, note


def write_finish(reason: FinishReason) -> str:
    return _WRITTEN[reason]
