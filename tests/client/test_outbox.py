"""Writes that wait for the end of a turn."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from thinkwire.transport.write_batch import MOST_TOGETHER, MOST_WAITING, WriteBatch, write_batch_of

pytestmark = pytest.mark.anyio


class Recorded:
    """A transport that remembers, in the order of all of them."""

    def __init__(
        self, name: str, told: list[tuple[str, bytes]], *, closing: bool = False, broken: bool = False
    ):
        self._name, self._told = name, told
        self._closing, self._broken = closing, broken
        self.aborted = False

    def is_closing(self) -> bool:
        return self._closing

    def write(self, data: bytes) -> None:
        if self._broken:
            raise RuntimeError("the handler is closed")
        self._told.append((self._name, data))

    def abort(self) -> None:
        self.aborted = True


async def test_what_one_turn_puts_is_written_together_and_in_order() -> None:
    told: list[tuple[str, bytes]] = []
    outbox = WriteBatch()
    one, two = Recorded("one", told), Recorded("two", told)
    outbox.put(one, b"a")
    outbox.put(two, b"b")
    outbox.put(one, b"c")
    assert told == []
    await asyncio.sleep(0)
    assert told == [("one", b"a"), ("two", b"b"), ("one", b"c")]


async def test_what_is_put_while_writing_is_written_in_a_later_turn() -> None:
    told: list[tuple[str, bytes]] = []
    outbox = WriteBatch()
    later = Recorded("later", told)

    class Talkative(Recorded):
        def write(self, data: bytes) -> None:
            super().write(data)
            outbox.put(later, b"answer")

    outbox.put(Talkative("first", told), b"question")
    await asyncio.sleep(0)
    assert told == [("first", b"question")]
    await asyncio.sleep(0)
    assert told == [("first", b"question"), ("later", b"answer")]


async def test_flushing_writes_at_once_and_nothing_twice() -> None:
    told: list[tuple[str, bytes]] = []
    outbox = WriteBatch()
    outbox.put(Recorded("one", told), b"a")
    outbox.flush()
    assert told == [("one", b"a")]
    await asyncio.sleep(0)
    assert told == [("one", b"a")]


async def test_a_transport_that_ends_or_breaks_takes_nothing_from_the_others() -> None:
    told: list[tuple[str, bytes]] = []
    outbox = WriteBatch()
    broken = Recorded("broken", told, broken=True)
    outbox.put(Recorded("closing", told, closing=True), b"a")
    outbox.put(broken, b"b")
    outbox.put(Recorded("well", told), b"c")
    await asyncio.sleep(0)
    assert told == [("well", b"c")]
    assert broken.aborted


async def test_more_than_may_wait_is_written_at_once() -> None:
    told: list[tuple[str, bytes]] = []
    outbox = WriteBatch()
    outbox.put(Recorded("one", told), b"small")
    outbox.put(Recorded("one", told), bytes(MOST_WAITING))
    assert [len(data) for _, data in told] == [5, MOST_WAITING]


async def test_none_waits_for_more_than_a_few_others() -> None:
    told: list[tuple[str, bytes]] = []
    outbox = WriteBatch()
    one = Recorded("one", told)
    for _ in range(MOST_TOGETHER + 1):
        outbox.put(one, b"word")
    assert len(told) == MOST_TOGETHER
    await asyncio.sleep(0)
    assert len(told) == MOST_TOGETHER + 1


async def test_the_connections_of_a_loop_share_one() -> None:
    loop = asyncio.get_running_loop()
    assert write_batch_of(loop) is write_batch_of(loop)


def test_a_loop_that_is_over_is_not_kept() -> None:
    async def write() -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = asyncio.get_running_loop()
        write_batch_of(loop).put(Recorded("one", []), b"a")
        await asyncio.sleep(0)
        return weakref.ref(loop)

    loop = asyncio.run(write())
    gc.collect()
    assert loop() is None
