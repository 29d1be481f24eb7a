"""Responses of every kind, mutated and cut anywhere, against the upstream connection.

The network is fake and time is virtual: a timeout costs nothing, and a reader that waits for nothing is seen.
"""

from __future__ import annotations

import asyncio
import gzip
import selectors
import zlib
from collections import deque
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.client.talks import Cup
from tests.fuzz.budget import EXAMPLES
from thinkwire.errors import ProviderError
from thinkwire.transport.connection import Connection
from thinkwire.transport.pool import Endpoint, HttptoolsTransport

pytest.importorskip("httptools")
pytestmark = pytest.mark.full

MOST_TURNS = 100_000
URL = "http://127.0.0.1:1/v1"
NEXT = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnext"
"""What every request after the tested one is answered."""
KINDS = {"connection_lost", "timed_out", "protocol"}
PLACES = 4
MAX_RESPONSE = 20_000


class VirtualSelector(selectors.DefaultSelector):
    """Lets time pass instead of waiting."""

    now = 0.0
    turns = 0

    def select(self, timeout: float | None = None) -> Any:
        self.turns += 1
        assert self.turns < MOST_TURNS, "the loop spins"
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen again"
            self.now += max(timeout, 0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = VirtualSelector()
        self.errors: list[dict[str, Any]] = []
        super().__init__(self.selector)
        self.set_exception_handler(lambda _, context: self.errors.append(context))

    def time(self) -> float:
        return self.selector.now


class Script(NamedTuple):
    """What a provider sends for one request, and how it ends: `eof`, `reset` or `open`."""

    pieces: list[bytes]
    ending: str


class FakeTransport(asyncio.Transport):
    """Plays the next script for every request; pieces come one by one, while reading is not paused."""

    def __init__(self, connection: Connection, scripts: deque[Script], requests: list[bytes]) -> None:
        super().__init__()
        self._connection = connection
        self._scripts = scripts
        self._requests = requests
        self._coming: deque[bytes | str] = deque()
        self._paused = self._closed = False

    def write(self, data: Any) -> None:
        self._requests.append(bytes(data))
        script = self._scripts.popleft() if self._scripts else Script([NEXT], "open")
        self._coming.extend([*script.pieces, script.ending])
        self._go_on()

    def _go_on(self) -> None:
        asyncio.get_running_loop().call_soon(self._play)

    def _play(self) -> None:
        if self._paused or self._closed or not self._coming:
            return
        coming = self._coming.popleft()
        if isinstance(coming, bytes):
            self._connection.data_received(coming)
        elif coming != "open":
            self._closed = True
            if coming == "eof":
                self._connection.eof_received()
            self._connection.connection_lost(ConnectionResetError() if coming == "reset" else None)
        self._go_on()

    @property
    def done(self) -> bool:
        return self._closed or self._paused or not self._coming

    def is_closing(self) -> bool:
        return self._closed

    def abort(self) -> None:
        if not self._closed:
            self._closed = True
            asyncio.get_running_loop().call_soon(self._connection.connection_lost, None)

    def pause_reading(self) -> None:
        assert not self._closed
        self._paused = True

    def resume_reading(self) -> None:
        assert not self._closed
        self._paused = False
        self._go_on()


class FakeHttp(HttptoolsTransport):
    """The real pool on fake transports."""

    def __init__(self, scripts: deque[Script]) -> None:
        super().__init__(connect=1, first_byte=600, idle=300, connections=PLACES, max_response=MAX_RESPONSE)
        self._scripts = scripts
        self.requests: list[bytes] = []
        self.transports: list[FakeTransport] = []

    async def _opened(self, place: Endpoint, until: float) -> Connection:
        connection = Connection()
        self.transports.append(FakeTransport(connection, self._scripts, self.requests))
        connection.connection_made(self.transports[-1])
        return connection


class Response(NamedTuple):
    """A response as it should be: its bytes, what they mean, and whether only a closed connection ends it."""

    wire: bytes
    status: int
    body: bytes
    supported: bool = True
    until_closed: bool = False

    def __repr__(self) -> str:
        return f"<{self.status}, {len(self.body)} bytes, sent as {self.wire[:300]!r} ({len(self.wire)})>"


def _packed(draw: Any, body: bytes) -> tuple[bytes, str]:
    encoding = draw(st.sampled_from(["", "", "identity", "gzip", "gzip", "deflate", "raw", "br"]))
    if encoding == "gzip":
        cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=3)))
        members = [body[a:b] for a, b in pairwise([0, *cuts, len(body)])]
        padding = bytes(draw(st.integers(0, 2)))
        return b"".join(gzip.compress(member, mtime=0) + padding for member in members), "gzip"
    if encoding == "deflate":
        return zlib.compress(body), "deflate"
    if encoding == "raw":
        return zlib.compress(body)[2:-4], "deflate"
    return body, encoding


