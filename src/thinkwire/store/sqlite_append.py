"""The quick door to an SQLite file, for one new conversation.

Loading SQLAlchemy and opening a store with it take about 450 ms of computing, twice as much as all the rest
of a `thinkwire ask` (`bench/startup.py`); Python's own sqlite3 takes 5. So a conversation that begins in a
file whose schema is the newest goes in by here: the same rows by the same rules (`writing.py`), set up in the
same way (`sqlite.py`); a law in the tests compares the two. Everything else is the store's: making the file,
PostgreSQL, reading, searching, going on, and settling what dead processes left, which the next one to open
the store does.

SQLite is asked in a thread of its own: a write waits for the disk, and half a minute for another writer.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from thinkwire.store.cancellation import run_to_completion
from thinkwire.store.errors import RowNotFound, database_failed
from thinkwire.store.heartbeat import Heartbeat
from thinkwire.store.location import StoreLocation, the_place
from thinkwire.store.mapping import conversation_columns
from thinkwire.store.message_writer import (
    AFTER_REVISION,
    Columns,
    MessageWriter,
    after_insert,
    after_revision,
    interrupted,
    placed,
)
from thinkwire.store.schema import NEWEST, VERSION_TABLE
from thinkwire.store.seal_encryption import SealCipher, the_key
from thinkwire.store.sqlite import BEGIN_WRITING, set_up

_T = TypeVar("_T")


async def open_sqlite_append(url: str | None = None, key: str | None = None) -> SqliteAppendStore | None:
    """The door, where there is one: None when only the store itself can open this place, or say why not."""
    place = the_place(url)
    if place.file is None:
        return None
    store = SqliteAppendStore(place, SealCipher(the_key(key)))
    try:
        if await store.open(place.file):
            return store
    except BaseException:
        await store.aclose()
        raise
    await store.aclose()
    return None


class SqliteAppendStore(MessageWriter):
    """Conversations that begin. Close it with `aclose()`."""

    def __init__(self, place: StoreLocation, safe: SealCipher) -> None:
        self._place = place
        self._safe = safe
        self._heart = Heartbeat(self._touch)
        self._worker = ThreadPoolExecutor(1, "store")
        self._connection: sqlite3.Connection | None = None

    def __repr__(self) -> str:
        return f"<PlainStore {self._place.shown}>"

    async def open(self, file: Path) -> bool:
        """Whether it can be written to by here."""

        def work() -> bool:
            try:
                # Otherwise a file that may only be read would be opened all the same.
                os.close(os.open(file, os.O_RDWR))
                self._connection = sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True, isolation_level=None)
                found = self._connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
                if found != (NEWEST,):
                    return False
                set_up(self._connection)
            except (sqlite3.Error, OSError):
                return False
            return True

        return await self._aside(work)

    async def create_conversation(self, title: str | None = None, **described: Any) -> None:
        """A new, empty conversation."""
        columns = conversation_columns(title, **described)
        await self._write(lambda connection: _put(connection, "conversations", columns))

    async def aclose(self) -> None:
        """Finishes what is being written and lets the file go; nobody can stop it half-way."""
        await run_to_completion(self._close())

    async def _insert_row(self, columns: Columns) -> Columns:
        return await self._write(lambda connection: _insert(connection, columns))

    async def _revise_row(self, id: str, columns: Columns) -> None:
        await self._write(lambda connection: _revise(connection, id, columns))

    async def _touch(self, ids: list[str]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for id in ids:
                _set(connection, "messages", {"updated": time.time()}, id=id, status="streaming")

        await self._write(work)

    async def _close(self) -> None:
        left = await self._heart.stop()
        try:
            if left:
                await self._write(lambda connection: _interrupt(connection, left))
        finally:
            connection, self._connection = self._connection, None
            if connection is not None:
                await self._aside(connection.close)
            self._worker.shutdown()

    async def _write(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Runs work in a transaction, to its end even if whoever waits for it is cancelled."""

        def transaction() -> _T:
            assert self._connection is not None
            with self._told(), self._connection as connection:
                connection.execute(BEGIN_WRITING)
                return work(connection)

        return await self._aside(transaction)

    async def _aside(self, work: Callable[[], _T]) -> _T:
        """In the thread that has the connection, one thing after the other."""
        return await run_to_completion(asyncio.get_running_loop().run_in_executor(self._worker, work))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeEncodeError) as error:
            raise database_failed(self._place.shown, error) from None


def _insert(connection: sqlite3.Connection, columns: Columns) -> Columns:
    conversation_id = columns["conversation_id"]
    found = _row(connection, "conversations", ("head", "count"), id=conversation_id)
    if found is None:
        raise RowNotFound("conversation", conversation_id)
    values = placed(columns, found["head"], found["count"])
    parent = values["parent_id"]
    if parent not in (None, found["head"]) and not _row(
        connection, "messages", ("id",), id=parent, conversation_id=conversation_id
    ):
        raise RowNotFound("message", parent)
    _put(connection, "messages", values)
    _set(connection, "conversations", after_insert(values), id=conversation_id)
    return values


def _revise(connection: sqlite3.Connection, id: str, columns: Columns) -> None:
    _set(connection, "messages", columns, id=id)
    row = _row(connection, "messages", AFTER_REVISION, id=id)
    if row is None:
        raise RowNotFound("message", id)
    words, moved = after_revision(columns, row)
    if words:
        _set(connection, "messages", words, id=id)
    if moved:
        _set(connection, "conversations", moved, id=row["conversation_id"], head=id)


def _interrupt(connection: sqlite3.Connection, ids: list[str]) -> None:
    for id in ids:
        row = _row(connection, "messages", ("text", "thinking"), id=id, status="streaming")
        if row is not None:
            _set(connection, "messages", interrupted(row["text"], row["thinking"]), id=id)


# The names of tables and columns are our own; only values come from elsewhere.


def _row(connection: sqlite3.Connection, table: str, columns: Sequence[str], **where: str) -> Columns | None:
    query = f"SELECT {_names(columns)} FROM {table} WHERE {_equal(where)}"
    row = connection.execute(query, tuple(where.values())).fetchone()
    return None if row is None else dict(zip(columns, row, strict=True))


def _put(connection: sqlite3.Connection, table: str, values: Columns) -> None:
    marks = ", ".join("?" * len(values))
    statement = f"INSERT INTO {table} ({_names(values)}) VALUES ({marks})"
    connection.execute(statement, tuple(values.values()))


def _set(connection: sqlite3.Connection, table: str, values: Columns, **where: str) -> None:
    changes = ", ".join(f'"{name}" = ?' for name in values)
    statement = f"UPDATE {table} SET {changes} WHERE {_equal(where)}"
    connection.execute(statement, (*values.values(), *where.values()))


def _names(columns: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _equal(where: Iterable[str]) -> str:
    return " AND ".join(f'"{name}" = ?' for name in where)
