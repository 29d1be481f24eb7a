"""What clients of the Responses wire say to OpenAI alone. Most of it comes from Codex."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.openai_responses.tools import read_tools
from thinkwire.dialects.shared import own
from thinkwire.errors import Failure
from thinkwire.gateway.ingress.response_history import History
from thinkwire.gateway.ingress.response_tools import Offer
from thinkwire.gateway.ingress.restore_tool_calls import Feed, restore_tool_calls
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Opaque, Turn
from thinkwire.notes import Note
from thinkwire.replay import Destination
from thinkwire.request import Request, Tool, ToolChoice

_PRIVATE = frozenset(
    {
        *("background", "client_metadata", "context_management", "service_tier"),
        *("prompt_cache_options", "prompt_cache_retention", "safety_identifier", "stream_options"),
        "tool_choice",
    }
)
_PRIVATE_REASONING = ("context", "mode")
_ELSEWHERE = {
    "previous_response_id": "Previous response with id {} not found.",
    "conversation": "Conversation {} is not kept here. Send the conversation itself as input.",
    "prompt": "Prompt {} is not kept here. Send its text as instructions.",
}
"""Fields that stand for what the request does not say itself; without it there is no point in asking."""


def from_responses(
    request: Request, to: Destination | None, notes: list[Note]
) -> tuple[Request, Feed | None]:
    """The request for another vendor, and the way back for the calls in its answer."""
    said = own(request.extras, NAME)
    if not _ELSEWHERE.keys().isdisjoint(said):
        _refuse_references(said)
    offer = Offer()
    if request.tools:
        offer.add(request.tools)
    if brought := _brought(request.turns):
        offer.add(brought)
    if offer.left_out:
        named = ", ".join(dict.fromkeys(offer.left_out))
        notes.append(Note("block.dropped", f"tools that only OpenAI runs: {named}"))
    same_wire = to is not None and to.dialect == "openai-responses"
    history = History(offer, same_wire=same_wire)
    turns = tuple([kept for turn in request.turns if (kept := history.turn(turn)) is not None])
    notes += history.notes()
    request = msgspec.structs.replace(request, turns=turns, tools=tuple(offer.tools.values()))
    if request.tool_choice is not None or "tool_choice" in said:
        request = _chosen(request, offer)
    if history.effort is not None:
        request = _with_latest_effort(request, history.effort)
    return (_without_private(request, notes) if same_wire else request), restore_tool_calls(offer.known)


def _refuse_references(said: JsonObject) -> None:
    for field, message in _ELSEWHERE.items():
        if said.get(field) is None:
            continue
        given = said[field].get("id") if isinstance(said[field], dict) else said[field]
        code = "previous_response_not_found" if field == "previous_response_id" else None
        text = message.format(repr(str(given)[:100]))
        raise Failure("bad_request", text, status=400, code=code, param=field).as_error()


def _brought(turns: tuple[Turn, ...]) -> list[Tool | Opaque]:
    """The tools that items of the conversation bring along."""
    tools: list[Tool | Opaque] = []
    for turn in turns:
        for block in turn.blocks:
            if type(block) is Opaque and block.dialect == NAME and isinstance(block.data, dict):
                tools += _tools_in(block.data)
    return tools


def _tools_in(item: JsonObject) -> tuple[Tool | Opaque, ...]:
    """Tools that the client gives in the conversation, or that its search found."""
    tools = item.get("tools")
    if item.get("type") not in ("additional_tools", "tool_search_output") or not isinstance(tools, list):
        return ()
    return read_tools(tools, ("input", "tools"))


def _chosen(request: Request, offer: Offer) -> Request:
    """The choice among the tools by the names that they have now."""
    said = own(request.extras, NAME)
    native = said.get("tool_choice")
    choice = _choice(native, offer) if isinstance(native, dict) else request.tool_choice
    if choice is not None and choice.only:
        choice = msgspec.structs.replace(choice, only=tuple(_renamed(name, offer) for name in choice.only))
    if choice is not None and native is not None:
        rest = {key: value for key, value in said.items() if key != "tool_choice"}
        request = msgspec.structs.replace(request, extras=request.extras | {NAME: rest})
    return msgspec.structs.replace(request, tool_choice=choice)


def _choice(native: JsonObject, offer: Offer) -> ToolChoice | None:
    if native.get("type") == "allowed_tools" and isinstance(native.get("tools"), list):
        names = [name for tool in native["tools"] if (name := _chosen_name(tool, offer))]
        mode: Any = {"required": "any"}.get(str(native.get("mode")), native.get("mode"))
        return ToolChoice(mode, tuple(names)) if names and mode in ("auto", "any") else None
    name = _chosen_name(native, offer)
    return ToolChoice("any", (name,)) if name else None


def _chosen_name(native: Any, offer: Offer) -> str | None:
    if not isinstance(native, dict):
        return None
    kind = str(native.get("type"))
    name = offer.name_of(kind, str(native.get("name") or kind), native.get("namespace"))
    return name if name in offer.tools else None


def _renamed(name: str, offer: Offer) -> str:
    return name if name in offer.tools else offer.flat_of(name)


def _with_latest_effort(request: Request, effort: Any) -> Request:
    """The effort that the conversation set last is the request's."""
    said = own(request.extras, NAME)
    reasoning = said.get("reasoning")
    reasoning = (reasoning if isinstance(reasoning, dict) else {}) | {"effort": effort}
    extras = request.extras | {NAME: said | {"reasoning": reasoning}}
    return msgspec.structs.replace(request, extras=extras)


def _without_private(request: Request, notes: list[Note]) -> Request:
    """On the same wire these fields would go along."""
    said = own(request.extras, NAME)
    private = sorted(_PRIVATE & said.keys())
    kept = {key: value for key, value in said.items() if key not in _PRIVATE}
    reasoning = kept.get("reasoning")
    if isinstance(reasoning, dict):
        private += [f"reasoning.{key}" for key in _PRIVATE_REASONING if key in reasoning]
        kept["reasoning"] = {key: value for key, value in reasoning.items() if key not in _PRIVATE_REASONING}
    if not private:
        return request
    message = f"{', '.join(private)}: for OpenAI alone"
    notes.append(Note("field.dropped", message, detail={"fields": private}))
    return msgspec.structs.replace(request, extras=request.extras | {NAME: kept})
