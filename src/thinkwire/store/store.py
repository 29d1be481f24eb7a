"""Opening a store: the file is made, the schema checked, and what others left unfinished is settled."""

from __future__ import annotations

import asyncio
import os
import time
from types import TracebackType

from thinkwire.config.paths import make_folder
from thinkwire.errors import ConfigError
from thinkwire.store import schema
from thinkwire.store.accounts import Accounts
from thinkwire.store.agents import Agents
from thinkwire.store.cancellation import run_to_completion
from thinkwire.store.conversations import Conversations
from thinkwire.store.database import Database
from thinkwire.store.errors import StoreFailed
from thinkwire.store.location import StoreLocation, the_place
from thinkwire.store.messages import Messages
from thinkwire.store.seal_encryption import SealCipher, the_key
from thinkwire.store.search import Search
from thinkwire.store.uploads import Uploads
from thinkwire.store.usage_report import UsageReport

_PATIENCE = 30.0
"""Seconds to wait for another process that is making the same SQLite file."""


class Store(Conversations, Messages, Search, UsageReport, Agents, Accounts, Uploads):
    """Conversations, messages, agents, profiles and accounts in one database. Close it with `aclose()`."""

    def __repr__(self) -> str:
        return f"<Store {self.database.place.shown}>"

    async def aclose(self) -> None:
        """Finishes what is being written and lets the database go; nobody can stop it half-way."""
        await run_to_completion(self._close())

    async def _close(self) -> None:
        try:
            await self._let_go()
        finally:
            await self.database.close()

    async def ping(self) -> None:
        """Read from the database; ConfigError when it does not answer."""
        await version_of(self.database)

    async def __aenter__(self) -> Store:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def opened(url: str | None, key: str | None) -> Store:
    """What `open_store` does."""
    place = the_place(url)
    store = Store(the_database(place, the_key(key)))
    try:
        if place.file is not None:
            await _make_ready(store.database)
        else:
            _check(await version_of(store.database), place)
        await store.settle()
    except BaseException:
        await store.database.close()
        raise
    return store


def the_database(place: StoreLocation, key: str | None = None) -> Database:
    """The database at a place, not yet connected; an SQLite file is made for its owner alone."""
    safe = SealCipher(key)
    if place.file is not None:
        try:
            make_folder(place.file.parent)
            os.close(os.open(place.file, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise ConfigError(f"the store cannot be at {place.file}: {error.strerror}") from None
    try:
        return Database(place, safe)
    except ModuleNotFoundError as error:
        extra = "store" if place.file else "store,postgres"
        raise ConfigError(f"a store needs {error.name}: pip install 'thinkwire[{extra}]'") from None


async def migrate(url: str | None, revision: str, *, down: bool = False) -> str:
    """Brings the schema of a database to a step, in one transaction; the name of the database."""
    place = the_place(url)
    database = the_database(place)
    try:
        found = await version_of(database)
        if not down:
            _check(found or schema.REVISIONS[0], place, old=True)
        run = schema.downgrade if down else schema.upgrade
        await database.write(lambda connection: connection.run_sync(run, revision))
    finally:
        await database.close()
    return place.shown


async def version_of(database: Database) -> str | None:
    """The schema's step; ConfigError when there is no database to ask."""
    try:
        return await database.read(lambda connection: connection.run_sync(schema.version))
    except StoreFailed as error:
        raise ConfigError(str(error)) from None


async def _make_ready(database: Database) -> None:
    """Two processes may do this at once: each looks again after it has got the lock."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            found = await version_of(database)
            if found != schema.NEWEST:
                _check(found or schema.REVISIONS[0], database.place, old=True)
                await database.write(lambda connection: connection.run_sync(schema.upgrade))
            return
        except (StoreFailed, ConfigError) as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.02)


def _check(found: str | None, place: StoreLocation, *, old: bool = False) -> None:
    """The schema must be one that this version knows; for PostgreSQL, the newest."""
    if found == schema.NEWEST or (old and found in schema.REVISIONS):
        return
    if found is None:
        raise ConfigError(f"{place.shown} has no thinkwire tables yet: run `thinkwire db upgrade`")
    if found in schema.REVISIONS:
        raise ConfigError(
            f"{place.shown} is at step {found} and needs {schema.NEWEST}: run `thinkwire db upgrade`"
        )
    raise ConfigError(
        f"{place.shown} is at step {found}, which this version does not know: use a newer thinkwire"
    )
