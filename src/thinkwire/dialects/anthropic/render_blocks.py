"""Neutral blocks to native ones: for the vendor, who refuses much, and for our clients, who shall see all."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from thinkwire.dialects.anthropic.constants import NAME, REDACTED, SIGNATURE
from thinkwire.dialects.shared import (
    arguments_object,
    dropped_opaque,
    made_up_id,
    own,
    plain_words,
    split_data_url,
)
from thinkwire.jsonvalue import JsonObject, Path, render
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    ResultContent,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from thinkwire.notes import Note

_PLAIN = frozenset({"type", "text"})
_EMPTY = (Text(),)
_GOOD_ID = re.compile(r"[a-zA-Z0-9_-]+")


class RequestWriter:
    """Blocks of a history as the vendor accepts them. What it would refuse is left out, with a Note."""

    def __init__(self, *, unsigned_thinking: bool = False) -> None:
        self.notes: list[Note] = []
        self._unsigned_thinking = unsigned_thinking
        self._ids: dict[str, str] = {}

    def content(self, blocks: Sequence[Block], path: Path, role: Role) -> str | list[JsonObject]:
        """Blocks in their shortest form; empty if nothing of them can be sent."""
        if words := plain_words(blocks, NAME):
            return words
        native: list[JsonObject] = []
        for index, block in enumerate(blocks):
            written = self._block(block, (*path, index), role)
            if written is not None:
                native.append(written)
        return shortest(native)

    def _block(self, block: Block, path: Path, role: Role) -> JsonObject | None:
        match block:
            case Text():
                return self.text(block, path)
            case Thinking():
                return self._thinking(block, path)
            case ToolCall():
                drop_seal(block, self.notes, path)
                return tool_use(block, self._id(block.id, path), self.notes, path)
            case ToolResult():
                return self._tool_result(block, path)
            case Image() | Document() if role == "assistant":
                message = f"a model's turn cannot hold {_named(block)}"
                self.notes.append(Note("block.dropped", message, path=render(path)))
                return None
            case _:
                return self._media(block, path)

    def text(self, block: Text, path: Path) -> JsonObject | None:
        if block.text and block.seal is None and not block.refusal:
            return text_block(block)
        drop_seal(block, self.notes, path)
        if not block.text:
            self.notes.append(Note("block.dropped", "text blocks must not be empty", path=render(path)))
            return None
        note_refusal(block, self.notes, path)
        return text_block(block)

    def _thinking(self, block: Thinking, path: Path) -> JsonObject | None:
        extras, scheme = own(block.extras, NAME), block.seal.scheme if block.seal else None
        if block.seal is not None and scheme == REDACTED:
            if block.text:
                message = "redacted thinking is sent without its text"
                self.notes.append(Note("block.degraded", message, path=render(path)))
            return {"type": "redacted_thinking", "data": block.seal.data, **extras}
        if block.seal is not None and scheme == SIGNATURE:
            return {"type": "thinking", "thinking": block.text, "signature": block.seal.data, **extras}
        if self._unsigned_thinking and scheme is None and block.text and not block.interrupted:
            return {"type": "thinking", "thinking": block.text, "signature": "", **extras}
        why = f"it carries the seal of another maker ({scheme})" if scheme else "it carries no signature"
        self.notes.append(Note("thinking.dropped", f"thinking was not sent: {why}", path=render(path)))
        return None

    def _tool_result(self, block: ToolResult, path: Path) -> JsonObject:
        native: JsonObject = {"type": "tool_result", "tool_use_id": self._id(block.call_id, path)}
        if block.content == _EMPTY:
            native["content"] = ""
        elif words := plain_words(block.content, NAME):
            native["content"] = words
        elif content := self._result_content(block.content, (*path, "content")):
            native["content"] = shortest(content)
        if block.extras:
            native.update(own(block.extras, NAME))
        if block.failed:
            native["is_error"] = True
        return native

    def _result_content(self, content: Sequence[ResultContent], path: Path) -> list[JsonObject]:
        native: list[JsonObject | None] = [
            self.text(block, (*path, index))
            if isinstance(block, Text)
            else self._media(block, (*path, index))
            for index, block in enumerate(content)
        ]
        return [block for block in native if block is not None]

    def _media(self, block: Image | Document | Opaque, path: Path) -> JsonObject | None:
        if isinstance(block, Opaque):
            return opaque(block, self.notes, path)
        if isinstance(block, Image):
            drop_seal(block, self.notes, path)
            source = _image_source(block)
        else:
            source = _document_source(block)
        if source is None:
            message = f"{_named(block)} without a media type, or without content, has no form here"
            self.notes.append(Note("block.dropped", message, path=render(path)))
            return None
        extras = own(block.extras, NAME)
        native: JsonObject = {"type": block.__struct_config__.tag, "source": source}
        if isinstance(block, Document) and block.name is not None:
            native["title"] = block.name
        unread = extras.get("source")
        return {**native, **extras, "source": {**source, **unread} if isinstance(unread, dict) else source}

    def _id(self, call_id: str, path: Path) -> str:
        """The vendor takes ids of `[a-zA-Z0-9_-]+` only; another gets one that is always the same for it."""
        if _GOOD_ID.fullmatch(call_id):
            return call_id
        if call_id not in self._ids:
            self._ids[call_id] = f"toolu_{made_up_id(call_id)}"
            message = f"tool call id {call_id!r} is sent as {self._ids[call_id]}"
            self.notes.append(Note("field.changed", message, path=render(path)))
        return self._ids[call_id]


def answer_block(block: Block, notes: list[Note], path: Path) -> JsonObject | None:
    """A block of an answer as our client reads it."""
    match block:
        case Text():
            if block.seal is not None:
                drop_seal(block, notes, path)
                if not block.text:
                    return None
            if block.refusal:
                note_refusal(block, notes, path)
            return text_block(block)
        case Thinking():
            return _answer_thinking(block, notes, path)
        case ToolCall():
            if block.seal is not None:
                drop_seal(block, notes, path)
            return tool_use(block, block.id, notes, path)
        case Opaque():
            return opaque(block, notes, path)
    notes.append(Note("block.dropped", f"an answer cannot hold {_named(block)}", path=render(path)))
    return None


def _answer_thinking(block: Thinking, notes: list[Note], path: Path) -> JsonObject:
    seal, extras = block.seal, own(block.extras, NAME)
    if seal is not None and seal.scheme == REDACTED and not block.text:
        return {"type": "redacted_thinking", "data": seal.data, **extras}
    if seal is not None and seal.scheme != SIGNATURE:
        notes.append(foreign_seal(seal.scheme, path))
    signature = seal.data if seal is not None and seal.scheme == SIGNATURE else ""
    return {"type": "thinking", "thinking": block.text, "signature": signature, **extras}


def text_block(block: Text) -> JsonObject:
    native: JsonObject = {"type": "text", "text": block.text}
    return native | own(block.extras, NAME) if block.extras else native


def tool_use(call: ToolCall, call_id: str, notes: list[Note], path: Path) -> JsonObject:
    arguments, note = arguments_object(call.arguments)
    if note is not None:
        notes.append(msgspec.structs.replace(note, path=render(path)))
    native = {"type": "tool_use", "id": call_id, "name": call.name, "input": arguments}
    return native | own(call.extras, NAME) if call.extras else native


def opaque(block: Opaque, notes: list[Note], path: Path) -> JsonObject | None:
    if block.dialect == NAME and isinstance(block.data, dict):
        return block.data
    notes.append(dropped_opaque(block, NAME, render(path)))
    return None


def shortest(blocks: list[JsonObject]) -> str | list[JsonObject]:
    """One plain text block is written as a string, which is the vendor's own shorthand for it."""
    if len(blocks) == 1 and blocks[0].keys() == _PLAIN and blocks[0]["type"] == "text":
        text = blocks[0]["text"]
        return text if isinstance(text, str) else blocks
    return blocks


