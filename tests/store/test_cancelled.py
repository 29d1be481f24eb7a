"""Whoever waits for the store may be cancelled at any moment: nothing breaks, and nothing is left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from thinkwire.messages import Text, Turn
from thinkwire.store import Store, open_store
from thinkwire.store.cancellation import run_to_completion

pytestmark = pytest.mark.anyio

ASKED = Turn("user", (Text("Why is the sky blue?"),))
MOMENTS = 60
"""More turns of the loop than any of these operations takes until its query is under way."""


async def look(store: Store) -> object:
    return await store.search("sky", thinking=True)


async def path(store: Store) -> object:
    return await store.path("talk")


async def say(store: Store) -> object:
    return await store.append("talk", ASKED)


async def cancelled_after(moments: int, work: Awaitable[object]) -> None:
    """Cancelled when the loop has turned so often, and once more; it may be done by then."""
    task = asyncio.ensure_future(work)
    for _ in range(moments):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("work", [look, path, say])
async def test_it_may_be_cancelled_at_any_moment(
    store: Store, work: Callable[[Store], Awaitable[object]], caplog: pytest.LogCaptureFixture
) -> None:
    await store.create_conversation(id="talk")
    for moments in range(MOMENTS):
        await cancelled_after(moments, work(store))
    await store.append("talk", ASKED)
    assert (await store.path("talk"))[-1].turn == ASKED
    await store.aclose()
    assert not caplog.records, caplog.text


@pytest.mark.parametrize("moments", [1, 2, 3, 8, 20])
async def test_closing_is_done_before_whoever_asked_for_it_is_cancelled(
    tmp_path: Path, moments: int, caplog: pytest.LogCaptureFixture
) -> None:
    before = set(threading.enumerate())
    store = await open_store(f"sqlite:///{tmp_path / 'talks.db'}")
    await store.create_conversation(id="talk")
    kept = await store.append("talk", Turn("assistant", (Text("Half"),)), status="streaming")
    closing = asyncio.ensure_future(store.aclose())
    await cancelled_after(moments, closing)
    assert closing.cancelled() or closing.result() is None
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive(), "a connection is still open"
    async with await open_store(f"sqlite:///{tmp_path / 'talks.db'}") as again:
        assert (await again.message(kept.id)).status == "interrupted"
    assert not caplog.records, caplog.text


async def test_what_is_finished_may_fail() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await run_to_completion(fails())


async def test_cancelling_counts_when_the_work_is_done() -> None:
    done: list[str] = []

    async def work() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        done.append("done")

    waiting = asyncio.ensure_future(run_to_completion(work()))
    await asyncio.sleep(0)
    for _ in range(3):
        waiting.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == ["done"]
