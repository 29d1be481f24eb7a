"""Requests, read and written."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec

from thinkwire.dialects.base import Encoded
from thinkwire.dialects.openai_chat import tools as options
from thinkwire.dialects.openai_chat.constants import NAME, fields, keep, memory
from thinkwire.dialects.openai_chat.known_fields import without_refused
from thinkwire.dialects.openai_chat.parse_messages import MessagesReader
from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.render_messages import MessagesWriter
from thinkwire.dialects.shared import foreign_fields
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    kind,
    opt_bool,
    opt_int,
    opt_list,
    opt_number,
    opt_str,
    opt_strings,
    repaired,
    unknown_fields,
)
from thinkwire.notes import Note
from thinkwire.request import OutputFormat, Request, ToolChoice

_SIMPLE: dict[str, Callable[[JsonObject, str, Path], Any]] = {
    "temperature": opt_number,
    "top_p": opt_number,
    "presence_penalty": opt_number,
    "frequency_penalty": opt_number,
    "top_k": opt_int,
    "seed": opt_int,
    "parallel_tool_calls": opt_bool,
    "stream": opt_bool,
}
"""Fields that are called the same in a neutral request, and how each is read."""
_NAMES = tuple(dict(_SIMPLE))
_said, _UNSAID = attrgetter(*_NAMES), (None,) * len(_NAMES)
_encode = msgspec.json.Encoder().encode
_LIMITS = ("max_completion_tokens", "max_tokens")
_SPELLED = frozenset(("tool_choice", "response_format", "stop"))
REPAIRED = Note("text.repaired", "lone surrogates were replaced")
_KNOWN = frozenset(("model", "messages", "tools", *_SPELLED, *_LIMITS, *_SIMPLE))


def decode_request(body: JsonObject) -> Request:
    """A client's request. What cannot be read raises `MalformedInput` with its place."""
    if type(body) is not dict:
        raise MalformedInput(f"expected an object, got {kind(body)}", dialect=NAME)
    if "messages" not in body:
        raise MalformedInput("required field is missing", path="messages", dialect=NAME)
    reader = MessagesReader()
    turns = reader.read(opt_list(body, "messages", ()), ("messages",))
    said: JsonObject = {}
    native = {} if _KNOWN.issuperset(body) else unknown_fields(body, _KNOWN)
    written: JsonObject = {}
    if not _SPELLED.isdisjoint(body):
        said |= _read_spelled(body, native, written)
    model = opt_str(body, "model", ()) or ""
    if "tools" in body:
        said["tools"] = options.read_tools(opt_list(body, "tools", ()), ("tools",))
    if "max_tokens" in body or "max_completion_tokens" in body:
        said["max_tokens"] = _read_limit(body, native, written)
    for name, read in _SIMPLE.items():
        if name in body:
            said[name] = read(body, name, ())
    extras = keep(native, as_written=written) if written else keep(native)
    return Request(model, turns, reader.system, extras=extras, **said)


def _read_spelled(body: JsonObject, native: JsonObject, written: JsonObject) -> JsonObject:
    """What can be spelled in several ways: the choice of tools, the form of the output, where to stop."""
    choice = options.read_tool_choice(body.get("tool_choice"), ("tool_choice",))
    _remember(body, "tool_choice", choice and options.write_tool_choice(choice), (native, written))
    output = options.read_output(body.get("response_format"), ("response_format",))
    _remember(body, "response_format", output and options.write_output(output), (native, written))
    stop = opt_strings(body, "stop", ())
    if stop and body["stop"] != list(stop):
        written["stop"] = body["stop"]
    return {"tool_choice": choice, "output": output, "stop": stop}


def encode_request(request: Request, *, quirks: Quirks = USUAL, clean: bool = True) -> Encoded:
    """A request for a server. What it cannot be told is in the notes.

    Without `clean`, whoever makes bytes of the body replaces what UTF-8 cannot carry, and says `REPAIRED`.
    """
    writer = MessagesWriter(quirks)
    notes = writer.notes
    written: JsonObject = (memory(request.extras, "as_written") if NAME in request.extras else None) or {}
    body: JsonObject = {"model": request.model} if request.model else {}
    body["messages"] = writer.write(request)
    if (said := _said(request)) != _UNSAID:
        for name, value in zip(_NAMES, said, strict=True):
            if value is not None:
                body[quirks.seed_field if name == "seed" else name] = value
    if request.max_tokens is not None:
        spelled = "max_tokens" if "max_tokens" in written else "max_completion_tokens"
        body[quirks.max_tokens_field or spelled] = request.max_tokens
    if request.stop:
        body["stop"] = written["stop"] if (written.get("stop"),) == request.stop else list(request.stop)
    if request.tools or request.tool_choice is not None or request.output is not None:
        _write_options(request, body, written=written, quirks=quirks, notes=notes)
    if NAME in request.extras:
        body = fields(request.extras) | body
    if request.tools and "tools" not in body:
        _without_choice(body, notes)
    if quirks.refused_fields or quirks.known_fields:
        without_refused(body, quirks, notes)
    notes += foreign_fields(request, NAME)
    return Encoded(_clean(body, notes) if clean else body, tuple(notes))


def _write_options(
    request: Request, body: JsonObject, *, written: JsonObject, quirks: Quirks, notes: list[Note]
) -> None:
    if request.tools and (tools := options.write_tools(request.tools, quirks, notes)):
        body["tools"] = tools
    if request.tool_choice is not None:
        body["tool_choice"] = _choice(request.tool_choice, written.get("tool_choice"))
    if request.output is not None:
        body["response_format"] = _output(request.output, written.get("response_format"), quirks, notes)


def _choice(choice: ToolChoice, came: Any) -> Any:
    same = options.read_tool_choice(came, ("tool_choice",)) == choice
    return came if same else options.write_tool_choice(choice)


def _without_choice(body: JsonObject, notes: list[Note]) -> None:
    """Where the server knows none of the tools, there is nothing to choose from."""
    asked = [name for name in ("tool_choice", "parallel_tool_calls") if body.pop(name, None) is not None]
    if asked:
        notes.append(Note("tool_choice.degraded", f"{', '.join(asked)}: no tool is left to be called"))


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
    newer = opt_int(body, "max_completion_tokens", ()) if "max_completion_tokens" in body else None
    older = opt_int(body, "max_tokens", ())
    if older is None:
        return newer
    if newer is None:
        written["max_tokens"] = older
        return older
    native["max_tokens"] = older
    return newer


def _clean(body: JsonObject, notes: list[Note]) -> JsonObject:
    """The body, without the halves of surrogate pairs that no server can read."""
    try:
        _encode(body)
    except UnicodeEncodeError:
        notes.append(REPAIRED)
        clean: JsonObject = repaired(body)
        return clean
    return body
