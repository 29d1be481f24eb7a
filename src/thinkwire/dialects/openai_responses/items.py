"""Items of the model's side (messages, function calls and the rest) and blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.openai_responses.parse_context import Reading, id_of
from thinkwire.dialects.openai_responses.reasoning import read_reasoning
from thinkwire.dialects.shared import arguments_text, as_extras, made_up_id, own
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.messages import Block, Opaque, Text, Thinking, ToolCall
from thinkwire.notes import Note

_TEXTS = frozenset({"output_text", "text", "input_text"})
_MESSAGE_FIELDS = frozenset({"type", "role", "content", "id", "status", "phase"})
_PART_FIELDS = frozenset({"type", "text", "refusal"})
_CALL_FIELDS = frozenset({"type", "call_id", "name", "arguments", "id", "status"})
_LISTS = ("annotations", "logprobs")
_ABOUT_ITEM = frozenset({"id", "status", "phase", "item", "part", "no_type", "string", "type"})


def read_item(item: JsonObject, position: int, reading: Reading) -> list[Block]:
    """An output item as blocks: one per part of a message, one for anything else."""
    kind = item.get("type")
    if kind == "message" or (kind is None and "content" in item):
        return read_message(item, reading)
    if kind == "reasoning":
        return [read_reasoning(item)]
    if kind == "function_call":
        return [read_call(item, position, reading)]
    return [Opaque(NAME, item)]


def read_message(item: JsonObject, reading: Reading) -> list[Block]:
    """One text per part. What is said of the item stands on the first; the others know their place."""
    content = item.get("content")
    about = _about_message(item, reading)
    if isinstance(content, str):
        return [Text(content, extras=as_extras(NAME, {**about, "string": True}))]
    if not content or not isinstance(content, list) or not all(map(_is_text, content)):
        return [Opaque(NAME, item)]
    blocks: list[Block] = []
    for number, part in enumerate(content):
        fields = {"part": number} if number else about
        blocks.append(_read_text(part, fields, reading))
    return blocks


def _about_message(item: JsonObject, reading: Reading) -> JsonObject:
    about: JsonObject = {
        "id": id_of(item),
        "status": reading.status_of(item),
        "phase": item.get("phase"),
        "item": unknown_fields(item, _MESSAGE_FIELDS) or None,
        "no_type": True if "type" not in item else None,
    }
    return {key: value for key, value in about.items() if value is not None}


def _is_text(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    kind = part.get("type")
    if not isinstance(kind, str) or (kind != "refusal" and kind not in _TEXTS):
        return False
    text = part.get("refusal" if kind == "refusal" else "text")
    return text is None or isinstance(text, str)


def _read_text(part: JsonObject, fields: JsonObject, reading: Reading) -> Text:
    rest = unknown_fields(part, _PART_FIELDS)
    for name in _LISTS:
        if name in rest and (rest[name] is None or (reading.response and rest[name] == [])):
            del rest[name]
    if part["type"] == "refusal":
        return Text(part.get("refusal") or "", refusal=True, extras=as_extras(NAME, {**fields, **rest}))
    if part["type"] != "output_text":
        rest["type"] = part["type"]
    return Text(part.get("text") or "", extras=as_extras(NAME, {**fields, **rest}))


def read_call(item: JsonObject, position: int, reading: Reading) -> ToolCall:
    name = item.get("name")
    name = name if isinstance(name, str) else ""
    fields = unknown_fields(item, _CALL_FIELDS)
    found, status = id_of(item), reading.status_of(item)
    if found is not None:
        fields["id"] = found
    if status is not None:
        fields["status"] = status
    call_id = item.get("call_id")
    if not isinstance(call_id, str) or not call_id:
        call_id = item.get("id")
    if not isinstance(call_id, str) or not call_id:
        call_id = made_up_id(reading.response_id, position, name)
        message = f"a call of {name or 'a tool'} came without an id"
        reading.notes.append(Note("tool_call.id_generated", message))
    return ToolCall(call_id, name, arguments_text(item.get("arguments")), extras=as_extras(NAME, fields))


def grouped(blocks: Iterable[Block]) -> list[Block | list[Text]]:
    """Texts of the same message together, everything else as it is."""
    groups: list[Block | list[Text]] = []
    for block in blocks:
        last = groups[-1] if groups else None
        if not isinstance(block, Text):
            groups.append(block)
        elif isinstance(last, list) and continues(block):
            last.append(block)
        else:
            groups.append([block])
    return groups


def continues(block: Text) -> bool:
    """Whether this text is a further part of the message before it."""
    return bool(own(block.extras, NAME).get("part"))


def text_part(block: Text, *, lists: bool = False) -> JsonObject:
    """The native part; with `lists`, its lists even when they are empty."""
    extras = own(block.extras, NAME) if block.extras else {}
    rest = unknown_fields(extras, _ABOUT_ITEM) if extras else {}
    if block.refusal:
        return {"type": "refusal", "refusal": block.text, **rest}
    part: JsonObject = {"type": extras.get("type", "output_text"), "text": block.text}
    if lists:
        for name in _LISTS:
            part[name] = []
    return part | rest if rest else part


def message_item(texts: Sequence[Text], *, lists: bool = False, **given: Any) -> JsonObject:
    """The native message; `given` fields (id, status) win over those that the texts bring along.

    With `lists` it is the full form of a response, whatever short form the texts once came in.
    """
    about: JsonObject = {}
    for block in texts:
        if block.extras:
            about.update(own(block.extras, NAME))
    item: JsonObject = {"type": "message"}
    string = False
    if about:
        if about.get("no_type") and not lists:
            del item["type"]
        item.update((key, about[key]) for key in ("id", "status", "phase") if key in about)
        item.update(about.get("item", {}))
        string = bool(about.get("string")) and len(texts) == 1 and not lists
    item.update(given)
    item["role"] = "assistant"
    item["content"] = texts[0].text if string else [text_part(text, lists=lists) for text in texts]
    return item


def call_item(call: ToolCall, **given: Any) -> JsonObject:
    """The native function call; `given` fields (call_id, id, status) win over those of the block."""
    return {
        "type": "function_call",
        **own(call.extras, NAME),
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        **given,
    }


def content_of(block: Text | Thinking | ToolCall) -> str:
    return block.arguments if isinstance(block, ToolCall) else block.text


def bare(block: Text | Thinking | ToolCall) -> Text | Thinking | ToolCall:
    """The block as it starts: nothing in it yet, and no seal."""
    if isinstance(block, ToolCall):
        return msgspec.structs.replace(block, arguments="", seal=None)
    return msgspec.structs.replace(block, text="", seal=None)
