"""Limits: how often a tenant may ask, what it may spend in a day, and how much this process does at once."""

from __future__ import annotations

import datetime
import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from thinkwire.errors import ConfigError
from thinkwire.folders import state_folder
from thinkwire.gateway.config import GatewayConfig
from thinkwire.gateway.guard import Refusal
from thinkwire.gateway.keys import Tenant
from thinkwire.gateway.sqlite import open_shared

_log = logging.getLogger("thinkwire.gateway")


class Counter(Protocol):
    """Where requests and money are counted."""

    async def take(self, tenant: str, per_minute: int, now: float) -> float:
        """Takes a request from the tenant's bucket: 0, or the seconds until there is one."""
        ...

    async def spent(self, tenant: str, day: str) -> float: ...

    async def add(self, tenant: str, day: str, cost: float) -> None: ...

    async def aclose(self) -> None: ...


class Limits:
    """Lets requests in, or refuses them with the time to wait.

    As a context it is a place for one request, to the end of its stream.
    """

    def __init__(
        self,
        config: GatewayConfig,
        counter: Counter,
        *,
        clock: Callable[[], float] = time.time,
        on_running: Callable[[int], None] = lambda running: None,
    ) -> None:
        self.config = config
        """May be replaced while running."""
        self._counter = counter
        self._clock = clock
        self._on_running = on_running
        self.running = 0

    def __enter__(self) -> None:
        """One more request at once; Refusal when there are as many as may be."""
        if self.running >= self.config.server.max_streams:
            message = "the gateway serves as many requests as it may (max_streams under [server]); try again"
            raise Refusal(503, "overloaded", message, retry_after=1)
        self.running += 1
        self._on_running(self.running)

    def __exit__(self, *failed: object) -> None:
        self.running -= 1
        self._on_running(self.running)

    async def check(self, tenant: Tenant, *, priced: bool = True) -> None:
        """Refuses a tenant who has spent or asked as much as it may. `priced`: the model's price is known."""
        await self._check_spending(tenant, priced)
        await self._check_rate(tenant)

    async def spend(self, tenant: Tenant, cost: float | None) -> None:
        """What a request has cost, if it is known, for a tenant with a daily spend."""
        if cost and tenant.spend_per_day is not None:
            await self._counter.add(tenant.id, self._day(), cost)

    async def aclose(self) -> None:
        await self._counter.aclose()

    async def _check_rate(self, tenant: Tenant) -> None:
        if tenant.rate_per_minute is None:
            return
        wait = await self._counter.take(tenant.id, tenant.rate_per_minute, self._clock())
        if wait > 0:
            message = f"{tenant.name} may ask {tenant.rate_per_minute} times a minute"
            raise Refusal(429, "rate_limit", message, retry_after=round(wait, 3))

    async def _check_spending(self, tenant: Tenant, priced: bool) -> None:
        limit = tenant.spend_per_day
        if limit is None:
            return
        if not priced and self.config.limits.unpriced == "refuse":
            message = (
                f"{tenant.name} has a daily spend, and the price of this model is unknown "
                '(`unpriced = "allow"` under [limits] lets it through uncounted)'
            )
            raise Refusal(403, "auth", message)
        if await self._counter.spent(tenant.id, self._day()) >= limit:
            message = f"{tenant.name} has spent its {limit:g} USD of today; the next day begins at 00:00 UTC"
            raise Refusal(429, "quota", message, retry_after=86_400 - self._clock() % 86_400)

    def _day(self) -> str:
        return datetime.datetime.fromtimestamp(self._clock(), datetime.UTC).date().isoformat()


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


class OwnCounter:
    """Requests in memory, so that each worker has its own; money in a file that all workers share."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_folder() / "spending.db"
        self._buckets: dict[str, _Bucket] = {}
        self._db: sqlite3.Connection | None = None

    async def take(self, tenant: str, per_minute: int, now: float) -> float:
        bucket = self._buckets.setdefault(tenant, _Bucket(per_minute, now))
        return bucket.take(per_minute, now)

    async def spent(self, tenant: str, day: str) -> float:
        try:
            found = self._open().execute(
                "SELECT usd FROM spending WHERE tenant = ? AND day = ?", (tenant, day)
            )
            row = found.fetchone()
        except (sqlite3.Error, OSError):
            raise _cannot_count("no file") from None
        return float(row[0]) if row else 0.0

    async def add(self, tenant: str, day: str, cost: float) -> None:
        try:
            self._open().execute(
                "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET usd = usd + excluded.usd",
                (tenant, day, cost),
            )
        except (sqlite3.Error, OSError) as error:
            _log.error("the spending of %s could not be counted: %s", tenant, error)

    async def aclose(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = open_shared(
                self._path,
                "PRAGMA synchronous = OFF;"
                "CREATE TABLE IF NOT EXISTS spending (tenant TEXT, day TEXT, usd REAL,"
                " PRIMARY KEY (tenant, day)) WITHOUT ROWID;",
            )
        return self._db


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


class RedisCounter:
    """Counts in a Redis that several workers and machines share. Without it nobody with a limit is let in."""

    def __init__(self, url: str) -> None:
        try:
            from redis import asyncio as redis
        except ImportError:
            raise ConfigError("limits in Redis need it: pip install 'thinkwire[redis]'") from None
        try:
            self._redis: Any = redis.Redis.from_url(url, decode_responses=True, socket_timeout=2)
        except ValueError:
            raise ConfigError("url under [limits] must be redis://, rediss:// or unix://") from None
        self._take = self._redis.register_script(_TAKE)

    async def take(self, tenant: str, per_minute: int, now: float) -> float:
        taken = self._take(keys=[f"thinkwire:rate:{tenant}"], args=[str(per_minute), f"{now:.6f}"])
        return float(await self._asked(taken))

    async def spent(self, tenant: str, day: str) -> float:
        return float(await self._asked(self._redis.get(f"thinkwire:spend:{day}:{tenant}")) or 0)

    async def add(self, tenant: str, day: str, cost: float) -> None:
        key = f"thinkwire:spend:{day}:{tenant}"
        try:
            await self._asked(self._redis.incrbyfloat(key, cost))
            await self._asked(self._redis.expire(key, 3 * 86_400))
        except Refusal:
            _log.error("the spending of %s could not be counted: no Redis", tenant)

    async def aclose(self) -> None:
        await self._redis.aclose()

    async def _asked(self, question: Any) -> Any:
        from redis.exceptions import RedisError

        try:
            return await question
        except (RedisError, OSError):
            raise _cannot_count("no Redis") from None


def _cannot_count(reason: str) -> Refusal:
    message = f"the gateway cannot count what this key uses at the moment ({reason}); try again"
    return Refusal(503, "overloaded", message, retry_after=1)


def open_counter(config: GatewayConfig) -> Counter:
    """The counter that the configuration asks for."""
    return RedisCounter(config.limits.url) if config.limits.url else OwnCounter()
