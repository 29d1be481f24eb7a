"""The ledger in PostgreSQL, for several gateways that have one already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from thinkwire.errors import ConfigError
from thinkwire.gateway.config.addresses import shown
from thinkwire.gateway.ledger.backend import TOUCHED_AFTER, Entry, LedgerBackendError, Limits, Stats

_SCHEMA = """
CREATE TABLE IF NOT EXISTS thinkwire_ledger_turns (
    id bytea PRIMARY KEY, value bytea NOT NULL, size integer NOT NULL, used double precision NOT NULL
);
CREATE TABLE IF NOT EXISTS thinkwire_ledger_names (
    name bytea PRIMARY KEY,
    turn bytea REFERENCES thinkwire_ledger_turns (id) ON DELETE CASCADE,
    made double precision NOT NULL
);
CREATE INDEX IF NOT EXISTS thinkwire_ledger_by_use ON thinkwire_ledger_turns (used, size);
CREATE INDEX IF NOT EXISTS thinkwire_ledger_by_turn ON thinkwire_ledger_names (turn);
"""
_LOCK = "SELECT pg_advisory_xact_lock(7499823151)"
_PUT = """
INSERT INTO thinkwire_ledger_turns (id, value, size, used) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET value = excluded.value, size = excluded.size, used = excluded.used
"""
_SURE = """
INSERT INTO thinkwire_ledger_names AS names (name, turn, made)
SELECT DISTINCT name, $2::bytea, $3::double precision FROM unnest($1::bytea[]) AS name ORDER BY name
ON CONFLICT (name) DO UPDATE SET turn = excluded.turn, made = excluded.made
"""
_LIKELY = """
INSERT INTO thinkwire_ledger_names AS names (name, turn, made)
SELECT DISTINCT name, $2::bytea, $3::double precision FROM unnest($1::bytea[]) AS name ORDER BY name
ON CONFLICT (name) DO UPDATE SET
    turn = CASE WHEN names.turn = excluded.turn THEN names.turn END, made = excluded.made
"""
_FIND = """
SELECT name, id, value, used FROM thinkwire_ledger_names JOIN thinkwire_ledger_turns ON turn = id
WHERE name = ANY($1::bytea[]) AND used >= $2
"""
_REMOVE = """
DELETE FROM thinkwire_ledger_turns WHERE id IN (
    SELECT turn FROM thinkwire_ledger_names WHERE name = ANY($1::bytea[])
)
"""
_CROWDED_OUT = """
DELETE FROM thinkwire_ledger_turns WHERE id IN (
    SELECT id FROM (
        SELECT id, sum(size) OVER (ORDER BY used DESC, id) AS kept FROM thinkwire_ledger_turns
    ) AS ranked WHERE kept > $1
)
"""
_STATS = "SELECT count(*), coalesce(sum(size), 0), min(used), max(used) FROM thinkwire_ledger_turns"
_SECONDS = 5.0
_LOOK_AFTER = 64


class PostgresBackend:
    """Two tables in the database's default schema."""

    def __init__(self, pool: Any, url: str, limits: Limits) -> None:
        self._pool = pool
        self._where = shown(url)
        self._limits = limits
        self._puts = 0
        self._bytes = 0

    @staticmethod
    async def open(url: str, limits: Limits) -> PostgresBackend:
        try:
            asyncpg = import_module("asyncpg")
        except ImportError:
            raise ConfigError(
                "a ledger in PostgreSQL needs `asyncpg`: pip install 'thinkwire[postgres]'"
            ) from None
        async with _trouble(shown(url)):
            pool = await asyncpg.create_pool(
                url, min_size=0, max_size=4, timeout=_SECONDS, command_timeout=_SECONDS
            )
        shelf = PostgresBackend(pool, url, limits)
        try:
            async with shelf._transaction() as db:
                await db.execute(_LOCK)
                await db.execute(_SCHEMA)
        except BaseException:
            await shelf.aclose()
            raise
        return shelf

    async def put(self, entry: Entry, now: float) -> None:
        size = len(entry.value)
        async with self._transaction() as db:
            await db.execute(_PUT, entry.id, entry.value, size, now)
            if entry.likely:
                await db.execute(_LIKELY, list(entry.likely), entry.id, now)
            if entry.sure:
                await db.execute(_SURE, list(entry.sure), entry.id, now)
        self._puts += 1
        self._bytes += size
        if self._puts >= _LOOK_AFTER or self._bytes > self._limits.max_bytes // 16:
            self._puts = self._bytes = 0
            await self._make_room(now)

    async def _make_room(self, now: float) -> None:
        async with self._transaction() as db:
            await db.execute(_LOCK)
            await _forget(db, now - self._limits.ttl)
            _, total, _, _ = await db.fetchrow(_STATS)
            if total > self._limits.max_bytes:
                await db.execute(_CROWDED_OUT, self._limits.max_bytes * 9 // 10)

    async def find(self, names: Sequence[bytes], now: float) -> dict[bytes, bytes]:
        async with self._connection() as db:
            rows = await db.fetch(_FIND, list(names), now - self._limits.ttl)
            stale = list({row["id"] for row in rows if row["used"] < now - TOUCHED_AFTER})
            if stale:
                touch = "UPDATE thinkwire_ledger_turns SET used = $1 WHERE id = ANY($2::bytea[])"
                await db.execute(touch, now, stale)
        return {row["name"]: row["value"] for row in rows}

    async def remove(self, names: Sequence[bytes]) -> int:
        async with self._transaction() as db:
            return _count(await db.execute(_REMOVE, list(names)))

    async def ping(self) -> None:
        async with self._connection() as db:
            await db.fetch("SELECT 1 FROM thinkwire_ledger_turns LIMIT 1")

    async def stats(self) -> Stats:
        async with self._connection() as db:
            turns, size, oldest, newest = await db.fetchrow(_STATS)
        return Stats(self._where, turns, int(size), oldest, newest)

    async def purge(self, before: float | None) -> int:
        async with self._transaction() as db:
            return await _forget(db, float("inf") if before is None else before)

    async def aclose(self) -> None:
        try:
            await asyncio.wait_for(self._pool.close(), _SECONDS)
        except TimeoutError:
            self._pool.terminate()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        async with _trouble(self._where), self._pool.acquire(timeout=_SECONDS) as db:
            yield db

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Any]:
        async with self._connection() as db, db.transaction():
            yield db


async def _forget(db: Any, before: float) -> int:
    await db.execute("DELETE FROM thinkwire_ledger_names WHERE turn IS NULL AND made < $1", before)
    return _count(await db.execute("DELETE FROM thinkwire_ledger_turns WHERE used < $1", before))


def _count(status: str) -> int:
    """How many rows a statement changed, by its status (`DELETE 3`)."""
    return int(status.rpartition(" ")[2])


@asynccontextmanager
async def _trouble(where: str) -> AsyncIterator[None]:
    asyncpg = import_module("asyncpg")
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError, ValueError) as error:
        what = str(error) or type(error).__name__
        raise LedgerBackendError(f"the ledger {where} cannot be used: {what}") from None
