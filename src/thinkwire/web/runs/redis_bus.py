"""The board in Redis on which several processes tell each other about their answers in the making.

thinkwire:web:active:CONVERSATION   who makes its answer; expires when that process stops renewing it
thinkwire:web:last:CONVERSATION     the answer that has just ended, for whoever lost the connection
thinkwire:web:frames:RUN            a stream: the answer's frames, each entry numbered by its last frame
thinkwire:web:orders:PROCESS        a list: what a process is asked to do, e.g. to stop
thinkwire:web:news                  a stream: conversations that have changed, and whose they are
thinkwire:web:tries:DIGEST          a number: tries to sign in with one name or from one address
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import dump
from thinkwire.store.ids import new_id
from thinkwire.web.broadcast import Numbered
from thinkwire.web.errors import Problem

PREFIX = "thinkwire:web:"
_NEWS = f"{PREFIX}news"
RENEW = 5.0
LEASE = 15.0
"""Seconds for which a process is believed to live without a sign."""
KEPT = 6 * 3600
"""Seconds for which the frames of an answer are kept while it is made."""
_BLOCK = 1.0
_SECONDS = 3.0

_NEWS_KEPT = 1_000

_FREE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

_COUNT = """\
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}"""
_UNCOUNT = "if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('DECR', KEYS[1]) end return 0"


class RunLease(msgspec.Struct, frozen=True):
    """An answer in the making, and the process that makes it."""

    run: str
    message_id: str
    base: str | None
    process: str
    inbox: str


class RunCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a process is asked to do about an answer that it makes."""

    what: str
    conversation_id: str
    run: str
    call_id: str = ""
    decision: str = ""
    reply: str = ""
    is_owner: bool = False
    """Whether the local owner asks."""


_notice = msgspec.json.Decoder(RunLease).decode
_order = msgspec.json.Decoder(RunCommand).decode
_batch = msgspec.json.Decoder(list[tuple[int, dict[str, Any]]]).decode


