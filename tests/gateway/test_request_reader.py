"""What a client can make the server keep or wait for, on real sockets and for any application."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from tests.gateway.connections import at, echo, post, said
from thinkwire.errors import BodyRejected
from thinkwire.gateway.server.head_parser import LARGEST_HEAD, MAX_HEADERS
from thinkwire.gateway.server.protocol import MAX_PIPELINED
from thinkwire.gateway.server.request_body import (
    MAX_FRAMING,
    MAX_TRAILERS,
    MIN_RATE,
    BodyMemory,
    IncomingBody,
)

pytestmark = pytest.mark.anyio

CHUNKED = b"POST /here HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
CLOSE = b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
MOST_SENT = 4 * 1024 * 1024


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(10):
            yield reader, writer
    finally:
        writer.close()


async def refuse(scope: Any, receive: Any, send: Any) -> None:
    """An answer without a look at the body, as for a wrong key."""
    await PlainTextResponse("no", 401)(scope, receive, send)


async def ends_while_sent(port: int, head: bytes, piece: bytes) -> bool:
    """Whether the server ends the connection before `MOST_SENT` bytes have been sent after a head."""
    async with connected(port) as (reader, writer):
        ended = asyncio.ensure_future(reader.read())
        writer.write(head)
        with suppress(ConnectionError):
            for _ in range(MOST_SENT // len(piece)):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)
                if ended.done():
                    break
        found = ended.done()
        ended.cancel()
    return found


@pytest.mark.parametrize("app", [echo, refuse])
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (CHUNKED + b"2\r\n{}\r\n0\r\n", b"x: y\r\n" * 2_000),
        (CHUNKED + b"2\r\n{}\r\n0\r\nx: ", b"y" * 10_000),
        (CHUNKED + b"2;x=", b"y" * 10_000),
    ],
    ids=["trailers", "one trailer", "a chunk extension"],
)
async def test_what_surrounds_a_body_is_bounded(app: Any, head: bytes, piece: bytes) -> None:
    async with at(app) as port:
        assert await ends_while_sent(port, head, piece)


async def test_too_many_trailers_are_refused_and_a_few_are_not() -> None:
    body = CHUNKED + b"2\r\n{}\r\n0\r\n"
    async with at(echo) as port:
        few = await said(port, body + b"x: y\r\n\r\n" + CLOSE)
        many = await said(port, body + b"x: y\r\n" * (MAX_TRAILERS // 6 + 1) + b"\r\n" + CLOSE)
    assert few.count(b"HTTP/1.1 200") == 2
    assert many.startswith(b"HTTP/1.1 431 ")
    assert b"connection: close" in many
    assert many.count(b"HTTP/1.1 ") == 1


async def test_trailers_are_no_headers() -> None:
    seen: list[list[tuple[bytes, bytes]]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["headers"])
        await echo(scope, receive, send)

    async with at(app) as port:
        await said(port, CHUNKED + b"2\r\n{}\r\n", b"0\r\nX-Api-Key: k\r\nHost: evil\r\n\r\n", CLOSE)
    assert seen[0] == [(b"host", b"x"), (b"transfer-encoding", b"chunked")]


@pytest.mark.parametrize(
    "lines",
    [b"X: " + b"a" * LARGEST_HEAD, b"X: a\r\n" * (MAX_HEADERS + 1)],
    ids=["bytes", "headers"],
)
@pytest.mark.parametrize("pieces", [1, 40])
async def test_a_head_that_is_too_large_is_refused_however_it_comes(lines: bytes, pieces: int) -> None:
    wire = b"GET / HTTP/1.1\r\nHost: x\r\n" + lines.rstrip() + b"\r\nConnection: close\r\n\r\n"
    size = -(-len(wire) // pieces)
    async with at(echo) as port:
        told = await said(port, *[wire[at : at + size] for at in range(0, len(wire), size)])
    assert told.startswith(b"HTTP/1.1 431 ")


async def test_a_head_below_the_limits_is_served() -> None:
    few = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 200 + b"Connection: close\r\n\r\n"
    long = b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 60_000 + b"\r\nConnection: close\r\n\r\n"
    async with at(echo) as port:
        for head in (few, long):
            assert (await said(port, head)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("app", [echo, refuse])
async def test_a_body_that_does_not_come_is_not_waited_for(app: Any) -> None:
    async with at(app, body_seconds=0.2) as port:
        told = await said(port, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", b"a")
    assert told.startswith(b"HTTP/1.1 408 " if app is echo else b"HTTP/1.1 401 ")
    assert told.count(b"HTTP/1.1 ") == 1


async def test_a_body_that_comes_byte_by_byte_gets_no_more_time() -> None:
    async with at(echo, body_seconds=0.3) as port, connected(port) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")

        async def trickle() -> None:
            while True:
                writer.write(b"a")
                await asyncio.sleep(0.02)

        trickling = asyncio.ensure_future(trickle())
        try:
            told = await reader.read()
        finally:
            trickling.cancel()
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in told


async def test_the_time_of_a_body_ends_with_the_body() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await asyncio.sleep(0.5)
        await echo(scope, receive, send)

    async with at(slow, body_seconds=0.2) as port, connected(port) as (reader, writer):
        for _ in range(2):
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
            await asyncio.sleep(0.02)
            writer.write(b"a")
            await asyncio.sleep(0.02)
            writer.write(b"b")
            assert (await reader.readuntil(b"b")).startswith(b"HTTP/1.1 200 ")


async def test_a_client_does_not_pay_for_the_time_in_which_nobody_reads() -> None:
    """A body of which more than may lie unread is there already, and an application that is busy."""

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.6)
        await echo(scope, receive, send)

    body = b"x" * 4_000_000
    async with at(busy, body_seconds=0.2) as port:
        told = await said(port, post(body, "Connection: close"))
    assert told.startswith(b"HTTP/1.1 200 ")


def test_a_long_body_goes_on_as_long_as_it_brings_enough() -> None:
    body = IncomingBody(BodyMemory(10**9), 2)
    received = 0
    for _ in range(50):
        received += MIN_RATE * 2
        assert body.add(1, received, kept=True) is None
        assert body.check_pace(kept=True) is None
    assert body.add(1, received + MIN_RATE, kept=True) is None
    rejected = body.check_pace(kept=True)
    assert rejected is not None
    assert rejected.status == 408


def test_nothing_is_waited_for_that_nobody_reads() -> None:
    body = IncomingBody(BodyMemory(10**9), 2)
    body.add(1, MIN_RATE * 100, kept=False)
    assert body.check_pace(kept=False) is not None


def test_framing_counts_until_the_next_byte_of_the_body() -> None:
    body = IncomingBody(BodyMemory(10**9), 2)
    received = 0
    for _ in range(10):
        received += 1
        assert body.add(MAX_FRAMING, received, kept=True) is None
        assert body.add(MAX_FRAMING, received, kept=True) is None
    assert isinstance(body.add(1, received, kept=True), BodyRejected)


LIMIT = 2_000_000


@asynccontextmanager
async def counting(app: Any = echo) -> AsyncIterator[tuple[int, BodyMemory]]:
    """A server whose unfinished bodies may take `LIMIT` bytes, and what they take."""
    found: list[BodyMemory] = []

    async def spy(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope["extensions"]["thinkwire.line"]._line._board.memory)
        await app(scope, receive, send)

    async with at(spy, max_buffered=LIMIT) as port:
        await said(port, CLOSE)
        yield port, found[0]


async def test_unfinished_bodies_take_no_more_memory_than_they_may() -> None:
    size = 900_000
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size
    highest = 0

    async def upload(port: int, hold: asyncio.Event) -> bytes:
        """Keeps its last byte back until it may go on."""
        async with connected(port) as (reader, writer):
            writer.write(head)
            try:
                for _ in range(9):
                    writer.write(b"x" * (size // 9 - 1))
                    await writer.drain()
                await hold.wait()
                writer.write(b"x" * 9)
                start = await reader.readuntil(b"\r\n\r\n")
            except ConnectionError:
                return b""
            if start.startswith(b"HTTP/1.1 200"):
                await reader.readexactly(size)
            return start

    async with counting() as (port, memory):
        hold = asyncio.Event()
        uploads = [asyncio.ensure_future(upload(port, hold)) for _ in range(12)]
        for _ in range(60):
            highest = max(highest, memory.held)
            await asyncio.sleep(0.005)
        small = await said(port, post(b"small", "Connection: close"))
        assert small.startswith(b"HTTP/1.1 200 "), "a request that comes whole needs no room"
        hold.set()
        heads = await asyncio.gather(*uploads)
        assert memory.held == 0
    served = [head for head in heads if head.startswith(b"HTTP/1.1 200 ")]
    refused = [head for head in heads if head.startswith(b"HTTP/1.1 503 ")]
    assert 1 <= len(served) <= 2
    assert refused
    assert all(b"\r\nretry-after: 1\r\n" in head and b"\r\nconnection: close" in head for head in refused)
    assert 0 < highest <= LIMIT + 256 * 1024


async def test_memory_is_given_back_by_those_who_leave_and_those_who_are_refused() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    half = head + b"x" * 500_000
    async with counting() as (port, memory):
        async with connected(port) as (_, writer):
            writer.write(half)
            while memory.held < 500_000:
                await asyncio.sleep(0.002)
        while memory.held:
            await asyncio.sleep(0.002)
    async with counting(refuse) as (port, memory), connected(port) as (reader, writer):
        writer.write(half)
        assert (await reader.readuntil(b"no")).startswith(b"HTTP/1.1 401 ")
        writer.write(b"x" * 400_000)
        await asyncio.sleep(0.05)
        assert memory.held == 0


class Piece:
    """What was read so far; it can be watched."""


async def test_a_refused_body_is_let_go_without_the_collector() -> None:
    kept: list[weakref.ref[Piece]] = []

    async def read(receive: Any) -> None:
        piece = Piece()
        kept.append(weakref.ref(piece))
        while (await receive())["more_body"]:
            pass
        assert piece is not None

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await read(receive)
        except BodyRejected as error:
            await PlainTextResponse("no", error.status)(scope, receive, send)

    slow = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na"
    many = CHUNKED + b"2\r\n{}\r\n0\r\n" + b"x: y\r\n" * MAX_TRAILERS
    gc.collect()
    gc.disable()
    try:
        async with at(app, body_seconds=0.1) as port:
            for wire in (slow, many):
                assert (await said(port, wire)).endswith(b"no")
        assert [piece() for piece in kept] == [None, None]
    finally:
        gc.enable()


async def test_requests_that_wait_on_one_connection_are_bounded() -> None:
    one = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    async with at(echo) as port:
        told = await said(port, one * 1_000)
    assert told.count(b"HTTP/1.1 200 ") == MAX_PIPELINED + 1
    assert told.count(b"HTTP/1.1 429 ") == 1
    assert told.rpartition(b"HTTP/1.1 ")[2].startswith(b"429 ")


async def test_what_is_wrong_does_not_take_the_answer_to_the_request_before_it() -> None:
    async with at(echo) as port:
        told = await said(port, post(b"one") + b"NONSENSE\r\n\r\n")
    assert [part[:3] for part in told.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400"]


async def test_a_body_that_breaks_off_in_nonsense_is_told() -> None:
    async with at(echo) as port:
        told = await said(port, CHUNKED + b"2\r\n{}\r\nnonsense\r\n")
    assert told.startswith(b"HTTP/1.1 400 ")
    assert told.endswith(b"this is not HTTP")


UPGRADE = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"


@pytest.mark.parametrize(
    "wish",
    [
        post(b"the body", UPGRADE),
        CHUNKED[:-2] + UPGRADE.encode() + b"\r\n\r\n8\r\nthe body\r\n0\r\n\r\n",
        post(b"the body", UPGRADE).replace(b"HTTP/1.1", b"HTTP/1.0"),
    ],
    ids=["length", "chunks", "HTTP/1.0"],
)
@pytest.mark.parametrize("size", [1_000_000, 7, 1])
async def test_a_wish_for_another_protocol_is_ignored(wish: bytes, size: int) -> None:
    wire = wish if b"HTTP/1.0" in wish else wish + wish + CLOSE
    async with at(echo) as port:
        told = await said(port, *[wire[at : at + size] for at in range(0, len(wire), size)])
    answers = [part.split(b"\r\n\r\n", 1)[1] for part in told.split(b"HTTP/1.1 200 ")[1:]]
    assert [answer.endswith(b" the body") for answer in answers] == [True, True, False][: len(answers)]
    assert len(answers) == (1 if b"HTTP/1.0" in wish else 3)


async def test_applications_see_which_protocol_was_wished_for() -> None:
    seen: list[dict[bytes, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(dict(scope["headers"]))
        await echo(scope, receive, send)

    head = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close, upgrade\r\nUpgrade: websocket\r\n\r\n"
    async with at(app) as port:
        assert (await said(port, head)).startswith(b"HTTP/1.1 200 ")
    assert seen == [{b"host": b"x", b"connection": b"close", b"upgrade": b"websocket"}]


async def test_a_tunnel_is_not_opened() -> None:
    async with at(refuse) as port:
        told = await said(port, b"CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n" + CLOSE)
    assert told.startswith(b"HTTP/1.1 401 ")
    assert told.count(b"HTTP/1.1 ") == 1
