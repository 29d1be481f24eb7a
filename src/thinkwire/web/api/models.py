"""Models, what they can do, and what thinking about them will send."""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from thinkwire.catalog import Facts, default_catalog
from thinkwire.config import load_settings
from thinkwire.pricing import context_of, price_of
from thinkwire.providers import find_provider
from thinkwire.reasoning.feedback import feedback
from thinkwire.settings import Layer
from thinkwire.web import schemas as shapes
from thinkwire.web.api.session_factory import located, tools_for
from thinkwire.web.request import ApiRequest
from thinkwire.web.state import AppState
from thinkwire.web.thinking import ability, sentence, settings_of

_PATIENCE = 3.0
"""Seconds for which a list waits for MCP servers; whoever asks again finds those that take longer."""


async def list_models(call: ApiRequest) -> shapes.Models:
    """Those that can be asked first, then the newest. Words in `q` must all be found."""
    words = call.query.q.lower().split()
    today = datetime.datetime.now(datetime.UTC).date()
    rows = [facts for facts in default_catalog() if _offered(facts, today) and _found(call.web, facts, words)]
    rows.sort(key=lambda facts: _rank(call.web, facts))
    # The price data takes the better part of a second to load, once.
    keys = {facts.provider: _has_key(call.web, facts.provider) for facts in rows}
    shown = rows[: call.query.limit]
    return shapes.Models(await asyncio.to_thread(lambda: [_model(facts, today, keys) for facts in shown]))


async def plan(call: ApiRequest) -> shapes.PlanAnswer:
    """What a model with these settings would be sent, without sending it."""
    web, body = call.web, call.body
    at = located(web, body.model)
    facts = at.found.facts if at.found else None
    settings = load_settings().with_layer(Layer("session", {"model": body.model}))
    settings = settings.with_layer(Layer("request", settings_of(body.thinking, facts)))
    talk = web.new_talk("")
    talk.settings = settings
    made = talk.plan()
    return shapes.PlanAnswer(
        lines=[line.strip() for line in feedback(made)[1:]],
        notes=[shapes.ToldNote(note.code, note.message) for note in made.notes],
        effective=msgspec.to_builtins(made.effective),
        requested=msgspec.to_builtins(made.requested),
        sentence=sentence(made),
        has_key=web.client.has_key(at.provider),
        thinking=ability(facts) if facts else None,
    )


async def list_tools(call: ApiRequest) -> list[shapes.ToolEntry]:
    """Those of the workspace, and those of MCP servers that can be reached."""
    own = tools_for(call.web, call.owner, is_owner=call.is_owner)
    specs = (*own, *await call.web.servers.tools(_PATIENCE, only_shared=not call.is_owner))
    server_of = call.web.servers.server_of
    return [
        shapes.ToolEntry(spec.name, spec.description, spec.effect, server_of(spec.name)) for spec in specs
    ]


async def list_servers(call: ApiRequest) -> list[shapes.ToolServer]:
    """How the MCP servers are; what is wrong with one is for the local owner and for administrators."""
    web = call.web
    await web.servers.tools(_PATIENCE, only_shared=not call.is_owner)
    told = call.is_owner or (call.user is not None and call.user.admin)
    return [
        shapes.ToolServer(status.name, status.state, status.error if told else None)
        for status in web.servers.status
    ]


def facts_of(web: AppState, model: str | None) -> Facts | None:
    """What is known about a model by its name; ConfigError when nobody has it."""
    found = located(web, model).found if model else None
    return found.facts if found else None


def _offered(facts: Facts, today: datetime.date) -> bool:
    return "*" not in facts.id and (facts.retires is None or facts.retires > today)


def _found(web: AppState, facts: Facts, words: Iterable[str]) -> bool:
    provider = web.client.providers.get(facts.provider)
    if provider is None:
        return False
    text = f"{facts.provider}/{facts.id} {provider.label} {facts.maker}".lower()
    return all(word in text for word in words)


def _rank(web: AppState, facts: Facts) -> tuple[Any, ...]:
    age = -facts.released.toordinal() if facts.released else 0
    own = facts.maker == web.client.providers[facts.provider].label
    return not _has_key(web, facts.provider), not own, age, facts.provider, facts.id


def _has_key(web: AppState, provider: str) -> bool:
    found = web.client.providers.get(provider)
    return found is not None and _asked_lately(web.client, provider, int(time.time() // 5))


@lru_cache(maxsize=512)
def _asked_lately(client: Any, provider: str, moment: int) -> bool:
    """Looking for a key may ask files and a keyring; a list asks a hundred times."""
    return bool(client.has_key(client.providers[provider]))


def _model(facts: Facts, day: datetime.date, keys: dict[str, bool]) -> shapes.Model:
    price = price_of(facts, day)
    known = price.input is not None or price.output is not None
    return shapes.Model(
        name=f"{facts.provider}/{facts.id}",
        provider=facts.provider,
        provider_label=_label(facts),
        model=facts.id,
        context=context_of(facts),
        max_output=facts.max_output,
        price=shapes.ModelPrice(price.input, price.output) if known else None,
        released=str(facts.released) if facts.released else None,
        has_key=keys[facts.provider],
        thinking=ability(facts),
    )


def _label(facts: Facts) -> str:
    found = find_provider(facts.provider)
    return found.label if found else facts.provider
