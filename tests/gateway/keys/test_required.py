"""Where the gateway needs access keys although there are none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.config.gateway_config import GatewayConfig, Server
from thinkwire.gateway.server.serve import GatewayApp, ServeOptions, serving

pytestmark = pytest.mark.anyio

HOST = "gate.example.com"
PROXIED = [
    {"x-forwarded-for": "203.0.113.7"},
    {"X-Forwarded-Anything": ""},
    {"forwarded": "for=203.0.113.7"},
    {"x-real-ip": "203.0.113.7"},
    {"via": "1.1 proxy"},
]
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/messages": {"model": "kimi-k3", "max_tokens": 64, "messages": [{"role": "user", "content": "x"}]},
    "/v1/chat/completions": {"model": "kimi-k3", "messages": [{"role": "user", "content": "x"}]},
    "/v1/responses": {"model": "kimi-k3", "input": "x"},
    "/v1beta/models/kimi-k3:generateContent": {"contents": [{"role": "user", "parts": [{"text": "x"}]}]},
}


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path / "state"))


@asynccontextmanager
async def gateway(*, auth: bool = False, **server: Any) -> AsyncIterator[tuple[str, GatewayApp]]:
    config = GatewayConfig(server=Server(**server))
    served = GatewayApp(ServeOptions(config, sim=True, auth=auth))
    async with served._opened(), serving(served, config) as url:
        yield url, served


async def ask(url: str, headers: dict[str, str] | None = None) -> dict[str, tuple[int, Any]]:
    found = {}
    async with aiohttp.ClientSession(headers=headers) as session:
        for path, body in REQUESTS.items():
            async with session.post(url + path, json=body) as answer:
                found[path] = (answer.status, await answer.json())
        for path in ("/v1/models", "/metrics"):
            async with session.get(url + path) as answer:
                found[path] = (answer.status, await answer.text())
    return found


def all_need_a_key(found: dict[str, tuple[int, Any]]) -> None:
    for path, (status, body) in found.items():
        assert (path, status) == (path, 401)
        assert "thinkwire keys create NAME" in str(body)
        assert "the Authorization header" in str(body), "nothing of it is taken for a secret"
    # Each in the caller's own dialect.
    assert found["/v1/messages"][1]["type"] == "error"
    assert found["/v1/chat/completions"][1]["error"]["message"]
    assert found["/v1beta/models/kimi-k3:generateContent"][1]["error"]["status"] == "UNAUTHENTICATED"


async def test_with_accounts_the_gateway_needs_a_key_also_while_there_is_none() -> None:
    async with gateway(auth=True) as (url, served):
        all_need_a_key(await ask(url))
        all_need_a_key(await ask(url, {"x-api-key": "any"}))
        async with aiohttp.ClientSession() as session:
            for path in ("/healthz", "/readyz"):
                async with session.get(url + path) as answer:
                    assert answer.status == 200
        made, secret = KeyFile().create("first")
        assert served._gateway is not None
        async with asyncio.timeout(10):
            while not served._gateway.parts.keys.is_current(made.tenant):
                await asyncio.sleep(0.01)
        found = await ask(url, {"x-api-key": secret})
        assert [status for status, _ in found.values()] == [200] * len(found)


async def test_so_it_does_with_allowed_hosts_also_when_they_come_while_it_runs() -> None:
    async with gateway(allowed_hosts=(HOST,)) as (url, _):
        all_need_a_key(await ask(url))
        all_need_a_key(await ask(url, {"host": HOST}))
    async with gateway() as (url, served):
        assert {status for status, _ in (await ask(url)).values()} == {200}
        assert served._gateway is not None
        parts = served._gateway.parts
        parts.configure(msgspec.structs.replace(parts.config, server=Server(allowed_hosts=(HOST,))))
        all_need_a_key(await ask(url))


@pytest.mark.parametrize("headers", PROXIED, ids=lambda headers: next(iter(headers)))
async def test_so_does_whoever_comes_through_a_proxy(headers: dict[str, str]) -> None:
    async with gateway() as (url, _):
        # What was found out about a head without them counts for none with them, and the other way round.
        assert {status for status, _ in (await ask(url)).values()} == {200}
        all_need_a_key(await ask(url, headers))
        assert {status for status, _ in (await ask(url)).values()} == {200}