class RedisBus:
    """What can be done with the keys above. Problem 503 when Redis does not answer."""

    def __init__(self, url: str) -> None:
        try:
            from redis.asyncio import Redis
        except ImportError:
            raise ConfigError("several processes need `redis`: pip install 'thinkwire[redis]'") from None
        try:
            self._redis: Any = Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
        except ValueError as error:
            raise ConfigError(f"THINKWIRE_REDIS_URL: {error}") from None
        self.inbox = new_id()
        """This process's name on the board."""

    async def aclose(self) -> None:
        await self._redis.aclose()

    async def ping(self) -> None:
        async with _told():
            await self._redis.ping()

    async def claim(self, conversation_id: str, notice: RunLease) -> bool:
        """Whether nobody else makes an answer there; from now on it is ours."""
        async with _told():
            lease = int(LEASE * 1000)
            return bool(await self._redis.set(_active(conversation_id), dump(notice), nx=True, px=lease))

    async def renew(self, notices: dict[str, RunLease]) -> None:
        async with _told(), self._redis.pipeline(transaction=False) as pipe:
            for conversation_id, notice in notices.items():
                pipe.set(_active(conversation_id), dump(notice), px=int(LEASE * 1000))
            await pipe.execute()

    async def free(self, conversation_id: str, notice: RunLease) -> None:
        """Takes a claim back, if it is still that one."""
        async with _told():
            await self._redis.eval(_FREE, 1, _active(conversation_id), dump(notice))

    async def active(self, conversation_ids: Sequence[str]) -> dict[str, RunLease]:
        if not conversation_ids:
            return {}
        async with _told():
            found = await self._redis.mget([_active(id) for id in conversation_ids])
        return {
            id: _notice(value) for id, value in zip(conversation_ids, found, strict=True) if value is not None
        }

    async def last(self, conversation_id: str) -> RunLease | None:
        async with _told():
            value = await self._redis.get(f"{PREFIX}last:{conversation_id}")
        return None if value is None else _notice(value)

    async def publish(self, run: str, batch: list[Numbered]) -> None:
        async with _told(), self._redis.pipeline(transaction=False) as pipe:
            pipe.xadd(_frames(run), {"frames": dump(batch)}, id=f"{batch[-1][0]}-0")
            pipe.expire(_frames(run), KEPT)
            await pipe.execute()

    async def end(self, conversation_id: str, notice: RunLease, count: int, linger: float) -> None:
        """The conversation is free before anyone can read that the answer is over."""
        await self.free(conversation_id, notice)
        async with _told(), self._redis.pipeline(transaction=False) as pipe:
            pipe.set(f"{PREFIX}last:{conversation_id}", dump(notice), px=max(1, int(linger * 1000)))
            pipe.xadd(_frames(notice.run), {"end": "1"}, id=f"{count + 1}-0")
            pipe.expire(_frames(notice.run), max(1, int(linger)))
            await pipe.execute()

    async def read(self, run: str, after: int, *, wait: bool = True) -> tuple[list[Numbered], bool]:
        """Frames after a number, waiting a moment for some; and whether that is all there will be."""
        async with _told():
            block = int(_BLOCK * 1000) if wait else None
            found = await self._redis.xread({_frames(run): f"{after}-0"}, block=block)
        frames: list[Numbered] = []
        for _, entries in _streams(found):
            for _, fields in entries:
                if b"end" in fields:
                    return frames, True
                frames += [(number, frame) for number, frame in _batch(fields[b"frames"]) if number > after]
        return frames, False

    async def order(self, inbox: str, order: RunCommand) -> None:
        async with _told(), self._redis.pipeline(transaction=False) as pipe:
            pipe.rpush(f"{PREFIX}orders:{inbox}", dump(order))
            pipe.expire(f"{PREFIX}orders:{inbox}", 60)
            await pipe.execute()

    async def next_order(self) -> RunCommand | None:
        """Waits a moment for one."""
        found = await self._popped(f"{PREFIX}orders:{self.inbox}")
        return None if found is None else _order(found)

    async def answer(self, reply: str, word: str) -> None:
        async with _told(), self._redis.pipeline(transaction=False) as pipe:
            pipe.rpush(f"{PREFIX}reply:{reply}", word)
            pipe.expire(f"{PREFIX}reply:{reply}", 30)
            await pipe.execute()

    async def reply(self, reply: str) -> str | None:
        found = await self._popped(f"{PREFIX}reply:{reply}")
        return None if found is None else found.decode()

    async def tell_news(self, owner: str, conversation_id: str) -> None:
        async with _told():
            told = {"owner": owner, "conversation": conversation_id}
            await self._redis.xadd(_NEWS, told, maxlen=_NEWS_KEPT, approximate=True)

    async def newest_news(self) -> tuple[int, int]:
        """The number after which news are new; Redis's own time where there are none yet."""
        async with _told():
            found = await self._redis.xrevrange(_NEWS, count=1)
            if found:
                return _numbered(found[0][0])
            seconds, micros = await self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000, 0

    async def read_news(self, after: tuple[int, int]) -> list[tuple[tuple[int, int], str, str]]:
        """News after a number, waiting a moment for some: number, owner, conversation."""
        async with _told():
            found = await self._redis.xread({_NEWS: f"{after[0]}-{after[1]}"}, block=int(_BLOCK * 1000))
        return [
            (_numbered(number), fields[b"owner"].decode(), fields[b"conversation"].decode())
            for _, entries in _streams(found)
            for number, fields in entries
        ]

    async def count(self, name: str, window: float) -> tuple[int, float]:
        """Counts one more; how many that makes, and the seconds until they are forgotten."""
        async with _told():
            count, left = await self._redis.eval(_COUNT, 1, f"{PREFIX}tries:{name}", int(window * 1000))
        return int(count), int(left) / 1000

    async def uncount(self, name: str) -> None:
        async with _told():
            await self._redis.eval(_UNCOUNT, 1, f"{PREFIX}tries:{name}")

    async def _popped(self, key: str) -> bytes | None:
        async with _told():
            found = await self._redis.blpop([key], timeout=_BLOCK)
        return None if found is None else found[1]


def _streams(found: Any) -> list[Any]:
    """Newer protocols give a map where older ones gave a list."""
    if not found:
        return []
    return [(name, entries[0]) for name, entries in found.items()] if isinstance(found, dict) else list(found)


def _numbered(number: bytes) -> tuple[int, int]:
    first, _, second = number.decode().partition("-")
    return int(first), int(second)


def _active(conversation_id: str) -> str:
    return f"{PREFIX}active:{conversation_id}"


def _frames(run: str) -> str:
    return f"{PREFIX}frames:{run}"


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """Redis's troubles as ours, without its address."""
    from redis.exceptions import RedisError

    try:
        yield
    except (TimeoutError, RedisError, OSError) as error:
        message = f"Redis does not answer ({type(error).__name__}); try again in a moment"
        raise Problem(503, "redis", message, advice="retry") from None
