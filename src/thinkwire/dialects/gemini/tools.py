"""Tools, and which of them the model may or must call."""

from __future__ import annotations

from typing import Any, Literal

from thinkwire.dialects.gemini.constants import NAME, fields
from thinkwire.dialects.gemini.schemas import json_schema
from thinkwire.dialects.shared import as_extras, dropped_opaque, own
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    objects,
    opt_list,
    opt_object,
    opt_str,
    opt_strings,
    require_str,
    unknown_fields,
)
from thinkwire.messages import Opaque
from thinkwire.notes import Note
from thinkwire.request import Tool, ToolChoice

_DECLARATION = frozenset(
    [
        "name",
        "description",
        "parameters",
        "parametersJsonSchema",
        "response",
        "responseJsonSchema",
        "behavior",
    ]
)
_TOOL = frozenset(
    [
        "functionDeclarations",
        "retrieval",
        "computerUse",
        "fileSearch",
        "googleSearch",
        "googleMaps",
        "codeExecution",
        "enterpriseWebSearch",
        "googleSearchRetrieval",
        "parallelAiSearch",
        "urlContext",
        "mcpServers",
        "exaAiSearch",
    ]
)
_TOOL_CONFIG = frozenset(["functionCallingConfig", "retrievalConfig", "includeServerSideToolInvocations"])
_CALLING = frozenset(["mode", "allowedFunctionNames", "streamFunctionCallArguments"])
_DECLARED = frozenset(("functionDeclarations",))
_NEUTRAL = frozenset(("name", "description", "parametersJsonSchema"))
_MARKS = frozenset(("group", "with_next", "parameters", "both"))
_MODES: dict[str, Literal["auto", "none", "any"]] = {"AUTO": "auto", "NONE": "none", "ANY": "any"}


def read_tools(items: list[Any], path: Path) -> tuple[Tool | Opaque, ...]:
    """Declarations as tools, Google's own tools as they are.

    How the declarations were grouped is kept where it is not the usual way, which is all in one tool object:
    `group` numbers the further objects, `with_next` says that the Opaque that follows sat in the same one.
    """
    tools: list[Tool | Opaque] = []
    group = 0
    for item, at in objects(items, path):
        item = fields(item, _TOOL)
        declared = list(objects(opt_list(item, "functionDeclarations", at), (*at, "functionDeclarations")))
        rest = unknown_fields(item, _DECLARED)
        for number, (declaration, spot) in enumerate(declared, 1):
            marks: JsonObject = {"group": group} if group else {}
            if rest and number == len(declared):
                marks["with_next"] = True
            tools.append(_read_declaration(declaration, spot, marks))
        group += bool(declared)
        if rest:
            tools.append(Opaque(NAME, rest))
    return tuple(tools)


def _read_declaration(declaration: JsonObject, path: Path, marks: JsonObject) -> Tool:
    declaration = fields(declaration, _DECLARATION)
    schema = opt_object(declaration, "parametersJsonSchema", path)
    older = opt_object(declaration, "parameters", path)
    extras = unknown_fields(declaration, _NEUTRAL) | marks
    if schema is not None and older is not None:
        extras["both"] = True
    elif older is not None:
        schema = json_schema(older)
    return Tool(
        name=require_str(declaration, "name", path),
        description=opt_str(declaration, "description", path),
        schema=schema,
        extras=as_extras(NAME, extras),
    )


def write_tools(tools: tuple[Tool | Opaque, ...], notes: list[Note]) -> list[JsonObject]:
    written: list[JsonObject] = []
    groups: dict[int, JsonObject] = {}
    beside: JsonObject | None = None
    for index, tool in enumerate(tools):
        if isinstance(tool, Opaque):
            if tool.dialect != NAME or not isinstance(tool.data, dict):
                notes.append(dropped_opaque(tool, NAME, f"tools[{index}]"))
            elif beside is not None:
                beside.update(tool.data)
            else:
                written.append(dict(tool.data))
            beside = None
            continue
        if tool.strict:
            notes.append(
                Note("field.dropped", "strict: this wire has no such switch", path=f"tools[{index}]")
            )
        held = own(tool.extras, NAME)
        number = held.get("group", 0)
        number = number if isinstance(number, int) else 0  # a client may have a field of that name
        if number not in groups:
            groups[number] = {"functionDeclarations": []}
            written.append(groups[number])
        groups[number]["functionDeclarations"].append(_write_declaration(tool, held))
        beside = groups[number] if held.get("with_next") else None
    return written


def _write_declaration(tool: Tool, held: JsonObject) -> JsonObject:
    declaration: JsonObject = {"name": tool.name}
    if tool.description is not None:
        declaration["description"] = tool.description
    older, both = held.get("parameters"), held.get("both")
    if older is not None and (both or json_schema(older) == tool.schema):
        declaration["parameters"] = older
    if tool.schema is not None and (both or "parameters" not in declaration):
        declaration["parametersJsonSchema"] = tool.schema
    return declaration | unknown_fields(held, _MARKS)


def read_tool_config(config: JsonObject, path: Path) -> tuple[ToolChoice | None, JsonObject]:
    """The choice, and what is left of the configuration when it has been read."""
    config = fields(config, _TOOL_CONFIG)
    calling = opt_object(config, "functionCallingConfig", path)
    if calling is None:
        return None, config
    at = (*path, "functionCallingConfig")
    calling = fields(calling, _CALLING)
    mode = _MODES.get((opt_str(calling, "mode", at) or "").upper())
    only = opt_strings(calling, "allowedFunctionNames", at)
    rest = unknown_fields(config, frozenset(("functionCallingConfig",)))
    if mode is None or (only and mode == "auto"):
        return None, {**rest, **({"functionCallingConfig": calling} if calling else {})}
    if inside := unknown_fields(calling, frozenset(("mode", "allowedFunctionNames"))):
        rest["functionCallingConfig"] = inside
    return ToolChoice(mode, only), rest


def write_tool_config(choice: ToolChoice | None, held: JsonObject, notes: list[Note]) -> JsonObject:
    config = dict(held)
    if choice is None:
        return config
    calling: JsonObject = {"mode": choice.mode.upper()}
    if choice.only:
        calling["allowedFunctionNames"] = list(choice.only)
        if choice.mode == "auto":
            calling["mode"] = "VALIDATED"
            notes.append(
                Note("field.changed", "an optional choice among some tools is VALIDATED here, not AUTO")
            )
    config["functionCallingConfig"] = {**held.get("functionCallingConfig", {}), **calling}
    return config
