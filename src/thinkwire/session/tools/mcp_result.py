"""What an MCP tool gives, as blocks."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from thinkwire.messages import Document, Image, ResultContent, Text
from thinkwire.notes import Note, NoteCode
from thinkwire.session.tools.tool import Output

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def output_of_result(result: Any) -> Output:
    """A `CallToolResult` of the `mcp` package as an output."""
    notes: list[Note] = []
    blocks = [_block(item, notes) for item in result.content]
    if not blocks and result.structured_content is not None:
        blocks = [Text(msgspec.json.encode(result.structured_content).decode())]
    return Output(tuple(blocks), failed=bool(result.is_error), notes=tuple(notes))


def _block(item: Any, notes: list[Note]) -> ResultContent:
    match item.type:
        case "text":
            return Text(item.text)
        case "image":
            return _media(item.mime_type, item.data, "picture", notes)
        case "audio":
            return _media(item.mime_type, item.data, "sound", notes)
        case "resource_link":
            described = f" ({item.description})" if item.description else ""
            return Text(f"{item.name}: {item.uri}{described}")
        case "resource":
            return _resource(item.resource, notes)
    return _left_out("block.dropped", f"a block of type {item.type}", notes)


def _resource(resource: Any, notes: list[Note]) -> ResultContent:
    text = getattr(resource, "text", None)
    if text is not None:
        return Text(f"[{resource.uri}]\n{text}")
    return _media(resource.mime_type, resource.blob, str(resource.uri), notes)


def _media(media_type: str | None, data: str, what: str, notes: list[Note]) -> ResultContent:
    if not _is_base64(data):
        return _left_out("block.dropped", f"{what} with broken data", notes)
    if media_type in PICTURES:
        return Image(media_type=media_type, data=data)
    if media_type == "application/pdf":
        return Document(media_type=media_type, data=data)
    return _left_out("block.degraded", f"{what} of type {media_type}, {len(data) * 3 // 4:,} bytes", notes)


def _is_base64(data: str) -> bool:
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return False
    return True


def _left_out(code: NoteCode, what: str, notes: list[Note]) -> Text:
    notes.append(Note(code, f"{what} from an MCP server is named and not given"))
    return Text(f"[{what}: cannot be shown]")
