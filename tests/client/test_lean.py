"""The lean connection does what the general client does: the same faults, the same ends, fewer steps."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import subprocess
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.client.talks import BODY, Talk, answering, client, framed, read_request, server
from tests.client.test_chaos import BROKEN, HARMLESS, MODELS
from thinkwire.client.engine import Client
from thinkwire.errors import ConfigError, ProviderError
from thinkwire.events import Answer
from thinkwire.providers import default_providers
from thinkwire.sim.app import Simulator
from thinkwire.sim.chaos import Chaos
from thinkwire.sim.server import serving
from thinkwire.transport import pool as lean

pytest.importorskip("httptools")
pytestmark = pytest.mark.anyio


async def asked(model: str, spec: str) -> Answer:
    names = default_providers()
    async with serving(Simulator(chaos=Chaos.parse(spec))) as url:
        bases = {name: f"{url}/{name}" for name in names}
        async with Client(keys=dict.fromkeys(names, "any-key"), bases=bases, retries=0) as one:
            await one._http.aclose()
            http: Any = lean.HttptoolsTransport(connect=2, first_byte=0.5, idle=0.5)
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
