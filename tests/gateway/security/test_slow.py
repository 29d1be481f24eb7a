"""Clients that open a connection and do not come to the point: closed when their time is over."""

from __future__ import annotations

import asyncio
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
from thinkwire.gateway.config import GatewayConfig
from thinkwire.gateway.serve import settings_for
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


async def test_a_head_without_end_is_refused_before_its_time(provider: Upstream, tmp_path: Path) -> None:
    async with gateway(tmp_path, {"deepseek": provider.url}, config_of(head_seconds=60)) as served:
        heard = await hear(served.url, HALF + b"x" * 100_000)
    assert heard.status in (0, 431)


def test_the_server_is_told_what_the_file_says() -> None:
    config = GatewayConfig.read("[server]\nhead_seconds = 7\n", "gateway.toml")
    assert settings_for(None, config).head_seconds == 7
    assert settings_for(None, GatewayConfig()).head_seconds == 30
