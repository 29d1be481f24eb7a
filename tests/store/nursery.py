"""Processes that write to one SQLite file, forked from one that has loaded everything and started nothing.

    python -m tests.store.nursery killed URL COUNT SEED    one after the other, killed at random moments
    python -m tests.store.nursery plain URL COUNT SEED     the same by the quick door; the file is there
    python -m tests.store.nursery racing URL COUNT TURNS   all at once, from before the file is there

Prints one JSON object per process: what the store had acknowledged to it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

import aiosqlite  # noqa: F401
import alembic.command  # noqa: F401

from thinkwire.messages import Text, Thinking, Turn
from thinkwire.store import StoreFailed
from thinkwire.store.ids import new_id
from thinkwire.store.sqlite_append import open_sqlite_append
from thinkwire.store.store import opened

LIFE = 0.08
REVISIONS = 12


def say(pipe: int, *words: object) -> None:
    os.write(pipe, (json.dumps(words) + "\n").encode())


async def stream(url: str, pipe: int, name: str, mode: str) -> None:
    """Answers without end; everything that the store acknowledged is said."""
    store = await (open_sqlite_append(url) if mode == "plain" else opened(url, None))
    assert store is not None
    talk = new_id()
    await store.create_conversation(name, id=talk)
    say(pipe, "talk", talk)
    while True:
        asked = await store.append(talk, Turn("user", (Text("Count."),)))
        say(pipe, "kept", asked.id, len("Count."))
        answer = await store.append(talk, Turn("assistant"), status="streaming")
        say(pipe, "kept", answer.id, 0)
        for size in range(1, REVISIONS):
            said = Turn("assistant", (Thinking("t" * 1000 * size), Text("x" * size, interrupted=True)))
            await store.revise(answer.id, turn=said)
            say(pipe, "kept", answer.id, size)
        await store.revise(answer.id, turn=Turn("assistant", (Text("x" * REVISIONS),)), status="complete")
        say(pipe, "done", answer.id, REVISIONS)


async def race(url: str, pipe: int, turns: int) -> None:
    """Appends to the one conversation that all share."""
    store = await opened(url, None)
    with suppress(StoreFailed):  # another may have been quicker
        await store.create_conversation(id="shared")
    for number in range(turns):
        kept = await store.append("shared", Turn("user", (Text(f"{os.getpid()} {number}"),)))
        say(pipe, "kept", kept.id, number)
    await store.aclose()


def fork(work: Any) -> tuple[int, int]:
    """A child that runs work, and the end of the pipe on which it speaks."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        code = 1
        try:
            asyncio.run(work(writer))
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    return pid, reader


def hear(reader: int) -> list[Any]:
    """Whole lines until the other end is closed."""
    with os.fdopen(reader, "rb") as pipe:
        return [json.loads(line) for line in pipe.read().split(b"\n")[:-1]]


def report(reader: int, pid: int) -> None:
    said = hear(reader)
    _, status = os.waitpid(pid, 0)
    print(json.dumps({"said": said, "status": os.waitstatus_to_exitcode(status)}), flush=True)


def main(mode: str, url: str, count: int, number: int) -> None:
    if mode == "racing":
        for pid, reader in [fork(lambda pipe: race(url, pipe, number)) for _ in range(count)]:
            report(reader, pid)
        return
    chance = random.Random(number)
    for index in range(count):
        pid, reader = fork(lambda pipe, name=f"talk {index}": stream(url, pipe, name, mode))
        if index % 10:  # every tenth may be killed while it is still opening
            select.select([reader], [], [], 30)
        time.sleep(chance.uniform(0, LIFE))
        os.kill(pid, signal.SIGKILL)
        report(reader, pid)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
