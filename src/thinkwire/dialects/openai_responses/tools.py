"""Tools, the choice among them, and the format of the answer."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.shared import as_extras, dropped_opaque, own
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
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

_TOOL_FIELDS = frozenset({"type", "name", "description", "parameters", "strict"})
_FORMAT_FIELDS = frozenset({"type", "name", "schema", "strict"})
_FORMAT_NAME = "response"
"""The wire wants a name for every schema."""


def read_tools(items: list[Any], path: Path) -> tuple[Tool | Opaque, ...]:
    return tuple([_read_tool(item, at) for item, at in objects(items, path)])


def _read_tool(item: JsonObject, path: Path) -> Tool | Opaque:
    if require_str(item, "type", path) != "function":
        return Opaque(NAME, item)
    return Tool(
        require_str(item, "name", path),
        description=opt_str(item, "description", path),
        schema=opt_object(item, "parameters", path),
        strict=opt_bool(item, "strict", path),
        extras=as_extras(NAME, unknown_fields(item, _TOOL_FIELDS)),
    )


def write_tools(tools: tuple[Tool | Opaque, ...], notes: list[Note]) -> list[JsonObject]:
    items: list[JsonObject] = []
    for tool in tools:
        if isinstance(tool, Tool):
            items.append(_write_tool(tool))
        elif tool.dialect == NAME and isinstance(tool.data, dict):
            items.append(tool.data)
        else:
            notes.append(dropped_opaque(tool, NAME, f"tools[{len(items)}]"))
    return items


def _write_tool(tool: Tool) -> JsonObject:
    item: JsonObject = {"type": "function", "name": tool.name}
    if tool.description is not None:
        item["description"] = tool.description
    if tool.schema is not None:
        item["parameters"] = tool.schema
    if tool.strict is not None:
        item["strict"] = tool.strict
    return item | own(tool.extras, NAME)


def read_choice(value: Any) -> ToolChoice | None:
    """The neutral choice; None for those that only this wire knows (hosted tools, MCP servers)."""
    if isinstance(value, str):
        return _choice(value, ())
    if not isinstance(value, dict):
        return None
    if value.get("type") == "function" and isinstance(value.get("name"), str):
        return ToolChoice("any", (value["name"],))
    if value.get("type") == "allowed_tools" and isinstance(value.get("tools"), list):
        names = [_function_name(tool) for tool in value["tools"]]
        if names and None not in names:
            return _choice(value.get("mode"), tuple(name for name in names if name is not None))
    return None


def _choice(mode: Any, only: tuple[str, ...]) -> ToolChoice | None:
    match mode:
        case "auto":
            return ToolChoice("auto", only)
        case "none":
            return ToolChoice("none", only)
        case "required":
            return ToolChoice("any", only)
    return None


def _function_name(tool: Any) -> str | None:
    if isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("name"), str):
        return str(tool["name"])
    return None


def write_choice(choice: ToolChoice) -> str | JsonObject:
    mode = {"any": "required"}.get(choice.mode, choice.mode)
    if not choice.only or mode == "none":
        return mode
    if mode == "required" and len(choice.only) == 1:
        return {"type": "function", "name": choice.only[0]}
    tools = [{"type": "function", "name": name} for name in choice.only]
    return {"type": "allowed_tools", "mode": mode, "tools": tools}


def read_format(text: JsonObject, path: Path) -> tuple[OutputFormat | None, JsonObject]:
    """The structured output that is asked for, and what else `text` says."""
    form = opt_object(text, "format", path)
    at = (*path, "format")
    kind = opt_str(form, "type", at) if form is not None else None
    if form is None or kind not in ("json_schema", "json_object"):
        return None, {key: value for key, value in text.items() if key != "format" or value is not None}
    rest = unknown_fields(text, frozenset({"format"}))
    extras = as_extras(NAME, unknown_fields(form, _FORMAT_FIELDS))
    if kind == "json_object":
        return OutputFormat(extras=extras), rest
    name = opt_str(form, "name", at)
    return (
        OutputFormat(
            schema=require_object(form, "schema", at),
            name=None if name == _FORMAT_NAME else name,
            strict=opt_bool(form, "strict", at),
            extras=extras,
        ),
        rest,
    )


def write_format(output: OutputFormat) -> JsonObject:
    extras = own(output.extras, NAME)
    if output.schema is None:
        return {"type": "json_object", **extras}
    strict = {} if output.strict is None else {"strict": output.strict}
    name = output.name or _FORMAT_NAME
    return {"type": "json_schema", "name": name, "schema": output.schema, **strict, **extras}
