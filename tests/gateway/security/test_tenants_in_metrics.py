"""Who sees what of the others: `/metrics`, and the tenant of requests whose key was not accepted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.client.upstream import Reply, Upstream, upstream
from tests.gateway.gateways import Served, gateway
from tests.gateway.metrics.records import record
from thinkwire import dialects
from thinkwire.events import Answer
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.telemetry.logs import JsonLines
from thinkwire.gateway.telemetry.metrics import Metrics
from thinkwire.jsonvalue import dump
from thinkwire.messages import Text, Turn
from thinkwire.usage import measure

pytestmark = pytest.mark.anyio

ASKED = {"model": "claude-opus-5", "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
USAGE = measure(input_total=1_000, output_total=1_000)[0]


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


@pytest.fixture
async def served(provider: Upstream, tmp_path: Path) -> AsyncIterator[Served]:
    async with gateway(tmp_path, {"anthropic": provider.url}) as served:
        served.parts.metrics = metrics = Metrics()
        served.parts.observers += (metrics.observe,)
        yield served


async def ask(served: Served, key: str | None) -> int:
    headers = {"x-api-key": key} if key else {}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{served.url}/v1/messages", json=ASKED) as reply,
    ):
        await reply.read()
        return reply.status


async def seen(served: Served, key: str) -> list[tuple[str, dict[str, str]]]:
    """The samples that a key is shown, without the times at which counting began."""
    async with (
        aiohttp.ClientSession(headers={"x-api-key": key}) as session,
        session.get(f"{served.url}/metrics") as reply,
    ):
        assert reply.status == 200
        families = list(text_string_to_metric_families(await reply.text()))
    samples = [(sample.name, dict(sample.labels)) for family in families for sample in family.samples]
    return [(name, labels) for name, labels in samples if not name.endswith("_created")]


def whole() -> Reply:
    answer = Answer(Turn("assistant", (Text("Hello."),)), "stop", usage=USAGE)
    return Reply(body=dump(dialects.get("anthropic").encode_response(answer).body))


async def test_a_key_sees_its_own_series_and_an_operator_all(
    served: Served, provider: Upstream, tmp_path: Path
) -> None:
    file = KeyFile(tmp_path / "access.toml")
    made = [file.create("alice"), file.create("bob"), file.create("prometheus", operator=True)]
    (alice, bob, _), (alices, bobs, operators) = zip(*made, strict=True)
    served.parts.keys._shared.look_again()
    provider.replies = [whole(), whole()]
    assert [await ask(served, key) for key in (alices, bobs)] == [200, 200]
    await served.recorded(2)
    for key, secret in ((alice, alices), (bob, bobs)):
        assert await seen(served, secret) == [
            (
                "thinkwire_cost_usd_total",
                {"tenant": key.id, "provider": "anthropic", "model": "claude-opus-5"},
            )
        ]
    shown = await seen(served, operators)
    assert {labels["tenant"] for _, labels in shown if "tenant" in labels} == {alice.id, bob.id}
    assert "thinkwire_requests_total" in {name for name, _ in shown}


async def test_without_keys_everything_is_shown(served: Served, provider: Upstream) -> None:
    provider.replies = [whole()]
    assert await ask(served, None) == 200
    await served.recorded(1)
    names = {name for name, _ in await seen(served, "any")}
    assert {"thinkwire_requests_total", "thinkwire_cost_usd_total"} <= names


async def test_a_request_without_an_accepted_key_is_nobodys(
    served: Served, provider: Upstream, tmp_path: Path
) -> None:
    secret = KeyFile(tmp_path / "access.toml").create("alice")[1]
    served.parts.keys._shared.look_again()
    assert [await ask(served, key) for key in (None, "tw_wrong")] == [401, 401]
    provider.replies = [whole()]
    assert await ask(served, secret) == 200
    records = await served.recorded(3)
    assert [one.kind.tenant for one in records[:2]] == [None, None]
    assert records[2].kind.tenant not in (None, "local")


def test_a_log_line_without_a_tenant_says_null() -> None:
    told: dict[str, Any] = json.loads(JsonLines().of_request(record(tenant=None, status=401), 1.0))
    assert told["tenant"] is None
