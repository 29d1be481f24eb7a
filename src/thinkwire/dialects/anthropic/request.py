"""Requests, both ways."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec

from thinkwire.dialects.anthropic.constants import NAME
from thinkwire.dialects.anthropic.parse_blocks import read_content, read_text
from thinkwire.dialects.anthropic.render_blocks import RequestWriter
from thinkwire.dialects.anthropic.tools import read_choice, read_tools, write_choice, write_tools
from thinkwire.dialects.base import Encoded
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
    opt_strings,
    render,
    require_str,
    unknown_fields,
)
from thinkwire.messages import Role, Text, Turn
from thinkwire.notes import Note
from thinkwire.request import OutputFormat, Request

_SIMPLE: tuple[tuple[str, Callable[[JsonObject, str, Path], Any]], ...] = (
    ("max_tokens", opt_int),
    ("temperature", opt_number),
    ("top_p", opt_number),
    ("top_k", opt_int),
    ("stream", opt_bool),
)
"""Fields that are called the same in a neutral request, and how each is read."""
_PLAIN = frozenset({"model", "messages", "system", "tools", "stop_sequences", *dict(_SIMPLE)})
_READ = _PLAIN | {"tool_choice", "output_config", "output_format"}
_MESSAGE = frozenset({"role", "content"})
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_FORMAT = frozenset({"type", "schema"})
_SAMPLING = ("temperature", "top_p", "top_k")
_UNKNOWN_HERE = ("seed", "presence_penalty", "frequency_penalty")
_sampling, _unknown_here, _UNSAID = attrgetter(*_SAMPLING), attrgetter(*_UNKNOWN_HERE), (None, None, None)


def decode_request(body: JsonObject) -> Request:
    if type(body) is not dict:
        raise MalformedInput(f"expected an object, got {kind(body)}")
    if "messages" not in body:
        raise MalformedInput("required field is missing", path="messages")
    said: JsonObject = {}
    extras: JsonObject = {}
    if not _PLAIN.issuperset(body):
        _read_beside(body, said, extras)
    model = opt_str(body, "model", ()) or ""
    turns: list[Turn] = []
    for message in opt_list(body, "messages", ()):
        turns.append(_plain_turn(message) or _turn(message, len(turns)))
    if "system" in body:
        said["system"] = _read_system(body["system"])
    if "tools" in body:
        said["tools"] = read_tools(opt_list(body, "tools", ()))
    if "stop_sequences" in body:
        said["stop"] = opt_strings(body, "stop_sequences", ())
    for name, read in _SIMPLE:
        if name in body:
            said[name] = read(body, name, ())
    return Request(model, tuple(turns), extras={NAME: extras} if extras else {}, **said)


def _read_beside(body: JsonObject, said: JsonObject, extras: JsonObject) -> None:
    """What few requests have: a choice among the tools, a form for the output, fields that nobody reads."""
    choice, parallel, choice_rest = read_choice(opt_object(body, "tool_choice", ()))
    output, output_rest = _read_output(body)
    said |= {"tool_choice": choice, "parallel_tool_calls": parallel, "output": output}
    extras |= unknown_fields(body, _READ) | output_rest
    if choice_rest:
        extras["tool_choice"] = choice_rest


def _plain_turn(message: Any) -> Turn | None:
    """The turn of a message that is a string; None for any other, and for what is no message."""
    if type(message) is not dict or len(message) != 2:
        return None
    said, content = message.get("role"), message.get("content")
    role = _ROLES.get(said) if type(said) is str else None
    return Turn(role, (Text(content),)) if role is not None and type(content) is str else None


def _turn(message: Any, index: int) -> Turn:
    path = ("messages", index)
    if type(message) is not dict:
        raise malformed(path, "an object", message)
    name = require_str(message, "role", path)
    role = _ROLES.get(name)
    if role is None:
        raise MalformedInput(
            f"expected user, assistant or system, got {name!r}", path=render((*path, "role"))
        )
    if "content" not in message:
        raise MalformedInput("required field is missing", path=render((*path, "content")))
    blocks = read_content(message["content"], (*path, "content"), media=role != "assistant")
    if len(message) == 2:
        return Turn(role, blocks)
    return Turn(role, blocks, extras=as_extras(NAME, unknown_fields(message, _MESSAGE)))


def _read_system(system: Any) -> tuple[Text, ...]:
    if system is None or system == "":
        return ()
    if type(system) is str:
        return (Text(system),)
    if type(system) is not list:
        raise malformed(("system",), "a string or an array", system)
    texts = []
    for block, at in objects(system, ("system",)):
        if require_str(block, "type", at) != "text":
            raise MalformedInput(f"expected a text block, got {block['type']!r}", path=render((*at, "type")))
        texts.append(read_text(block, at))
    return tuple(texts)


def _read_output(body: JsonObject) -> tuple[OutputFormat | None, JsonObject]:
    """The schema of `output_config`, or of the older `output_format`; what else they say stays as it is."""
    rest: JsonObject = {}
    output = None
    config = opt_object(body, "output_config", ())
    if config is not None:
        output = _read_format(config.get("format"))
        unread = config if output is None else unknown_fields(config, frozenset({"format"}))
        if unread or output is None:
            rest["output_config"] = unread
    old = body.get("output_format")
    if old is not None:
        former = _read_format(old) if output is None else None
        if former is None:
            rest["output_format"] = old
        else:
            extras = {NAME: {"output_format": own(former.extras, NAME)}}
            output = msgspec.structs.replace(former, extras=extras)
    return output, rest


def _read_format(value: Any) -> OutputFormat | None:
    if type(value) is not dict or value.get("type") != "json_schema" or type(value.get("schema")) is not dict:
        return None
    return OutputFormat(schema=value["schema"], extras=as_extras(NAME, unknown_fields(value, _FORMAT)))


def encode_request(request: Request, *, unsigned_thinking: bool = False) -> Encoded:
    """The body for the vendor. With `unsigned_thinking`, thinking that nobody sealed goes along with an empty
    signature, which Claude refuses and which other vendors behind this wire need.
    """
    writer = RequestWriter(unsigned_thinking=unsigned_thinking)
    notes = writer.notes
    extras: JsonObject = dict(own(request.extras, NAME)) if request.extras else {}
    body: JsonObject = {"model": request.model} if request.model else {}
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.system and (system := writer.content(request.system, ("system",), "system")):
        body["system"] = system
    body["messages"] = _messages(request.turns, writer)
    if request.tools or request.tool_choice is not None or request.parallel_tool_calls is not None:
        _write_tools(request, body, notes)
    if "tool_choice" in extras and isinstance(choice_rest := extras.pop("tool_choice"), dict):
        body["tool_choice"] = {**body.get("tool_choice", {}), **choice_rest}
    if (said := _sampling(request)) != _UNSAID:
        body |= {name: value for name, value in zip(_SAMPLING, said, strict=True) if value is not None}
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if request.stream is not None:
        body["stream"] = request.stream
    if request.output is not None:
        _write_output(request.output, body, extras, notes)
    notes += _unsaid(request)
    return Encoded({**body, **extras}, tuple(notes))


def _write_tools(request: Request, body: JsonObject, notes: list[Note]) -> None:
    tools = write_tools(request, notes)
    if tools:
        body["tools"] = tools
    choice = write_choice(request, notes, tools=bool(tools))
    if choice is not None:
        body["tool_choice"] = choice


def _messages(turns: tuple[Turn, ...], writer: RequestWriter) -> list[JsonObject]:
    messages: list[JsonObject] = []
    for index, turn in enumerate(turns):
        content = writer.content(turn.blocks, ("turns", index, "blocks"), turn.role)
        extras = own(turn.extras, NAME) if turn.extras else {}
        if content or (turn.role == "system" and extras):
            messages.append({"role": turn.role, "content": content, **extras})
        elif not turn.blocks:
            note = Note("block.dropped", f"an empty {turn.role} turn cannot be sent", path=f"turns[{index}]")
            writer.notes.append(note)
    return messages


def _write_output(output: OutputFormat, body: JsonObject, extras: JsonObject, notes: list[Note]) -> None:
    if output.schema is None:
        notes.append(Note("field.dropped", "JSON without a schema cannot be asked for here", path="output"))
        return
    if output.name is not None:
        message = f"the name of the output format ({output.name}) has no field here"
        notes.append(Note("field.dropped", message, path="output.name"))
    if output.strict is False:
        message = "an output format always binds here"
        notes.append(Note("field.changed", message, path="output.strict"))
    unread = own(output.extras, NAME)
    old = unread.get("output_format")
    native: JsonObject = {"type": "json_schema", "schema": output.schema}
    if isinstance(old, dict):
        body["output_format"] = {**native, **old}
        return
    config = extras.pop("output_config", None)
    body["output_config"] = {**(config if isinstance(config, dict) else {}), "format": {**native, **unread}}


def _unsaid(request: Request) -> list[Note]:
    """What this wire has no field for."""
    notes = foreign_fields(request, NAME)
    if _unknown_here(request) != _UNSAID:
        fields = [name for name in _UNKNOWN_HERE if getattr(request, name) is not None]
        message = f"{', '.join(fields)}: {NAME} has no such field"
        notes.append(Note("field.dropped", message, detail={"fields": fields}))
    return notes
