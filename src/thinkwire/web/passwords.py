"""Passwords: hashed slowly, compared in the same time whoever asks, and not guessed at will."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from functools import cache
from typing import Any

from thinkwire.errors import ConfigError
from thinkwire.web.problems import Problem

TRIES = 10
WINDOW = 300.0
"""So many wrong passwords in so many seconds, for one name and for one address."""
_MOST_REMEMBERED = 10_000
_AT_ONCE = asyncio.Semaphore(2)
"""Hashing takes 64 MiB and a core."""


@cache
def _hasher() -> Any:
    try:
        from argon2 import PasswordHasher
    except ModuleNotFoundError:
        raise ConfigError("accounts need argon2: pip install 'thinkwire[web]'") from None
    return PasswordHasher()


@cache
def _nobody() -> str:
    """A hash to compare with where there is no account, so that the answer takes as long."""
    return str(_hasher().hash("nobody's password"))


def hashed_now(password: str) -> str:
    return str(_hasher().hash(password))


async def hashed(password: str) -> str:
    async with _AT_ONCE:
        return await asyncio.to_thread(hashed_now, password)


async def is_right(password: str, hash: str | None) -> bool:
    async with _AT_ONCE:
        return await asyncio.to_thread(_verify, password, hash)


def _verify(password: str, hash: str | None) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(hash or _nobody(), password)
    except (VerificationError, InvalidHashError):
        return False
    return hash is not None


class Throttle:
    """Remembers wrong passwords for a while."""

    def __init__(self, tries: int = TRIES, window: float = WINDOW) -> None:
        self._tries = tries
        self._window = window
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def check(self, *keys: str) -> None:
        """Problem when one of these has failed too often lately."""
        now = time.monotonic()
        for key in keys:
            recent = [at for at in self._failures.get(key, ()) if at > now - self._window]
            if len(recent) >= self._tries:
                wait = recent[-self._tries] + self._window - now
                raise Problem(
                    429,
                    "throttled",
                    "too many wrong passwords; wait a while",
                    advice="retry",
                    retry_after=wait,
                )

    def failed(self, *keys: str) -> None:
        now = time.monotonic()
        for key in keys:
            recent = [at for at in self._failures.pop(key, ()) if at > now - self._window]
            self._failures[key] = [*recent[-self._tries :], now]
        while len(self._failures) > _MOST_REMEMBERED:
            self._failures.popitem(last=False)
