"""Bound how often passwords and tokens can be guessed, without locking out their rightful owners.

A sign-in counts against its address, and against its address together with the name. Failures with one name
from all addresses only slow further tries down. A browser that has signed in before carries a device cookie
and is counted by that alone, so nothing that others do can keep it out.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from thinkwire.request_origin import ip_address
from thinkwire.web.errors import Problem

if TYPE_CHECKING:
    from thinkwire.web.runs.redis_bus import RedisBus

WINDOW = 300.0
"""Seconds, from the first try on, after which tries are forgotten."""
ADDRESS_TRIES = 30
NAME_AND_ADDRESS_TRIES = 10
DEVICE_TRIES = 10
JOIN_TRIES = 10
TOKEN_TRIES = 20

FREE_FAILURES = 10
"""Failures with one name, from anywhere, before further tries with it are slowed down."""
DELAY_STEP = 0.5
LONGEST_DELAY = 10.0
"""Seconds: each further failure adds a step, up to the longest."""
MOST_WAITING = 100
"""Tries of one process that may be slowed down at once."""

_MOST_REMEMBERED = 10_000


class Limit(NamedTuple):
    """How many tries there may be with one key in a window."""

    key: str
    tries: int


class Throttle:
    """Counts tries before they are made: many at once are no way around it. Right ones are given back."""

    def __init__(
        self, window: float = WINDOW, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._window = window
        self._sleep = sleep
        self._waiting = 0
        self._counted: OrderedDict[str, tuple[int, float]] = OrderedDict()

    async def take(self, *limits: Limit) -> None:
        """Count one try against each limit; Problem when one is used up."""
        for limit in limits:
            count, wait = await self._count(limit.key)
            if count > limit.tries:
                raise too_many("passwords", wait)

    async def slow_down(self, key: str) -> None:
        """Count one try and delay it by how many there were before it. Nobody is kept out."""
        count, _ = await self._count(key)
        delay = min(LONGEST_DELAY, DELAY_STEP * (count - FREE_FAILURES))
        if delay <= 0:
            return
        if self._waiting >= MOST_WAITING:
            raise too_many("passwords", LONGEST_DELAY)
        self._waiting += 1
        try:
            await self._sleep(delay)
        finally:
            self._waiting -= 1

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

    def __init__(self, board: RedisBus, window: float = WINDOW) -> None:
        super().__init__(window)
        self._board = board

    async def _count(self, key: str) -> tuple[int, float]:
        return await self._board.count(_hidden(key), self._window)

    async def _uncount(self, key: str) -> None:
        await self._board.uncount(_hidden(key))


class GuessLimit:
    """Counts different wrong guesses by address, in this process. The same wrong guess again counts once:
    an old token in a script is no attack.
    """

    def __init__(
        self, tries: int = TOKEN_TRIES, window: float = WINDOW, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tries = tries
        self._window = window
        self._clock = clock
        self._wrong: OrderedDict[str, tuple[set[bytes], float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Problem when an address has no guess left."""
        guesses, until = self._wrong.get(address, (set(), 0.0))
        wait = until - self._clock()
        if wait > 0 and len(guesses) >= self._tries:
            raise too_many("tokens", wait)

    def add(self, address: str, guess: str) -> None:
        now = self._clock()
        guesses, until = self._wrong.pop(address, (set(), 0.0))
        if until <= now:
            guesses, until = set(), now + self._window
        guesses.add(hashlib.sha256(guess.encode("utf-8", "replace")).digest())
        self._wrong[address] = (guesses, until)
        if len(self._wrong) > _MOST_REMEMBERED:
            self._wrong.popitem(last=False)


def too_many(what: str, wait: float) -> Problem:
    return Problem(429, "throttled", f"too many wrong {what}; wait a while", advice="retry", retry_after=wait)


def counted_address(host: str | None) -> str:
    """Return what an address is counted by: of IPv6 its /64, in which one machine has as many as it likes."""
    address = ip_address(host or "")
    if address is None:
        return host or "?"
    if address.version == 6:
        mapped = address.ipv4_mapped
        return str(mapped) if mapped else ":".join(address.exploded.split(":")[:4])
    return str(address)


def _hidden(key: str) -> str:
    """Names and addresses of people are nobody's business in Redis."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
