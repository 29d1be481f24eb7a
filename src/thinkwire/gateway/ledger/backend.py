"""Where a ledger keeps its turns: what every kind of store does for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from thinkwire.errors import ConfigError

TOUCHED_AFTER = 3600.0
"""A turn's last use is written down at most this often, in seconds."""


class LedgerBackendError(ConfigError):
    """The store cannot be reached or written. The message names it, without its password."""


class Limits(msgspec.Struct, frozen=True):
    """Seconds without use, and bytes altogether, after which turns are forgotten."""

    ttl: float
    max_bytes: int


class Entry(msgspec.Struct, frozen=True):
    """A turn to keep, locked, and the names it is found under.

    A `sure` name is that of a turn in its place: the newest wins. A `likely` name may be another turn's too;
    when two different turns claim it, it is nobody's.
    """

    id: bytes
    value: bytes
    sure: tuple[bytes, ...] = ()
    likely: tuple[bytes, ...] = ()


class Stats(msgspec.Struct, frozen=True):
    """What a ledger holds. Times are seconds since the epoch, None when it is empty."""

    where: str
    turns: int
    bytes: int
    oldest_use: float | None
    newest_use: float | None


class LedgerBackend(Protocol):
    """Keeps entries by name. Knows nothing of what is in them."""

    async def put(self, entry: Entry, now: float) -> None:
        """Kept when this returns. Makes room from time to time."""

    async def find(self, names: Sequence[bytes], now: float) -> dict[bytes, bytes]:
        """The values of the names that are known; finding one counts as use."""

    async def remove(self, names: Sequence[bytes]) -> int:
        """Delete the entries that these names lead to, with all their names; how many that were."""
        ...

    async def ping(self) -> None:
        """Read something; ShelfError when the store does not answer."""

    async def stats(self) -> Stats: ...

    async def purge(self, before: float | None) -> int:
        """Forgets what was not used since then, or everything; how many turns that were."""

    async def aclose(self) -> None: ...
