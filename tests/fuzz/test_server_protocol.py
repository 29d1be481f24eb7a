"""Byte streams against the server's protocol: mutated, pipelined, and cut anywhere."""

from __future__ import annotations

import asyncio
import binascii
import itertools
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.budget import EXAMPLES
from thinkwire.gateway.server.half_close import STATUS_LINE_START
from thinkwire.gateway.server.head_parser import LARGEST_HEAD, MAX_HEADERS
from thinkwire.gateway.server.protocol import MAX_PIPELINED, HttpProtocol, ProtocolFactory

LIMIT = 50_000
ROOM = 10_000_000
"""More than any of these streams needs: which body is refused depends on the reads."""
READ = 70_000
"""Bytes that a transport reads at once, at most."""
UNREAD = 256 * 1024


class FakeTransport:
    """Keeps what is written, and calls back as a loop's transport does."""

    def __init__(self, line: HttpProtocol) -> None:
        self._line = line
        self.written = bytearray()
        self.closing = self.ended = self.paused = False

    def write(self, data: bytes) -> None:
        if not self.closing:
            assert not self.ended, "written after the end"
            self.written += data

    def write_eof(self) -> None:
        assert not self.closing
        self.ended = True

    def close(self) -> None:
        if not self.closing:
            self.closing = True
            asyncio.get_running_loop().call_soon(self._line.connection_lost, None)

    abort = close

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def get_extra_info(self, name: str) -> None:
        return None


