"""A ledger's store that is opened again and again until it answers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from thinkwire.errors import ConfigError
from thinkwire.gateway.common.backoff import retry_delays
from thinkwire.gateway.ledger.backend import Entry, LedgerBackend, LedgerBackendError, Stats

_log = logging.getLogger("thinkwire.gateway.ledger")

OpenShelf = Callable[[], Awaitable[LedgerBackend]]


async def open_or_retry(open_shelf: OpenShelf, delays: Iterable[float] | None = None) -> LedgerBackend:
    """Open a store; when it cannot be reached, return one that keeps trying in the background."""
    try:
        return await open_shelf()
    except LedgerBackendError as error:
        return RetryingBackend(open_shelf, error, retry_delays() if delays is None else delays)


class RetryingBackend:
    """Refuses every operation with the last error until its store is open, and then passes it on."""

    def __init__(self, open_shelf: OpenShelf, error: LedgerBackendError, delays: Iterable[float]) -> None:
        self._open_shelf = open_shelf
        self._error: ConfigError = error
        self._shelf: LedgerBackend | None = None
        self._task = asyncio.create_task(self._retry(delays))

    async def put(self, entry: Entry, now: float) -> None:
        await self._opened().put(entry, now)

    async def find(self, names: Sequence[bytes], now: float) -> dict[bytes, bytes]:
        return await self._opened().find(names, now)

    async def remove(self, names: Sequence[bytes]) -> int:
        return await self._opened().remove(names)

    async def ping(self) -> None:
        await self._opened().ping()

    async def stats(self) -> Stats:
        return await self._opened().stats()

    async def purge(self, before: float | None) -> int:
        return await self._opened().purge(before)

    async def aclose(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._shelf is not None:
            await self._shelf.aclose()

    def _opened(self) -> LedgerBackend:
        if self._shelf is None:
            raise LedgerBackendError(str(self._error))
        return self._shelf

    async def _retry(self, delays: Iterable[float]) -> None:
        for delay in delays:
            _log.error("%s; trying again in %g s", self._error, delay)
            await asyncio.sleep(delay)
            try:
                self._shelf = await self._open_shelf()
            except ConfigError as error:
                self._error = error
            else:
                _log.warning("opened after all; the last error was: %s", self._error)
                return
