"""Clients that open a connection and do not come to the point: closed when their time is over."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.client.upstream import Upstream, streamed
from tests.gateway.gateways import Served, config_of, gateway
from tests.gateway.security.wire import ASK, PATIENCE, hear, post
from thinkwire.events import Answer
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.server.serve import settings_for
from thinkwire.messages import Text, Turn

pytestmark = pytest.mark.anyio
ANSWER = Answer(Turn("assistant", (Text("Hello."),)), "stop")
HEAD_SECONDS = 0.3
HALF = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@pytest.fixture
async def hasty(provider: Upstream, tmp_path: Path) -> AsyncIterator[Served]:
    """A gateway that waits for no head."""
    config = config_of(head_seconds=HEAD_SECONDS, body_seconds=0.2)
    async with gateway(tmp_path, {"deepseek": provider.url}, config) as one:
        yield one


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        async with asyncio.timeout(PATIENCE):
            yield reader, writer
    finally:
        writer.close()


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    """What comes until the gateway hangs up."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def test_half_a_head_is_not_waited_for(hasty: Served, provider: Upstream) -> None:
    begun = time.monotonic()
    heard = await hear(hasty.url, HALF)
    assert heard.status == 408
    assert time.monotonic() - begun >= HEAD_SECONDS * 0.9
    assert provider.received == []


async def test_a_head_that_comes_letter_by_letter_gets_no_more_time(hasty: Served) -> None:
    async with connected(hasty.url) as (reader, writer):
        writer.write(HALF)

        async def trickle() -> None:
            while True:
                writer.write(b"x")
                await asyncio.sleep(HEAD_SECONDS / 6)

        trickling = asyncio.ensure_future(trickle())
        try:
            heard = await until_closed(reader)
        finally:
            trickling.cancel()
    assert heard == b"" or heard.startswith(b"HTTP/1.1 408 ")


async def test_many_half_heads_leave_no_connection_behind(hasty: Served, provider: Upstream) -> None:
    """The others are served meanwhile."""
    provider.replies = [streamed("openai-chat", ANSWER)]
    slow = [asyncio.ensure_future(hear(hasty.url, HALF)) for _ in range(50)]
    heard = await hear(hasty.url, post(ASK | {"stream": True}))
    assert b"Hello." in heard.raw
    assert {one.status for one in await asyncio.gather(*slow)} == {408}


async def test_the_second_head_on_a_connection_has_its_own_time(hasty: Served, provider: Upstream) -> None:
    provider.replies = [streamed("openai-chat", ANSWER)]
    whole = post(ASK | {"stream": True}).replace(b"Connection: close\r\n", b"")
    async with connected(hasty.url) as (reader, writer):
        writer.write(whole)
        await reader.readuntil(b"\r\n0\r\n\r\n")
        begun = time.monotonic()
        writer.write(HALF)
        assert (await until_closed(reader)).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - begun >= HEAD_SECONDS * 0.9


async def test_a_connection_may_be_quiet_longer_than_a_head_may_take(hasty: Served) -> None:
    """Clients keep connections for their next request."""
    async with connected(hasty.url) as (reader, writer):
        writer.write(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), HEAD_SECONDS * 2)
        writer.write(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")


async def test_a_long_answer_is_not_cut_by_the_time_of_a_head(hasty: Served, provider: Upstream) -> None:
    reply = streamed("openai-chat", ANSWER)
    provider.replies = [reply._replace(delay=HEAD_SECONDS * 2)]
    assert b"Hello." in (await hear(hasty.url, post(ASK | {"stream": True}))).raw


async def test_half_a_head_behind_a_running_answer_does_not_cut_it(hasty: Served, provider: Upstream) -> None:
    provider.replies = [streamed("openai-chat", ANSWER)._replace(delay=HEAD_SECONDS * 2.5)]
    whole = post(ASK | {"stream": True}).replace(b"Connection: close\r\n", b"")
    async with connected(hasty.url) as (reader, writer):
        writer.write(whole + HALF)
        heard = await until_closed(reader)
    assert b"Hello." in heard
    assert b"HTTP/1.1 408 " in heard


async def test_a_body_that_does_not_come_is_not_waited_for(hasty: Served, provider: Upstream) -> None:
    heard = await hear(hasty.url, post(b"{", "Content-Length: 100"))
    assert heard.status == 408
    assert provider.received == []


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses", "gemini"])
async def test_a_slow_body_is_refused_in_the_dialect_and_the_connection_closed(
    hasty: Served, provider: Upstream, dialect: str
) -> None:
    path = {
        "anthropic": "/v1/messages",
        "openai-chat": "/v1/chat/completions",
        "openai-responses": "/v1/responses",
        "gemini": "/v1beta/models/deepseek%2Fdeepseek-v4-pro:generateContent",
    }[dialect]
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Length: 100", "", "{"]
    heard = await hear(hasty.url, "\r\n".join(lines).encode())
    assert heard.status == 408
    assert b"connection: close" in heard.head
    message = json.loads(heard.raw.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert "body_seconds" in message
    record = (await hasty.recorded(1))[0].kind
    assert (record.dialect, record.status) == (dialect, 408)


async def test_bodies_beyond_what_may_be_held_are_refused_in_the_dialect(
    provider: Upstream, tmp_path: Path
) -> None:
    config = config_of(max_body_mb=1, max_buffered_mb=1)
    head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n"
    async with gateway(tmp_path, {"deepseek": provider.url}, config) as served:
        async with connected(served.url) as (one, first), connected(served.url) as (other, second):
            readings = [asyncio.ensure_future(reader.read()) for reader in (one, other)]
            for writer in (first, second):
                writer.write(head + b" " * 700_000)
            done, _ = await asyncio.wait(readings, return_when=asyncio.FIRST_COMPLETED)
            refused, _, body = done.pop().result().partition(b"\r\n\r\n")
            error = json.loads(body)["error"]
        heard = await hear(served.url, post(b"{}"))
    assert refused.startswith(b"HTTP/1.1 529 ")
    assert b"\r\nretry-after: 1" in refused
    assert error["type"] == "overloaded_error"
    assert "max_buffered_mb" in error["message"]
    assert heard.status == 400, "and then there is room again"


async def test_a_head_without_end_is_refused_before_its_time(provider: Upstream, tmp_path: Path) -> None:
    async with gateway(tmp_path, {"deepseek": provider.url}, config_of(head_seconds=60)) as served:
        heard = await hear(served.url, HALF + b"x" * 100_000)
    assert heard.status in (0, 431)


def test_the_server_is_told_what_the_file_says() -> None:
    text = "[server]\nhead_seconds = 7\nbody_seconds = 8\nmax_buffered_mb = 64\n"
    told = settings_for(None, GatewayConfig.read(text, "gateway.toml"))
    assert (told.head_seconds, told.body_seconds, told.max_buffered) == (7, 8, 64 * 2**20)
    plain = settings_for(None, GatewayConfig())
    assert (plain.head_seconds, plain.body_seconds, plain.max_buffered) == (30, 60, 256 * 2**20)


def test_one_body_of_the_largest_size_always_has_room() -> None:
    text = "[server]\nmax_body_mb = 500\nmax_buffered_mb = 1\n"
    assert settings_for(None, GatewayConfig.read(text, "gateway.toml")).max_buffered == 500 * 2**20
