"""News for every browser of a user: which conversations have changed, so that they are looked at again.

A reader asks for what came after the last it heard of, and waits a while for some. News are numbered like
entries of a Redis stream, so that a reader may ask another process the next time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from thinkwire.web.errors import Problem

if TYPE_CHECKING:
    from thinkwire.web.runs.redis_bus import RedisBus

MOST = 1_000
"""News that are remembered; whoever is further behind looks at everything."""

_log = logging.getLogger("thinkwire.web")

Number = tuple[int, int]


class Change(NamedTuple):
    number: Number
    owner: str
    conversation_id: str


class Changes(NamedTuple):
    """Conversations that changed, None when anything may have; and after what to ask the next time."""

    number: Number
    conversation_ids: list[str] | None


class ChangeFeed:
    """The news of this process."""

    def __init__(self) -> None:
        self._recent: deque[Change] = deque(maxlen=MOST)
        self._newest: Number = (int(time.time() * 1000), 0)
        self._forgotten = self._newest
        """What came up to here is not known any more."""
        self._changed = asyncio.Event()
        self._over = False
        self.waiting = 0
        """Readers that wait."""

    async def open(self) -> None:
        """Before the first reader."""

    async def aclose(self) -> None:
        self.end()

    def end(self) -> None:
        """Nobody waits any longer."""
        self._over = True
        self._wake()

    async def tell(self, owner: str, conversation_id: str) -> None:
        """A conversation has changed, or its answer has begun or ended."""
        now = int(time.time() * 1000)
        at = (now, 0) if now > self._newest[0] else (self._newest[0], self._newest[1] + 1)
        self._hear(Change(at, owner, conversation_id))

    async def since(self, owner: str, after: Number | None, patience: float) -> Changes:
        """What an owner has not heard of yet, as soon as there is some; from now on where `after` is None."""
        if after is None:
            return Changes(self._newest, [])
        deadline = asyncio.get_running_loop().time() + patience
        while True:
            changed = self._changed
            if after < self._forgotten:
                return Changes(self._newest, None)
            fresh = [item for item in self._recent if item.number > after and item.owner == owner]
            left = deadline - asyncio.get_running_loop().time()
            if fresh or left <= 0 or self._over:
                return Changes(
                    max(after, self._newest), list(dict.fromkeys(i.conversation_id for i in fresh))
                )
            self.waiting += 1
            try:
                await asyncio.wait_for(changed.wait(), left)
            except TimeoutError:
                continue
            finally:
                self.waiting -= 1

    def _hear(self, item: Change) -> None:
        if len(self._recent) == MOST:
            self._forgotten = self._recent[0].number
        self._recent.append(item)
        self._newest = max(self._newest, item.number)
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class RedisChangeFeed(ChangeFeed):
    """The news of all processes, by way of Redis. What cannot be told there is told here only."""

    def __init__(self, board: RedisBus) -> None:
        super().__init__()
        self._board = board
        self._task: asyncio.Task[None] | None = None
        self._read_to: Number = self._newest

    async def open(self) -> None:
        self._newest = self._forgotten = self._read_to = await self._board.newest_news()
        self._task = asyncio.create_task(self._read())

    async def aclose(self) -> None:
        await super().aclose()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def tell(self, owner: str, conversation_id: str) -> None:
        try:
            await self._board.tell_news(owner, conversation_id)
        except Problem as error:
            _log.warning("a change of conversation %s is told nowhere else: %s", conversation_id, error)
            await super().tell(owner, conversation_id)

    async def _read(self) -> None:
        while True:
            try:
                for told in await self._board.read_news(self._read_to):
                    self._hear(Change(*told))
                    self._read_to = told[0]
            except Problem as error:
                _log.warning("no news are heard: %s", error)
                await asyncio.sleep(1.0)


def number_of(text: str) -> Number | None:
    """The number that a reader was given; None when it was given none."""
    first, _, second = text.partition("-")
    return (int(first), int(second)) if text else None


def written(number: Number) -> str:
    return f"{number[0]}-{number[1]}"