def _chunked(draw: Any, body: bytes) -> bytes:
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(body) - 1)), max_size=4))) if body else []
    extension = draw(st.sampled_from([b"", b";a=1", b';q="x"']))
    chunks = [body[a:b] for a, b in pairwise([0, *cuts, len(body)])]
    trailers = draw(st.sampled_from([b"", b"x-t: 1\r\n", b"content-encoding: gzip\r\nx-u: 2\r\n"]))
    told = b"".join(b"%x%b\r\n%b\r\n" % (len(chunk), extension, chunk) for chunk in chunks if chunk)
    return told + b"0\r\n" + trailers + b"\r\n"


@st.composite
def responses(draw: Any) -> Response:
    status = draw(st.sampled_from([200, 200, 200, 400, 503]))
    size = draw(st.sampled_from([0, 1, 40, 700, 5_000, 30_000, 600_000]))
    seed = draw(st.binary(min_size=1, max_size=20))
    body = (seed * size)[:size]
    packed, encoding = _packed(draw, body)
    framing = draw(st.sampled_from(["length", "chunked", "close", "http/1.0"]))
    version = b"1.0" if framing == "http/1.0" else b"1.1"
    head = b"HTTP/%b %d X\r\ncontent-type: text/event-stream\r\n" % (version, status)
    if encoding:
        head += b"content-encoding: %b\r\n" % encoding.encode()
    if framing == "length":
        wire = head + b"content-length: %d\r\n\r\n" % len(packed) + packed
    elif framing == "chunked":
        wire = head + b"transfer-encoding: chunked\r\n\r\n" + _chunked(draw, packed)
    else:
        wire = head + b"\r\n" + packed
    interim = st.sampled_from([b"100 Continue\r\n", b"103 Hints\r\nlink: </x>\r\n"])
    before = draw(st.lists(interim, max_size=2))
    wire = b"".join(b"HTTP/1.1 " + line + b"\r\n" for line in before) + wire
    return Response(wire, status, body, encoding != "br", framing in ("close", "http/1.0"))


class Wire(bytes):
    """Bytes that show their beginning only."""

    def __repr__(self) -> str:
        return f"{bytes(self[:300])!r} ({len(self)} bytes)"


@st.composite
def mutations(draw: Any) -> Wire:
    """A response with some bytes cut off, changed, put in or repeated."""
    wire: bytes = draw(responses()).wire
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(wire)))
        match draw(st.sampled_from(["cut", "change", "insert", "repeat", "length"])):
            case "cut":
                wire = wire[:at]
            case "change":
                wire = wire[:at] + draw(st.binary(min_size=1, max_size=2)) + wire[at + 1 :]
            case "insert":
                junk = draw(st.sampled_from([b"\r\n", b"0\r\n\r\n", b"\0", b"HTTP/1.1 200 OK\r\n\r\n", b"f"]))
                wire = wire[:at] + junk + wire[at:]
            case "repeat":
                wire = wire[:at] + wire[max(0, at - 30) :]
            case "length":
                others = [b"content-length: 1", b"x: ", b"transfer-encoding: chunked\r\nx: "]
                wire = wire.replace(b"content-length: ", draw(st.sampled_from(others)))
    return Wire(wire)


