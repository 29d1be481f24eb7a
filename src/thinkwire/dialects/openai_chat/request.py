"""Requests, read and written."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.dialects.base import Encoded
from thinkwire.dialects.common import foreign_fields
from thinkwire.dialects.openai_chat import options
from thinkwire.dialects.openai_chat.form import NAME, fields, keep, memory
from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.read_messages import MessagesReader
from thinkwire.dialects.openai_chat.write_messages import MessagesWriter
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import (
    JsonObject,
    kind,
    leftover,
    opt_bool,
    opt_int,
    opt_list,
    opt_number,
    opt_str,
    opt_strings,
    repaired,
)
from thinkwire.notes import Note
from thinkwire.request import OutputFormat, Request

_NUMBERS = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
_SIMPLE = (*_NUMBERS, "top_k", "seed", "parallel_tool_calls", "stream")
_LIMITS = ("max_completion_tokens", "max_tokens")
_MADE = ("model", "messages", "tools", "tool_choice", "response_format", "stop")
_KNOWN = frozenset((*_MADE, *_LIMITS, *_SIMPLE))


def decode_request(body: JsonObject) -> Request:
    """A client's request. What cannot be read raises `MalformedInput` with its place."""
    if type(body) is not dict:
        raise MalformedInput(f"expected an object, got {kind(body)}", dialect=NAME)
    if "messages" not in body:
        raise MalformedInput("required field is missing", path="messages", dialect=NAME)
    reader = MessagesReader()
    turns = reader.read(opt_list(body, "messages", ()), ("messages",))
    native = leftover(body, _KNOWN)
    written: JsonObject = {}
    choice = options.read_tool_choice(body.get("tool_choice"), ("tool_choice",))
    output = options.read_output(body.get("response_format"), ("response_format",))
    stop = opt_strings(body, "stop", ())
    _remember(body, "tool_choice", choice and options.write_tool_choice(choice), (native, written))
    _remember(body, "response_format", output and options.write_output(output), (native, written))
    if stop and body["stop"] != list(stop):
        written["stop"] = body["stop"]
    return Request(
        model=opt_str(body, "model", ()) or "",
        turns=turns,
        system=reader.system,
        tools=options.read_tools(opt_list(body, "tools", ()), ("tools",)),
        tool_choice=choice,
        parallel_tool_calls=opt_bool(body, "parallel_tool_calls", ()),
        max_tokens=_read_limit(body, native, written),
        temperature=opt_number(body, "temperature", ()),
        top_p=opt_number(body, "top_p", ()),
        top_k=opt_int(body, "top_k", ()),
        stop=stop,
        seed=opt_int(body, "seed", ()),
        presence_penalty=opt_number(body, "presence_penalty", ()),
        frequency_penalty=opt_number(body, "frequency_penalty", ()),
        output=output,
        stream=opt_bool(body, "stream", ()),
        extras=keep(native, as_written=written or None),
    )


def encode_request(request: Request, *, quirks: Quirks = USUAL) -> Encoded:
    """A request for a server. What it cannot be told is in the notes."""
    writer = MessagesWriter(quirks)
    notes = writer.notes
    written: JsonObject = memory(request.extras, "as_written") or {}
    body: JsonObject = {"model": request.model} if request.model else {}
    body["messages"] = writer.write(request)
    for name in _SIMPLE:
        value = getattr(request, name)
        if value is not None:
            body[name] = value
    if request.max_tokens is not None:
        spelled = "max_tokens" if "max_tokens" in written else "max_completion_tokens"
        body[quirks.max_tokens_field or spelled] = request.max_tokens
    if request.stop:
        body["stop"] = written["stop"] if (written.get("stop"),) == request.stop else list(request.stop)
    if request.tools:
        body["tools"] = options.write_tools(request.tools, quirks, notes)
    if request.tool_choice is not None:
        came = written.get("tool_choice")
        same = options.read_tool_choice(came, ("tool_choice",)) == request.tool_choice
        body["tool_choice"] = came if same else options.write_tool_choice(request.tool_choice)
    if request.output is not None:
        body["response_format"] = _output(request.output, written.get("response_format"), quirks, notes)
    body = fields(request.extras) | body
    _drop_refused(body, quirks, notes)
    notes.extend(foreign_fields(request, NAME))
    return Encoded(_clean(body, notes), tuple(notes))


def _output(output: OutputFormat, came: Any, quirks: Quirks, notes: list[Note]) -> JsonObject:
    if output.schema is not None and not quirks.output_schemas:
        notes.append(Note("field.changed", "this server takes no schema; any JSON is asked for"))
        return {"type": "json_object"}
    same = options.read_output(came, ("response_format",)) == output
    return came if same else options.write_output(output)


def _remember(body: JsonObject, key: str, usual: Any, kept: tuple[JsonObject, JsonObject]) -> None:
    """Keeps a field that was not understood, and the form of one that we would write in another way."""
    native, written = kept
    value = body.get(key)
    if value is None or value == usual:
        return
    (native if usual is None else written)[key] = value


def _read_limit(body: JsonObject, native: JsonObject, written: JsonObject) -> int | None:
    newer, older = (opt_int(body, name, ()) for name in _LIMITS)
    if older is None:
        return newer
    if newer is None:
        written["max_tokens"] = older
        return older
    native["max_tokens"] = older
    return newer


def _drop_refused(body: JsonObject, quirks: Quirks, notes: list[Note]) -> None:
    refused = sorted(name for name in quirks.refused_fields if name in body)
    for name in refused:
        del body[name]
    if refused:
        words = f"{', '.join(refused)}: this server refuses it"
        notes.append(Note("field.dropped", words, detail={"fields": refused}))


def _clean(body: JsonObject, notes: list[Note]) -> JsonObject:
    """The body, without the halves of surrogate pairs that no server can read."""
    try:
        msgspec.json.encode(body)
    except UnicodeEncodeError:
        notes.append(Note("text.repaired", "lone surrogates were replaced"))
        clean: JsonObject = repaired(body)
        return clean
    return body
