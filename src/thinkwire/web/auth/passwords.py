"""Passwords: hashed slowly, and compared in the same time whoever asks."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from thinkwire.errors import ConfigError

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
