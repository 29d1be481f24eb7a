"""Tools, tool choice and output format: what a request says besides the conversation."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat.constants import NAME, fields, keep
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.shared import dropped_opaque
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    malformed,
    objects,
    opt_bool,
    opt_object,
    opt_str,
    require_object,
    require_str,
    unknown_fields,
)
from thinkwire.messages import Opaque
from thinkwire.notes import Note
from thinkwire.request import OutputFormat, Tool, ToolChoice

_TOOL = frozenset({"type", "function"})
_FUNCTION = frozenset({"name", "description", "parameters", "strict"})
_SCHEMA = frozenset({"name", "schema", "strict"})
_MODES: dict[str, ToolChoice] = {
    "auto": ToolChoice("auto"),
    "none": ToolChoice("none"),
    "required": ToolChoice("any"),
    "any": ToolChoice("any"),
}


def read_tools(items: list[Any], path: Path) -> tuple[Tool | Opaque, ...]:
    return tuple([_read_tool(tool, at) for tool, at in objects(items, path)])


def write_tools(tools: tuple[Tool | Opaque, ...], quirks: Quirks, notes: list[Note]) -> list[JsonObject]:
    written = []
    for tool in tools:
        if isinstance(tool, Tool):
            written.append(_write_tool(tool, strict=quirks.strict_tools))
        elif tool.dialect != NAME:
            notes.append(dropped_opaque(tool, NAME))
        elif quirks.tool_types is None or _kind(tool) in quirks.tool_types:
            written.append(tool.data)
        else:
            message = f"a tool of the type {_kind(tool)}: this server does not know it"
            notes.append(Note("block.dropped", message, detail={"dialect": NAME, "type": _kind(tool)}))
    if not quirks.strict_tools and any(isinstance(tool, Tool) and tool.strict is not None for tool in tools):
        words = "strict: this server does not take it"
        notes.append(Note("field.dropped", words, detail={"fields": ["strict"]}))
    return written


def read_tool_choice(value: Any, path: Path) -> ToolChoice | None:
    """The choice, however it is spelled; None for what only this wire can say."""
    if value is None:
        return None
    if type(value) is str:
        return _MODES.get(value)
    if type(value) is not dict:
        raise malformed(path, "a string or an object", value)
    match value.get("type"):
        case "function" | "tool":
            name = _name(value)
            return ToolChoice("any", (name,)) if name is not None else None
        case "allowed_tools":
            return _read_allowed(value.get("allowed_tools"))
    return None


def write_tool_choice(choice: ToolChoice) -> Any:
    if not choice.only:
        return "required" if choice.mode == "any" else choice.mode
    if choice.mode == "any" and len(choice.only) == 1:
        return _named(choice.only[0])
    mode = "required" if choice.mode == "any" else choice.mode
    return {
        "type": "allowed_tools",
        "allowed_tools": {"mode": mode, "tools": [_named(name) for name in choice.only]},
    }


def read_output(value: Any, path: Path) -> OutputFormat | None:
    """Structured output; None for plain text and for grammars that only some servers know."""
    if value is None:
        return None
    if type(value) is not dict:
        raise malformed(path, "an object", value)
    match value.get("type"):
        case "json_object":
            schema = value.get("schema")
            return OutputFormat(schema=schema if type(schema) is dict else None)
        case "json_schema":
            at = (*path, "json_schema")
            inner = require_object(value, "json_schema", path)
            return OutputFormat(
                schema=opt_object(inner, "schema", at),
                name=opt_str(inner, "name", at),
                strict=opt_bool(inner, "strict", at),
                extras=keep(unknown_fields(inner, _SCHEMA)),
            )
    return None


def write_output(output: OutputFormat) -> JsonObject:
    if output.schema is None and output.name is None:
        return {"type": "json_object"}
    inner: JsonObject = {"name": output.name or "output"}
    if output.schema is not None:
        inner["schema"] = output.schema
    if output.strict is not None:
        inner["strict"] = output.strict
    return {"type": "json_schema", "json_schema": inner | fields(output.extras)}


def _read_tool(tool: JsonObject, path: Path) -> Tool | Opaque:
    if opt_str(tool, "type", path) not in (None, "function"):
        return Opaque(NAME, tool)
    function, at = require_object(tool, "function", path), (*path, "function")
    native = unknown_fields(tool, _TOOL)
    if rest := unknown_fields(function, _FUNCTION):
        native["function"] = rest
    return Tool(
        name=require_str(function, "name", at),
        description=opt_str(function, "description", at),
        schema=opt_object(function, "parameters", at),
        strict=opt_bool(function, "strict", at),
        extras=keep(native),
    )


def _kind(tool: Opaque) -> str:
    return str(tool.data.get("type")) if isinstance(tool.data, dict) else ""


def _write_tool(tool: Tool, *, strict: bool) -> JsonObject:
    function: JsonObject = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = tool.schema
    if tool.strict is not None and strict:
        function["strict"] = tool.strict
    if not tool.extras:
        return {"type": "function", "function": function}
    native = fields(tool.extras)
    return {"type": "function", "function": function | native.pop("function", {})} | native


def _read_allowed(inner: Any) -> ToolChoice | None:
    if type(inner) is not dict or type(inner.get("tools")) is not list:
        return None
    tools = inner["tools"]
    names = [_name(tool) if type(tool) is dict and tool.get("type") == "function" else None for tool in tools]
    mode = _MODES.get(str(inner.get("mode")))
    if mode is None or not names or None in names:
        return None
    return ToolChoice(mode.mode, tuple(name for name in names if name is not None))


def _name(value: JsonObject) -> str | None:
    """The tool's name, inside `function` as on this wire or beside it as on others."""
    function = value.get("function")
    name = function.get("name") if type(function) is dict else value.get("name")
    return name if type(name) is str else None


def _named(name: str) -> JsonObject:
    return {"type": "function", "function": {"name": name}}
