"""The request body, read and written."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.dialects.base import Encoded
from thinkwire.dialects.gemini.config import read_config, write_config
from thinkwire.dialects.gemini.constants import CONTENT, NAME, fields
from thinkwire.dialects.gemini.parts import read_part, write_part
from thinkwire.dialects.gemini.tools import read_tool_config, read_tools, write_tool_config, write_tools
from thinkwire.dialects.gemini.turns import read_contents, write_contents
from thinkwire.dialects.shared import as_extras, foreign_fields, own
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import (
    JsonObject,
    kind,
    malformed,
    objects,
    opt_list,
    opt_object,
    opt_str,
    unknown_fields,
)
from thinkwire.messages import Text
from thinkwire.notes import Note
from thinkwire.request import Request

_KNOWN = frozenset(
    [
        "model",
        "contents",
        "systemInstruction",
        "tools",
        "toolConfig",
        "generationConfig",
        "safetySettings",
        "cachedContent",
        "labels",
        "modelArmorConfig",
        "serviceTier",
        "store",
        "continuationToken",
    ]
)
_READ = frozenset(["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"])
_PARTS = frozenset(("parts",))
_LEFT_OUT_EMPTY = ("systemInstruction", "tools", "toolConfig", "generationConfig")
_HELD_APART = frozenset(("model", "systemInstruction", "toolConfig", "generationConfig"))


def decode_request(body: JsonObject) -> Request:
    """A client's request. Raises `MalformedInput`, with the place, where the types are wrong."""
    if not isinstance(body, dict):
        raise MalformedInput(f"expected an object, got {kind(body)}")
    try:
        return _decode(fields(body, _KNOWN))
    except RecursionError:
        raise MalformedInput("nested too deeply") from None


def _decode(body: JsonObject) -> Request:
    extras = unknown_fields(body, _READ)
    system, beside = _read_system(body.get("systemInstruction"))
    choice, tool_config = read_tool_config(opt_object(body, "toolConfig", ()) or {}, ("toolConfig",))
    shared, config = read_config(opt_object(body, "generationConfig", ()) or {}, ("generationConfig",))
    for name, rest in (
        ("systemInstruction", beside),
        ("toolConfig", tool_config),
        ("generationConfig", config),
    ):
        if rest:
            extras[name] = rest
    return Request(
        model=opt_str(body, "model", ()) or "",
        turns=read_contents(opt_list(body, "contents", ()), ("contents",)),
        system=system,
        tools=read_tools(opt_list(body, "tools", ()), ("tools",)),
        tool_choice=choice,
        extras=as_extras(NAME, extras),
        **shared,
    )


def encode_request(request: Request) -> Encoded:
    """The body. The model and whether to stream are in the path on this wire, so they are not in it."""
    notes = foreign_fields(request, NAME)
    held = own(request.extras, NAME) if request.extras else {}
    contents, moved = write_contents(request.turns, notes)
    body: JsonObject = {"contents": contents}
    if "model" in held:
        body["model"] = request.model
    if request.system or moved or "systemInstruction" in held:
        body["systemInstruction"] = _write_system(
            request.system, moved, held.get("systemInstruction", {}), notes
        )
    if request.tools:
        body["tools"] = write_tools(request.tools, notes)
    if request.tool_choice is not None or "toolConfig" in held:
        body["toolConfig"] = write_tool_config(request.tool_choice, held.get("toolConfig", {}), notes)
    body["generationConfig"] = write_config(request, held.get("generationConfig", {}))
    for name in _LEFT_OUT_EMPTY:
        if name in body and not body[name]:
            del body[name]
    if request.parallel_tool_calls is not None:
        notes.append(Note("field.dropped", "parallel_tool_calls: this wire has no such switch"))
    return Encoded(body | unknown_fields(held, _HELD_APART) if held else body, tuple(notes))


def _read_system(value: Any) -> tuple[tuple[Text, ...], JsonObject]:
    """The system text, and the parts as they came if some of them are not text.

    Other fields of the instruction (its role) stay with the first text.
    """
    if value is None:
        return (), {}
    if isinstance(value, (str, list)):
        value = {"parts": [value] if isinstance(value, str) else value}
    path: tuple[str | int, ...] = ("systemInstruction",)
    if not isinstance(value, dict):
        raise malformed(path, "an object", value)
    content = fields(value, CONTENT)
    native = [_as_part(part) for part in opt_list(content, "parts", path)]
    blocks = [read_part(part, at) for part, at in objects(native, (*path, "parts"))]
    texts = tuple(block for block in blocks if isinstance(block, Text))
    beside = unknown_fields(content, _PARTS)
    held: JsonObject = {"parts": native} if len(texts) < len(blocks) else {}
    if texts and beside:
        texts = (_marked(texts[0], beside), *texts[1:])
        return texts, held
    return texts, held | beside


def _as_part(part: Any) -> Any:
    return {"text": part} if isinstance(part, str) else part


def _marked(text: Text, beside: JsonObject) -> Text:
    return msgspec.structs.replace(text, extras={NAME: {**own(text.extras, NAME), "instruction": beside}})


def _write_system(
    system: tuple[Text, ...], moved: list[Text], held: JsonObject, notes: list[Note]
) -> JsonObject:
    beside = own(system[0].extras, NAME).get("instruction", {}) if system else unknown_fields(held, _PARTS)
    native = held.get("parts")
    if native is not None and _read_system({"parts": native, **beside})[0] == system:
        parts = list(native)
    else:
        parts = _text_parts(system, notes)
    parts += _text_parts(moved, notes)
    return {"parts": parts, **beside} if parts or beside else {}


def _text_parts(texts: tuple[Text, ...] | list[Text], notes: list[Note]) -> list[JsonObject]:
    parts = (write_part(text, notes, f"system[{index}]") for index, text in enumerate(texts))
    return [unknown_fields(part, frozenset(("instruction",))) for part in parts if part is not None]
