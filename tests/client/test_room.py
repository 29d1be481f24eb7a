"""Places for so many connections at once."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkwire.transport.connection_limit import ConnectionLimit

pytestmark = pytest.mark.anyio


async def inside(room: ConnectionLimit, seen: list[int], name: int, until: asyncio.Event) -> None:
    if not room.enter():
        await room.wait()
    try:
        seen.append(name)
        await until.wait()
    finally:
        room.leave()


@settings(max_examples=60, deadline=None)
@given(
    places=st.integers(1, 4),
    cancelled=st.lists(st.booleans(), min_size=1, max_size=12),
    turns=st.integers(0, 3),
)
def test_never_more_than_there_are_places_and_none_is_lost(
    places: int, cancelled: list[bool], turns: int
) -> None:
    """Whoever gives up, before or while a place is handed over, the others all come in, in their order."""

    async def run() -> None:
        room, seen, until = ConnectionLimit(places), list[int](), asyncio.Event()
        tasks = [asyncio.ensure_future(inside(room, seen, name, until)) for name in range(len(cancelled))]
        await asyncio.sleep(0)
        assert seen == list(range(min(places, len(cancelled))))
        until.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        for task, gives_up in zip(tasks, cancelled, strict=True):
            if gives_up:
                task.cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        assert seen == sorted(seen)
        assert {name for name, gives_up in enumerate(cancelled) if not gives_up} <= set(seen)
        assert [room.enter() for _ in range(places + 1)] == [True] * places + [False]

    asyncio.run(run())
