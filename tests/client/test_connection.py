"""One connection to a provider by itself: any cut of any framing, poured or taken."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client.talks import BODY, Cup, framed
from thinkwire.transport.connection import Connection

pytest.importorskip("httptools")
pytestmark = pytest.mark.anyio


class Nothing(asyncio.Transport):
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
        connection.connection_made(Nothing())
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


@settings(max_examples=50, deadline=None)
@given(
    way=st.sampled_from(["length", "chunked", "interim", "close"]),
    cuts=st.lists(st.integers(1, 200), max_size=6),
    early=st.integers(0, 7),
    room=st.integers(1, 4),
)
def test_what_is_poured_is_what_came(way: str, cuts: list[int], early: int, room: int) -> None:
    """However it is cut, whatever was there before somebody asked, and however often the taker is full."""

    async def poured() -> Cup:
        whole = framed(BODY, way)
        places = [0, *sorted({cut for cut in cuts if cut < len(whole)}), len(whole)]
        writes = [whole[a:b] for a, b in pairwise(places)]
        connection, transport = Connection(), Nothing()
        connection.connection_made(transport)
        connection._begin()
        for data in writes[:early]:
            connection.data_received(data)
        cup = Cup(room, wanted=10**9)

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
    connection.connection_made(Nothing())
    connection._begin()
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc")
    cup = Cup(9, wanted=3)
    await connection.pour(cup, 1, float("inf"))
    assert cup.held == b"abc"
    connection.data_received(b"def")
    assert cup.held == b"abc"
    assert await connection.piece(1, float("inf")) == b"def"

    class Breaking(Cup):
        def take(self, piece: bytes) -> bool:
            raise ValueError("broken")

    connection._begin()
    pouring = asyncio.ensure_future(connection.pour(Breaking(1, 1), 1, float("inf")))
    await asyncio.sleep(0)
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc")
    with pytest.raises(ValueError, match="broken"):
        await pouring


async def test_an_answer_that_nobody_asked_for_is_not_mixed_into_the_one_before() -> None:
    first = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"
    second = b"HTTP/1.1 500 No\r\ncontent-length: 3\r\nx-more: 1\r\n\r\ndef"
    for poured in (False, True):
        connection = Connection()
        connection.connection_made(Nothing())
        connection.data_received(first + second)
        cup = Cup(9, wanted=9)
        if poured:
            await connection.pour(cup, 1, float("inf"))
        assert (cup.held or await connection.piece(1, float("inf"))) == b"abc"
        assert (connection.status, "x-more" in connection.headers) == (200, False)
        assert not connection.reusable


async def test_a_head_in_two_reads_may_come_with_a_full_read_of_its_body() -> None:
    body = b"x" * 256 * 1024
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body)
    connection = Connection()
    connection.connection_made(Nothing())
    connection.data_received(head[:20])
    connection.data_received(head[20:] + body)
    assert await connection.piece(1, float("inf")) == body
    assert connection.reusable
