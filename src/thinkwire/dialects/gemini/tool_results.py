"""Tool results: a `functionResponse` holds an object, and on newer models media beside it."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.dialects.gemini.constants import NAME, PART, RESULT, fields
from thinkwire.dialects.gemini.media import is_linked, read_media, write_media
from thinkwire.dialects.shared import as_extras, dropped_opaque, own, plain_text
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    dump_text,
    objects,
    opt_list,
    opt_object,
    opt_str,
    require_object,
    unknown_fields,
)
from thinkwire.messages import Document, Image, Opaque, ResultContent, Text, ToolResult
from thinkwire.notes import Note

_READ = frozenset(("id", "name", "response", "parts"))
_MARKS = frozenset(("no_id", "response", "functionResponse"))


def read_result(part: JsonObject, path: Path) -> ToolResult:
    """The result, its call not yet found when the wire gave no id."""
    at = (*path, "functionResponse")
    given = fields(require_object(part, "functionResponse", path), RESULT)
    call_id = opt_str(given, "id", at)
    response = opt_object(given, "response", at)
    texts, failed = _meaning(response)
    extras: JsonObject = unknown_fields(part, frozenset(("functionResponse",)))
    if inside := unknown_fields(given, _READ):
        extras["functionResponse"] = inside
    if response is None or _response(texts, failed) != response:
        extras["response"] = response
    if not call_id:
        extras["no_id"] = True
    media = [_read_item(item, spot) for item, spot in objects(opt_list(given, "parts", at), (*at, "parts"))]
    return ToolResult(
        call_id=call_id or "",
        content=(*texts, *media),
        name=opt_str(given, "name", at),
        failed=failed,
        extras=as_extras(NAME, extras),
    )


def write_result(
    block: ToolResult, call: tuple[str | None, bool], notes: list[Note], path: str
) -> tuple[JsonObject, list[JsonObject]]:
    """The part, and parts that must follow in another content because a result cannot hold them.

    `call` is the name of the tool that was called, if known, and whether the call went without an id.
    """
    called, call_without_id = call
    held = own(block.extras, NAME)
    name = block.name if block.name is not None else called
    if name is None:
        notes.append(
            Note(
                "tool_result.name_unknown",
                f"no call {block.call_id!r} was made; its name is not known",
                path=path,
            )
        )
    result: JsonObject = {} if held.get("no_id") or call_without_id else {"id": block.call_id}
    result["name"] = "unknown" if name is None else name
    response = _told(block, held)
    if response is not None:
        result["response"] = response
    inside, after = _write_items(block.content, notes, path)
    if inside:
        result["parts"] = inside
    result.update(held.get("functionResponse", {}))
    return {"functionResponse": result, **unknown_fields(held, _MARKS)}, after


def _meaning(response: JsonObject | None) -> tuple[tuple[Text, ...], bool]:
    """What a response object says, and whether it says that the tool failed."""
    if not response:
        return (), False
    failed = response.get("error") is not None and "output" not in response
    value: Any = response
    if response.keys() in ({"output"}, {"error"}):
        value = next(iter(response.values()))
    text = value if isinstance(value, str) else dump_text(value)
    return ((Text(text),) if text else ()), failed


def _response(texts: tuple[Text, ...], failed: bool) -> JsonObject:
    return {"error" if failed else "output": plain_text(texts)}


def _told(block: ToolResult, held: JsonObject) -> JsonObject | None:
    """The response object as it once came, as long as it still says what the block says."""
    texts = tuple(item for item in block.content if isinstance(item, Text))
    if "response" in held:
        original = held["response"]
        if (original is None or isinstance(original, dict)) and _meaning(original) == (texts, block.failed):
            return original
    return _response(texts, block.failed)


def _read_item(item: JsonObject, path: Path) -> Image | Document | Opaque:
    item = fields(item, PART)
    kinds = item.keys() & {"inlineData", "fileData"}
    if len(kinds) != 1:
        return Opaque(NAME, item)
    rest = unknown_fields(item, frozenset(kinds))
    media = read_media(item, path, {**rest, "in_result": True} if "fileData" in kinds else rest)
    return media or Opaque(NAME, item)


def _write_items(
    content: tuple[ResultContent, ...], notes: list[Note], path: str
) -> tuple[list[JsonObject], list[JsonObject]]:
    inside: list[JsonObject] = []
    after: list[JsonObject] = []
    for item in content:
        if isinstance(item, Opaque):
            if item.dialect == NAME:
                inside.append(item.data)
            else:
                notes.append(dropped_opaque(item, NAME, path))
        elif isinstance(item, (Image, Document)):
            part = write_media(item)
            if part is None:
                notes.append(
                    Note("block.dropped", f"a file id of another service means nothing to {NAME}", path=path)
                )
            elif is_linked(item) and not own(item.extras, NAME).get("in_result"):
                notes.append(_follows(path))
                after.append(part)
            else:
                inside.append(part)
        elif item.seal is not None:
            notes.append(Note("seal.dropped", "the text of a tool result carries no seal", path=path))
    return inside, after


def _follows(path: str) -> Note:
    return Note("block.degraded", "a tool result cannot hold linked media; sent right after it", path=path)


def matched(block: ToolResult, call_id: str, *, call_without_id: bool) -> ToolResult:
    """The result with its call found. When neither had an id, the call alone remembers that."""
    held = own(block.extras, NAME)
    if call_without_id:
        held = unknown_fields(held, frozenset(("no_id",)))
    return msgspec.structs.replace(block, call_id=call_id, extras=as_extras(NAME, held))
