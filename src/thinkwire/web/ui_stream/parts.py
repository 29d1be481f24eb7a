"""Blocks as the parts of a UI message (AI SDK, `UIMessage`). Seals never become one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thinkwire.dialects.shared import arguments_object
from thinkwire.messages import Block, Document, Image, Text, Thinking, ToolCall, ToolResult
from thinkwire.notes import Note
from thinkwire.store.rows import MessageRow
from thinkwire.web.api.message_groups import MessageGroup

Part = dict[str, Any]

NOT_RUN = "This call was not run: the answer ended before it."

_WHY = {
    "redacted": "The provider encrypted this part of the thinking: it goes back to the model, unread.",
    "hidden": "The provider keeps this model's thinking to itself: it goes back to the model, unread.",
}
_UNREADABLE = "The model thought, and the provider sent no readable part of it."


def redacted(block: Thinking) -> Part:
    """The stub in place of thinking that nobody can read."""
    return {"type": "data-redacted", "data": {"form": block.form, "why": _WHY.get(block.form, _UNREADABLE)}}


def about(block: Text | Thinking) -> dict[str, Any] | None:
    """What a face may want to say beside the text."""
    if isinstance(block, Thinking):
        return {"thinkwire": {"form": block.form}}
    return {"thinkwire": {"refusal": True}} if block.refusal else None


def note_part(note: Note) -> Part:
    return {"type": "data-note", "data": {"code": note.code, "message": note.message}}


def call_input(arguments: str) -> Any:
    """A call's arguments; text that is no JSON object stays text."""
    value, broken = arguments_object(arguments)
    return arguments if broken else value


def output_text(result: ToolResult) -> str:
    """What a tool gave back, as text."""
    return "\n".join(filter(None, (_content(block) for block in result.content)))


def _content(block: Block) -> str:
    match block:
        case Text(text=text):
            return text
        case Image(media_type=media):
            return f"[picture: {media or 'unknown kind'}]"
        case Document(text=text) if text:
            return text
        case Document(media_type=media):
            return f"[file: {media or 'unknown kind'}]"
    return ""


def parts_of(group: MessageGroup, *, running: bool = False) -> list[Part]:
    """Everything of a message that is shown, in its order; Notes come last."""
    if group.role == "user":
        return list(_blocks(group.last, live=False))
    results = {
        block.call_id: block
        for kept in group.kept
        for block in kept.turn.blocks
        if isinstance(block, ToolResult)
    }
    parts = [
        _answered(part, results, over=not running)
        for kept in group.answers
        for part in _blocks(kept, live=running and kept.status == "streaming")
    ]
    return parts + [note_part(note) for note in notes_of(group)]


def notes_of(group: MessageGroup) -> list[Note]:
    """The Notes of all its requests, each once."""
    found: dict[tuple[str, str], Note] = {}
    for kept in group.answers:
        for note in kept.notes:
            found.setdefault((note.code, note.message), note)
    return list(found.values())


def _blocks(kept: MessageRow, *, live: bool) -> Iterator[Part]:
    for index, block in enumerate(kept.turn.blocks):
        part = _part(block, f"{kept.id}/files/{index}", live=live)
        if part is not None:
            yield part


def _part(block: Block, file: str, *, live: bool) -> Part | None:
    match block:
        case Text() | Thinking():
            if not block.text:
                return redacted(block) if isinstance(block, Thinking) and not live else None
            kind = "reasoning" if isinstance(block, Thinking) else "text"
            state = "streaming" if live and block.interrupted else "done"
            part = {"type": kind, "text": block.text, "state": state}
            extra = about(block)
            return part | {"providerMetadata": extra} if extra else part
        case Image() | Document():
            return file_part(block, file)
        case ToolCall():
            state = "input-streaming" if live and block.interrupted else "input-available"
            named = {"type": "dynamic-tool", "toolCallId": block.id, "toolName": block.name}
            return named | {"state": state, "input": call_input(block.arguments)}
    return None


def file_part(block: Image | Document, place: str) -> Part:
    """A picture or file, at an address where its owner can get it."""
    media = block.media_type or "application/octet-stream"
    part: Part = {"type": "file", "mediaType": media, "url": f"/api/messages/{place}"}
    name = getattr(block, "name", None)
    return part | {"filename": name} if name else part


def _answered(part: Part, results: Mapping[str, ToolResult], *, over: bool) -> Part:
    """A call with what came of it."""
    if part["type"] != "dynamic-tool":
        return part
    result = results.get(part["toolCallId"])
    if result is None:
        return part | {"state": "output-error", "errorText": NOT_RUN} if over else part
    if result.failed:
        return part | {"state": "output-error", "errorText": output_text(result)}
    return part | {"state": "output-available", "output": output_text(result)}
