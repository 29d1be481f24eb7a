"""Signs of life for the messages that this process is writing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from thinkwire.store.errors import StoreFailed
from thinkwire.store.process import BEAT


class Heartbeat:
    """Touches our messages again and again: a provider may be silent for minutes, and others must see that
    we are not."""

    def __init__(self, touch: Callable[[list[str]], Awaitable[object]]) -> None:
        self._touch = touch
        self._ours: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def beat_for(self, id: str) -> None:
        """From now on, until it has ended."""
        self._ours.add(id)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._beat())

    def ended(self, id: str) -> None:
        self._ours.discard(id)

    async def stop(self) -> list[str]:
        """The messages that have not ended."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        left = sorted(self._ours)
        self._ours.clear()
        return left

    async def _beat(self) -> None:
        while self._ours:
            await asyncio.sleep(BEAT)
            with suppress(StoreFailed):
                await self._touch(sorted(self._ours))
