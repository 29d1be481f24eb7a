"""Parts and blocks, one to one: what both directions of requests and answers share."""

from __future__ import annotations

import msgspec

from thinkwire.dialects.gemini.constants import CALL, NAME, PART, SCHEME, fields, signature
from thinkwire.dialects.gemini.media import read_media, write_media
from thinkwire.dialects.gemini.tool_results import read_result
from thinkwire.dialects.shared import (
    arguments_object,
    arguments_text,
    as_extras,
    dropped_opaque,
    made_up_id,
    own,
)
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    opt_object,
    opt_str,
    render,
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
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from thinkwire.notes import Note

_DATA = frozenset(("text", "inlineData", "fileData", "functionCall", "functionResponse"))
_OTHER_DATA = frozenset(
    ("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "videoMetadata")
)
_SEALED = frozenset(("thoughtSignature",))
_CALL_READ = frozenset(("id", "name", "args"))
_CALL_MARKS = frozenset(("no_id", "functionCall"))


def read_part(part: JsonObject, path: Path) -> Block:
    """One part as one block, nothing merged and nothing moved. What has no neutral form is kept whole."""
    part = fields(part, PART)
    kinds = part.keys() & _DATA
    if len(kinds) != 1 or part.keys() & _OTHER_DATA:
        return Opaque(NAME, part)
    match kinds.pop():
        case "text":
            return _read_text(part, path)
        case "functionCall":
            return _read_call(part, path)
        case "functionResponse":
            return read_result(part, path)
    return _read_media(part, path)


def read_seal(part: JsonObject, path: Path) -> Seal | None:
    data = opt_str(part, "thoughtSignature", path)
    return Seal(SCHEME, data) if data else None


def beside(part: JsonObject, *read: str) -> JsonObject:
    """What nobody has read yet of a part. A signature that is empty is no seal, and stays."""
    rest = unknown_fields(part, frozenset(read))
    return unknown_fields(rest, _SEALED) if rest.get("thoughtSignature") else rest


def call_extras(part: JsonObject, call: JsonObject, *, no_id: bool) -> Extras:
    inside = unknown_fields(call, _CALL_READ)
    marks: JsonObject = {"no_id": True} if no_id else {}
    if inside:
        marks["functionCall"] = inside
    return as_extras(NAME, {**beside(part, "functionCall"), **marks})


def write_part(block: Block, notes: list[Note], path: str) -> JsonObject | None:
    """The part for a block, or None when this wire has no form for it, which is noted."""
    match block:
        case Text():
            sealed = signature(block.seal, notes, path)
            return {"text": block.text, **sealed, **own(block.extras, NAME)}
        case Thinking():
            sealed = signature(block.seal, notes, path)
            return {"text": block.text, "thought": True, **sealed, **own(block.extras, NAME)}
        case ToolCall():
            return _write_call(block, notes, path)
        case Image() | Document():
            return _write_media(block, notes, path)
        case Opaque(dialect=dialect, data=data) if dialect == NAME and isinstance(data, dict):
            return data
        case Opaque():
            notes.append(dropped_opaque(block, NAME, path))
        case ToolResult():
            notes.append(Note("block.dropped", "a tool result has no place in an answer", path=path))
    return None


def foreign_seal(block: Thinking) -> bool:
    return block.seal is not None and block.seal.scheme != SCHEME


def _read_text(part: JsonObject, path: Path) -> Text | Thinking:
    text, seal = require_str(part, "text", path), read_seal(part, path)
    if part.get("thought") is not True:
        return Text(text, seal=seal, extras=as_extras(NAME, beside(part, "text")))
    extras = as_extras(NAME, beside(part, "text", "thought"))
    return Thinking(text, form="summary" if text or not seal else "hidden", seal=seal, extras=extras)


def _read_call(part: JsonObject, path: Path) -> ToolCall:
    at = (*path, "functionCall")
    call = fields(require_object(part, "functionCall", path), CALL)
    name, given = require_str(call, "name", at), opt_str(call, "id", at)
    return ToolCall(
        id=given or made_up_id("call", render(path), name),
        name=name,
        arguments=arguments_text(opt_object(call, "args", at)),
        seal=read_seal(part, path),
        extras=call_extras(part, call, no_id=not given),
    )


def _read_media(part: JsonObject, path: Path) -> Image | Document | Opaque:
    seal = read_seal(part, path)
    media = read_media(part, path, unknown_fields(part, _DATA))
    if not isinstance(media, Image):
        return media or Opaque(NAME, part)
    held = own(media.extras, NAME)
    rest = unknown_fields(held, _SEALED) if seal else held
    return msgspec.structs.replace(media, seal=seal, extras=as_extras(NAME, rest))


def _write_call(block: ToolCall, notes: list[Note], path: str) -> JsonObject:
    held = own(block.extras, NAME)
    call: JsonObject = {"name": block.name}
    if not block.id:
        notes.append(Note("field.changed", "a tool call with an empty id goes without one", path=path))
    elif not held.get("no_id"):
        call = {"id": block.id, "name": block.name}
    if block.arguments:
        call["args"], broken = arguments_object(block.arguments)
        if broken:
            notes.append(msgspec.structs.replace(broken, path=path))
    call.update(held.get("functionCall", {}))
    return {"functionCall": call, **signature(block.seal, notes, path), **unknown_fields(held, _CALL_MARKS)}


def _write_media(block: Image | Document, notes: list[Note], path: str) -> JsonObject | None:
    part = write_media(block)
    if part is None:
        notes.append(
            Note("block.dropped", f"a file id of another service means nothing to {NAME}", path=path)
        )
    elif isinstance(block, Image):
        part |= signature(block.seal, notes, path)
    return part
