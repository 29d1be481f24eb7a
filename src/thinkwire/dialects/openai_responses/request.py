"""The request, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinkwire.dialects.base import Encoded
from thinkwire.dialects.openai_responses.constants import AS_STRING, NAME
from thinkwire.dialects.openai_responses.input_items import InputWriter, read_input
from thinkwire.dialects.openai_responses.parts import is_plain, read_parts, seal_dropped
from thinkwire.dialects.openai_responses.tools import (
    read_choice,
    read_format,
    read_tools,
    write_choice,
    write_format,
    write_tools,
)
from thinkwire.dialects.openai_responses.validate_items import check_item
from thinkwire.dialects.shared import as_extras, foreign_fields, own
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    kind,
    malformed,
    objects,
    opt_bool,
    opt_int,
    opt_list,
    opt_number,
    opt_object,
    opt_str,
    unknown_fields,
)
from thinkwire.messages import Text, Turn
from thinkwire.notes import Note
from thinkwire.request import OutputFormat, Request, ToolChoice

_SIMPLE: tuple[tuple[str, str, Callable[[JsonObject, str, Path], Any]], ...] = (
    ("parallel_tool_calls", "parallel_tool_calls", opt_bool),
    ("max_output_tokens", "max_tokens", opt_int),
    ("temperature", "temperature", opt_number),
    ("top_p", "top_p", opt_number),
    ("stream", "stream", opt_bool),
)
"""Native fields, what they are called in a neutral request, and how each is read."""
_MADE = ("model", "input", "instructions", "tools", "tool_choice", "text")
_FIELDS = frozenset((*_MADE, *(native for native, _, _ in _SIMPLE)))
_UNSAID = ("top_k", "seed", "presence_penalty", "frequency_penalty")


def decode_request(body: JsonObject) -> Request:
    """A native request. What is wrong with it is a `MalformedInput` with the place."""
    if not isinstance(body, dict):
        raise MalformedInput(f"expected an object, got {kind(body)}")
    said: JsonObject = {}
    extras = unknown_fields(body, _FIELDS)
    if "instructions" in body:
        said["system"] = _read_instructions(body, extras)
    if "tool_choice" in body:
        said["tool_choice"] = _read_choice(body["tool_choice"], extras)
    if "text" in body:
        said["output"] = _read_text(opt_object(body, "text", ()), extras)
    model = opt_str(body, "model", ()) or ""
    turns = _read_turns(body.get("input"))
    if "tools" in body:
        said["tools"] = read_tools(opt_list(body, "tools", ()), ("tools",))
    for native, name, read in _SIMPLE:
        if native in body:
            said[name] = read(body, native, ())
    return Request(model, turns, extras=as_extras(NAME, extras), **said)


def _read_turns(value: Any) -> tuple[Turn, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Turn("user", (Text(value),), extras=AS_STRING),)
    if isinstance(value, list):
        return read_input(value, ("input",))
    raise malformed(("input",), "a string or an array", value)


def _read_instructions(body: JsonObject, extras: JsonObject) -> tuple[Text, ...]:
    """The system text. A list of messages is kept beside it, since a string cannot say all that it says."""
    value = body.get("instructions")
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(value),)
    if not isinstance(value, list):
        raise malformed(("instructions",), "a string or an array", value)
    for item, path in objects(value, ("instructions",)):
        check_item(item, path)
    extras["instructions"] = value
    return _listed_instructions(value)


def _listed_instructions(items: Any) -> tuple[Text, ...]:
    messages = [item["content"] for item in items if item.get("type", "message") == "message"]
    blocks = [block for content in messages for block in read_parts(content)]
    return tuple(Text(block.text) for block in blocks if isinstance(block, Text))


def _read_choice(value: Any, extras: JsonObject) -> ToolChoice | None:
    native = _checked_choice(value)
    choice = read_choice(native)
    if native is not None and (choice is None or write_choice(choice) != native):
        extras["tool_choice"] = native
    return choice


def _read_text(text: JsonObject | None, extras: JsonObject) -> OutputFormat | None:
    if text is None:
        return None
    output, rest = read_format(text, ("text",))
    if rest or output is None:
        extras["text"] = rest
    return output


def _checked_choice(value: Any) -> Any:
    if (
        value is None
        or isinstance(value, str)
        or (isinstance(value, dict) and isinstance(value.get("type"), str))
    ):
        return value
    raise malformed(("tool_choice",), "a string or an object with a type", value)


def encode_request(request: Request) -> Encoded:
    """The native request, and what could not be said in it."""
    fields = own(request.extras, NAME)
    writer = InputWriter()
    for turn in request.turns:
        writer.write(turn)
    body: JsonObject = {"model": request.model} if request.model else {}
    _write_instructions(request, fields, body, writer.notes)
    body["input"] = _string_input(request.turns) if _is_string(request.turns) else writer.items
    tools = write_tools(request.tools, writer.notes)
    if tools:
        body["tools"] = tools
    choice = _write_choice(request.tool_choice, fields.get("tool_choice"))
    settings = {
        "tool_choice": choice,
        "parallel_tool_calls": request.parallel_tool_calls,
        "max_output_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "text": _write_text(request, fields),
        "stream": request.stream,
    }
    body.update((key, value) for key, value in settings.items() if value is not None)
    body.update(unknown_fields(fields, _FIELDS))
    return Encoded(body, (*writer.notes, *_unsaid(request), *foreign_fields(request, NAME)))


def _is_string(turns: tuple[Turn, ...]) -> bool:
    return len(turns) == 1 and own(turns[0].extras, NAME) == AS_STRING[NAME] and is_plain(turns[0].blocks)


def _string_input(turns: tuple[Turn, ...]) -> str:
    return turns[0].text


def _write_instructions(request: Request, fields: JsonObject, body: JsonObject, notes: list[Note]) -> None:
    listed = fields.get("instructions")
    if listed is not None and [text.text for text in _listed_instructions(listed)] == [
        text.text for text in request.system
    ]:
        body["instructions"] = listed
    elif request.system:
        body["instructions"] = "\n\n".join(text.text for text in request.system)
    notes += [seal_dropped(text.seal.scheme, "instructions") for text in request.system if text.seal]


def _write_choice(choice: ToolChoice | None, native: Any) -> Any:
    """The native choice as it came, as long as it still means what the request means."""
    if native is not None and read_choice(native) == choice:
        return native
    return None if choice is None else write_choice(choice)


def _write_text(request: Request, fields: JsonObject) -> JsonObject | None:
    rest: JsonObject | None = fields.get("text")
    if request.output is None:
        return rest
    return {**(rest or {}), "format": write_format(request.output)}


def _unsaid(request: Request) -> list[Note]:
    """Settings that this wire has no field for."""
    names = [name for name in _UNSAID if getattr(request, name) is not None]
    if request.stop:
        names.insert(0, "stop")
    return [Note("field.dropped", f"{name}: {NAME} has no such field", path=name) for name in names]
