"""Content parts: native objects to blocks and back."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat.constants import NAME, fields, keep, memory
from thinkwire.dialects.shared import data_url, dropped_opaque, split_data_url
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    malformed,
    objects,
    opt_str,
    require_object,
    require_str,
    unknown_fields,
)
from thinkwire.messages import Block, Document, Image, Opaque, Text, Thinking
from thinkwire.notes import Note

_TEXT = frozenset({"type", "text"})
_REFUSAL = frozenset({"type", "refusal"})
_IMAGE = frozenset({"type", "image_url"})
_FILE = frozenset({"type", "file"})
_FILE_INNER = frozenset({"file_data", "file_id", "filename"})
_LINK = frozenset({"type", "document_url", "document_name"})
_THINKING = frozenset({"type", "thinking"})
_SILENT = (Text(),)


def read_content(value: Any, path: Path) -> tuple[Block, ...]:
    """`content` of a message: a string, parts, or nothing."""
    if value is None or value == "":
        return ()
    if type(value) is str:
        return (Text(value),)
    if type(value) is not list:
        raise malformed(path, "a string or an array", value)
    blocks = tuple([read_part(part, at) for part, at in objects(value, path)])
    return () if blocks == _SILENT else blocks


def read_part(part: JsonObject, path: Path) -> Block:
    match require_str(part, "type", path):
        case "text":
            return Text(require_str(part, "text", path), extras=keep(unknown_fields(part, _TEXT)))
        case "image_url":
            return _read_image(part, path)
        case "file":
            return _read_file(part, path)
        case "document_url":
            url, name = require_str(part, "document_url", path), opt_str(part, "document_name", path)
            return Document(url=url, name=name, extras=keep(unknown_fields(part, _LINK), type="document_url"))
        case "refusal":
            refusal = require_str(part, "refusal", path)
            return Text(refusal, refusal=True, extras=keep(unknown_fields(part, _REFUSAL), part=True))
        case "thinking":
            return _read_thinking(part, path)
    return Opaque(NAME, part)


def thinking_text(value: Any) -> str | None:
    """The words of a thinking part: Cohere writes a string, Mistral a list of text chunks."""
    if type(value) is str:
        return value
    if type(value) is not list:
        return None
    words = (chunk.get("text") if type(chunk) is dict else chunk for chunk in value)
    return "".join(word for word in words if type(word) is str)


def write_text(block: Text) -> JsonObject:
    kind = "refusal" if block.refusal else "text"
    part = {"type": kind, kind: block.text}
    return part | fields(block.extras) if block.extras else part


def write_part(block: Block, notes: list[Note]) -> JsonObject | None:
    """One block as a part; None, with a Note, for what this wire has no part for."""
    match block:
        case Text():
            return write_text(block)
        case Image():
            return _write_image(block, notes)
        case Document():
            return _write_document(block, notes)
        case Opaque(dialect=dialect, data=data) if dialect == NAME and isinstance(data, dict):
            return data
        case Opaque():
            notes.append(dropped_opaque(block, NAME))
        case _:
            notes.append(Note("block.dropped", f"a {type(block).__name__} cannot stand in this message"))
    return None


def write_thinking(block: Thinking) -> JsonObject:
    """A thinking part, in Mistral's form unless it came as a string."""
    chunks: Any = memory(block.extras, "chunks")
    if chunks is None:
        chunks = block.text if memory(block.extras, "bare") else [{"type": "text", "text": block.text}]
    return {"type": "thinking", "thinking": chunks} | fields(block.extras)


def content_value(parts: list[JsonObject], *, lists: bool = True) -> str | list[JsonObject]:
    """Parts as `content`: one plain text is a string, and so are several where lists are not wanted."""
    if not parts:
        return ""
    if len(parts) == 1 and _is_plain(parts[0]):
        text: str = parts[0]["text"]
        return text
    if not lists and all(part.get("type") == "text" and "text" in part for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _is_plain(part: JsonObject) -> bool:
    return part.keys() == {"type", "text"} and part["type"] == "text"


def _read_image(part: JsonObject, path: Path) -> Image:
    inner = part.get("image_url")
    bare = type(inner) is str
    if bare:
        inner = {"url": inner}
    if type(inner) is not dict:
        raise malformed((*path, "image_url"), "an object", inner)
    url = require_str(inner, "url", (*path, "image_url"))
    native = unknown_fields(part, _IMAGE)
    if rest := unknown_fields(inner, frozenset({"url"})):
        native["image_url"] = rest
    extras = keep(native, bare=bare or None)
    media_type, data = split_data_url(url)
    if media_type is None or data is None:
        return Image(url=url, extras=extras)
    return Image(media_type=media_type, data=data, extras=extras)


def _read_file(part: JsonObject, path: Path) -> Document:
    at = (*path, "file")
    inner = require_object(part, "file", path)
    native = unknown_fields(part, _FILE)
    if rest := unknown_fields(inner, _FILE_INNER):
        native["file"] = rest
    name, file_id, data = (opt_str(inner, key, at) for key in ("filename", "file_id", "file_data"))
    extras = keep(native)
    if data is None:
        return Document(file_id=file_id, name=name, extras=extras)
    if file_id is not None:
        extras = keep(native | {"file": native.get("file", {}) | {"file_id": file_id}})
    media_type, content = split_data_url(data)
    if media_type is not None:
        return Document(media_type=media_type, data=content, name=name, extras=extras)
    if data.startswith(("http://", "https://", "data:")):
        return Document(url=data, name=name, extras=extras)
    return Document(data=data, name=name, extras=extras)


def _read_thinking(part: JsonObject, path: Path) -> Thinking | Opaque:
    value = part.get("thinking")
    text = thinking_text(value)
    if text is None:
        raise malformed((*path, "thinking"), "a string or an array", value)
    if not text:
        return Opaque(NAME, part)
    native = unknown_fields(part, _THINKING)
    if type(value) is str:
        return Thinking(text, field="content", extras=keep(native, bare=True))
    usual = value == [{"type": "text", "text": text}]
    return Thinking(text, field="content", extras=keep(native, chunks=None if usual else value))


def _write_image(block: Image, notes: list[Note]) -> JsonObject:
    native = fields(block.extras)
    url = data_url(block)
    if url is None:
        notes.append(Note("block.degraded", "a picture by file id goes as a file"))
        return {"type": "file", "file": {"file_id": block.file_id}}
    inner: Any = {"url": url} | native.pop("image_url", {})
    if memory(block.extras, "bare"):
        inner = url
    return {"type": "image_url", "image_url": inner} | native


def _write_document(block: Document, notes: list[Note]) -> JsonObject:
    native = fields(block.extras)
    if block.text is not None:
        notes.append(Note("block.degraded", "a plain-text document goes as text"))
        return {"type": "text", "text": block.text}
    if memory(block.extras, "type") == "document_url":
        named = {"document_name": block.name} if block.name is not None else {}
        return {"type": "document_url", "document_url": block.url} | named | native
    inner: JsonObject = {"filename": block.name} if block.name is not None else {}
    if block.url is not None:
        inner["file_data"] = block.url
        notes.append(Note("block.degraded", "a document by URL; only some servers of this wire fetch it"))
    elif block.data is not None:
        inner["file_data"] = data_url(block) if block.media_type is not None else block.data
    elif block.file_id is not None:
        inner["file_id"] = block.file_id
    return {"type": "file", "file": inner | native.pop("file", {})} | native
