"""One database: an engine, and reading and writing that are finished once they are begun."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from thinkwire.store.cancellation import run_to_completion
from thinkwire.store.errors import database_failed
from thinkwire.store.location import StoreLocation
from thinkwire.store.seal_encryption import SealCipher
from thinkwire.store.sqlite import BEGIN_WRITING, set_up

_T = TypeVar("_T")


class Database:
    """What every part of a store works with."""

    def __init__(self, place: StoreLocation, safe: SealCipher) -> None:
        self.place = place
        self.safe = safe
        self.sqlite = place.file is not None
        self.engine = create_async_engine(
            sa.make_url(place.url).set(database=str(place.file)) if self.sqlite else place.url,
            # Neither texts nor seals may come into a log or an error.
            hide_parameters=True,
            json_serializer=str,
            json_deserializer=str,
            pool_pre_ping=not self.sqlite,
            connect_args={"isolation_level": None} if self.sqlite else {},
        )
        self._reader = self.engine.execution_options(reading=True)
        self._working: set[asyncio.Task[Any]] = set()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        if self.sqlite:
            sa.event.listen(self.engine.sync_engine, "connect", _set_up)
            sa.event.listen(self.engine.sync_engine, "begin", _begin)

    async def rows(self, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        """What one query finds."""

        async def work(connection: AsyncConnection) -> Sequence[sa.Row[Any]]:
            found: Sequence[sa.Row[Any]] = (await connection.execute(query)).all()
            return found

        return await self.read(work)

    async def read(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        """Runs work that sees one state of the database and changes nothing."""
        return await self._undisturbed(self._look(work))

    async def write(self, work: Callable[[AsyncConnection], Awaitable[_T]], about: str = "") -> _T:
        """Runs work in a transaction, to its end even if whoever waits for it is cancelled.

        What is about the same thing is done in the order in which it was asked for.
        """
        return await self._undisturbed(self._transaction(work, about))

    async def close(self) -> None:
        """Once everything that was begun is done; nobody can stop it half-way."""
        await run_to_completion(self._close())

    async def _close(self) -> None:
        while self._working:
            await asyncio.wait(self._working)
        await self.engine.dispose()

    async def _undisturbed(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Whoever waits may be cancelled; the work goes on, since a driver that is cut off breaks."""
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def _look(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        with told(self.place):
            async with self._reader.connect() as connection:
                return await work(connection)

    async def _transaction(self, work: Callable[[AsyncConnection], Awaitable[_T]], about: str) -> _T:
        # SQLite has one writer at a time; waiting here is fair, waiting there is polling.
        turn = self._turns.setdefault("" if self.sqlite else about, asyncio.Lock())
        with told(self.place):
            async with turn, self.engine.begin() as connection:
                return await work(connection)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._working.discard(task)
        if not task.cancelled():
            task.exception()


class Repository:
    """A part of the store: some of its operations, on its database."""

    def __init__(self, database: Database) -> None:
        self.database = database


@contextmanager
def told(place: StoreLocation) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError, UnicodeEncodeError) as error:
        raise database_failed(place.shown, error) from None


def _set_up(connection: Any, record: object) -> None:
    set_up(connection)


def _begin(connection: Connection) -> None:
    reading = connection.get_execution_options().get("reading")
    connection.exec_driver_sql("BEGIN" if reading else BEGIN_WRITING)
