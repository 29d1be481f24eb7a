"""Tools and the choice among them, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thinkwire.dialects.anthropic.constants import NAME, kept
from thinkwire.dialects.anthropic.render_blocks import opaque
from thinkwire.dialects.shared import own
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    objects,
    opt_bool,
    opt_object,
    opt_str,
    require_str,
    unknown_fields,
)
from thinkwire.messages import Opaque
from thinkwire.notes import Note
from thinkwire.request import Request, Tool, ToolChoice

_TOOL = frozenset({"name", "description", "input_schema", "strict"})
_CHOICE = frozenset({"type", "disable_parallel_tool_use"})


def read_tools(tools: list[Any]) -> tuple[Tool | Opaque, ...]:
    return tuple([_tool(tool, at) for tool, at in objects(tools, ("tools",))])


def _tool(tool: JsonObject, path: Path) -> Tool | Opaque:
    if "type" in tool and opt_str(tool, "type", path) not in (None, "custom"):
        return Opaque(NAME, tool)
    return Tool(
        require_str(tool, "name", path),
        opt_str(tool, "description", path),
        opt_object(tool, "input_schema", path),
        opt_bool(tool, "strict", path) if "strict" in tool else None,
        kept(tool, _TOOL),
    )


def read_choice(choice: JsonObject | None) -> tuple[ToolChoice | None, bool | None, JsonObject]:
    """The choice, whether calls may be parallel, and what is left: everything, for a kind we do not know."""
    if choice is None:
        return None, None, {}
    kind = require_str(choice, "type", ("tool_choice",))
    parallel = opt_bool(choice, "disable_parallel_tool_use", ("tool_choice",))
    rest = unknown_fields(choice, _CHOICE)
    match kind:
        case "auto" | "any" | "none":
            neutral = ToolChoice(kind)
        case "tool":
            neutral = ToolChoice("any", (require_str(choice, "name", ("tool_choice",)),))
            rest.pop("name")
        case _:
            return None, None, choice
    return neutral, None if parallel is None else not parallel, rest


def write_tools(request: Request, notes: list[Note]) -> list[JsonObject]:
    native: list[JsonObject] = []
    for index, tool in enumerate(_offered(request, notes)):
        path = ("tools", index)
        written = opaque(tool, notes, path) if isinstance(tool, Opaque) else _write_tool(tool, notes)
        if written is not None:
            native.append(written)
    return native


def _offered(request: Request, notes: list[Note]) -> Sequence[Tool | Opaque]:
    """All tools, or only those that the choice allows: the vendor can force one tool or any, not a subset."""
    choice = request.tool_choice
    if choice is None or not choice.only or choice.mode == "none" or _forces_one(choice):
        return request.tools
    only = frozenset(choice.only)
    offered = [tool for tool in request.tools if _name(tool) in only]
    message = f"only {', '.join(choice.only)} may be called: the other tools were not sent"
    detail = {"left_out": [name for tool in request.tools if (name := _name(tool)) not in only]}
    notes.append(Note("field.changed", message, path="tool_choice", detail=detail))
    return offered


def _forces_one(choice: ToolChoice) -> bool:
    return choice.mode == "any" and len(choice.only) == 1


def _name(tool: Tool | Opaque) -> str | None:
    """The tool's name; None for a native tool without one."""
    if isinstance(tool, Tool):
        return tool.name
    name = tool.data.get("name") if isinstance(tool.data, dict) else None
    return name if isinstance(name, str) else None


def _write_tool(tool: Tool, notes: list[Note]) -> JsonObject:
    native: JsonObject = {"name": tool.name}
    if tool.description is not None:
        native["description"] = tool.description
    native["input_schema"] = _object_schema(tool, notes)
    if tool.strict is not None:
        native["strict"] = tool.strict
    return native | own(tool.extras, NAME) if tool.extras else native


def _object_schema(tool: Tool, notes: list[Note]) -> JsonObject:
    """The vendor demands a schema, and of an object. None given means that any object will do."""
    if tool.schema is None:
        return {"type": "object"}
    if "type" in tool.schema:
        return tool.schema
    message = f"the schema of {tool.name} names no type; it is sent as an object's"
    notes.append(Note("field.changed", message, path="tools"))
    return {"type": "object", **tool.schema}


def write_choice(request: Request, notes: list[Note], *, tools: bool) -> JsonObject | None:
    choice, parallel = request.tool_choice, request.parallel_tool_calls
    if choice is None and parallel is None:
        return None
    if not tools:
        notes.append(Note("field.dropped", "a tool choice means nothing without tools", path="tool_choice"))
        return None
    native = _write_mode(choice or ToolChoice("auto"))
    if parallel is not None:
        if native["type"] == "none":
            message = "parallel_tool_calls: no tool may be called at all"
            notes.append(Note("field.dropped", message, path="parallel_tool_calls"))
        else:
            native["disable_parallel_tool_use"] = not parallel
    return native


def _write_mode(choice: ToolChoice) -> JsonObject:
    if _forces_one(choice):
        return {"type": "tool", "name": choice.only[0]}
    return {"type": choice.mode}
