"""A run goes on whether or not anyone watches, and can be followed from any event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from thinkwire.errors import ConfigError
from thinkwire.events import BlockGrew
from thinkwire.session.events import SessionEvent
from thinkwire.session.run import Run

pytestmark = pytest.mark.anyio


async def counting(
    batches: int, gate: asyncio.Event | None = None
) -> AsyncGenerator[list[SessionEvent], None]:
    for number in range(batches):
        yield [BlockGrew(0, f"{number}a"), BlockGrew(0, f"{number}b")]
        if gate is not None:
            await gate.wait()


def words(events: list[SessionEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, BlockGrew)]


async def test_it_runs_without_a_watcher_and_can_be_read_afterwards() -> None:
    run = Run(counting(3))
    await run.wait()
    assert run.done
    assert run.count == 6
    assert words([event async for event in run.follow()]) == ["0a", "0b", "1a", "1b", "2a", "2b"]


@pytest.mark.parametrize("after", range(7))
async def test_following_from_any_number_gives_exactly_the_rest(after: int) -> None:
    run = Run(counting(3))
    whole = words([event async for event in run.follow()])
    assert words([event async for event in run.follow(after)]) == whole[after:]


async def test_two_watchers_see_the_same_and_a_late_one_misses_nothing() -> None:
    gate = asyncio.Event()
    run = Run(counting(2, gate))

    async def watch() -> list[str]:
        return words([event async for event in run.follow()])

    first = asyncio.create_task(watch())
    while run.count < 2:
        await asyncio.sleep(0)
    second = asyncio.create_task(watch())
    gate.set()
    assert await first == await second == ["0a", "0b", "1a", "1b"]


async def test_a_watcher_that_leaves_stops_nothing() -> None:
    run = Run(counting(3))
    async for _ in run.follow():
        break
    await run.wait()
    assert run.count == 6


async def test_what_kept_it_from_being_sent_is_raised_to_every_watcher() -> None:
    async def refused() -> AsyncGenerator[list[SessionEvent], None]:
        yield [BlockGrew(0, "kept")]
        raise ConfigError("no key")

    run = Run(refused())
    for _ in range(2):
        seen: list[SessionEvent] = []

        async def watch(seen: list[SessionEvent] = seen) -> None:
            async for event in run.follow():
                seen.append(event)

        with pytest.raises(ConfigError, match="no key"):
            await watch()
        assert words(seen) == ["kept"]


async def test_an_interrupt_lets_the_run_say_its_last_words() -> None:
    async def stubborn() -> AsyncGenerator[list[SessionEvent], None]:
        try:
            yield [BlockGrew(0, "begun")]
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            yield [BlockGrew(0, "kept")]

    run = Run(stubborn())
    while not run.count:
        await asyncio.sleep(0)
    await asyncio.gather(run.interrupt(), run.interrupt())
    assert words([event async for event in run.follow()]) == ["begun", "kept"]
