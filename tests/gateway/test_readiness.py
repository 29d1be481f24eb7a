"""`/readyz`: what is checked, how failures read, and that probing costs little."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.gateway.test_beside import SIGNED_IN, TOKEN
from tests.postgres import PostgreSQL, postgres
from tests.redis import running
from tests.support import ROOT
from thinkwire.gateway.common.backoff import retry_delays
from thinkwire.gateway.config.gateway_config import GatewayConfig, LedgerSettings, LimitSettings
from thinkwire.gateway.ledger import retry as retrying
from thinkwire.gateway.server import web_mount as beside
from thinkwire.gateway.server.serve import GatewayApp, ServeOptions, serving
from thinkwire.gateway.telemetry.checks import RedisCheck, check_database_file, check_folder
from thinkwire.gateway.telemetry.readiness import NotReady, Readiness
from thinkwire.messages import Thinking, Turn
from thinkwire.store.store import migrate

__all__ = ["postgres"]
pytestmark = pytest.mark.anyio

QUESTION = {"model": "kimi-k3", "messages": [{"role": "user", "content": "[[think:Hm.]] [[say:Yes.]]"}]}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries at once, and reports that are never reused."""
    for module in (beside, retrying):
        monkeypatch.setattr(module, "retry_delays", lambda: itertools.repeat(0.02))
    monkeypatch.setattr("thinkwire.gateway.pipeline.services.Readiness", lambda: Readiness(max_age=0))


@asynccontextmanager
async def running_server(config: GatewayConfig, **orders: Any) -> AsyncIterator[tuple[str, GatewayApp]]:
    served = GatewayApp(ServeOptions(config, sim=True, **orders))
    async with serving(served, config) as url:
        yield url, served


async def readyz(url: str) -> tuple[int, dict[str, str], str]:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/readyz") as reply:
        assert reply.content_type == "application/json"
        text = await reply.text()
        return reply.status, json.loads(text)["checks"], text


async def until_ready(url: str, wanted: int = 200) -> dict[str, str]:
    async with asyncio.timeout(20):
        while True:
            status, states, _ = await readyz(url)
            if status == wanted:
                return states
            await asyncio.sleep(0.02)


