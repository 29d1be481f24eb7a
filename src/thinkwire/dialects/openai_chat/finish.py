"""Why an answer ended: every server's word for it, and OpenAI's."""

from __future__ import annotations

from typing import Any

from thinkwire.events import FinishReason
from thinkwire.notes import Note

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "complete": "stop",
    "completed": "stop",
    "end": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "load": "stop",
    "unload": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
    "content_filtered": "refusal",
    "guardrail_intervened": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
    "sensitive": "refusal",
    "error": "error",
    "insufficient_system_resource": "error",
    "network_error": "error",
    "abort": "cancelled",
    "cancelled": "cancelled",
}

_NATIVE: dict[FinishReason, str] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "continue": "length",
    "refusal": "content_filter",
    "error": "error",
    "cancelled": "stop",
}

OWN = frozenset(word for reason, word in _NATIVE.items() if _REASONS[word] == reason)
"""Words that mean to every server what OpenAI means by them; they are never worth keeping."""


def read(native: Any, *, calls: bool, refused: bool) -> tuple[FinishReason, Note | None]:
    """The reason, with a Note when the server gave none or one that nobody knows.

    `stop` beside tool calls means that the tools are to be called; beside a refusal it means the refusal.
    """
    note = None
    reason = _REASONS.get(native.lower()) if type(native) is str else None
    if reason is None:
        reason, note = "stop", _unknown(native)
    if reason == "stop" and calls:
        reason = "tool_calls"
    elif reason == "stop" and refused:
        reason = "refusal"
    return reason, note


def _unknown(native: Any) -> Note:
    if not native:
        return Note("finish.unknown", "the answer does not say why it ended")
    words = f"unknown finish reason {str(native)[:80]!r}"
    return Note("finish.unknown", words, detail={"reason": native})


def write(reason: FinishReason | None, *, native: Any = None, refused: bool = False) -> str | None:
    """The native word: the one that came, while it still means the same; else OpenAI's."""
    if type(native) is str and _REASONS.get(native.lower(), "stop") == reason:
        return native
    if reason is None:
        return None
    return "stop" if reason == "refusal" and refused else _NATIVE[reason]


def worth_keeping(native: Any, reason: FinishReason, *, refused: bool) -> bool:
    """Whether the native word still holds and says more than `write` would find again."""
    if not native or (native == _NATIVE[reason] and reason != "refusal"):
        return False
    usual = write(reason, refused=refused)
    return native != usual and write(reason, native=native, refused=refused) != usual
