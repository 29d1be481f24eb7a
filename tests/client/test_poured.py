"""Answers that go right into a sink, from the moment in which they begin; what is left of them afterwards."""

from __future__ import annotations

import asyncio
import gc
import gzip
from contextlib import suppress

import pytest

from tests.client.talks import CHUNKED, Cup, answering, client, framed, read_request, server
from thinkwire.errors import ProviderError
from thinkwire.transport import pool as lean
from thinkwire.transport.connection import Connection
from thinkwire.wire.compression import LARGEST_STEP

pytest.importorskip("httptools")
pytestmark = pytest.mark.anyio


async def test_who_waits_for_an_answer_gets_its_beginning_before_the_reply_is_here() -> None:
    go_on = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            writer.write(CHUNKED + b"3\r\nabc\r\n")
            await go_on.wait()
            writer.write(b"3\r\ndef\r\n0\r\n\r\n")

    async with server(talk) as url, client() as http:
        cup = Cup(9, wanted=10**9)
        asking = asyncio.ensure_future(http.ask(url, {}, b"", sink=cup))
        while not cup.held:
            await asyncio.sleep(0.001)
        assert (cup.held, asking.done()) == (b"abc", False)
        go_on.set()
        reply = await asyncio.wait_for(asking, 5)
        await reply.pour(cup)
        reply.close()
        assert cup.held == b"abcdef"
        full = Cup(1, wanted=10**9)
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
        for cup in (Cup(9, wanted=10**9), None):
            with pytest.raises(ProviderError) as caught:
                await poured(http, url, cup)
            assert (caught.value.failure.kind, words in caught.value.failure.message) == (kind, True)
            assert cup is None or cup.held == answer[len(CHUNKED) + 3 : -2]


async def poured(http: lean.HttptoolsTransport, url: str, cup: Cup | None) -> None:
    """Asks, with the cup or before there is one."""
    reply = await http.ask(url, {}, b"", sink=cup)
    try:
        await reply.pour(cup or Cup(9, wanted=10**9))
    finally:
        reply.close()


async def test_a_refusal_is_nothing_for_who_waits_for_an_answer() -> None:
    refused = b"HTTP/1.1 429 No\r\ncontent-length: 3\r\n\r\nabc"
    async with server(answering(refused)) as url, client() as http:
        cup = Cup(9, wanted=10**9)
        reply = await http.ask(url, {}, b"", sink=cup)
        assert (reply.status, cup.held, await reply.read()) == (429, b"", b"abc")
        reply.close()


PACKED = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n%b"
LONG = b"a" * 3 * 256 * 1024
"""More than may lie unread."""


def longer(packed: bool, plain: bytes = LONG) -> bytes:
    """An answer that makes its provider wait in the moment in which it ends."""
    body = gzip.compress(plain)
    return PACKED % (len(body), body) if packed else framed(plain, "length")


@pytest.mark.parametrize("packed", [True, False])
async def test_a_connection_serves_on_after_an_answer_that_was_too_much_at_once(packed: bool) -> None:
    async with server(answering(longer(packed))) as url, client() as http:
        for _ in range(3):
            async with http.post(url, {}, b"{}") as reply:
                await asyncio.sleep(0.02)
                assert await reply.read() == LONG


async def test_a_connection_serves_on_after_somebody_left_whose_cup_was_full() -> None:
    whole = LONG[: LARGEST_STEP // 2]
    async with server(answering(longer(packed=True, plain=whole))) as url, client() as http:
        for _ in range(3):
            async with http.post(url, {}, b"{}") as reply:
                cup = Cup(1, wanted=10**9)
                cup.drained = asyncio.Event().wait  # type: ignore[method-assign,assignment]
                with suppress(TimeoutError):
                    await asyncio.wait_for(reply.pour(cup), 0.05)
                assert cup.held == whole


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
