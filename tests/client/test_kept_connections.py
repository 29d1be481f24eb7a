"""A kept connection may be gone when it is used again: that is mended unseen; nothing else is sent twice."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest

import thinkwire.transport.aiohttp_transport
from tests.client.talks import Talk, read_request, server
from thinkwire.client.engine import Client
from thinkwire.errors import ProviderError
from thinkwire.transport import pool as lean
from thinkwire.transport.aiohttp_transport import AiohttpTransport, Timeouts
from thinkwire.transport.pool import HttptoolsTransport

pytestmark = pytest.mark.anyio

WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Script:
    """Answers the requests of each connection with the next words; none ends the connection."""

    def __init__(self, *connections: list[bytes], reset: bool = False) -> None:
        """With `reset` a connection ends with a TCP reset, once its last words could be read."""
        self._connections = list(connections)
        self._reset = reset
        self.heard: list[bytes] = []
        self.opened = 0

    def talk(self) -> Talk:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            words = self._connections[self.opened]
            self.opened += 1
            for word in words:
                _, body = await read_request(reader)
                self.heard.append(body)
                writer.write(word)
                await writer.drain()
            if self._reset:
                for _ in range(10):
                    # Both ends live in this loop, so the other one has read by then.
                    await asyncio.sleep(0)
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()

        return talk


@pytest.fixture(params=["general", "lean"])
async def http(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if request.param == "lean":
        pytest.importorskip("httptools")
    one: Any = (
        HttptoolsTransport(connect=2, first_byte=5, idle=5)
        if request.param == "lean"
        else AiohttpTransport(Timeouts(connect=2, first_byte=5, idle=5))
    )
    yield one
    await one.aclose()


async def post(http: Any, url: str, body: bytes) -> bytes:
    async with http.post(url, {}, body) as reply:
        return bytes(await reply.read())


async def test_a_kept_connection_that_was_closed_is_replaced(http: Any) -> None:
    script = Script([WHOLE, b""], [WHOLE, WHOLE])
    async with server(script.talk()) as url:
        for body in (b"one", b"two", b"three"):
            assert await post(http, url, body) == b"ok"
    assert script.heard == [b"one", b"two", b"two", b"three"]
    assert script.opened == 2


async def test_a_new_connection_that_brings_nothing_is_lost(http: Any) -> None:
    script = Script([b""], [WHOLE])
    async with server(script.talk()) as url:
        with pytest.raises(ProviderError) as caught:
            await post(http, url, b"one")
        assert caught.value.failure.kind == "connection_lost"
        assert script.heard == [b"one"], "it may have been heard, so it is not said again"


async def test_it_is_tried_again_once(http: Any) -> None:
    script = Script([WHOLE, b""], [b""], [WHOLE])
    async with server(script.talk()) as url:
        await post(http, url, b"one")
        with pytest.raises(ProviderError):
            await post(http, url, b"two")
    assert script.heard == [b"one", b"two", b"two"]


async def test_an_answer_that_began_is_not_asked_for_again(http: Any) -> None:
    script = Script([WHOLE, WHOLE[:-1]], [WHOLE])
    async with server(script.talk()) as url:
        await post(http, url, b"one")
        with pytest.raises(ProviderError) as caught:
            await post(http, url, b"two")
    assert caught.value.failure.kind == "connection_lost"
    assert script.heard == [b"one", b"two"]


@pytest.mark.parametrize("begun", [b"H", b"HTTP/1.1 20", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"])
@pytest.mark.parametrize("reset", [False, True])
async def test_a_request_whose_answer_began_in_any_way_is_not_sent_again(
    http: Any, begun: bytes, reset: bool
) -> None:
    script = Script([WHOLE, begun], [WHOLE], reset=reset)
    async with server(script.talk()) as url:
        await post(http, url, b"one")
        with pytest.raises(ProviderError) as caught:
            await post(http, url, b"two")
    assert caught.value.failure.kind == "connection_lost"
    assert script.heard == [b"one", b"two"]


async def test_a_kept_connection_that_was_reset_is_replaced(http: Any) -> None:
    script = Script([WHOLE, b""], [WHOLE], reset=True)
    async with server(script.talk()) as url:
        assert [await post(http, url, body) for body in (b"one", b"two")] == [b"ok", b"ok"]
    assert script.heard == [b"one", b"two", b"two"]


async def test_a_request_that_the_provider_had_time_to_work_on_is_not_sent_again(
    http: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lean, "STALE", -1)
    monkeypatch.setattr(thinkwire.transport.aiohttp_transport, "STALE", -1)
    script = Script([WHOLE, b""], [WHOLE])
    async with server(script.talk()) as url:
        await post(http, url, b"one")
        with pytest.raises(ProviderError):
            await post(http, url, b"two")
    assert script.heard == [b"one", b"two"]


async def test_without_reuse_a_request_is_sent_once(http: Any) -> None:
    script = Script([WHOLE, b""], [b""], [WHOLE])
    async with server(script.talk()) as url:
        await post(http, url, b"one")
        with pytest.raises(ProviderError):
            await http.ask(url, {}, b"two", reuse=False)
    assert script.heard == [b"one", b"two"]


@pytest.mark.parametrize("retries", [0, 1, 2])
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_request_is_sent_no_more_often_than_configured(
    http: Any, retries: int, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider dies silently: a kept connection is closed, then every new one. What replaces the kept one
    counts as a retry; without retries it is the only one.
    """
    monkeypatch.setattr("thinkwire.client.attempt.random.uniform", lambda *_: 0)
    answer = b'{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}'
    whole = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(answer), answer)
    script = Script([whole, b""], *([b""] for _ in range(9)))
    async with server(script.talk()) as url:
        client = Client(
            keys={"anthropic": "key"}, bases={"anthropic": url}, retries=retries, learned_facts=False
        )
        await client._http.aclose()
        client._http = http
        await client.complete("Hi", model="claude-opus-5", streamed=False)
        with pytest.raises(ProviderError) as caught:
            await client.complete("Hi", model="claude-opus-5", streamed=streamed)
    assert caught.value.failure.kind == "connection_lost"
    assert len(script.heard) == 1 + max(1 + retries, 2)


async def test_a_retry_takes_a_new_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another idle one could be closed as well, which would use up the retry or send the request again."""
    pytest.importorskip("httptools")
    monkeypatch.setattr("thinkwire.client.attempt.random.uniform", lambda *_: 0)
    answer = b'{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}'
    whole = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(answer), answer)
    busy = b"HTTP/1.1 529 Busy\r\ncontent-length: 0\r\n\r\n"
    script = Script([busy, b""], [whole])
    async with server(script.talk()) as url:
        client = Client(keys={"anthropic": "key"}, bases={"anthropic": url}, retries=1, learned_facts=False)
        await client.complete("Hi", model="claude-opus-5", streamed=False)
        await client.aclose()
    assert (script.opened, len(script.heard)) == (2, 2)
