"""Upstreams that send too much, too long, or nothing that is needed: both transports stay bounded."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.client.talks import CHUNKED, Cup, answering, read_request, server
from thinkwire.errors import ProviderError
from thinkwire.transport import response_body
from thinkwire.transport.aiohttp_transport import AiohttpTransport, Timeouts
from thinkwire.transport.pool import HttptoolsTransport
from thinkwire.wire.compression import LARGEST_STEP

pytestmark = pytest.mark.anyio

MB = 1024 * 1024
END = b"3\r\nend\r\n"
"""The last bytes that a reader wants."""
BOMB = 48 * MB
"""Bytes that some 50 KB become."""


class Flood:
    """Answers with `start`, then repeats `more` until the client closes or `limit` bytes are sent."""

    def __init__(
        self, start: bytes, more: bytes, *, end: bytes = b"", pause: float = 0, limit: int = 64 * MB
    ) -> None:
        self._start, self._more, self._end = start, more, end
        self._pause, self._limit = pause, limit
        self.sent = 0
        self.closed = asyncio.Event()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        try:
            writer.write(self._start)
            while self.sent < self._limit:
                writer.write(self._more)
                await writer.drain()
                self.sent += len(self._more)
                await asyncio.sleep(self._pause)
            writer.write(self._end)
            await reader.read()
        finally:
            self.closed.set()


Make = Callable[..., Any]


@pytest.fixture(params=["general", "lean"])
async def make(request: pytest.FixtureRequest) -> AsyncIterator[Make]:
    """Makes a transport; all are closed at the end."""
    if request.param == "lean":
        pytest.importorskip("httptools")
    made: list[Any] = []

    def one(**settings: Any) -> Any:
        lean = request.param == "lean"
        waits = {"connect": 2, "first_byte": 5, "idle": 5}
        made.append(
            HttptoolsTransport(**waits, **settings)
            if lean
            else AiohttpTransport(Timeouts(**waits), **settings)
        )
        return made[-1]

    yield one
    for http in made:
        await http.aclose()


async def failure_of(reading: Any) -> Any:
    with pytest.raises(ProviderError) as caught:
        await asyncio.wait_for(reading, 10)
    return caught.value.failure


def gzipped(body: bytes, *, encoding: bytes = b"gzip") -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\ncontent-length: %d\r\n\r\n" % (encoding, len(body))
    return head + body


@pytest.mark.parametrize("pause", [0.05, 0])
async def test_draining_ends_although_the_upstream_goes_on(make: Make, pause: float) -> None:
    flood = Flood(CHUNKED + END, b"4\r\n: x\n\r\n", pause=pause)
    async with server(flood.talk) as url, make().post(url, {}, b"") as reply:
        assert await anext(reply.chunks())
        await asyncio.wait_for(reply.drain(), 5)
        reply.close()
        await asyncio.wait_for(flood.closed.wait(), 5)


@pytest.mark.parametrize("pause", [0.05, 0])
async def test_pouring_ends_in_its_time_although_the_upstream_goes_on(make: Make, pause: float) -> None:
    flood = Flood(CHUNKED + END, b"4\r\n: x\n\r\n", pause=pause)
    async with server(flood.talk) as url, make().post(url, {}, b"") as reply:
        failure = await failure_of(reply.pour(Cup(10**9, wanted=10**12), within=0.2))
        assert failure.kind == "timed_out"


async def test_the_deadline_holds_for_an_upstream_that_never_pauses(make: Make) -> None:
    flood = Flood(CHUNKED, b"1000\r\n" + b"x" * 4096 + b"\r\n")
    async with server(flood.talk) as url:
        until = asyncio.get_running_loop().time() + 0.3
        async with make().post(url, {}, b"", until=until) as reply:

            async def read() -> None:
                async for _ in reply.chunks():
                    pass

            assert (await failure_of(read())).kind == "timed_out"


@pytest.mark.parametrize(
    "more",
    [b"x-more: 1\r\n" * 400, b"".join(b"x-%d: 1\r\n" % number for number in range(400)), b"x" * 4096],
    ids=["repeated", "different", "one-line"],
)
async def test_trailers_are_bounded(make: Make, more: bytes) -> None:
    """They end at some time, so without a bound this would be a whole answer."""
    flood = Flood(CHUNKED + END + b"0\r\nx: 1", more, end=b"\r\n\r\n", limit=2 * MB)
    async with server(flood.talk) as url:

        async def read() -> bytes:
            async with make().post(url, {}, b"") as reply:
                return bytes(await reply.read())

        assert (await failure_of(read())).kind == "connection_lost"


async def test_trailers_do_not_change_the_headers() -> None:
    pytest.importorskip("httptools")
    answer = CHUNKED.replace(b"\r\n\r\n", b"\r\nx-a: 1\r\n\r\n") + END + b"0\r\nx-a: 2\r\nx-b: 3\r\n\r\n"
    http = HttptoolsTransport()
    async with server(answering(answer)) as url:
        for _ in range(2):
            async with http.post(url, {}, b"") as reply:
                assert await reply.read() == b"end"
                assert (reply.headers["x-a"], "x-b" in reply.headers) == ("1", False)
        assert [len(kept) for kept in http._free.values()] == [1]
        await http.aclose()


async def test_a_chunk_extension_is_bounded() -> None:
    pytest.importorskip("httptools")
    flood = Flood(CHUNKED + END + b"3;a=", b"x" * 4096, end=b"\r\nabc\r\n0\r\n\r\n", limit=2 * MB)
    http = HttptoolsTransport()
    async with server(flood.talk) as url:
        async with http.post(url, {}, b"") as reply:
            assert (await failure_of(reply.read())).kind == "connection_lost"
        await http.aclose()


async def test_compressed_blocks_without_content_are_bounded(make: Make) -> None:
    empty = zlib.compressobj(wbits=31)
    start = empty.compress(b"") + empty.flush(zlib.Z_FULL_FLUSH)
    block = b"\x00\x00\x00\xff\xff" * 2000
    answer = CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
    chunk = b"%x\r\n%b\r\n" % (len(block), block)
    end = b"%x\r\n%b\r\n0\r\n\r\n" % (len(tail := empty.flush()), tail)
    flood = Flood(answer + b"%x\r\n%b\r\n" % (len(start), start), chunk, end=end, limit=2 * MB)
    async with server(flood.talk) as url, make().post(url, {}, b"") as reply:
        assert (await failure_of(reply.read())).kind == "connection_lost"


async def test_a_bomb_comes_in_small_pieces_and_lets_others_work(make: Make) -> None:
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    packed = gzip.compress(bytes(BOMB), 6)
    async with server(answering(gzipped(packed))) as url, make().post(url, {}, b"") as reply:
        working = asyncio.ensure_future(work())
        sizes = [len(piece) async for piece in reply.chunks()]
        working.cancel()
    assert max(sizes) <= LARGEST_STEP
    assert sum(sizes) == BOMB
    assert turns >= len(sizes) // 2


async def test_a_poured_bomb_waits_for_its_sink(make: Make) -> None:
    packed = gzip.compress(bytes(BOMB), 6)
    held = 0

    class Slow(Cup):
        def take(self, piece: bytes) -> bool:
            nonlocal held
            assert not self.congested
            assert len(piece) <= LARGEST_STEP
            held += len(piece)
            self.congested = True
            return True

    async with server(answering(gzipped(packed))) as url, make().post(url, {}, b"") as reply:
        await reply.pour(Slow(1, wanted=0))
    assert held == BOMB


async def test_a_bomb_in_one_piece_is_given_up(make: Make) -> None:
    packed = gzip.compress(bytes(BOMB), 6)
    async with (
        server(answering(gzipped(packed))) as url,
        make(max_response=4 * MB).post(url, {}, b"") as reply,
    ):
        failure = await failure_of(reply.read())
        assert (failure.kind, failure.code) == ("protocol", "response_too_large")
        assert "larger than 4 MB" in failure.message
        assert "max_response_bytes" in failure.message


async def test_an_endless_body_is_given_up(make: Make) -> None:
    flood = Flood(CHUNKED, b"10000\r\n" + b" " * 65536 + b"\r\n")
    async with server(flood.talk) as url:
        async with make(max_response=MB).post(url, {}, b"") as reply:
            failure = await failure_of(reply.read())
        assert failure.code == "response_too_large"
        await asyncio.wait_for(flood.closed.wait(), 5)
    assert flood.sent < 32 * MB


async def test_a_body_at_the_limit_is_whole(make: Make) -> None:
    body = b"x" * 1000
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + body
    async with server(answering(answer)) as url:
        async with make(max_response=1000).post(url, {}, b"") as reply:
            assert await reply.read() == body
        async with make(max_response=999).post(url, {}, b"") as reply:
            assert (await failure_of(reply.read())).code == "response_too_large"


REFUSED = CHUNKED.replace(b"200 OK", b"503 Busy")


@pytest.mark.parametrize("pause", [0.02, 0])
async def test_of_an_endless_refusal_the_beginning_is_kept(
    make: Make, pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_body, "_REFUSAL_SECONDS", 0.3)
    flood = Flood(REFUSED + b"6\r\nbusy: \r\n", b"1000\r\n" + b"x" * 4096 + b"\r\n", pause=pause)
    async with server(flood.talk) as url, make().post(url, {}, b"") as reply:
        body = await asyncio.wait_for(reply.read(), 5)
        assert reply.status == 503
        assert body.startswith(b"busy: xxx")
        assert len(body) <= MB


async def test_a_refusal_that_breaks_off_keeps_its_status(make: Make) -> None:
    answer = answering(REFUSED + b"6\r\nbusy: \r\n", close=True)
    async with server(answer) as url, make().post(url, {}, b"") as reply:
        assert (reply.status, await reply.read()) == (503, b"busy: ")


@pytest.mark.parametrize("size", [1, 2, 7, 100_000])
@pytest.mark.parametrize("padding", [b"", b"\0" * 9])
async def test_all_members_of_a_gzip_body_are_read(make: Make, size: int, padding: bytes) -> None:
    body = gzip.compress(b"one, ") + padding + gzip.compress(b"") + gzip.compress(b"two") + padding
    answer = CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
    for start in range(0, len(body), size):
        chunk = body[start : start + size]
        answer += b"%x\r\n%b\r\n" % (len(chunk), chunk)
    async with server(answering(answer + b"0\r\n\r\n")) as url, make().post(url, {}, b"") as reply:
        assert await reply.read() == b"one, two"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        (b"gzip", gzip.compress(b"abc")[:-1]),
        (b"gzip", gzip.compress(b"abc") + b"garbage"),
        (b"gzip", gzip.compress(b"abc") + gzip.compress(b"def")[:-9]),
        (b"deflate", zlib.compress(b"abc")[:-5]),
        (b"deflate", zlib.compress(b"abc") + b"x"),
        (b"br", b"abc"),
    ],
    ids=["gzip-short", "gzip-garbage", "gzip-second-short", "deflate-short", "deflate-garbage", "unknown"],
)
async def test_a_broken_compressed_body_is_a_failure_that_says_so(
    make: Make, encoding: bytes, body: bytes
) -> None:
    async with server(answering(gzipped(body, encoding=encoding))) as url:

        async def read() -> bytes:
            async with make().post(url, {}, b"") as reply:
                return bytes(await reply.read())

        failure = await failure_of(read())
        assert failure.kind == "connection_lost"
        assert any(word in failure.message for word in ("compressed", "encoding"))


async def test_idle_connections_are_closed_without_another_request(make: Make) -> None:
    opened = closed = 0
    all_open, all_closed = asyncio.Event(), asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened, closed
        await read_request(reader)
        opened += 1
        if opened == 20:
            all_open.set()
        await all_open.wait()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await reader.read()
        closed += 1
        if closed == 20:
            all_closed.set()

    async with server(talk) as url:
        http = make(kept=0.2)

        async def one() -> None:
            async with http.post(url, {}, b"") as reply:
                assert await reply.read() == b"ok"

        await asyncio.gather(*(one() for _ in range(20)))
        await asyncio.wait_for(all_closed.wait(), 10)


async def test_a_connection_in_use_outlives_the_idle_ones() -> None:
    """The timer looks at each connection's own time, and goes on until none is left."""
    pytest.importorskip("httptools")
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    async with server(answering(answer)) as url:
        http = HttptoolsTransport(kept=0.2)
        opened = [await http.ask(url, {}, b"") for _ in range(3)]
        for reply in opened:
            await reply.read()
        busy, *idle = opened
        for reply in idle:
            reply.close()
        while http._free:
            await asyncio.sleep(0.01)
        busy.close()
        assert [len(kept) for kept in http._free.values()] == [1]
        while http._free:
            await asyncio.sleep(0.01)
        assert http._closer is None
        await http.aclose()


async def test_a_header_that_is_repeated_without_an_end_is_no_head() -> None:
    pytest.importorskip("httptools")
    head = b"HTTP/1.1 200 OK\r\n" + b"a: 123456\r\n" * 10_000 + b"content-length: 0\r\n\r\n"
    http = HttptoolsTransport()
    async with server(answering(head)) as url:
        assert (await failure_of(http.ask(url, {}, b""))).kind == "connection_lost"
        await http.aclose()


def test_a_key_is_not_shown_where_a_refusal_was_cut_through_it() -> None:
    secret = b"sk-secret-0123456789"
    body = response_body.WholeBody(500, 10**9, secret)
    assert body.add(b"x" * 100 + secret + b"y" * 100 + secret[:12])
    body.end_early(ProviderError.__new__(ProviderError))
    joined = body.joined()
    assert joined.startswith(b"x" * 100 + b"[hidden]" + b"y" * 50)
    assert b"sk-" not in joined