def cut(wire: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(wire), *(place % (len(wire) + 1) for place in cuts)})
    return [wire[a:b] for a, b in pairwise(places)]


class Outcome(NamedTuple):
    """A body, or the kind of the failure instead."""

    body: bytes | None
    kind: str = ""
    refused: bool = False


async def read(http: FakeHttp, how: str, room: int) -> Outcome:
    cup = Cup(room, wanted=10**12)
    try:
        reply = await http.ask(URL, {}, b"{}", sink=cup if how == "early" else None)
        try:
            if how == "whole":
                return Outcome(await reply.read(), refused=reply.status >= 400)
            if how == "chunks":
                return Outcome(b"".join([piece async for piece in reply.chunks()]))
            await reply.pour(cup)
            return Outcome(cup.held)
        finally:
            await reply.drain()
            reply.close()
    except ProviderError as error:
        return Outcome(None, error.failure.kind)


async def exchange(script: Script, *, how: str, room: int, warm: bool) -> tuple[Outcome, FakeHttp]:
    """The outcome for one script. What comes after it on the same connections must be untouched by it."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    http = FakeHttp(deque([*([Script([NEXT], "open")] if warm else []), script]))
    if warm:
        assert await read(http, "whole", 1) == Outcome(b"next")
    outcome = await read(http, how, room)
    while not all(transport.done for transport in http.transports):
        await asyncio.sleep(0)
    assert await read(http, "chunks", 1) == Outcome(b"next")
    resent = len(http.requests) - 2 - warm
    assert resent in (0, 1)
    if resent:
        assert warm
        assert not b"".join(script.pieces)
        assert script.ending != "open"
    await http.aclose()
    assert all(transport.is_closing() for transport in http.transports)
    assert http._room._free == PLACES
    assert loop.errors == []
    return outcome, http


def run(script: Script, *, how: str, room: int = 1, warm: bool = False) -> Outcome:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(exchange(script, how=how, room=room, warm=warm))[0]


bounded = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
cuts = st.lists(st.integers(0, 10_000), max_size=8)
ways = st.sampled_from(["whole", "chunks", "pour", "early"])
endings = st.sampled_from(["eof", "reset", "open"])


@bounded
@given(responses(), cuts, ways, endings, st.integers(1, 3), st.booleans())
def test_a_good_response_is_its_body(
    response: Response, cuts: list[int], how: str, ending: str, room: int, warm: bool
) -> None:
    outcome = run(Script(cut(response.wire, cuts), ending), how=how, room=room, warm=warm)
    whole = response.supported and (ending == "eof" or not response.until_closed)
    if how == "whole" and response.status >= 400:
        # A beginning is enough of a refusal.
        assert outcome.body is None or response.body.startswith(outcome.body)
        assert outcome.body == response.body or not whole or len(response.body) > MAX_RESPONSE
    elif how == "whole" and len(response.body) > MAX_RESPONSE:
        assert outcome.kind in KINDS
    elif whole:
        assert outcome.body == response.body
    else:
        assert outcome.kind in KINDS


@bounded
@given(mutations(), cuts, ways, endings, st.booleans())
@example(Wire(b""), [], "whole", "eof", True)
@example(Wire(b""), [], "early", "reset", True)
def test_whatever_comes_is_a_body_or_a_failure_and_the_same_however_it_is_cut(
    wire: Wire, cuts: list[int], how: str, ending: str, warm: bool
) -> None:
    in_one = run(Script([wire] if wire else [], ending), how=how, warm=warm)
    in_pieces = run(Script(cut(wire, cuts) if wire else [], ending), how=how, warm=warm)
    if in_one.refused:
        # Of a refusal that breaks off, the beginning that was there counts.
        shorter, longer = sorted((in_one.body or b"", in_pieces.body or b""), key=len)
        assert longer.startswith(shorter)
        assert in_pieces.refused
    else:
        # A body that is too large and broken as well may fail for either.
        assert in_one.body == in_pieces.body
    for outcome in (in_one, in_pieces):
        assert (outcome.body is None) == (outcome.kind in KINDS)
