"""What clients of Anthropic's wire say to Anthropic alone. Most of it comes from Claude Code."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.dialects.anthropic.constants import NAME
from thinkwire.dialects.shared import own
from thinkwire.gateway.ingress.client_tools import offered
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Opaque, ResultContent, Text, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.replay import Destination
from thinkwire.request import Request, Tool

BILLING = "x-anthropic-billing-header:"
"""How the text begins with which Claude Code tells its vendor whom to charge."""

PLACEHOLDER = "DeferredToolPlaceholder"
"""A tool that Claude Code lists only so that there is one whose loading is deferred."""

_HOST_FIELDS = ("anthropic_version", "anthropic_beta")
"""How Vertex and Bedrock are told which version of the wire is spoken."""

_SPOKEN = frozenset({"thinking", "output_config", "output_format", "tool_choice"})
"""Fields that are read elsewhere, or that every service on this wire knows."""


def from_messages(request: Request, to: Destination | None, notes: list[Note]) -> Request:
    """The request for another vendor."""
    if request.system:
        request = _without_billing(request, notes)
    request = _with_latest_effort(request)
    turns, tools = request.turns, request.tools
    if _has_references(turns):
        names = {tool.name for tool in tools if isinstance(tool, Tool)}
        turns = tuple([_without_references(turn, names) for turn in turns])
    if tools:
        tools = _tools(request, notes)
    if turns is not request.turns or tools != request.tools:
        request = msgspec.structs.replace(request, turns=turns, tools=tools)
    return _without_private(request, notes) if to is None or to.dialect == "anthropic" else request


def without_host_fields(request: Request, notes: list[Note]) -> Request:
    """The request without what resellers of Claude take in the body and Anthropic in headers."""
    said = own(request.extras, NAME)
    found = [name for name in _HOST_FIELDS if name in said]
    if not found:
        return request
    message = f"{', '.join(found)}: this wire has it in a header"
    notes.append(Note("field.dropped", message, detail={"fields": found}))
    rest = {name: value for name, value in said.items() if name not in _HOST_FIELDS}
    return msgspec.structs.replace(request, extras=request.extras | {NAME: rest})


def _without_billing(request: Request, notes: list[Note]) -> Request:
    system = tuple([text for text in request.system if not text.text.startswith(BILLING)])
    if len(system) == len(request.system):
        return request
    notes.append(Note("field.dropped", "the billing marker is for Anthropic alone", path="system"))
    return msgspec.structs.replace(request, system=system)


def _with_latest_effort(request: Request) -> Request:
    """The effort that a system turn set last is the request's; turns that set nothing else are gone."""
    for turn in request.turns:
        if turn.role == "system" and turn.extras:
            break
    else:
        return request
    config: JsonObject = dict(own(request.extras, NAME).get("output_config") or {})
    turns: list[Turn] = []
    for turn in request.turns:
        said = own(turn.extras, NAME)
        if turn.role != "system" or "output_config" not in said:
            turns.append(turn)
            continue
        config |= _object(said["output_config"])
        if turn.blocks:
            rest = {key: value for key, value in said.items() if key != "output_config"}
            turns.append(msgspec.structs.replace(turn, extras=turn.extras | {NAME: rest}))
    if tuple(turns) == request.turns:
        return request
    extras = request.extras | {NAME: own(request.extras, NAME) | {"output_config": config}}
    return msgspec.structs.replace(request, turns=tuple(turns), extras=extras)


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _has_references(turns: tuple[Turn, ...]) -> bool:
    """Whether a result may hold one: it is native then, as nothing else in it is."""
    for turn in turns:
        for block in turn.blocks:
            if type(block) is ToolResult:
                for item in block.content:
                    if type(item) is Opaque:
                        return True
    return False


def _without_references(turn: Turn, names: set[str]) -> Turn:
    """Tools that a search found are named in words; they are in the request by then."""
    if ToolResult not in map(type, turn.blocks):
        return turn
    blocks = tuple(_told(block, names) if isinstance(block, ToolResult) else block for block in turn.blocks)
    return turn if blocks == turn.blocks else msgspec.structs.replace(turn, blocks=blocks)


def _told(result: ToolResult, names: set[str]) -> Block:
    content = tuple(_reference(item, names) for item in result.content)
    return result if content == result.content else msgspec.structs.replace(result, content=content)


def _reference(item: ResultContent, names: set[str]) -> ResultContent:
    if not isinstance(item, Opaque) or _object(item.data).get("type") != "tool_reference":
        return item
    name = str(item.data.get("tool_name", ""))
    state = "is loaded and can be called now" if name in names else "was found, but cannot be called here"
    return Text(f"The tool {name} {state}.")


def _tools(request: Request, notes: list[Note]) -> tuple[Tool | Opaque, ...]:
    """All tools in full, those that the client runs as functions, and none that only the vendor runs."""
    tools: list[Tool | Opaque] = []
    left_out: list[str] = []
    for tool in request.tools:
        if isinstance(tool, Opaque):
            mapped = offered(tool.data) if tool.dialect == NAME else None
            if mapped is not None:
                tools.append(mapped)
            else:
                left_out.append(str(_object(tool.data).get("type")))
        elif tool.name != PLACEHOLDER:
            tools.append(_undeferred(tool) if tool.extras else tool)
    if left_out:
        notes.append(Note("block.dropped", f"tools that only Anthropic runs: {', '.join(left_out)}"))
    return tuple(tools)


def _undeferred(tool: Tool) -> Tool:
    said = own(tool.extras, NAME)
    if "defer_loading" not in said:
        return tool
    rest = {key: value for key, value in said.items() if key != "defer_loading"}
    return msgspec.structs.replace(tool, extras=tool.extras | {NAME: rest})


def _without_private(request: Request, notes: list[Note]) -> Request:
    """On the same wire the fields would go along: who the user is, what to forget, where to run things."""
    said = own(request.extras, NAME)
    private = sorted(key for key in said if key not in _SPOKEN)
    if not private:
        return request
    message = f"{', '.join(private)}: for Anthropic alone"
    notes.append(Note("field.dropped", message, detail={"fields": private}))
    kept = {key: value for key, value in said.items() if key in _SPOKEN}
    return msgspec.structs.replace(request, extras=request.extras | {NAME: kept})
