"""A kept connection may be gone when it is used again: that is mended unseen; nothing else is sent twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.client.talks import Talk, read_request, server
from thinkwire.errors import ProviderError
from thinkwire.http import Http, Timeouts
from thinkwire.lean import LeanHttp

pytestmark = pytest.mark.anyio

WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Script:
    """Answers the requests of each connection with the next words; none ends the connection."""

    def __init__(self, *connections: list[bytes]) -> None:
        self._connections = list(connections)
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

        return talk


@pytest.fixture(params=["general", "lean"])
async def http(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if request.param == "lean":
        pytest.importorskip("httptools")
    one: Any = (
        LeanHttp(connect=2, first_byte=5, idle=5)
        if request.param == "lean"
        else Http(Timeouts(connect=2, first_byte=5, idle=5))
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
