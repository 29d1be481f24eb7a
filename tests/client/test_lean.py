"""The lean connection does what the general client does: the same faults, the same ends, fewer steps."""

from __future__ import annotations

import asyncio
import gc
import gzip
import ssl
import subprocess
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client.test_chaos import BROKEN, HARMLESS, MODELS
from thinkwire import lean
from thinkwire.client import Client
from thinkwire.connection import Connection
from thinkwire.errors import ConfigError, ProviderError
from thinkwire.events import Answer
from thinkwire.providers import default_providers
from thinkwire.sim.app import Simulator
from thinkwire.sim.chaos import Chaos
from thinkwire.sim.server import serving

pytest.importorskip("httptools")
pytestmark = pytest.mark.anyio

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]


@asynccontextmanager
async def server(talk: Talk, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that treats each connection as `talk` does; gives its address."""
    talking: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talking.add(task)
        try:
            await talk(reader, writer)  # type: ignore[misc]
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            talking.discard(task)
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    scheme = "https" if context else "http"
    try:
        yield f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()
        for task in list(talking):
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
        await asyncio.sleep(0)


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
    return head, await reader.readexactly(length)


def answering(*writes: bytes, close: bool = False) -> Talk:
    """Answers every request on a connection with the same bytes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            for data in writes:
                writer.write(data)
                await writer.drain()
            if close:
                return

    return talk


@asynccontextmanager
async def client(
    *, first_byte: float = 1, idle: float = 1, connections: int = 100
) -> AsyncIterator[lean.LeanHttp]:
    http = lean.LeanHttp(connect=2, first_byte=first_byte, idle=idle, connections=connections)
    try:
        yield http
    finally:
        await http.aclose()


async def asked(model: str, spec: str) -> Answer:
    names = default_providers()
    async with serving(Simulator(chaos=Chaos.parse(spec))) as url:
        bases = {name: f"{url}/{name}" for name in names}
        async with Client(keys=dict.fromkeys(names, "any-key"), bases=bases, retries=0) as one:
            await one._http.aclose()
            http: Any = lean.LeanHttp(connect=2, first_byte=0.5, idle=0.5)
            one._http = http
            return await asyncio.wait_for(one.complete("What is thinking?", model=model), 15)


@pytest.mark.parametrize("spec", HARMLESS)
@pytest.mark.parametrize("model", MODELS[:4])
async def test_what_only_looks_bad_changes_nothing(model: str, spec: str) -> None:
    answer = await asked(model, spec)
    assert answer.finish == "stop"
    assert "simulated" in answer.turn.text


@pytest.mark.parametrize("spec", BROKEN)
@pytest.mark.parametrize("model", MODELS[:4])
async def test_trouble_is_a_typed_error_and_nothing_hangs(model: str, spec: str) -> None:
    before = asyncio.all_tasks()
    with pytest.raises(ProviderError) as caught:
        await asked(model, spec)
    assert caught.value.failure.message
    assert isinstance(caught.value.partial, Answer)
    assert caught.value.partial.finish is None
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= before


@pytest.mark.parametrize("model", MODELS[:4])
async def test_a_wrong_length_is_an_answer_or_a_typed_error(model: str) -> None:
    try:
        answer = await asked(model, "wrong-length")
    except ProviderError as error:
        answer = error.partial
    assert "simulated" in answer.turn.text


BODY = '{"said":"grüße 🌊"}'.encode()


def framed(body: bytes, way: str) -> bytes:
    """A whole answer, in one of the ways that a body can be told to end."""
    match way:
        case "length":
            return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        case "chunked":
            head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
            return head + b"%x;ext=1\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        case "interim":
            return b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + framed(body, "length")
    return b"HTTP/1.0 200 OK\r\n\r\n" + body


@settings(max_examples=25, deadline=None)
@given(
    way=st.sampled_from(["length", "chunked", "interim", "close"]),
    cuts=st.lists(st.integers(1, 200), max_size=6),
)
def test_any_split_of_any_framing_gives_the_same_bytes(way: str, cuts: list[int]) -> None:
    async def read() -> bytes:
        whole = framed(BODY, way)
        places = [0, *sorted({cut for cut in cuts if cut < len(whole)}), len(whole)]
        writes = [whole[a:b] for a, b in pairwise(places)]
        connection = Connection()
        connection.connection_made(_Nothing())
        connection._begin()
        for data in writes:
            connection.data_received(data)
        if way == "close":
            connection.connection_lost(None)
        got = b""
        while piece := await connection.piece(1, float("inf")):
            got += piece
        return got

    assert asyncio.run(read()) == BODY


class _Nothing(asyncio.Transport):
    """A transport that goes nowhere."""

    def __init__(self) -> None:
        self.paused = False

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        pass

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


class _Cup:
    """Takes what is poured; full after some pieces, until it is emptied."""

    def __init__(self, room: int, wanted: int) -> None:
        self.held = b""
        self.congested = False
        self.emptied = 0
        self.way = self
        self._room = self._left = room
        self._wanted = wanted

    def take(self, piece: bytes) -> bool:
        assert not self.congested, "nobody pours into a full cup"
        self.held += piece
        self._left -= 1
        self.congested = self._left <= 0
        return len(self.held) < self._wanted

    async def drained(self) -> None:
        await asyncio.sleep(0)
        self.emptied += 1
        self._left, self.congested = self._room, False


@settings(max_examples=50, deadline=None)
@given(
    way=st.sampled_from(["length", "chunked", "interim", "close"]),
    cuts=st.lists(st.integers(1, 200), max_size=6),
    early=st.integers(0, 7),
    room=st.integers(1, 4),
)
def test_what_is_poured_is_what_came(way: str, cuts: list[int], early: int, room: int) -> None:
    """However it is cut, whatever was there before somebody asked, and however often the taker is full."""

    async def poured() -> _Cup:
        whole = framed(BODY, way)
        places = [0, *sorted({cut for cut in cuts if cut < len(whole)}), len(whole)]
        writes = [whole[a:b] for a, b in pairwise(places)]
        connection, transport = Connection(), _Nothing()
        connection.connection_made(transport)
        connection._begin()
        for data in writes[:early]:
            connection.data_received(data)
        cup = _Cup(room, wanted=10**9)

        async def pour() -> None:
            while True:
                await connection.pour(cup, 1, float("inf"))
                if not cup.congested:
                    return
                await cup.drained()

        pouring = asyncio.ensure_future(pour())
        for data in writes[early:]:
            await asyncio.sleep(0)
            while transport.paused:
                await asyncio.sleep(0)
            connection.data_received(data)
        if way == "close":
            await asyncio.sleep(0)
            connection.connection_lost(None)
        await asyncio.wait_for(pouring, 5)
        return cup

    assert asyncio.run(poured()).held == BODY


async def test_who_wants_no_more_gets_no_more_and_what_breaks_is_told() -> None:
    connection = Connection()
    connection.connection_made(_Nothing())
    connection._begin()
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc")
    cup = _Cup(9, wanted=3)
    await connection.pour(cup, 1, float("inf"))
    assert cup.held == b"abc"
    connection.data_received(b"def")
    assert cup.held == b"abc"
    assert await connection.piece(1, float("inf")) == b"def"

    class Breaking(_Cup):
        def take(self, piece: bytes) -> bool:
            raise ValueError("broken")

    connection._begin()
    pouring = asyncio.ensure_future(connection.pour(Breaking(1, 1), 1, float("inf")))
    await asyncio.sleep(0)
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc")
    with pytest.raises(ValueError, match="broken"):
        await pouring


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


async def test_who_waits_for_an_answer_gets_its_beginning_before_the_reply_is_here() -> None:
    go_on = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            writer.write(CHUNKED + b"3\r\nabc\r\n")
            await go_on.wait()
            writer.write(b"3\r\ndef\r\n0\r\n\r\n")

    async with server(talk) as url, client() as http:
        cup = _Cup(9, wanted=10**9)
        asking = asyncio.ensure_future(http.ask(url, {}, b"", sink=cup))
        while not cup.held:
            await asyncio.sleep(0.001)
        assert (cup.held, asking.done()) == (b"abc", False)
        go_on.set()
        reply = await asyncio.wait_for(asking, 5)
        await reply.pour(cup)
        reply.close()
        assert cup.held == b"abcdef"
        full = _Cup(1, wanted=10**9)
        reply = await asyncio.wait_for(http.ask(url, {}, b"", sink=full), 5)
        assert full.held == b"abcdef"[: len(full.held)]
        await reply.pour(full)
        reply.close()
        assert (full.held, len(http._free)) == (b"abcdef", 1)


@pytest.mark.parametrize(
    ("answer", "close", "kind", "words"),
    [
        (b"", False, "timed_out", "the provider did not answer in time"),
        (b"", True, "connection_lost", "no answer"),
        (CHUNKED + b"3\r\nabc\r\n", False, "timed_out", "the answer fell silent"),
        (CHUNKED + b"3\r\nabc\r\n", True, "connection_lost", "the connection failed in the answer"),
    ],
)
async def test_what_goes_wrong_before_and_in_an_answer_is_told_apart(
    answer: bytes, close: bool, kind: str, words: str
) -> None:
    async with server(answering(answer, close=close)) as url, client(first_byte=0.05, idle=0.05) as http:
        for cup in (_Cup(9, wanted=10**9), None):
            with pytest.raises(ProviderError) as caught:
                await poured(http, url, cup)
            assert (caught.value.failure.kind, words in caught.value.failure.message) == (kind, True)
            assert cup is None or cup.held == answer[len(CHUNKED) + 3 : -2]


async def poured(http: lean.LeanHttp, url: str, cup: _Cup | None) -> None:
    """Asks, with the cup or before there is one."""
    reply = await http.ask(url, {}, b"", sink=cup)
    try:
        await reply.pour(cup or _Cup(9, wanted=10**9))
    finally:
        reply.close()


async def test_a_refusal_is_nothing_for_who_waits_for_an_answer() -> None:
    refused = b"HTTP/1.1 429 No\r\ncontent-length: 3\r\n\r\nabc"
    async with server(answering(refused)) as url, client() as http:
        cup = _Cup(9, wanted=10**9)
        reply = await http.ask(url, {}, b"", sink=cup)
        assert (reply.status, cup.held, await reply.read()) == (429, b"", b"abc")
        reply.close()


async def test_an_answer_that_nobody_asked_for_is_not_mixed_into_the_one_before() -> None:
    first = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"
    second = b"HTTP/1.1 500 No\r\ncontent-length: 3\r\nx-more: 1\r\n\r\ndef"
    for poured in (False, True):
        connection = Connection()
        connection.connection_made(_Nothing())
        connection.data_received(first + second)
        cup = _Cup(9, wanted=9)
        if poured:
            await connection.pour(cup, 1, float("inf"))
        assert (cup.held or await connection.piece(1, float("inf"))) == b"abc"
        assert (connection.status, "x-more" in connection.headers) == (200, False)
        assert not connection.reusable


@pytest.mark.parametrize("way", ["length", "chunked"])
async def test_a_connection_serves_one_request_after_another(way: str) -> None:
    connections = 0
    plain = answering(framed(BODY, way))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await plain(reader, writer)  # type: ignore[misc]

    async with server(talk) as url, client() as http:
        for _ in range(5):
            async with http.post(f"{url}/v1", {"x": "1"}, b"{}") as reply:
                assert (reply.status, await reply.read()) == (200, BODY)
    assert connections == 1


PACKED = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n%b"
LONG = b"a" * 3 * 256 * 1024
"""More than may lie unread."""


def longer(packed: bool) -> bytes:
    """An answer that makes its provider wait in the moment in which it ends."""
    body = gzip.compress(LONG)
    return PACKED % (len(body), body) if packed else framed(LONG, "length")


@pytest.mark.parametrize("packed", [True, False])
async def test_a_connection_serves_on_after_an_answer_that_was_too_much_at_once(packed: bool) -> None:
    async with server(answering(longer(packed))) as url, client() as http:
        for _ in range(3):
            async with http.post(url, {}, b"{}") as reply:
                await asyncio.sleep(0.02)
                assert await reply.read() == LONG


async def test_a_connection_serves_on_after_somebody_left_whose_cup_was_full() -> None:
    async with server(answering(longer(packed=True))) as url, client() as http:
        for _ in range(3):
            async with http.post(url, {}, b"{}") as reply:
                cup = _Cup(1, wanted=10**9)
                cup.drained = asyncio.Event().wait  # type: ignore[method-assign,assignment]
                with suppress(TimeoutError):
                    await asyncio.wait_for(reply.pour(cup), 0.05)
                assert cup.held == LONG


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"])
async def test_nothing_of_a_lost_request_waits_for_the_collector(answer: bytes) -> None:
    gc.collect()
    gc.disable()
    try:
        async with server(answering(answer, close=True)) as url, client() as http:
            for _ in range(3):
                with pytest.raises(ProviderError):
                    async with http.post(url, {}, b"{}") as reply:
                        await reply.read()
            await asyncio.sleep(0.01)
            assert [thing for thing in gc.get_objects() if type(thing) is Connection] == []
    finally:
        gc.enable()


async def test_a_connection_that_the_server_closes_is_not_used_again() -> None:
    async with server(answering(framed(BODY, "length"), close=True)) as url, client() as http:
        for _ in range(3):
            async with http.post(url, {}, b"") as reply:
                assert await reply.read() == BODY
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
    ],
)
async def test_packed_bodies_are_unpacked(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(BODY)
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(packed)}\r\n\r\n".encode()
    )
    split = answering(head + packed[:3], packed[3:])
    async with server(split) as url, client() as http, http.post(url, {}, b"") as reply:
        assert await reply.read() == BODY


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000,
        b"",
    ],
)
async def test_what_is_no_answer_is_a_lost_connection(data: bytes) -> None:
    async with server(answering(data, close=True)) as url, client() as http:
        with pytest.raises(ProviderError) as caught:
            async with http.post(url, {}, b"") as reply:
                await reply.read()
    assert caught.value.failure.kind == "connection_lost"


