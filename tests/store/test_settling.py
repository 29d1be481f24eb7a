"""Answers whose process is gone become interrupted; those of the living are left alone."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from thinkwire.messages import Text, Turn
from thinkwire.store import MessageRow, Store, open_store
from thinkwire.store import heartbeat as heart
from thinkwire.store.process import is_gone, this_process
from thinkwire.store.tables import messages

pytestmark = pytest.mark.anyio

PARTIAL = Turn("assistant", (Text("量子", interrupted=True),))


async def streaming(store: Store, **columns: Any) -> MessageRow:
    talk = await store.create_conversation()
    kept = await store.append(talk.id, PARTIAL, status="streaming")
    change = messages.update().where(messages.c.id == kept.id).values(columns or {"id": kept.id})
    await store.database.write(lambda connection: connection.execute(change))
    return kept


def dead_process() -> str:
    """This machine's name with the id of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    machine, _, started = this_process().split(" ")
    child.wait()
    return f"{machine} {child.pid} {started}"


async def test_an_answer_of_a_dead_process_is_interrupted_when_it_is_read(store: Store) -> None:
    kept = await streaming(store, owner_process=dead_process())
    (read,) = await store.path(kept.conversation_id)
    assert (read.status, read.turn) == ("interrupted", PARTIAL)
    assert (await store.message(kept.id)).status == "interrupted"
    assert len(await store.search("量子")) == 1


async def test_opening_settles_what_a_crash_left(store: Store, store_url: str) -> None:
    kept = await streaming(store, owner_process=dead_process())
    async with await open_store(store_url) as other:
        assert (await other.message(kept.id)).status == "interrupted"


@pytest.mark.parametrize(("silent", "status"), [(29, "streaming"), (31, "interrupted")])
async def test_another_machine_is_given_half_a_minute(store: Store, silent: float, status: str) -> None:
    kept = await streaming(store, owner_process="elsewhere 1 1", updated=time.time() - silent)
    assert (await store.path(kept.conversation_id))[0].status == status


async def test_a_living_process_is_never_taken_for_dead(store: Store) -> None:
    kept = await streaming(store, updated=time.time() - 3600)
    assert await store.settle() == 0
    assert (await store.path(kept.conversation_id))[0].status == "streaming"


async def test_an_answer_that_nobody_claims_is_settled_after_a_while(store: Store) -> None:
    await streaming(store, owner_process=None, updated=time.time() - 31)
    assert await store.settle() == 1


async def test_a_silent_answer_gives_signs_of_life(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heart, "BEAT", 0.01)
    kept = await streaming(store)
    async with asyncio.timeout(10):
        while (await store.message(kept.id)).updated == kept.updated:
            await asyncio.sleep(0.01)
    await store.revise(kept.id, status="complete")
    assert (await store.message(kept.id)).status == "complete"


async def test_closing_interrupts_what_was_still_being_written(store: Store, store_url: str) -> None:
    async with await open_store(store_url) as other:
        kept = await streaming(other)
    assert (await store.message(kept.id)).status == "interrupted"


def test_a_process_that_took_over_the_number_is_another() -> None:
    machine, pid, started = this_process().split(" ")
    now = time.time()
    assert pid == str(os.getpid())
    assert not is_gone(this_process(), now - 3600, now)
    assert is_gone(f"{machine} {pid} {started}0", now, now)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of zombies")
def test_a_killed_process_is_gone_before_it_is_reaped() -> None:
    machine = this_process().split(" ")[0]
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    with open(f"/proc/{child.pid}/stat") as file:
        started = file.read().rpartition(")")[2].split()[19]
    now = time.time()
    assert not is_gone(f"{machine} {child.pid} {started}", now, now)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(f"{machine} {child.pid} {started}", now, now)
    child.stdin.close()
    child.wait()