async def summing(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the method, the path and a checksum of the body."""
    sum, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        sum, more = binascii.crc32(message["body"], sum), message["more_body"]
    told = f"{scope['method']} {scope['path']!r} {sum}".encode("utf-8", "replace")
    headers = [(b"content-length", b"%d" % len(told))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": told})


async def hasty(scope: Any, receive: Any, send: Any) -> None:
    """Answers without a look at the body."""
    scope["extensions"]["thinkwire.line"].whole(401, [], b"no")


class Driver:
    """One connection, fed piece by piece."""

    def __init__(self, app: Any, limit: int) -> None:
        loop = asyncio.get_running_loop()
        config = SimpleNamespace(
            loaded_app=app, timeout_keep_alive=5, head_seconds=5, body_seconds=5, max_buffered=limit
        )
        self._server = SimpleNamespace(connections=set(), tasks=set(), total_requests=0)
        self.line = ProtocolFactory()(config, self._server, {}, loop)
        self.transport = FakeTransport(self.line)
        self.broken: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: self.broken.append(context))
        self.line.connection_made(cast(Any, self.transport))

    async def settle(self) -> None:
        """Lets everything happen that needs no further bytes."""
        for _ in range(20 + 8 * MAX_PIPELINED):
            before = len(self.transport.written), self._server.total_requests
            for _ in range(6):
                await asyncio.sleep(0)
            if before == (len(self.transport.written), self._server.total_requests):
                return
        raise AssertionError("the connection goes on by itself")

    async def feed(self, piece: bytes) -> None:
        for start in range(0, len(piece), READ):
            if self.transport.closing:
                return
            assert not self.transport.paused, "nothing is served, and nothing is read"
            self.line.data_received(piece[start : start + READ])
            self.check()
            await self.settle()

    def check(self) -> None:
        """What is kept of unfinished requests is bounded."""
        board, reader = self.line._board, self.line._reader
        assert board.memory.held <= board.memory.limit
        assert reader.head_size <= LARGEST_HEAD
        assert not reader.head_size or len(reader._headers) <= MAX_HEADERS
        assert len(self.line._queue or ()) <= MAX_PIPELINED
        assert reader.visit is None or reader.visit._unread <= UNREAD + READ

    async def end(self) -> None:
        """Nothing more comes: the connection must end by itself."""
        for _ in range(6):
            if self.transport.closing:
                break
            self.line.overdue()
            await self.settle()
        assert self.transport.closing
        await self.settle()
        assert not self._server.connections
        assert self.line._board.memory.held == 0
        assert self.broken == []
        for task in self._server.tasks:
            task.cancel()


async def answers(app: Any, pieces: list[bytes], limit: int, *, eof: bool) -> bytes:
    driver = Driver(app, limit)
    for piece in pieces:
        await driver.feed(piece)
    told = bytes(driver.transport.written)
    if eof and not driver.transport.closing and not driver.line.eof_received():
        driver.transport.close()
    await driver.settle()
    await driver.end()
    return told


def run(app: Any, pieces: list[bytes], limit: int = LIMIT, *, eof: bool = False) -> bytes:
    return asyncio.run(answers(app, pieces, limit, eof=eof))


def outcome(*pieces: bytes) -> bytes:
    """The answers. Of two reasons to refuse one request, the one that is seen first depends on the reads."""
    told = run(summing, list(pieces), ROOM)
    return re.sub(rb"HTTP/1.1 4(00|31) .*", b"refused", told, flags=re.DOTALL)


TOKENS = st.sampled_from([b"a", b"x-long", b"Cookie", b"Accept", b"x-api-key"])
VALUES = st.sampled_from([b"", b"1", b"text/plain", b"a, b", b"\xff\xfe", b"v" * 300])
HEADERS = st.lists(st.tuples(TOKENS, VALUES).map(b"%b: %b\r\n".__mod__), max_size=4).map(b"".join)
ODD_HEADERS = st.sampled_from(
    [
        *[b""] * 12,
        *[b"Connection: Upgrade\r\nUpgrade: h2c\r\n"] * 2,
        *(b"Connection: close\r\n", b"Connection: keep-alive\r\n", b"Host: b\r\n", b"Upgrade: x\r\n"),
        *(b"Transfer-Encoding: gzip\r\n", b"Content-Length: -1\r\n", b"x:y\r\n z\r\n"),
        b"Connection: close, upgrade\r\nUpgrade: websocket\r\n",
        b"n: 1\r\n" * (MAX_HEADERS + 1),
        b"big: " + b"b" * (LARGEST_HEAD + 20_000) + b"\r\n",
    ]
)
METHODS = st.sampled_from([*[b"GET", b"POST", b"HEAD", b"DELETE"] * 4, b"CONNECT", b"PRI", b"X"])
TARGETS = st.sampled_from(
    [*[b"/", b"/a%20b?c=d", b"/" + b"p" * 400, b"*"] * 3, b"http://x/y", b"x:80", b"/\xff"]
)
VERSIONS = st.sampled_from([*[b"1.1"] * 12, b"1.0", b"2.0", b"0.9"])
BODIES = st.one_of(st.binary(max_size=60), st.sampled_from([400, 30_000, 60_000, 90_000]).map(b"b".__mul__))


@st.composite
def chunked(draw: Any) -> bytes:
    """A body in chunks, with extensions and trailers."""
    parts = []
    for data in draw(st.lists(st.binary(min_size=1, max_size=40), max_size=5)):
        extension = draw(st.sampled_from([b"", b"", b";a=b", b";" + b"e" * 200]))
        parts.append(b"%x%b\r\n%b\r\n" % (len(data), extension, data))
    trailers = draw(st.sampled_from([b"", b"", b"t: u\r\n", b"x-api-key: k\r\n" * 20, b"t: u\r\n" * 30_000]))
    return b"".join([*parts, b"0\r\n", trailers, b"\r\n"])


@st.composite
def requests(draw: Any) -> bytes:
    first = b"%b %b HTTP/%b\r\n" % (draw(METHODS), draw(TARGETS), draw(VERSIONS))
    head = first + b"Host: x\r\n" + draw(HEADERS) + draw(ODD_HEADERS)
    kind = draw(st.sampled_from(["none", "length", "length", "chunked", "chunked", "short"]))
    if kind == "none":
        return head + b"\r\n"
    if kind == "chunked":
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + draw(chunked())
    body = draw(BODIES)
    length = len(body) + (draw(st.integers(1, 9)) if kind == "short" else 0)
    return head + b"Content-Length: %d\r\n\r\n" % length + body


@st.composite
def streams(draw: Any) -> bytes:
    """Requests one after another, maybe with some bytes changed."""
    wire = bytearray(b"".join(draw(st.lists(requests(), min_size=1, max_size=4))))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        at = draw(st.integers(0, len(wire)))
        wire[at : at + draw(st.integers(0, 3))] = draw(
            st.sampled_from([b"", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b"\0", b":", b"0", b"\xff", b" "])
        )
    return bytes(wire)


@st.composite
def cut_streams(draw: Any) -> tuple[bytes, list[bytes]]:
    wire = draw(streams())
    near = st.integers(0, min(len(wire), 400))
    places = draw(st.lists(st.one_of(near, st.integers(0, len(wire))), max_size=20))
    cuts = sorted({0, *places, len(wire)})
    return wire, [wire[a:b] for a, b in itertools.pairwise(cuts)]


@pytest.mark.full
@settings(max_examples=EXAMPLES, deadline=None)
@given(cut_streams())
def test_any_cut_of_any_bytes_gives_the_same_answers(stream: tuple[bytes, list[bytes]]) -> None:
    wire, pieces = stream
    assert outcome(wire) == outcome(*pieces)


@pytest.mark.full
@settings(max_examples=EXAMPLES, deadline=None)
@given(cut_streams(), st.sampled_from([summing, hasty]), st.booleans())
def test_every_connection_ends_within_its_bounds(
    stream: tuple[bytes, list[bytes]], app: Any, eof: bool
) -> None:
    told = run(app, stream[1], eof=eof)
    assert told == b"" or told.startswith(STATUS_LINE_START)


@pytest.mark.full
@settings(max_examples=EXAMPLES // 20, deadline=None)
@given(streams().filter(lambda wire: len(wire) < 1_500))
def test_byte_by_byte_is_as_good_as_at_once(wire: bytes) -> None:
    assert outcome(wire) == outcome(*[wire[at : at + 1] for at in range(len(wire))])
