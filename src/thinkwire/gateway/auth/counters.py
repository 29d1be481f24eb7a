"""Counters of requests and of money: in this process and a shared SQLite file, or in Redis."""

from __future__ import annotations

import asyncio
import datetime
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from thinkwire.config.paths import state_folder
from thinkwire.errors import ConfigError
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.common.shared_sqlite import open_shared

RESERVATION_SECONDS = 3600.0
"""After this time a reservation that was never settled counts as spent at its estimate."""
_DAY = 86_400
_KEPT_DAYS = 3

_T = TypeVar("_T")
_log = logging.getLogger("thinkwire.gateway")


class Reservation(msgspec.Struct, frozen=True):
    """US dollars held back for one request. It is settled once, whatever is retried."""

    id: str
    tenant: str
    day: str
    """The day (UTC) that the request counts for: the one on which it was let in."""
    usd: float


class Balance(msgspec.Struct, frozen=True):
    """What a tenant has spent on a day, and what its running requests hold back."""

    spent: float
    reserved: float
    is_admitted: bool


class Counter(Protocol):
    """Where requests and money are counted. Each method raises Refusal (503) when it cannot count."""

    async def take(self, tenant: str, per_minute: int, now: float) -> float:
        """Takes a request from the tenant's bucket: 0, or the seconds until there is one."""
        ...

    async def reserve(self, wanted: Reservation, limit: float, now: float) -> Balance:
        """Admit and store a reservation while `spent + reserved < limit`; the balance is from before it."""
        ...

    async def settle(self, reservation: Reservation, cost: float) -> None:
        """Replace a reservation by the cost. A second call for the same reservation changes nothing."""
        ...

    async def aclose(self) -> None: ...


def day_of(now: float) -> str:
    """The day of a time in UTC, as in `2026-11-18`."""
    return datetime.datetime.fromtimestamp(now, datetime.UTC).date().isoformat()


class _Bucket:
    """Fills evenly up to a minute's worth."""

    def __init__(self, tokens: float, now: float) -> None:
        self.tokens = tokens
        self.at = now

    def take(self, per_minute: int, now: float) -> float:
        self.tokens = min(per_minute, self.tokens + max(now - self.at, 0) * per_minute / 60)
        self.at = now
        if self.tokens < 1:
            return (1 - self.tokens) * 60 / per_minute
        self.tokens -= 1
        return 0.0


_SCHEMA = """
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS spending (
    tenant TEXT, day TEXT, usd REAL, PRIMARY KEY (tenant, day)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reservations (
    tenant TEXT, day TEXT, id TEXT, usd REAL, expires REAL, PRIMARY KEY (tenant, day, id)
) WITHOUT ROWID;
"""
_BALANCE = """
SELECT coalesce((SELECT usd FROM spending WHERE tenant = :tenant AND day = :day), 0)
       + coalesce(sum(usd) FILTER (WHERE expires <= :now), 0),
       coalesce(sum(usd) FILTER (WHERE expires > :now), 0)
FROM reservations WHERE tenant = :tenant AND day = :day
"""
_RESERVE = "INSERT OR IGNORE INTO reservations VALUES (:tenant, :day, :id, :usd, :expires)"
_RELEASE = "DELETE FROM reservations WHERE tenant = :tenant AND day = :day AND id = :id"
_SPEND = """
INSERT INTO spending VALUES (:tenant, :day, :cost)
ON CONFLICT DO UPDATE SET usd = usd + excluded.usd
"""


class OwnCounter:
    """Requests in memory, so that each worker has its own; money in a file that all workers share.

    The file is used by one thread, in the order of the calls, so that a lock or a slow disk does not hold up
    the event loop.
    """

    def __init__(self, path: Path | None = None, *, patience: float = 5.0) -> None:
        """`patience` is how many seconds a call may take in all, behind others and behind a lock."""
        self._path = path or state_folder() / "spending.db"
        self._patience = patience
        self._buckets: dict[str, _Bucket] = {}
        self._db: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._cleaned = ""

    async def take(self, tenant: str, per_minute: int, now: float) -> float:
        bucket = self._buckets.setdefault(tenant, _Bucket(per_minute, now))
        return bucket.take(per_minute, now)

    async def reserve(self, wanted: Reservation, limit: float, now: float) -> Balance:
        return await self._run(lambda db: self._reserve(db, wanted, limit, now))

    def _reserve(self, db: sqlite3.Connection, wanted: Reservation, limit: float, now: float) -> Balance:
        values = msgspec.structs.asdict(wanted) | {"now": now, "expires": now + RESERVATION_SECONDS}
        spent, reserved = db.execute(_BALANCE, values).fetchone()
        admitted = spent + reserved < limit
        if admitted:
            db.execute(_RESERVE, values)
        if self._cleaned != wanted.day:
            self._cleaned = wanted.day
            db.execute("DELETE FROM reservations WHERE day < ?", (day_of(now - _KEPT_DAYS * _DAY),))
        return Balance(spent, reserved, admitted)

    async def settle(self, reservation: Reservation, cost: float) -> None:
        await self._run(lambda db: self._settle(db, reservation, cost))

    def _settle(self, db: sqlite3.Connection, reservation: Reservation, cost: float) -> None:
        values = msgspec.structs.asdict(reservation) | {"cost": cost}
        if db.execute(_RELEASE, values).rowcount and cost:
            db.execute(_SPEND, values)

    async def aclose(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.get_running_loop().run_in_executor(thread, self._close)
            thread.shutdown()

    async def _run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run a transaction in the counter's thread, after those that were asked for before it."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "thinkwire-spending")
        deadline = time.monotonic() + self._patience
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._transact, work, deadline)
        except (sqlite3.Error, OSError) as error:
            _log.error("%s cannot be used: %s", self._path, error)
            raise cannot_count(f"{self._path.name} cannot be used") from None

    def _transact(self, work: Callable[[sqlite3.Connection], _T], deadline: float) -> _T:
        left = deadline - time.monotonic()
        if left <= 0:
            raise sqlite3.OperationalError("it was locked for too long")
        if self._db is None:
            self._db = open_shared(self._path, _SCHEMA, patience=left)
        self._db.execute(f"PRAGMA busy_timeout = {max(1, int(left * 1000))}")
        with _transaction(self._db):
            return work(self._db)

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


