"""Notes: every clamp, drop or substitution, as a value with a stable code."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

NoteCode = Literal[
    "thinking.dropped",  # the target cannot carry this thinking, or would refuse it
    "seal.dropped",  # another maker's seal; the readable part, if any, went through
    "block.dropped",  # a block that the target has no form for
    "block.degraded",  # a block that went through in a weaker form
    "field.dropped",  # request fields that only the source dialect knows
    "field.changed",  # a value was changed to what the target accepts
    "system.moved",  # system text went to another place in the conversation
    "tool_call.id_generated",  # the provider gave no id
    "tool_call.arguments_invalid",  # arguments are not a JSON object
    "tool_result.name_unknown",  # the target needs the tool's name and nobody said it
    "usage.impossible",  # negative, contradictory or unreadable token counts
    "finish.unknown",  # a finish reason that we do not know
    "choices.dropped",  # more than one candidate; the first is kept
    "stream.after_end",  # bytes after the end of the answer were ignored
    "stream.irregular",  # the stream broke an order rule of its dialect and was read anyway
    "text.repaired",  # characters that no JSON can carry were replaced
]

NOTE_CODES: tuple[str, ...] = get_args(NoteCode)


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something was changed, dropped or guessed: `message` for people, `code` and `detail` for programs."""

    code: NoteCode
    message: str
    path: str | None = None
    detail: dict[str, Any] = {}
