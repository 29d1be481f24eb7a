"""Processes killed while they write, and processes that write at once: nothing acknowledged is lost."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from thinkwire.store import Store, open_store

pytestmark = pytest.mark.anyio

KILLS = 50
WRITERS = 3
TURNS = 25


def nursery(mode: str, file: Path, count: int, number: int) -> list[dict[str, Any]]:
    """What each process had been told when it ended."""
    command = [
        sys.executable,
        "-m",
        "tests.store.nursery",
        mode,
        f"sqlite:///{file}",
        str(count),
        str(number),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def assert_sound(file: Path) -> None:
    plain = sqlite3.connect(file)
    assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert plain.execute("PRAGMA foreign_key_check").fetchall() == []
    plain.execute("INSERT INTO message_search(message_search, rank) VALUES ('integrity-check', 1)")
    plain.close()


@pytest.mark.parametrize("mode", ["killed", "plain"])
async def test_fifty_killed_processes_lose_nothing_that_was_acknowledged(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "killed.db"
    if mode == "plain":
        await (await open_store(f"sqlite:///{file}")).aclose()
    killed = nursery(mode, file, KILLS, 7)
    assert [report["status"] for report in killed] == [-signal.SIGKILL] * KILLS
    async with await open_store(f"sqlite:///{file}") as store:
        interrupted = 0
        for report in killed:
            interrupted += await assert_acknowledged(store, report["said"])
    assert_sound(file)
    assert interrupted > KILLS // 4


async def assert_acknowledged(store: Store, said: list[list[Any]]) -> int:
    """Everything of one process is there and readable; whether its last answer was interrupted."""
    if not said:
        return 0
    kept = {kept.id: kept for kept in await store.path(said[0][1])}
    for what, id, size in said[1:]:
        assert len(kept[id].text) >= size
        if what == "done":
            assert kept[id].status == "complete"
    states = [each.status for each in kept.values()]
    assert set(states[:-1]) <= {"complete"}
    for each in kept.values():
        assert not each.damaged
        assert each.text in ("Count.", "x" * len(each.text))
        assert (each.status == "interrupted") == (each.role == "assistant" and len(each.text) < 12)
    return int(states[-1:] == ["interrupted"])


async def test_processes_that_make_and_fill_one_file_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "raced.db"
    raced = nursery("racing", file, WRITERS, TURNS)
    assert [report["status"] for report in raced] == [0] * WRITERS
    said = {id for report in raced for _, id, _ in report["said"]}
    async with await open_store(f"sqlite:///{file}") as store:
        path = await store.path("shared")
        assert {kept.id for kept in path} == said
        assert [kept.seq for kept in path] == list(range(1, WRITERS * TURNS + 1))
    assert_sound(file)
