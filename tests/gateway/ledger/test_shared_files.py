"""One file, opened by many at once."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from thinkwire.gateway.common.shared_sqlite import open_shared

TABLE = "CREATE TABLE IF NOT EXISTS seen (who INT)"
MANY = 8


def test_all_who_open_a_new_file_at_once_can_use_it(tmp_path: Path) -> None:
    for number in range(20):
        path, together = tmp_path / f"{number}.db", Barrier(MANY)

        def use(who: int, path: Path = path, together: Barrier = together) -> str:
            together.wait()
            db = open_shared(path, TABLE)
            db.execute("INSERT INTO seen VALUES (?)", (who,))
            mode: str = db.execute("PRAGMA journal_mode").fetchone()[0]
            db.close()
            return mode

        with ThreadPoolExecutor(MANY) as pool:
            assert set(pool.map(use, range(MANY))) == {"wal"}
        with sqlite3.connect(path) as db:
            assert sorted(db.execute("SELECT who FROM seen")) == [(who,) for who in range(MANY)]
        db.close()


def test_what_waiting_does_not_mend_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"this is no database, whatever its name says" * 50)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        open_shared(tmp_path / "broken.db", TABLE)


def test_a_file_that_somebody_keeps_for_himself_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    keeper = sqlite3.connect(path, isolation_level=None)
    try:
        keeper.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            open_shared(path, TABLE, patience=0.05)
    finally:
        keeper.close()
