"""The ledger in Redis, for several gateways: values by turn, references by name, one list by use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from thinkwire.errors import ConfigError
from thinkwire.gateway.config.addresses import shown
from thinkwire.gateway.ledger.backend import TOUCHED_AFTER, Entry, LedgerBackendError, Limits, Stats

_TURN, _NAME = b"thinkwire:turn:", b"thinkwire:name:"
_USED, _BYTES = b"thinkwire:used", b"thinkwire:bytes"
_SECONDS = 2.0
_CONNECTIONS = 16
_AT_ONCE = 500

_PUT = """
local turn, value, now, keep, sure = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local prefix, expired, most = ARGV[6], ARGV[7], tonumber(ARGV[8])
local function size() return tonumber(redis.call('GET', KEYS[2]) or '0') end
local function drop(old)
  redis.call('DECRBY', KEYS[2], redis.call('STRLEN', prefix .. old))
  redis.call('DEL', prefix .. old)
  redis.call('ZREM', KEYS[1], old)
end
redis.call('INCRBY', KEYS[2], #value - redis.call('STRLEN', prefix .. turn))
redis.call('SET', prefix .. turn, value, 'PX', keep)
redis.call('ZADD', KEYS[1], now, turn)
for at = 3, #KEYS do
  local held = redis.call('GET', KEYS[at])
  local free = at - 2 <= sure or not held or held == turn
  if not free and held ~= '' then free = redis.call('EXISTS', prefix .. held) == 0 end
  redis.call('SET', KEYS[at], free and turn or '', 'PX', keep)
end
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', expired, 'LIMIT', 0, 100)) do drop(old) end
if size() > most then
  while size() > most * 0.9 do
    local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)
    if #oldest == 0 then redis.call('SET', KEYS[2], 0) break end
    drop(oldest[1])
  end
end
"""
"""The sure names come first; one of the others that two turns claim refers to nothing. Then room is made."""

_FORGET = """
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1000)
for _, old in ipairs(gone) do
  redis.call('DECRBY', KEYS[2], redis.call('STRLEN', ARGV[2] .. old))
  redis.call('DEL', ARGV[2] .. old)
  redis.call('ZREM', KEYS[1], old)
end
return #gone
"""


_REMOVE = """
local removed = 0
for at = 3, #KEYS do
  local turn = redis.call('GET', KEYS[at])
  if turn and turn ~= '' and redis.call('EXISTS', ARGV[1] .. turn) == 1 then
    redis.call('DECRBY', KEYS[2], redis.call('STRLEN', ARGV[1] .. turn))
    redis.call('DEL', ARGV[1] .. turn)
    redis.call('ZREM', KEYS[1], turn)
    removed = removed + 1
  end
