"""What a provider keeps under the gateway's key, and who may name it: responses, their items, containers.

All tenants share the provider's account, so an id that one of them got from it would work for every other. A
request of a tenant with an access key may name only what that tenant made through this gateway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from thinkwire.errors import Failure
from thinkwire.events import Answer
from thinkwire.gateway.auth.keys import LOCAL, Tenant
from thinkwire.gateway.ledger import Ledger
from thinkwire.gateway.ledger.restore import native_items
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.responses.store import ResponseStore
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Opaque

RESPONSES, MESSAGES = "openai-responses", "anthropic"
_NATIVE = {RESPONSES: "openai_responses", MESSAGES: "anthropic"}
_WHOLE = {"reasoning": "encrypted_content", "image_generation_call": "result"}
"""Items that the provider looks up by their id, unless this field of theirs has the content."""


def is_shared(tenant: Tenant) -> bool:
    """Whether there may be other tenants, so that ids must be checked."""
    return tenant.id != LOCAL.id


def named_ids(body: JsonObject, dialect: str) -> Iterator[tuple[str, str]]:
    """The ids of what the provider keeps that a request names, each with the parameter it stands in."""
    if dialect == MESSAGES:
        yield from _id_in(body, "container")
    if dialect != RESPONSES:
        return
    yield from _id_in(body, "previous_response_id")
    yield from _id_in(body, "conversation")
    given = body.get("input")
    for at, item in enumerate(given if isinstance(given, list) else ()):
        if isinstance(item, dict) and (found := _referred(item)) is not None:
            yield found, f"input[{at}]"
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            yield from _id_in(tool, "container")
            yield from _id_in(tool.get("environment"), "container_id")


def _id_in(holder: Any, name: str) -> Iterator[tuple[str, str]]:
    """An id in a field, or in the `id` of the object there."""
    value = holder.get(name) if isinstance(holder, dict) else None
    found = value.get("id") if isinstance(value, dict) else value
    if _is_id(found):
        yield found, name


def _referred(item: JsonObject) -> str | None:
    """The id that an input item stands for, if it does not bring its own content."""
    kind, found = item.get("type"), item.get("id")
    if kind == "mcp_approval_response":
        found = item.get("approval_request_id")
    elif kind is None:
        found = None if "role" in item else found
    elif not isinstance(kind, str):
        found = None
    elif kind in _WHOLE:
        found = None if item.get(_WHOLE[kind]) else found
    elif kind != "item_reference":
        found = None
    return found if _is_id(found) else None


def _is_id(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and value != ""


def made_ids(answer: Answer, dialect: str) -> list[str]:
    """The ids of what the provider keeps of an answer, the response's first."""
    origin, native = answer.turn.origin, _NATIVE.get(dialect)
    if native is None:
        return []
    found: dict[str, None] = {}
    if dialect == RESPONSES and origin is not None and origin.response_id:
        found[origin.response_id] = None
        found |= dict.fromkeys(native_items(answer.turn))
        for block in answer.turn.blocks:
            data = block.data if isinstance(block, Opaque) else block.extras.get(native)
            if isinstance(data, dict):
                found |= dict.fromkeys(
                    one for name in ("id", "container_id") if _is_id(one := data.get(name))
                )
    found |= dict.fromkeys(one for one, _ in _id_in(answer.extras.get(native), "container"))
    return list(found)


async def check_ids(
    call: RequestContext, body: JsonObject, responses: ResponseStore | None, ledger: Ledger | None
) -> None:
    """Refuse a request that names what its tenant did not make: 404, in the words of the API."""
    tenant, named = call.tenant.id, dict(named_ids(body, call.dialect))
    if not named:
        return
    owned = await responses.owned(tenant, named) if responses is not None else set()
    unknown = [one for one in named if one not in owned]
    if unknown and ledger is not None:
        known = await ledger.known_items(tenant, unknown)
        unknown = [one for one in unknown if one not in known]
    if not unknown:
        return
    param = named[unknown[0]]
    message = (
        f"{param}: {unknown[0][:100]!r} was not made with this access key through this gateway, or is not "
        "known here any more (that needs [ledger] enabled); send the content instead of its id"
    )
    failure = Failure("not_found", message, status=404, code="previous_response_not_found", param=param)
    raise failure.as_error()
