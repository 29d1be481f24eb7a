"""The ledger in a file: SQLite in a thread of its own, which commits together what waits together."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from thinkwire.gateway.common.shared_sqlite import ReplaceableFile
from thinkwire.gateway.ledger.backend import TOUCHED_AFTER, Entry, LedgerBackendError, Limits, Stats

_SCHEMA = """
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS turns (
    id BLOB PRIMARY KEY, value BLOB NOT NULL, size INT NOT NULL, used REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS names (
    name BLOB PRIMARY KEY, turn BLOB REFERENCES turns(id) ON DELETE CASCADE, made REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS turns_by_use ON turns (used, size);
CREATE INDEX IF NOT EXISTS names_by_turn ON names (turn);
"""
_PUT = """
INSERT INTO turns (id, value, size, used) VALUES (?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET value = excluded.value, size = excluded.size, used = excluded.used
"""
_SURE = """
INSERT INTO names (name, turn, made) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET turn = excluded.turn, made = excluded.made
"""
_LIKELY = """
INSERT INTO names (name, turn, made) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    turn = CASE WHEN names.turn = excluded.turn THEN names.turn END, made = excluded.made
"""
_CROWDED_OUT = """
DELETE FROM turns WHERE id IN (
    SELECT id FROM (SELECT id, sum(size) OVER (ORDER BY used DESC, id) AS kept FROM turns) WHERE kept > ?
)
"""
_BATCH = 64
_AT_ONCE = 500
_LOOK_AFTER = 64

_T = TypeVar("_T")


class _Job(NamedTuple):
    work: Callable[[sqlite3.Connection], Any]
    writes: bool
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class SqliteBackend:
    """Several processes may share the file. WAL, `synchronous=NORMAL`: what is put outlives the process."""

    def __init__(self, path: Path, limits: Limits, *, repair: bool = False) -> None:
        self._path = path
        self._limits = limits
        self._file = ReplaceableFile(path, _SCHEMA, repair=repair)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="thinkwire-ledger", daemon=True)
        self._closed = False
        self._puts = 0
        self._bytes = 0

    @staticmethod
    async def open(path: Path, limits: Limits, *, repair: bool = False) -> SqliteBackend:
        """Open or make the file. With `repair`, a damaged one is moved aside, now or when it is noticed."""
        shelf = SqliteBackend(path, limits, repair=repair)
        shelf._thread.start()
        try:
            await shelf._ask(lambda db: shelf._make_room(db, time.time()))
        except BaseException:
            await shelf.aclose()
            raise
        return shelf

    async def put(self, entry: Entry, now: float) -> None:
        await self._ask(lambda db: self._put(db, entry, now))

    def _put(self, db: sqlite3.Connection, entry: Entry, now: float) -> None:
        size = len(entry.value)
        db.execute(_PUT, (entry.id, entry.value, size, now))
        db.executemany(_LIKELY, [(name, entry.id, now) for name in entry.likely])
        db.executemany(_SURE, [(name, entry.id, now) for name in entry.sure])
        self._puts += 1
        self._bytes += size
        if self._puts >= _LOOK_AFTER or self._bytes > self._limits.max_bytes // 16:
            self._make_room(db, now)

    def _make_room(self, db: sqlite3.Connection, now: float) -> None:
        """Forgets what is too old, and the longest unused of what is too much."""
        self._puts = self._bytes = 0
        self._forget(db, now - self._limits.ttl)
        (total,) = db.execute("SELECT coalesce(sum(size), 0) FROM turns").fetchone()
        if total > self._limits.max_bytes:
            db.execute(_CROWDED_OUT, (self._limits.max_bytes * 9 // 10,))

    def _forget(self, db: sqlite3.Connection, before: float) -> int:
        db.execute("DELETE FROM names WHERE turn IS NULL AND made < ?", (before,))
        return db.execute("DELETE FROM turns WHERE used < ?", (before,)).rowcount

    async def find(self, names: Sequence[bytes], now: float) -> dict[bytes, bytes]:
        found, stale = await self._ask(lambda db: self._find(db, names, now), writes=False)
        if stale:
            touched = [(now, turn) for turn in stale]
            await self._ask(lambda db: db.executemany("UPDATE turns SET used = ? WHERE id = ?", touched))
        return found

    def _find(
        self, db: sqlite3.Connection, names: Sequence[bytes], now: float
    ) -> tuple[dict[bytes, bytes], set[bytes]]:
        """What is known, and which turns of it should be marked as used."""
        found: dict[bytes, bytes] = {}
        stale: set[bytes] = set()
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = (
                "SELECT name, id, value, used FROM names JOIN turns ON turn = id "
                f"WHERE name IN ({marks}) AND used >= ?"
            )
            for name, turn, value, used in db.execute(query, (*some, now - self._limits.ttl)):
                found[name] = value
                if used < now - TOUCHED_AFTER:
                    stale.add(turn)
        return found, stale

    async def remove(self, names: Sequence[bytes]) -> int:
        return await self._ask(lambda db: self._remove(db, names))

    def _remove(self, db: sqlite3.Connection, names: Sequence[bytes]) -> int:
        removed = 0
        for name in names:
            query = "DELETE FROM turns WHERE id = (SELECT turn FROM names WHERE name = ?)"
            removed += db.execute(query, (name,)).rowcount
        return removed

    async def ping(self) -> None:
        await self._ask(lambda db: db.execute("SELECT 1 FROM turns LIMIT 1").fetchone(), writes=False)

    async def stats(self) -> Stats:
        query = "SELECT count(*), coalesce(sum(size), 0), min(used), max(used) FROM turns"
        turns, size, oldest, newest = await self._ask(lambda db: db.execute(query).fetchone(), writes=False)
        return Stats(str(self._path), turns, size, oldest, newest)

    async def purge(self, before: float | None) -> int:
        return await self._ask(lambda db: self._forget(db, float("inf") if before is None else before))

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    async def _ask(self, work: Callable[[sqlite3.Connection], _T], *, writes: bool = True) -> _T:
        if self._closed:
            raise LedgerBackendError(f"the ledger {self._path} is closed")
        loop = asyncio.get_running_loop()
        job = _Job(work, writes, loop.create_future(), loop)
        self._jobs.put(job)
        result: _T = await job.future
        return result

    def _run(self) -> None:
        """The thread: one connection, one transaction for everything that waits."""
        try:
            while (job := self._jobs.get()) is not None:
                jobs = [job]
                last = self._gather(jobs)
                self._serve(jobs)
                if last:
                    return
        finally:
            self._file.close()

    def _serve(self, jobs: list[_Job]) -> None:
        """Run the jobs; once more on a new file when the present one turns out to be damaged."""
        try:
            try:
                self._work(self._file.connection(), jobs)
            except sqlite3.DatabaseError as error:
                if not self._file.replace_damaged(error):
                    raise
                self._work(self._file.connection(), jobs)
        except (sqlite3.Error, OSError) as error:
            _settle([(job, None, self._trouble(error)) for job in jobs])

    def _gather(self, jobs: list[_Job]) -> bool:
        """Takes along what waits already; whether the shelf is to be closed after it."""
        with contextlib.suppress(queue.Empty):
            while len(jobs) < _BATCH:
                job = self._jobs.get_nowait()
                if job is None:
                    return True
                jobs.append(job)
        return False

    def _work(self, db: sqlite3.Connection, jobs: list[_Job]) -> None:
        try:
            with _transaction(db) if any(job.writes for job in jobs) else contextlib.nullcontext():
                results = [(job, job.work(db), None) for job in jobs]
        except Exception as error:  # whatever it is: nobody may wait for ever
            if self._file.repairs(error):
                raise
            if len(jobs) == 1:
                _settle([(jobs[0], None, self._trouble(error))])
                return
            for job in jobs:
                self._work(db, [job])
        else:
            _settle(results)

    def _trouble(self, error: Exception) -> LedgerBackendError:
        return LedgerBackendError(f"the ledger {self._path} cannot be used: {error}")


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _settle(results: Sequence[tuple[_Job, Any, LedgerBackendError | None]]) -> None:
    for job, value, error in results:
        with contextlib.suppress(RuntimeError):  # the loop may be gone
            job.loop.call_soon_threadsafe(_tell, job.future, value, error)


def _tell(future: asyncio.Future[Any], value: Any, error: LedgerBackendError | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)