async def test_silence_before_and_in_an_answer_is_a_time_out() -> None:
    never = asyncio.Event()

    def silent(start: bytes) -> Talk:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(start)
            await never.wait()

        return talk

    for start in (b"", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"):
        async with server(silent(start)) as url, client(first_byte=0.05, idle=0.05) as http:
            with pytest.raises(ProviderError) as caught:
                async with http.post(url, {}, b"") as reply:
                    await reply.read()
            assert caught.value.failure.kind == "timed_out"


async def test_a_key_that_an_answer_repeats_is_hidden() -> None:
    body = b"the key sk-secret-0123456789 is wrong"
    async with (
        server(answering(framed(body, "length"))) as url,
        client() as http,
        http.post(url, {}, b"", secret="sk-secret-0123456789") as reply,
    ):
        assert await reply.read() == b"the key [hidden] is wrong"


async def test_nobody_there_is_a_lost_connection() -> None:
    async with server(answering(b"")) as url:
        pass
    async with client() as http:
        with pytest.raises(ProviderError) as caught:
            async with http.post(url, {}, b""):
                pass
    assert caught.value.failure.kind == "connection_lost"


async def test_leaving_early_closes_the_connection() -> None:
    gone = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n")
        with suppress(ConnectionError):
            assert await reader.read(1) == b""
        gone.set()

    async with server(talk) as url, client() as http:
        async with http.post(url, {}, b"") as reply:
            async for piece in reply.chunks():
                assert piece == b"a"
                break
        await asyncio.wait_for(gone.wait(), 2)


async def test_everything_is_over_by_the_deadline() -> None:
    never = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await never.wait()

    async with server(talk) as url, client() as http:
        with pytest.raises(ProviderError) as caught:
            async with http.post(url, {}, b"", until=asyncio.get_running_loop().time() + 0.05):
                pass
    assert caught.value.failure.kind == "timed_out"


async def test_a_large_answer_to_a_slow_reader_comes_whole() -> None:
    body = bytes(range(256)) * 20_000
    whole = answering(framed(body, "length"))
    got = bytearray()
    async with server(whole) as url, client() as http, http.post(url, {}, b"") as reply:
        async for piece in reply.chunks():
            got += piece
            await asyncio.sleep(0)
    assert bytes(got) == body


async def test_no_more_connections_than_allowed_are_open_at_once() -> None:
    at_once = most = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal at_once, most
        await read_request(reader)
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.005)
        at_once -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()

    async with server(talk) as url, client(connections=3) as http:

        async def one() -> None:
            async with http.post(url, {}, b"") as reply:
                await reply.read()

        await asyncio.gather(*(one() for _ in range(9)))
    assert most == 3


@pytest.mark.parametrize("value", ["a\r\nx-evil: 1", "a\nb", "a\rb"])
async def test_a_header_cannot_bring_another_one(value: str) -> None:
    async with client() as http:
        with pytest.raises(ConfigError):
            async with http.post("http://127.0.0.1:9", {"x": value}, b""):
                pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench"
    )
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    try:
        subprocess.run([*command.split(), *names], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("openssl is not here")
    return key, cert


@pytest.mark.parametrize("trusted", [True, False])
async def test_certificates_are_checked(
    trusted: bool, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    key, cert = certificate
    serves = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serves.load_cert_chain(cert, key)
    trust = ssl.create_default_context(cafile=str(cert) if trusted else None)
    monkeypatch.setattr(lean, "_trust", lambda: trust)
    async with server(answering(framed(BODY, "length")), serves) as url, client() as http:
        if trusted:
            async with http.post(url, {}, b"") as reply:
                assert await reply.read() == BODY
        else:
            with pytest.raises(ProviderError) as caught:
                async with http.post(url, {}, b""):
                    pass
            assert caught.value.failure.kind == "connection_lost"
