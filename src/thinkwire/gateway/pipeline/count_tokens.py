"""Counting tokens: the vendor's own count where it has one to give, else a marked estimate."""

from __future__ import annotations

import asyncio

from thinkwire import dialects
from thinkwire.client.prepare import ResolvedModel
from thinkwire.context import count
from thinkwire.errors import MalformedInput, ProviderError
from thinkwire.gateway.http.errors import JSON
from thinkwire.gateway.http.headers import HeaderPairs
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.pipeline.request_size import check_request_size
from thinkwire.gateway.pipeline.services import Services
from thinkwire.gateway.pipeline.translate import ClientRequest, intent_for, normalise_request
from thinkwire.gateway.pipeline.upstream import Upstream, resolve_upstream
from thinkwire.gateway.pipeline.vendor_state import check_ids, is_shared
from thinkwire.jsonvalue import JsonObject, dump, parse_object
from thinkwire.replay import plan_replay
from thinkwire.request import Request

ESTIMATED: HeaderPairs = [(b"x-thinkwire-estimated", b"true")]


async def count_tokens(parts: Services, call: RequestContext, raw: bytes) -> None:
    """How many tokens a request has as input."""
    body = parse_object(raw)
    inner = body.get("generateContentRequest")
    inner = inner if isinstance(inner, dict) else body
    check_request_size(raw, inner)
    await parts.limits.check_question(call.tenant)
    meant = resolve_upstream(parts.client, parts.directory.route(call, body).names[0], call.tenant.scope)
    located = meant.located
    call.provider, call.model = located.provider.name, located.model
    if is_shared(call.tenant) and located.destination.dialect == call.dialect:
        await check_ids(call, body, parts.responses, parts.ledger)
    decoded = dialects.get(call.dialect).decode_request(inner)
    understood = normalise_request(decoded, call.place, located.destination)
    request, _ = parts.carrier.open_request(
        understood.request, call.tenant.id, call.dialect, bound=meant.binds_prefix
    )
    tokens = await _counted(parts, meant, understood, request)
    counted = tokens is not None
    if tokens is None:
        # In a thread, because agents ask for dozens of counts at once while other streams run.
        tokens = await asyncio.to_thread(_estimated, located, request)
    estimated = [] if counted else ESTIMATED
    await call.outlet.whole(200, [*JSON, *estimated, *call.answer_headers()], dump(_shape(call, tokens)))


async def _counted(
    parts: Services, meant: Upstream, understood: ClientRequest, request: Request
) -> int | None:
    """The vendor's count; None when it gives none, whatever the reason."""
    if not parts.client.has_key(meant.located.provider):
        return None
    thinking = intent_for(meant, understood.intent)
    asking = parts.client.asking(
        request, model=meant.upstream, thinking=thinking, streamed=False, scope=meant.asking.scope
    )
    try:
        return await parts.client.count_tokens(asking)
    except (ProviderError, MalformedInput):
        return None


def _estimated(located: ResolvedModel, request: Request) -> int:
    """What would be sent, weighed."""
    return count(
        plan_replay(request.turns, located.destination).turns,
        model=located.model,
        system=request.system,
        tools=request.tools,
        output=request.output,
        thinking=located.destination.thinking,
    ).total


def _shape(call: RequestContext, tokens: int) -> JsonObject:
    match call.dialect:
        case "gemini":
            return {"totalTokens": tokens}
        case "openai-responses":
            return {"object": "response.input_tokens", "input_tokens": tokens}
    return {"input_tokens": tokens}