_TAKE = """
local rate, now = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(kept[1]) or rate, tonumber(kept[2]) or now
tokens = math.min(rate, tokens + math.max(now - at, 0) * rate / 60)
local wait = 0
if tokens < 1 then wait = (1 - tokens) * 60 / rate else tokens = tokens - 1 end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(now))
redis.call('EXPIRE', KEYS[1], 120)
return tostring(wait)
"""
_RESERVE_SCRIPT = """
local id, usd, limit, now, expires = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local spent, reserved = tonumber(redis.call('GET', KEYS[1]) or '0'), 0
local known = false
local held = redis.call('HGETALL', KEYS[2])
for at = 1, #held, 2 do
  local amount, ends = string.match(held[at + 1], '^(%S+) (%S+)$')
  if held[at] == id then known = true
  elseif tonumber(ends) <= now then spent = spent + tonumber(amount)
  else reserved = reserved + tonumber(amount) end
end
local admitted = known or spent + reserved < limit
if admitted and not known then
  redis.call('HSET', KEYS[2], id, usd .. ' ' .. expires)
  redis.call('EXPIRE', KEYS[2], ARGV[6])
end
return {string.format('%.17g', spent), string.format('%.17g', reserved), admitted and 1 or 0}
"""
"""The spending of a day, its reservations by id; an id that is there already was admitted before."""
_SETTLE_SCRIPT = """
if redis.call('SET', KEYS[3], '1', 'NX', 'EX', ARGV[3]) then
  redis.call('HDEL', KEYS[2], ARGV[1])
  if tonumber(ARGV[2]) > 0 then
    redis.call('INCRBYFLOAT', KEYS[1], ARGV[2])
    redis.call('EXPIRE', KEYS[1], ARGV[4])
  end
end
"""
"""A mark of its own tells that a reservation was settled: one that a restarted server lost counts too."""
_SETTLED_SECONDS = 3600


class RedisCounter:
    """Counts in a Redis that several workers and machines share. Keys with limits need it to be reachable.

    A command whose connection broke is sent once more on another one. Reservations have ids, so that none is
    made or settled twice; a request may be taken from its bucket twice.
    """

    def __init__(self, url: str) -> None:
        try:
            from redis import asyncio as redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
            from redis.exceptions import ConnectionError as Broken
        except ImportError:
            raise ConfigError("limits in Redis need it: pip install 'thinkwire[redis]'") from None
        try:
            self._redis: Any = redis.Redis.from_url(
                url,
                decode_responses=True,
                socket_timeout=2,
                retry=Retry(NoBackoff(), 1, supported_errors=(Broken,)),
            )
        except ValueError:
            raise ConfigError("url under [limits] must be redis://, rediss:// or unix://") from None
        self._take = self._redis.register_script(_TAKE)
        self._reserve = self._redis.register_script(_RESERVE_SCRIPT)
        self._settle = self._redis.register_script(_SETTLE_SCRIPT)

    async def take(self, tenant: str, per_minute: int, now: float) -> float:
        taken = self._take(keys=[f"thinkwire:rate:{tenant}"], args=[str(per_minute), f"{now:.6f}"])
        return float(await self._asked(taken))

    async def reserve(self, wanted: Reservation, limit: float, now: float) -> Balance:
        args = [wanted.id, repr(wanted.usd), repr(limit), f"{now:.6f}", f"{now + RESERVATION_SECONDS:.6f}"]
        args.append(str(_KEPT_DAYS * _DAY))
        told = await self._asked(self._reserve(keys=_names(wanted), args=args))
        return Balance(float(told[0]), float(told[1]), bool(told[2]))

    async def settle(self, reservation: Reservation, cost: float) -> None:
        keys = [*_names(reservation), f"thinkwire:settled:{reservation.id}"]
        args = [reservation.id, f"{cost:.12f}", str(_SETTLED_SECONDS), str(_KEPT_DAYS * _DAY)]
        await self._asked(self._settle(keys=keys, args=args))

    async def aclose(self) -> None:
        await self._redis.aclose()

    async def _asked(self, question: Any) -> Any:
        from redis.exceptions import RedisError

        try:
            return await question
        except (RedisError, OSError):
            raise cannot_count("no Redis") from None


def _names(reservation: Reservation) -> list[str]:
    rest = f"{reservation.day}:{reservation.tenant}"
    return [f"thinkwire:spend:{rest}", f"thinkwire:reserved:{rest}"]


def cannot_count(reason: str) -> Refusal:
    message = f"the gateway cannot count what this key uses at the moment ({reason}); try again"
    return Refusal(503, "overloaded", message, retry_after=1)
