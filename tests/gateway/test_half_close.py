"""Clients that end their own side of a connection: those that still listen, and those that are gone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.client.upstream import Upstream, streamed, upstream
from tests.gateway.connections import at, echo, post
from tests.gateway.gateways import gateway
from tests.gateway.security.wire import ASK
from tests.gateway.security.wire import post as asking
from thinkwire.events import Answer
from thinkwire.gateway.http.client_response import EXTENSION
from thinkwire.gateway.server.request_cycle import RequestCycle
from thinkwire.messages import Text, Turn

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return "asyncio", {"use_uvloop": request.param}


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(10):
            yield reader, writer
    finally:
        writer.close()


async def half_closed(port: int, *pieces: bytes) -> bytes:
    """What the server says to a client that ends its side after its last piece."""
    async with connected(port) as (reader, writer):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
        return await reader.read()


async def later(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(0.25)
    await echo(scope, receive, send)


@pytest.mark.parametrize("app", [echo, later])
async def test_a_request_that_came_whole_is_answered(app: Any) -> None:
    async with at(app) as port:
        told = await half_closed(port, post(b"one"))
    assert told.startswith(b"HTTP/1.1 200 OK\r\ncontent-length: 18\r\n")
    assert told.endswith(b"\r\n\r\nPOST /here a=b one")


@pytest.mark.parametrize("app", [echo, later])
async def test_requests_that_came_whole_are_answered_and_half_a_one_is_dropped(app: Any) -> None:
    for half in (b"", b"GET / HT", post(b"four")[:-1]):
        async with at(app) as port:
            told = await half_closed(port, post(b"one") + post(b"two") + half)
        answers = told.split(b"HTTP/1.1 200 ")[1:]
        assert [answer.rpartition(b" ")[2] for answer in answers] == [b"one", b"two"]


@pytest.mark.parametrize("half", [b"GET / HT", post(b"four")[:-1]])
async def test_half_a_request_is_dropped(half: bytes) -> None:
    async with at(echo) as port:
        assert await half_closed(port, half) == b""


async def whole_answer(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(0.25)
    scope["extensions"][EXTENSION].whole(200, [], b"word")


async def test_a_whole_answer_is_whole() -> None:
    async with at(whole_answer) as port:
        told = await half_closed(port, post(b"one"))
    assert told == b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nword"


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_stream_goes_on(version: str) -> None:
    began = asyncio.Event()

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        visit: RequestCycle = scope["extensions"][EXTENSION]
        visit.begin(200, [])
        visit.write(b"one")
        began.set()
        await asyncio.sleep(0.3)
        visit.write(b"two")
        visit.put(b"<", b"three", b">")
        visit.end()

    async with at(stream) as port, connected(port) as (reader, writer):
        writer.write(f"GET / HTTP/{version}\r\nHost: x\r\n\r\n".encode())
        await began.wait()
        writer.write_eof()
        body = (await reader.read()).partition(b"\r\n\r\n")[2]
    if version == "1.0":
        assert body == b"onetwo<three>"
    else:
        # The size of a chunk may have zeros in front.
        assert body == b"3\r\none\r\n03\r\ntwo\r\n7\r\n<three>\r\n0\r\n\r\n"


async def silent(scope: Any, receive: Any, send: Any) -> None:
    """Says nothing, or one word and then nothing, until the client has left."""
    visit: RequestCycle = scope["extensions"][EXTENSION]
    left = asyncio.Event()
    visit.on_left = left.set
    if scope["path"] == "/begun":
        visit.begin(200, [])
        visit.write(b"word")
    await left.wait()
    scope["state"]["left"].set()


@pytest.mark.parametrize("path", ["/waiting", "/begun"])
async def test_a_client_that_is_gone_is_noticed_although_nothing_is_said(path: str) -> None:
    gone = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["state"]["left"] = gone
        await silent(scope, receive, send)

    async with at(app) as port:
        # With everything read, so that closing says no more than that nothing more will be sent.
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(client, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            if path == "/begun":
                while not (await loop.sock_recv(client, 65536)).endswith(b"word\r\n"):
                    pass
        await asyncio.wait_for(gone.wait(), 5)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_is_gone_takes_the_upstream_along(tmp_path: Path, stream: bool) -> None:
    answer = Answer(Turn("assistant", (Text("Hello."),)), "stop")
    async with upstream() as provider, gateway(tmp_path, {"deepseek": provider.url}) as served:
        provider.replies = [streamed("openai-chat", answer, stall=20, cut=0)]
        with socket.create_connection(("127.0.0.1", urlsplit(served.url).port or 0)) as client:
            client.setblocking(False)
            await asyncio.get_running_loop().sock_sendall(client, asking(ASK | {"stream": stream}))
            await until_asked(provider)
        await asyncio.wait_for(provider.hung_up.wait(), 5)
        assert (await served.recorded(1))[0].kind.client_left
        assert served.parts.limits.running == 0


async def until_asked(provider: Upstream) -> None:
    async with asyncio.timeout(10):
        while not provider.received:
            await asyncio.sleep(0.005)