def drop_seal(block: Text | ToolCall | Image, notes: list[Note], path: Path) -> bool:
    """Notes the seal of a block that this wire never seals; whether there was one."""
    if block.seal is not None:
        notes.append(foreign_seal(block.seal.scheme, path))
    return block.seal is not None


def foreign_seal(scheme: str, path: Path) -> Note:
    message = f"a seal that has no place here ({scheme}) was left off"
    return Note("seal.dropped", message, path=render(path), detail={"scheme": scheme})


def note_refusal(block: Text, notes: list[Note], path: Path) -> None:
    if block.refusal:
        notes.append(Note("block.degraded", "a refusal is written as plain text", path=render(path)))


def _named(block: Block) -> str:
    return {Image: "an image", Document: "a document", ToolResult: "a tool result"}.get(
        type(block), "this block"
    )


def _image_source(image: Image) -> JsonObject | None:
    media_type, data = image.media_type, image.data
    if data is None and image.url is not None:
        media_type, data = split_data_url(image.url)
    if data is not None:
        return {"type": "base64", "media_type": media_type, "data": data} if media_type else None
    return _linked_source(image)


def _document_source(document: Document) -> JsonObject | None:
    media_type, data = document.media_type, document.data
    if document.text is not None:
        return {"type": "text", "media_type": media_type or "text/plain", "data": document.text}
    if data is None and document.url is not None:
        media_type, data = split_data_url(document.url)
    if data is not None:
        return {"type": "base64", "media_type": media_type or "application/pdf", "data": data}
    return _linked_source(document)


def _linked_source(media: Image | Document) -> JsonObject | None:
    if media.url is not None:
        return {"type": "url", "url": media.url}
    if media.file_id is not None:
        return {"type": "file", "file_id": media.file_id}
    return None
