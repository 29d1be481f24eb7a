"""The models that can be asked for, in each vendor's own shape."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import msgspec

from thinkwire.catalog import Facts, default_catalog
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import canonical
from thinkwire.gateway.http.errors import JSON
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.pipeline.services import Services
from thinkwire.jsonvalue import JsonObject, dump
from thinkwire.pricing import context_of
from thinkwire.reasoning import parse_name
from thinkwire.reasoning.target import find_target

_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_UNDATED = datetime.date(2026, 1, 1)


class Offer(msgspec.Struct, frozen=True):
    """A name that can be asked for, and what is known about who answers."""

    name: str
    facts: Facts


async def list_models(parts: Services, call: RequestContext, raw: bytes) -> None:
    entries = [entry(offer, call.dialect) for offer in offers(parts, call)]
    match call.dialect:
        case "anthropic":
            ids = [one["id"] for one in entries] or [None]
            body: JsonObject = {"data": entries, "has_more": False, "first_id": ids[0], "last_id": ids[-1]}
        case "gemini":
            body = {"models": entries}
        case _:
            body = {"object": "list", "data": entries}
    await call.outlet.whole(200, JSON, dump(body))


async def one_model(parts: Services, call: RequestContext, raw: bytes) -> None:
    name = call.place.name.removeprefix("models/")
    routed = parts.config.route(name, dialect=call.dialect)
    found = find_target(parse_name(routed.names[0]).name, None, parts.client.providers).found
    if found is None or not call.tenant.may_use(name, parse_name(name).name, found.facts.id):
        raise Refusal(404, "not_found", f"there is no model {name[:200]!r} here")
    await call.outlet.whole(200, JSON, dump(entry(Offer(name, found.facts), call.dialect)))


def offers(parts: Services, call: RequestContext) -> Iterator[Offer]:
    """Aliases first, then every known model of the services that can be asked, under its shortest name."""
    config, providers = parts.config, parts.client.providers
    for alias in config.aliases:
        target = find_target(parse_name(config.route(alias).names[0]).name, None, providers)
        if target.found is not None and call.tenant.may_use(alias):
            yield Offer(alias, target.found.facts)
    open_to = {name for name, provider in providers.items() if parts.client.has_key(provider)}
    for facts in default_catalog():
        if facts.provider not in open_to or "*" in facts.id:
            continue
        full = f"{facts.provider}/{facts.id}"
        name = facts.id if canonical(facts.id) == full else full
        if call.tenant.may_use(name, facts.id, full):
            yield Offer(name, facts)


def entry(offer: Offer, dialect: str) -> JsonObject:
    """One model, as the vendor of this dialect shows its own."""
    match dialect:
        case "anthropic":
            return _anthropic(offer)
        case "gemini":
            return _gemini(offer)
    return _openai(offer)


def _anthropic(offer: Offer) -> JsonObject:
    facts = offer.facts
    ways = {
        "adaptive": facts.mechanism == "adaptive",
        "between_tools": facts.off == "between_tools",
        "disabled": facts.can_be_off,
        "enabled": facts.can_think,
    }
    words = _efforts(facts)
    return {
        "type": "model",
        "id": offer.name,
        "display_name": offer.name,
        "created_at": f"{_released(facts).isoformat()}T00:00:00Z",
        "max_input_tokens": context_of(facts),
        "max_tokens": facts.max_output,
        "capabilities": {
            "thinking": {
                "supported": facts.can_think,
                "types": {way: {"supported": able} for way, able in ways.items()},
            },
            "effort": {"supported": bool(words), **{word: {"supported": word in words} for word in _EFFORTS}},
        },
    }


def _openai(offer: Offer) -> JsonObject:
    """OpenAI's own entries say nothing about reasoning; the field that routers add does."""
    facts = offer.facts
    midnight = datetime.datetime.combine(_released(facts), datetime.time(), datetime.UTC)
    body: JsonObject = {
        "id": offer.name,
        "object": "model",
        "created": int(midnight.timestamp()),
        "owned_by": facts.maker,
        "context_length": context_of(facts),
        "max_output_tokens": facts.max_output,
    }
    if facts.can_think:
        body["reasoning"] = {
            "supported_efforts": list(_efforts(facts)) or None,
            "default_effort": facts.default if facts.default in facts.efforts else None,
            "mandatory": not facts.can_be_off,
            "supports_max_tokens": facts.budget is not None,
        }
    return body


def _gemini(offer: Offer) -> JsonObject:
    facts = offer.facts
    limits: dict[str, Any] = {"inputTokenLimit": context_of(facts), "outputTokenLimit": facts.max_output}
    return {
        "name": f"models/{offer.name}",
        "version": "001",
        "displayName": offer.name,
        "description": f"{facts.maker} {facts.id}",
        **{name: value for name, value in limits.items() if value is not None},
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        "thinking": facts.can_think,
    }


def _efforts(facts: Facts) -> tuple[str, ...]:
    """The words that get through. A budget model takes them all, as budgets."""
    return facts.efforts or (_EFFORTS[:3] if facts.budget is not None else ())


def _released(facts: Facts) -> datetime.date:
    return facts.released or _UNDATED
