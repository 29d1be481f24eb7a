"""The web app beside the gateway: one port, and each gets its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner

from thinkwire.cli.app import app
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.config.gateway_config import GatewayConfig, Server
from thinkwire.gateway.http import routes as paths
from thinkwire.gateway.server import web_mount as beside
from thinkwire.gateway.server.serve import GatewayApp, ServeOptions, serving
from thinkwire.gateway.server.web_mount import is_page

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("method", "path", "page"),
    [
        ("GET", "/", True),
        ("HEAD", "/", False),
        ("GET", "/agents", True),
        ("GET", "/assets/index.js", True),
        ("GET", "/api/me", True),
        ("POST", "/api/conversations", True),
        ("DELETE", "/api/agents/x", True),
        ("HEAD", "/api/hello", False),
        ("GET", "/healthz", False),
        ("GET", "/metrics", False),
        ("POST", "/v1/messages", False),
        ("GET", "/v1/models", False),
        ("GET", "/v1/nothing", False),
        ("POST", "/chat/completions", False),
        ("POST", "/models/a/b:generateContent", False),
        ("POST", "/somewhere", False),
    ],
)
def test_whose_request_it_is(method: str, path: str, page: bool) -> None:
    assert is_page(method, path) is page


TOKEN = "the-start-token-of-the-tests"
SIGNED_IN = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    monkeypatch.setenv("THINKWIRE_WEB_TOKEN", TOKEN)


@pytest.fixture
async def url() -> AsyncIterator[str]:
    config = GatewayConfig()
    served = GatewayApp(ServeOptions(config, sim=True, web=True))
    async with served._opened(), serving(served, config) as url:
        yield url


async def test_both_answer_on_one_port(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/api/me") as me:
            assert me.status == 401
        async with session.get(f"{url}/api/me", headers=SIGNED_IN) as me:
            assert (await me.json())["simulated"] is True
        async with session.get(f"{url}/") as page:
            assert page.status in (200, 503)  # 503 says how to build it
            assert "thinkwire" in await page.text()
        body = {"model": "kimi-k3", "messages": [{"role": "user", "content": "[[say:Both.]]"}]}
        async with session.post(f"{url}/v1/chat/completions", json=body) as answer:
            assert (await answer.json())["choices"][0]["message"]["content"] == "Both."


@pytest.mark.parametrize(
    ("database", "private"),
    [
        ("nonsense://nowhere", ["nowhere"]),
        ("postgresql://anna:secret@127.0.0.1:1/store", ["anna", "127.0.0.1", "/store"]),
        ("sqlite:////dev/null/of/mine/web.db", ["of/mine"]),
    ],
)
async def test_a_web_app_that_cannot_be_opened_says_so_and_no_more_and_the_gateway_serves(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, database: str, private: list[str]
) -> None:
    monkeypatch.setenv("THINKWIRE_DATABASE_URL", database)
    config = GatewayConfig()
    served = GatewayApp(ServeOptions(config, sim=True, web=True))
    async with served._opened(), serving(served, config) as url, aiohttp.ClientSession() as session:
        async with session.get(f"{url}/api/me") as me:
            assert me.status == 503
            text = await me.text()
        assert "log" in text
        assert not [words for words in private if words in text]
        async with session.get(f"{url}/healthz") as health:
            assert health.status == 200
    assert private[0] in caplog.text


@asynccontextmanager
async def both() -> AsyncIterator[tuple[str, GatewayApp, aiohttp.ClientSession]]:
    config = GatewayConfig()
    served = GatewayApp(ServeOptions(config, sim=True, web=True))
    async with (
        served._opened(),
        serving(served, config) as url,
        aiohttp.ClientSession(headers=SIGNED_IN) as session,
    ):
        async with session.get(f"{url}/api/me") as me:
            assert me.status == 200
        yield url, served, session


async def off(url: str, session: aiohttp.ClientSession) -> str:
    """Why the web app is off, once it is: keys are looked for ten times a second."""
    async with asyncio.timeout(10):
        while True:
            async with session.get(f"{url}/api/me") as me:
                if me.status == 503:
                    error = (await me.json())["error"]
                    assert error["kind"] == "web_off"
                    return str(error["message"])
            await asyncio.sleep(0.02)


async def test_access_keys_made_while_it_runs_switch_the_web_app_off() -> None:
    async with both() as (url, _, session):
        KeyFile().create("first")
        assert "access keys" in await off(url, session)
        async with session.get(f"{url}/healthz") as health:
            assert health.status == 200


async def test_hosts_allowed_while_it_runs_switch_the_web_app_off() -> None:
    async with both() as (url, served, session):
        assert served._gateway is not None
        allowed = GatewayConfig(server=Server(allowed_hosts=("gate.example.com",)))
        served._gateway.parts.configure(allowed)
        assert "--auth" in await off(url, session)


def test_beyond_this_machine_people_must_log_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    made = CliRunner().invoke(app, ["keys", "create", "somebody"])
    assert made.exit_code == 0, made.output
    refused = CliRunner().invoke(app, ["serve", "--host", "0.0.0.0", "--port", "0", "--sim"])
    assert refused.exit_code == 1
    assert "--auth" in refused.output


def test_paths_that_nobody_asks_for_twice_do_not_fill_the_memory() -> None:
    before = [known._usual.cache_info().currsize for known in (paths, beside)]
    assert is_page("GET", "/" + "a" * 60_000)
    assert not is_page("POST", "/v1/models/" + "a" * 60_000 + ":generateContent")
    assert [known._usual.cache_info().currsize for known in (paths, beside)] == before
