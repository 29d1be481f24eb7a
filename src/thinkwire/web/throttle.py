"""Passwords are not guessed at will: so many tries for a name and from an address, wherever they are made."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from thinkwire.web.problems import Problem

if TYPE_CHECKING:
    from thinkwire.web.board import Board

TRIES = 10
WINDOW = 300.0
"""So many tries in so many seconds from the first one on."""
_MOST_REMEMBERED = 10_000


class Throttle:
    """Counts tries before they are made: many at once are no way around it. Right ones are given back."""

    def __init__(self, tries: int = TRIES, window: float = WINDOW) -> None:
        self._tries = tries
        self._window = window
        self._counted: OrderedDict[str, tuple[int, float]] = OrderedDict()

    async def take(self, *keys: str) -> None:
        """One try for each of these; Problem when there is none left."""
        for key in keys:
            count, wait = await self._count(key)
            if count > self._tries:
                raise Problem(
                    429,
                    "throttled",
                    "too many wrong passwords; wait a while",
                    advice="retry",
                    retry_after=wait,
                )

    async def give_back(self, *keys: str) -> None:
        for key in keys:
            await self._uncount(key)

    async def _count(self, key: str) -> tuple[int, float]:
        """How many tries there were with this one, and the seconds until they are forgotten."""
        now = time.monotonic()
        count, until = self._counted.pop(key, (0, 0.0))
        if until <= now:
            count, until = 0, now + self._window
        self._counted[key] = (count + 1, until)
        if len(self._counted) > _MOST_REMEMBERED:
            self._counted.popitem(last=False)
        return count + 1, until - now

    async def _uncount(self, key: str) -> None:
        if key in self._counted:
            count, until = self._counted[key]
            self._counted[key] = (max(0, count - 1), until)


class SharedThrottle(Throttle):
    """The same for all processes, by way of Redis; nobody signs in while it does not answer."""

    def __init__(self, board: Board, tries: int = TRIES, window: float = WINDOW) -> None:
        super().__init__(tries, window)
        self._board = board

    async def _count(self, key: str) -> tuple[int, float]:
        return await self._board.count(_hidden(key), self._window)

    async def _uncount(self, key: str) -> None:
        await self._board.uncount(_hidden(key))


def _hidden(key: str) -> str:
    """Names and addresses of people are nobody's business in Redis."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
