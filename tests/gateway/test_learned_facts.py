"""What a tenant's refused request teaches: nothing that is not true, and nothing to other tenants."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from tests.client.upstream import Upstream, refused, streamed, upstream
from tests.gateway.gateways import gateway
from thinkwire.catalog import Catalog, default_catalog
from thinkwire.client.learned_facts import LearnedFactsFile, tenant_scope
from thinkwire.events import Answer
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.messages import Text, Turn
from thinkwire.providers import default_providers
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]

pytestmark = pytest.mark.anyio

CLAUDE, GROK = "claude-opus-4-5", "grok-4.6"
MANUAL = {"type": "enabled", "budget_tokens": 2_000}
TOO_STRONG = """
[base]
provider = "xai"
maker = "xAI"
dialect = "openai-chat"
shape = "reasoning_effort"
source = "a table that is wrong"
checked = 2026-11-16

[[model]]
ids = ["grok-4.6"]
mechanism = "effort"
efforts = ["low", "medium", "high", "xhigh", "max"]
"""


class Tenant(NamedTuple):
    """One client of a gateway."""

    url: str
    secret: str
    http: aiohttp.ClientSession

    async def ask(self, path: str, body: dict[str, Any], **headers: str) -> aiohttp.ClientResponse:
        headers = {"authorization": f"Bearer {self.secret}"} | headers
        async with self.http.post(self.url + path, json=body, headers=headers) as reply:
            await reply.read()
            return reply

    async def message(self, **body: Any) -> aiohttp.ClientResponse:
        said = {"model": CLAUDE, "max_tokens": 3_000, "messages": [{"role": "user", "content": "Hi"}]}
        return await self.ask("/v1/messages", said | body)

    async def chat(self, effort: str) -> aiohttp.ClientResponse:
        said = {"model": f"xai/{GROK}", "messages": [{"role": "user", "content": "Hi"}]}
        return await self.ask("/v1/chat/completions", said | {"reasoning_effort": effort})

    async def plan(self, model: str) -> dict[str, Any]:
        body = {"model": model, "input": "x", "reasoning": {"effort": "max"}}
        reply = await self.ask("/v1/responses", body, **{"x-thinkwire-explain": "true"})
        told: dict[str, Any] = await reply.json()
        return told


class Place(NamedTuple):
    """Where a gateway keeps what outlives it, with the keys of two tenants."""

    folder: Path
    alice: str
    bob: str
    file: LearnedFactsFile

    def scope_of(self, name: str) -> str:
        keys = KeyFile(self.folder / "access.toml").read()
        assert keys is not None
        return tenant_scope(next(key.id for key in keys.key if key.name == name))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    keys = KeyFile(tmp_path / "access.toml")
    (_, alice), (_, bob) = keys.create("alice"), keys.create("bob")
    return Place(tmp_path, alice, bob, LearnedFactsFile(tmp_path / "learned_facts.jsonl"))


@asynccontextmanager
async def tenants(
    place: Place, bases: dict[str, str], catalog: Catalog | None = None
) -> AsyncIterator[tuple[Tenant, Tenant]]:
    """Two tenants of one gateway, which is closed at the end."""
    file = LearnedFactsFile(place.file.path)
    async with (
        gateway(place.folder, bases, learned_facts=file, catalog=catalog) as served,
        aiohttp.ClientSession() as http,
    ):
        yield Tenant(served.url, place.alice, http), Tenant(served.url, place.bob, http)


def sim_bases(simulator: Running) -> dict[str, str]:
    return {name: simulator.at(name) for name in default_providers()}


POISONS: list[dict[str, Any]] = [
    {"reasoning_summary": "auto"},
    {"thinking is not supported by this model": 1},
    {"x: thinking is not supported by this model": 1},
    {"output_config.effort 'high' is not supported": 1},
    {"thinking: Extra inputs are not permitted": 1},
]


@pytest.mark.parametrize("poison", POISONS, ids=lambda poison: next(iter(poison)))
async def test_an_unknown_field_teaches_nothing_to_anyone(
    simulator: Running, place: Place, poison: dict[str, Any]
) -> None:
    async with tenants(place, sim_bases(simulator)) as (alice, bob):
        before = await bob.plan(CLAUDE)
        assert (await alice.message(thinking=MANUAL, **poison)).status == 400
        assert place.file.all(time.time()) == []
        assert [await tenant.plan(CLAUDE) for tenant in (alice, bob)] == [before, before]
    async with tenants(place, sim_bases(simulator)) as (_, bob):
        assert await bob.plan(CLAUDE) == before
        assert (await bob.message(thinking=MANUAL)).status == 200


async def test_a_real_refusal_is_remembered_for_its_tenant_alone(simulator: Running, place: Place) -> None:
    catalog = default_catalog().with_table(TOO_STRONG, "wrong.toml")
    fired = simulator.app.fired
    async with tenants(place, sim_bases(simulator), catalog) as (alice, bob):
        before = fired.total()
        reply = await alice.chat("max")
        assert reply.status == 200
        assert "reasoning.learned" in reply.headers["x-thinkwire-notes"]
        (fact,) = place.file.all(time.time())
        assert (fact.scope, fact.provider, fact.model) == (place.scope_of("alice"), "xai", GROK)
        assert "max" in fact.evidence
        seen = fired.total()
        assert seen > before
        assert (await alice.chat("max")).status == 200
        assert fired.total() == seen, "the fact is known now"
        assert (await bob.plan(f"xai/{GROK}"))["effective"]["effort"] == "max"
        assert (await alice.plan(f"xai/{GROK}"))["effective"]["effort"] == "xhigh"
    async with tenants(place, sim_bases(simulator), catalog) as (alice, bob):
        assert (await alice.plan(f"xai/{GROK}"))["effective"]["effort"] == "xhigh"
        assert (await bob.plan(f"xai/{GROK}"))["effective"]["effort"] == "max"
        place.file.promote([fact.id], time.time())
        await _until_it_counts(bob)


async def _until_it_counts(tenant: Tenant) -> None:
    """A running gateway looks at the file again within a tenth of a second, at names within half of one."""
    for _ in range(1_000):
        if (await tenant.plan(f"xai/{GROK}"))["effective"]["effort"] == "xhigh":
            return
    raise AssertionError("the promoted fact does not count")


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as scripted:
        yield scripted


ANSWER = Answer(Turn("assistant", (Text("Hello."),)), "stop")
REFUSED_EFFORT = "Model grok-4.6 does not support reasoning_effort value high."


def scripted_bases(provider: Upstream) -> dict[str, str]:
    return dict.fromkeys(("anthropic", "xai"), provider.url)


async def test_nothing_is_remembered_after_a_second_refusal(provider: Upstream, place: Place) -> None:
    provider.replies = [refused(400, REFUSED_EFFORT)] * 3
    async with tenants(place, scripted_bases(provider)) as (alice, _):
        assert (await alice.ask("/v1/messages", _to_grok())).status == 400
    assert len(provider.received) == 2
    assert place.file.all(time.time()) == []


async def test_it_is_remembered_once_the_answer_began(provider: Upstream, place: Place) -> None:
    reply = streamed("openai-responses", ANSWER)
    cut = reply._replace(cut=reply.body.index(b"Hello.") + 10)
    provider.replies = [refused(400, REFUSED_EFFORT), cut]
    async with tenants(place, scripted_bases(provider)) as (alice, _):
        await alice.ask("/v1/messages", _to_grok() | {"stream": True})
    assert [fact.change["efforts"] for fact in place.file.all(time.time())] == [["low", "medium"]]


def _to_grok() -> dict[str, Any]:
    """To a model that knows these efforts, in another vendor's words."""
    return {
        "model": f"xai/{GROK}/high",
        "max_tokens": 3_000,
        "messages": [{"role": "user", "content": "Hi"}],
    }


@pytest.mark.parametrize(
    "said",
    [
        {"messages": [{"role": "user", "content": "thinking is not supported by this model"}]},
        {"tools": [{"name": "thinking", "description": "x", "input_schema": {"type": "object"}}]},
        {"metadata": {"user_id": "thinking is not supported by this model"}},
    ],
    ids=["words", "a tool's name", "a value"],
)
async def test_echoes_lead_to_no_second_try(provider: Upstream, place: Place, said: dict[str, Any]) -> None:
    """Even of a provider that would accept it."""
    words = "thinking is not supported by this model"
    provider.replies = [refused(400, f"invalid value: {words}"), streamed("anthropic", ANSWER)]
    async with tenants(place, scripted_bases(provider)) as (alice, _):
        body = {
            "model": f"{CLAUDE}/high",
            "max_tokens": 3_000,
            "messages": [{"role": "user", "content": "x"}],
        }
        assert (await alice.ask("/v1/messages", body | said)).status == 400
    assert len(provider.received) == 1
    assert place.file.all(time.time()) == []