end
return removed
"""


class RedisBackend:
    """What is put is as durable as the server makes it. Values outlive their time by at most an hour."""

    def __init__(self, redis: Any, url: str, limits: Limits) -> None:
        self._redis = redis
        self._where = shown(url)
        self._limits = limits
        self._put = redis.register_script(_PUT)
        self._forget = redis.register_script(_FORGET)
        self._remove = redis.register_script(_REMOVE)

    @staticmethod
    async def open(url: str, limits: Limits) -> RedisBackend:
        try:
            from redis.asyncio import BlockingConnectionPool, Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
            from redis.exceptions import ConnectionError as Broken
        except ImportError:
            raise ConfigError("a ledger in Redis needs `redis`: pip install 'thinkwire[redis]'") from None
        options: dict[str, Any] = {"socket_timeout": _SECONDS, "socket_connect_timeout": _SECONDS}
        # After a restart of the server every idle connection is dead; what is sent here may be sent twice.
        options |= {"timeout": _SECONDS, "retry": Retry(NoBackoff(), 1, supported_errors=(Broken,))}
        try:
            pool = BlockingConnectionPool.from_url(url, max_connections=_CONNECTIONS, **options)
        except ValueError as error:
            raise ConfigError(f"{shown(url)} is no address of a Redis server: {error}") from None
        redis = Redis.from_pool(pool)
        shelf = RedisBackend(redis, url, limits)
        try:
            await shelf.stats()
        except BaseException:
            await shelf.aclose()
            raise
        return shelf

    @property
    def _keep(self) -> int:
        """Milliseconds. Longer than the time to live, because use is not written down each time."""
        return int((self._limits.ttl + TOUCHED_AFTER) * 1000)

    async def put(self, entry: Entry, now: float) -> None:
        names = [_NAME + name for name in (*entry.sure, *entry.likely)]
        arguments: list[Any] = [entry.id, entry.value, now, self._keep, len(entry.sure), _TURN]
        async with self._trouble():
            limits = self._limits
            await self._put([_USED, _BYTES, *names], [*arguments, now - limits.ttl, limits.max_bytes])

    async def find(self, names: Sequence[bytes], now: float) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        async with self._trouble():
            for start in range(0, len(names), _AT_ONCE):
                found |= await self._find(names[start : start + _AT_ONCE], now)
        return found

    async def _find(self, names: Sequence[bytes], now: float) -> dict[bytes, bytes]:
        referred = await self._redis.mget([_NAME + name for name in names])
        turns = {name: turn for name, turn in zip(names, referred, strict=True) if turn}
        ids = list(dict.fromkeys(turns.values()))
        if not ids:
            return {}
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.mget([_TURN + turn for turn in ids])
            pipe.zmscore(_USED, ids)
            got, used = await pipe.execute()
        values: dict[bytes, bytes] = {}
        stale: set[bytes] = set()
        for turn, value, last in zip(ids, got, used, strict=True):
            if value is None or last is None or last < now - self._limits.ttl:
                continue
            values[turn] = value
            if last < now - TOUCHED_AFTER:
                stale.add(turn)
        await self._touch(stale, [name for name, turn in turns.items() if turn in stale], now)
        return {name: values[turn] for name, turn in turns.items() if turn in values}

    async def _touch(self, turns: set[bytes], names: Sequence[bytes], now: float) -> None:
        if not turns:
            return
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.zadd(_USED, dict.fromkeys(turns, now), xx=True)
            for key in (*(_TURN + turn for turn in turns), *(_NAME + name for name in names)):
                pipe.pexpire(key, self._keep)
            await pipe.execute()

    async def remove(self, names: Sequence[bytes]) -> int:
        async with self._trouble():
            return int(await self._remove([_USED, _BYTES, *(_NAME + name for name in names)], [_TURN]))

    async def ping(self) -> None:
        async with self._trouble():
            await self._redis.ping()

    async def stats(self) -> Stats:
        async with self._trouble(), self._redis.pipeline(transaction=False) as pipe:
            pipe.zcard(_USED)
            pipe.get(_BYTES)
            pipe.zrange(_USED, 0, 0, withscores=True)
            pipe.zrange(_USED, -1, -1, withscores=True)
            turns, size, oldest, newest = await pipe.execute()
        return Stats(self._where, turns, max(0, int(size or 0)), _score(oldest), _score(newest))

    async def purge(self, before: float | None) -> int:
        gone = 0
        async with self._trouble():
            while some := await self._forget([_USED, _BYTES], [_before(before), _TURN]):
                gone += int(some)
        return gone

    async def aclose(self) -> None:
        await self._redis.aclose()

    @asynccontextmanager
    async def _trouble(self) -> AsyncIterator[None]:
        from redis.exceptions import RedisError

        try:
            yield
        except (RedisError, OSError) as error:
            what = str(error) or type(error).__name__
            raise LedgerBackendError(f"the ledger {self._where} cannot be used: {what}") from None


def _score(listed: Sequence[tuple[Any, float]]) -> float | None:
    return listed[0][1] if listed else None


def _before(moment: float | None) -> str:
    """The end of a range of scores: up to a moment without it, or everything."""
    return "+inf" if moment is None else f"({moment}"
