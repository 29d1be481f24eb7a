"""Whole answers, both ways, and the reasons for which they end."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.anthropic.constants import NAME
from thinkwire.dialects.anthropic.errors import encode_error
from thinkwire.dialects.anthropic.parse_blocks import read_answer_block
from thinkwire.dialects.anthropic.render_blocks import answer_block
from thinkwire.dialects.anthropic.usage import read_usage, write_usage
from thinkwire.dialects.base import Encoded
from thinkwire.dialects.error_bodies import failure_from
from thinkwire.dialects.shared import made_up_id
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, FinishReason
from thinkwire.jsonvalue import JsonObject, dump_text, kind, malformed
from thinkwire.messages import Block, Origin, Text, ToolCall, Turn
from thinkwire.notes import Note

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "continue",
    "compaction": "continue",
    "refusal": "refusal",
}
_NATIVE: dict[FinishReason, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "continue": "pause_turn",
    "refusal": "refusal",
}
_MESSAGE = frozenset({"id", "type", "role", "model", "content", "stop_reason", "usage"})
_NULL_IS_ABSENT = frozenset(
    {"stop_sequence", "stop_details", "container", "context_management", "diagnostics"}
)
_MARKS = frozenset({"content", "stop_reason", "role"})


def decode_response(body: JsonObject) -> Answer:
    if type(body) is not dict:
        raise MalformedInput(f"expected an object, got {kind(body)}")
    if body.get("type") == "error" or (body.get("error") and "content" not in body):
        return Answer(Turn("assistant"), failure=failure_from(body))
    if body.get("type") != "message" and not _MARKS & body.keys():
        raise MalformedInput("this is not a message")
    notes: list[Note] = []
    response_id, model = read_origin(body)
    known = response_id is not None or model is not None
    blocks = _read_blocks(body.get("content"), response_id, notes)
    calls = ToolCall in map(type, blocks)
    finish, reason = read_finish(body.get("stop_reason"), calls, notes)
    usage, odd = read_usage(body.get("usage"))
    extras = answer_extras(body, _MESSAGE)
    extras |= reason
    return Answer(
        Turn("assistant", blocks, Origin(None, None, model, response_id) if known else None),
        finish,
        usage,
        (*notes, *odd),
        extras={NAME: extras} if extras else {},
    )


def _read_blocks(content: Any, response_id: str | None, notes: list[Note]) -> tuple[Block, ...]:
    if type(content) is str:
        return (Text(content),) if content else ()
    if content is not None and type(content) is not list:
        raise malformed(("content",), "an array", content)
    blocks: list[Block] = []
    for index, native in enumerate(content or ()):
        if type(native) is not dict:
            notes.append(Note("block.dropped", f"{kind(native)} is not a block", path=f"content[{index}]"))
            continue
        if len(native) == 2 and native.get("type") == "text" and type(words := native.get("text")) is str:
            blocks.append(Text(words))
            continue
        block, note = read_answer_block(native, (response_id, len(blocks)))
        blocks.append(block)
        if note is not None:
            notes.append(note)
    return tuple(blocks)


def read_origin(message: JsonObject) -> tuple[str | None, str | None]:
    """Id and model; an empty one is none."""
    response_id, model = message.get("id"), message.get("model")
    return (
        response_id if type(response_id) is str and response_id else None,
        model if type(model) is str and model else None,
    )


def answer_extras(native: JsonObject, known: frozenset[str]) -> JsonObject:
    extras: JsonObject = {}
    for key in native:
        if key not in known and not (native[key] is None and key in _NULL_IS_ABSENT):
            extras[key] = native[key]
    return extras


def read_finish(native: Any, calls: bool, notes: list[Note]) -> tuple[FinishReason, JsonObject]:
    """The unified reason, and the native one where the unified one would not give it back."""
    finish = _FINISH.get(native) if type(native) is str else None
    if finish is None:
        finish = "stop"
        said = f"the stop reason {native!r}" if type(native) is str else "an answer without a stop reason"
        notes.append(Note("finish.unknown", f"{said} is taken as {'tool_use' if calls else 'end_turn'}"))
    if calls and finish == "stop":
        finish = "tool_calls"
    return finish, {} if type(native) is not str or _NATIVE[finish] == native else {"stop_reason": native}


def write_finish(finish: FinishReason | None, notes: list[Note]) -> str | None:
    if finish is None:
        return None
    if finish in _NATIVE:
        return _NATIVE[finish]
    message = f"there is no stop reason for {finish!r} here; end_turn was written"
    notes.append(Note("field.changed", message, path="stop_reason", detail={"finish": finish}))
    return "end_turn"


def encode_response(answer: Answer) -> Encoded:
    """The message for our client. An answer that failed is an error body, and its blocks are left out."""
    notes: list[Note] = []
    if answer.failure is not None:
        if answer.turn.blocks:
            notes.append(Note("block.dropped", "an error has no room for what had arrived before it"))
        return Encoded(encode_error(answer.failure)[1], tuple(notes))
    content: list[JsonObject] = []
    for index, block in enumerate(answer.turn.blocks):
        written = answer_block(block, notes, ("blocks", index))
        if written is not None:
            content.append(written)
    origin = answer.turn.origin or Origin()
    extras = answer.extras.get(NAME) or {}
    body: JsonObject = {
        "id": origin.response_id or message_id(origin.model, dump_text(content)),
        "type": "message",
        "role": "assistant",
        "model": origin.model or "",
        "content": content,
        "stop_reason": None if "stop_reason" in extras else write_finish(answer.finish, notes),
        "stop_sequence": None,
        "stop_details": None,
        "usage": write_usage(answer.usage, notes),
        **extras,
    }
    return Encoded(body, tuple(notes))


def message_id(*facts: object) -> str:
    """An id for an answer that has none."""
    return f"msg_{made_up_id(*facts)}"
