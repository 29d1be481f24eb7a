"""Content parts of what goes in: texts, pictures and files of users, systems and tool results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.shared import as_extras, data_url, dropped_opaque, own, split_data_url
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.messages import Block, Document, Image, Opaque, Text
from thinkwire.notes import Note

Content = Text | Image | Document | Opaque

_TEXTS = frozenset({"input_text", "output_text", "text"})
_TEXT_FIELDS = frozenset({"type", "text"})
_IMAGE_FIELDS = frozenset({"type", "image_url", "file_id"})
_FILE_FIELDS = frozenset({"type", "file_data", "file_url", "file_id", "filename"})


def is_part(data: Any) -> bool:
    """Whether an opaque block of ours is a part of a message rather than an item of its own."""
    kind = data.get("type") if isinstance(data, dict) else None
    return isinstance(kind, str) and kind.startswith("input_")


def read_parts(content: str | list[JsonObject]) -> tuple[Content, ...]:
    """The blocks of a message or a tool result."""
    if isinstance(content, str):
        return (Text(content),)
    return tuple(map(_read_part, content))


def _read_part(part: JsonObject) -> Content:
    kind = part.get("type")
    if kind in _TEXTS:
        fields = unknown_fields(part, _TEXT_FIELDS)
        if kind != "input_text":
            fields["type"] = kind
        return Text(part["text"], extras=as_extras(NAME, fields))
    if kind == "input_image":
        return _read_image(part)
    if kind == "input_file":
        return _read_file(part)
    return Opaque(NAME, part)


def _read_image(part: JsonObject) -> Image | Opaque:
    url, file_id = part.get("image_url"), part.get("file_id")
    extras = as_extras(NAME, _said(unknown_fields(part, _IMAGE_FIELDS), "detail"))
    if (url is None) == (file_id is None):
        return Opaque(NAME, part)
    if url is None:
        return Image(file_id=file_id, extras=extras)
    media_type, data = split_data_url(url)
    if media_type is None or data is None:
        return Image(url=url, extras=extras)
    return Image(media_type=media_type, data=data, extras=extras)


def _read_file(part: JsonObject) -> Document | Opaque:
    data, url, file_id = part.get("file_data"), part.get("file_url"), part.get("file_id")
    if sum(value is not None for value in (data, url, file_id)) != 1:
        return Opaque(NAME, part)
    extras = as_extras(NAME, _said(unknown_fields(part, _FILE_FIELDS), "detail"))
    name = part.get("filename")
    if data is None:
        return Document(url=url, file_id=file_id, name=name, extras=extras)
    media_type, inline = split_data_url(data)
    if media_type is None or inline is None:
        return Document(data=data, name=name, extras=extras)
    return Document(media_type=media_type, data=inline, name=name, extras=extras)


def _said(fields: JsonObject, *nullable: str) -> JsonObject:
    """The fields without known ones that are null."""
    return {key: value for key, value in fields.items() if value is not None or key not in nullable}


def is_plain(blocks: Sequence[Block]) -> bool:
    """Whether these blocks are one text and nothing else, which the wire may write as a string."""
    return len(blocks) == 1 and isinstance(blocks[0], Text) and not own(blocks[0].extras, NAME)


def write_content(blocks: Sequence[Content], path: str, notes: list[Note]) -> str | list[JsonObject]:
    """A string for one plain text, else a list of parts."""
    if is_plain(blocks) and isinstance(blocks[0], Text):
        _note_seal(blocks[0], path, notes)
        return blocks[0].text
    return list(_write_parts(blocks, path, notes))


def _write_parts(blocks: Iterable[Content], path: str, notes: list[Note]) -> Iterable[JsonObject]:
    for block in blocks:
        part = _write_part(block, path, notes)
        if part is not None:
            yield part


def _write_part(block: Content, path: str, notes: list[Note]) -> JsonObject | None:
    if isinstance(block, Opaque):
        if block.dialect == NAME and isinstance(block.data, dict):
            return block.data
        notes.append(dropped_opaque(block, NAME, path))
        return None
    if isinstance(block, Document):
        return _write_file(block, path, notes)
    _note_seal(block, path, notes)
    if isinstance(block, Text):
        return {"type": "input_text", "text": block.text, **own(block.extras, NAME)}
    source = data_url(block)
    if source is None and block.file_id is None:
        notes.append(Note("block.dropped", "a picture with neither data, URL nor file id", path=path))
        return None
    where = {"file_id": block.file_id} if source is None else {"image_url": source}
    return {"type": "input_image", **where, **own(block.extras, NAME)}


def _write_file(block: Document, path: str, notes: list[Note]) -> JsonObject | None:
    extras = own(block.extras, NAME)
    named = {} if block.name is None else {"filename": block.name}
    if block.file_id is not None:
        return {"type": "input_file", "file_id": block.file_id, **named, **extras}
    if block.url is not None:
        return {"type": "input_file", "file_url": block.url, **named, **extras}
    if block.data is not None:
        data = block.data if block.media_type is None else data_url(block)
        return {"type": "input_file", "file_data": data, **named, **extras}
    if block.text is not None:
        notes.append(Note("block.degraded", "a plain text document went as a text part", path=path))
        return {"type": "input_text", "text": block.text}
    notes.append(Note("block.dropped", "a document with neither data, text, URL nor file id", path=path))
    return None


def _note_seal(block: Text | Image, path: str, notes: list[Note]) -> None:
    if block.seal is not None:
        notes.append(seal_dropped(block.seal.scheme, path))


def seal_dropped(scheme: str, path: str | None = None) -> Note:
    message = f"a seal of {scheme} has no place in {NAME}"
    return Note("seal.dropped", message, path=path, detail={"scheme": scheme})
