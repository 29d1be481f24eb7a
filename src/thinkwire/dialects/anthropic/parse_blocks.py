"""Native content blocks to neutral ones: strictly in requests, tolerantly in answers."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.anthropic.constants import NAME, REDACTED, SIGNATURE, kept
from thinkwire.dialects.shared import arguments_text, made_up_id
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    malformed,
    objects,
    opt_bool,
    opt_str,
    require_object,
    require_str,
    unknown_fields,
)
from thinkwire.messages import (
    Block,
    Document,
    Extras,
    Image,
    Opaque,
    ResultContent,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from thinkwire.notes import Note

_TEXT = frozenset({"type", "text"})
_THINKING = frozenset({"type", "thinking", "signature"})
_MISSPELT_THINKING = frozenset({"type", "text", "signature"})
_REDACTED = frozenset({"type", "data"})
_TOOL_USE = frozenset({"type", "id", "name", "input"})
_TOOL_RESULT = frozenset({"type", "tool_use_id", "content", "is_error"})
_SAID_RESULT = _TOOL_RESULT - {"is_error"}
_IMAGE = frozenset({"type", "source"})
_DOCUMENT = frozenset({"type", "source", "title"})
_SOURCE = frozenset({"type", "media_type", "data", "url", "file_id"})


def read_content(content: Any, path: Path, *, media: bool) -> tuple[Block, ...]:
    """A message's content, string or blocks. Without `media`, images and documents are kept as they are."""
    if type(content) is str:
        return (Text(content),)
    if type(content) is not list:
        raise malformed(path, "a string or an array", content)
    return tuple([_block(block, at, media=media) for block, at in objects(content, path)])


def read_text(block: JsonObject, path: Path) -> Text:
    return Text(require_str(block, "text", path), extras=kept(block, _TEXT))


def _block(block: JsonObject, path: Path, *, media: bool) -> Block:
    match block.get("type"):
        case "text":
            return read_text(block, path)
        case "thinking":
            return _thinking(block, path)
        case "redacted_thinking":
            return _redacted(require_str(block, "data", path), kept(block, _REDACTED))
        case "tool_use":
            return ToolCall(
                id=require_str(block, "id", path),
                name=require_str(block, "name", path),
                arguments=arguments_text(require_object(block, "input", path)),
                extras=kept(block, _TOOL_USE),
            )
        case "tool_result":
            return _tool_result(block, path)
        case "image" if media:
            return _image(block, path)
        case "document" if media:
            return _document(block, path)
        case str():
            return Opaque(NAME, block)
    require_str(block, "type", path)
    raise AssertionError("a string was matched above")


def _thinking(block: JsonObject, path: Path) -> Thinking:
    misspelt = "thinking" not in block and "text" in block
    text = require_str(block, "text" if misspelt else "thinking", path)
    known = _MISSPELT_THINKING if misspelt else _THINKING
    return signed_thinking(text, opt_str(block, "signature", path), kept(block, known))


def signed_thinking(text: str, signature: str | None, extras: Extras) -> Thinking:
    """Thinking without text is hidden; an empty signature is none."""
    return Thinking(
        text,
        form="full" if text else "hidden",
        seal=Seal(SIGNATURE, signature) if signature else None,
        extras=extras,
    )


def _redacted(data: str, extras: Extras) -> Thinking:
    return Thinking(form="redacted", seal=Seal(REDACTED, data) if data else None, extras=extras)


def _tool_result(block: JsonObject, path: Path) -> ToolResult:
    failed = opt_bool(block, "is_error", path)
    known = _TOOL_RESULT if failed is not False else _SAID_RESULT
    return ToolResult(
        call_id=require_str(block, "tool_use_id", path),
        content=_result_content(block.get("content"), (*path, "content")),
        failed=failed is True,
        extras=kept(block, known),
    )


def _result_content(content: Any, path: Path) -> tuple[ResultContent, ...]:
    if content is None:
        return ()
    if type(content) is str:
        return (Text(content),)
    if type(content) is not list:
        raise malformed(path, "a string or an array", content)
    return tuple([_result_block(block, at) for block, at in objects(content, path)])


def _result_block(block: JsonObject, path: Path) -> ResultContent:
    match block.get("type"):
        case "text":
            return read_text(block, path)
        case "image":
            return _image(block, path)
        case "document":
            return _document(block, path)
        case _:
            return Opaque(NAME, block)


def _image(block: JsonObject, path: Path) -> Image | Opaque:
    source = require_object(block, "source", path)
    at = (*path, "source")
    extras = _media_extras(block, source, _IMAGE)
    match source.get("type"):
        case "base64":
            data = require_str(source, "data", at)
            return Image(media_type=opt_str(source, "media_type", at), data=data, extras=extras)
        case "url":
            return Image(url=require_str(source, "url", at), extras=extras)
        case "file":
            return Image(file_id=require_str(source, "file_id", at), extras=extras)
        case _:
            return Opaque(NAME, block)


def _document(block: JsonObject, path: Path) -> Document | Opaque:
    source = require_object(block, "source", path)
    at = (*path, "source")
    name = opt_str(block, "title", path)
    extras = _media_extras(block, source, _DOCUMENT)
    match source.get("type"):
        case "base64":
            media_type, data = opt_str(source, "media_type", at), require_str(source, "data", at)
            return Document(media_type=media_type, data=data, name=name, extras=extras)
        case "text":
            media_type, text = opt_str(source, "media_type", at), require_str(source, "data", at)
            return Document(media_type=media_type, text=text, name=name, extras=extras)
        case "url":
            return Document(url=require_str(source, "url", at), name=name, extras=extras)
        case "file":
            return Document(file_id=require_str(source, "file_id", at), name=name, extras=extras)
        case _:
            return Opaque(NAME, block)


def _media_extras(block: JsonObject, source: JsonObject, known: frozenset[str]) -> Extras:
    extras = kept(block, known)
    unread = unknown_fields(source, _SOURCE)
    return {NAME: {**extras.get(NAME, {}), "source": unread}} if unread else extras


def read_answer_block(block: JsonObject, facts: tuple[object, ...]) -> tuple[Block, Note | None]:
    """A block of an answer, whatever is missing in it. `facts` make the id of a tool call that has none."""
    match block.get("type"):
        case "text":
            return Text(_string(block.get("text")), extras=kept(block, _TEXT)), None
        case "thinking":
            misspelt = "thinking" not in block
            text = _string(block.get("text" if misspelt else "thinking"))
            known = _MISSPELT_THINKING if misspelt else _THINKING
            return signed_thinking(text, _string(block.get("signature")), kept(block, known)), None
        case "redacted_thinking":
            return _redacted(_string(block.get("data")), kept(block, _REDACTED)), None
        case "tool_use":
            return _answer_call(block, facts)
        case _:
            return Opaque(NAME, block), None


def _answer_call(block: JsonObject, facts: tuple[object, ...]) -> tuple[ToolCall, Note | None]:
    call_id, name = _string(block.get("id")), _string(block.get("name"))
    note = None
    if not call_id:
        call_id = f"toolu_{made_up_id(*facts, name)}"
        note = Note("tool_call.id_generated", f"the call of {name or 'a tool'} came without an id")
    arguments = arguments_text(block.get("input")) or "{}"
    return ToolCall(call_id, name, arguments, extras=kept(block, _TOOL_USE)), note


def _string(value: Any) -> str:
    return value if type(value) is str else ""