class Gate:
    """A port that refuses connections until it is opened, and then leads to another one."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            for writer in tuple(self._open):
                writer.transport.abort()
            await self._server.wait_closed()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._open |= {writer, back}
        await asyncio.gather(_copy(reader, back), _copy(there, writer))
        self._open -= {writer, back}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@pytest.fixture
async def gate(postgres: PostgreSQL) -> AsyncIterator[Gate]:
    """A closed gate before PostgreSQL."""
    gate = Gate(postgres.port)
    await gate.open()
    await gate.close()
    yield gate
    await gate.close()


async def ok() -> None:
    return


def failing(error: Exception) -> Callable[[], Awaitable[None]]:
    async def check() -> None:
        raise error

    return check


async def test_a_report_lists_every_check_and_hides_the_causes(caplog: pytest.LogCaptureFixture) -> None:
    readiness = Readiness()
    readiness.add("good", ok)
    secret = "no database at db.internal for ada in /var/lib/x with password hunter2"
    readiness.add("bad", failing(OSError(secret)))
    refusal = NotReady("the disk is full")
    refusal.__cause__ = OSError(secret)
    readiness.add("full", failing(refusal))
    with caplog.at_level(logging.WARNING):
        report = await readiness.report()
    assert not report.is_ready
    assert json.loads(report.body) == {
        "status": "not ready",
        "checks": {"bad": "cannot be used", "full": "the disk is full", "good": "ok"},
    }
    assert caplog.text.count("hunter2") == 2, "the operator is told the cause"


async def test_checks_run_at_once_and_one_that_hangs_is_not_started_again() -> None:
    started = 0
    hang = asyncio.Event()

    async def hanging() -> None:
        nonlocal started
        started += 1
        await hang.wait()

    meeting = asyncio.Barrier(2)

    async def meets() -> None:
        await meeting.wait()

    readiness = Readiness(timeout=0.2, max_age=0)
    readiness.add("a", meets)
    readiness.add("b", meets)
    readiness.add("hanging", hanging)
    for _ in range(3):
        report = await readiness.report()
        assert report.checks == {"a": "ok", "b": "ok", "hanging": "no answer in time"}
    assert started == 1
    hang.set()
    await asyncio.sleep(0)
    assert (await readiness.report()).is_ready
    hang.clear()
    await readiness.report()
    await readiness.aclose()
    assert not readiness._pending


async def test_many_probes_cost_one_round_of_checks() -> None:
    runs = 0
    now = 0.0

    async def counted() -> None:
        nonlocal runs
        runs += 1
        await asyncio.sleep(0)

    readiness = Readiness(clock=lambda: now)
    readiness.add("counted", counted)
    await asyncio.gather(*(readiness.report() for _ in range(100)))
    for _ in range(100):
        await readiness.report()
    assert runs == 1
    now = 1.5
    await readiness.report()
    assert runs == 2


async def test_a_prober_that_leaves_does_not_stop_the_check() -> None:
    going, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        going.set()
        await go_on.wait()

    readiness = Readiness()
    readiness.add("slow", slow)
    leaving = asyncio.ensure_future(readiness.report())
    staying = asyncio.ensure_future(readiness.report())
    await going.wait()
    leaving.cancel()
    go_on.set()
    assert (await staying).is_ready


async def test_folders_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await check_folder(tmp_path)
    assert not list(tmp_path.iterdir()), "probing leaves nothing behind"
    with pytest.raises(NotReady, match="not writable"):
        await check_folder(tmp_path / "gone")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1_000_000))
    with pytest.raises(NotReady, match="the disk is full"):
        await check_folder(tmp_path)


async def test_database_files_are_checked_and_never_made(tmp_path: Path) -> None:
    path = tmp_path / "spending.db"
    await check_database_file(path, "spending")
    assert not path.exists()
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(NotReady, match="cannot be read"):
        await check_database_file(path, "spending")


@pytest.mark.needs("redis")
async def test_redis_is_checked() -> None:
    with running() as server:
        check = RedisCheck(server.url)
        await check()
    with pytest.raises(NotReady, match="no answer"):
        await check()
    await check.aclose()


async def test_a_gateway_tells_what_fails(state: Path, quick: None) -> None:
    async with running_server(GatewayConfig()) as (url, _):
        status, states, text = await readyz(url)
        assert status == 200
        assert states == {"disk": "ok", "ledger": "ok", "limits": "ok", "responses": "ok"}
        async with aiohttp.ClientSession() as session, session.head(f"{url}/readyz") as reply:
            assert (reply.status, await reply.read()) == (200, b"")
        (state / "spending.db").write_bytes(b"damaged" * 1000)
        shutil.move(state, f"{state}-away")
        status, states, text = await readyz(url)
        assert status == 503
        assert states["disk"] == "not writable"
        assert str(state) not in text
        shutil.move(f"{state}-away", state)
        status, states, text = await readyz(url)
        assert (status, states["disk"], states["limits"]) == (503, "ok", "cannot be read")
        async with aiohttp.ClientSession() as session, session.get(f"{url}/healthz") as health:
            assert health.status == 200


@pytest.mark.needs("redis")
async def test_redis_may_go_away(state: Path, quick: None) -> None:
    with running() as server:
        config = GatewayConfig(ledger=LedgerSettings(url=server.url), limits=LimitSettings(url=server.url))
        context = running_server(config)
        url, _ = await context.__aenter__()
        status, _, _ = await readyz(url)
        assert status == 200
    try:
        status, states, text = await readyz(url)
        assert status == 503
        assert states == {
            "disk": "ok",
            "ledger": "cannot be used",
            "limits": "no answer",
            "responses": "cannot be used",
        }
        assert str(server.path) not in text
    finally:
        await context.__aexit__(None, None, None)


@pytest.mark.needs("postgresql")
async def test_a_ledger_in_postgresql_that_is_down_at_the_start_is_opened_later(
    state: Path, quick: None, postgres: PostgreSQL, gate: Gate
) -> None:
    name = postgres.database().rpartition("/")[2]
    address = f"postgresql://postgres@127.0.0.1:{gate.port}/{name}"
    config = GatewayConfig(ledger=LedgerSettings(url=address))
    async with running_server(config) as (url, served), aiohttp.ClientSession() as session:
        states = await until_ready(url, 503)
        assert states["ledger"] == states["responses"] == "cannot be used"
        async with session.post(f"{url}/v1/chat/completions", json=QUESTION) as reply:
            assert reply.status == 200, "a request needs no ledger"
        await gate.open()
        assert set((await until_ready(url)).values()) == {"ok"}
        assert served._gateway is not None
        ledger = served._gateway.parts.ledger
        assert ledger is not None
        assert await ledger.remember("t", "u", Turn("assistant", (Thinking("Kept."),)))
        await gate.close()
        await until_ready(url, 503)
        await gate.open()
        await until_ready(url)


@pytest.mark.needs("postgresql")
async def test_the_web_app_comes_once_postgresql_is_there(
    state: Path,
    quick: None,
    postgres: PostgreSQL,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    direct = postgres.database()
    await migrate(direct, "head")
    monkeypatch.setenv(
        "THINKWIRE_DATABASE_URL",
        f"postgresql://postgres:hunter2@127.0.0.1:{gate.port}/{direct.rpartition('/')[2]}",
    )
    monkeypatch.setenv("THINKWIRE_WEB_TOKEN", TOKEN)
    async with (
        running_server(GatewayConfig(), web=True) as (url, _),
        aiohttp.ClientSession(headers=SIGNED_IN) as session,
    ):
        async with session.get(f"{url}/api/me") as reply:
            text = await reply.text()
            assert reply.status == 503
            assert reply.headers["retry-after"]
        for private in (str(gate.port), "127.0.0.1", "postgres", "hunter2"):
            assert private not in text
        assert (await readyz(url))[1]["web"] == "cannot be opened"
        assert "trying again in" in caplog.text
        assert "hunter2" not in caplog.text
        await gate.open()
        assert set((await until_ready(url)).values()) == {"ok"}
        async with session.get(f"{url}/api/me") as reply:
            assert reply.status == 200
        await gate.close()
        assert (await until_ready(url, 503))["web"] == "cannot be used"
        await gate.open()
        await until_ready(url)


async def test_a_damaged_store_stays_where_it_is_and_the_web_app_comes_once_it_is_whole(
    state: Path,
    quick: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("THINKWIRE_DATA", str(tmp_path / "data"))
    path = tmp_path / "data" / "thinkwire.db"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"not a database" * 1000)
    async with running_server(GatewayConfig(), web=True) as (url, _):
        async with asyncio.timeout(20):
            while (await readyz(url))[1]["web"] != "cannot be opened":
                await asyncio.sleep(0.02)
        assert path.read_bytes() == b"not a database" * 1000
        assert "restore a copy" in caplog.text
        path.unlink()
        await until_ready(url)
    assert {one.name for one in path.parent.iterdir()} == {"thinkwire.db"}


async def test_a_server_that_ends_does_not_wait_for_the_next_attempt(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "retry_delays", lambda: itertools.repeat(3600))
    monkeypatch.setenv("THINKWIRE_DATABASE_URL", "nonsense://nowhere")
    async with asyncio.timeout(20), running_server(GatewayConfig(), web=True) as (url, _):
        await until_ready(url, 503)


def test_delays_grow_up_to_a_limit() -> None:
    assert list(itertools.islice(retry_delays(1, 5), 5)) == [1, 2, 4, 5, 5]


def test_the_documented_body_is_the_real_one() -> None:
    text = (ROOT / "docs" / "gateway-operations.md").read_text()
    assert '{"status":"ready","checks":{"disk":"ok","ledger":"ok","limits":"ok","responses":"ok"}}' in text
