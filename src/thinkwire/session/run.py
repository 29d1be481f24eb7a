"""A run: one answer in the making, which goes on whether or not anyone watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from thinkwire.errors import ThinkwireError
from thinkwire.session.events import SessionEvent


class Run:
    """Numbered events, kept. Anyone may follow from any number, as often as they like."""

    def __init__(self, happenings: AsyncGenerator[list[SessionEvent], None]) -> None:
        self._happenings = happenings
        self._events: list[SessionEvent] = []
        self._error: ThinkwireError | None = None
        self._changed = asyncio.Event()
        self._interrupted = False
        self._task = asyncio.create_task(self._go())

    @property
    def done(self) -> bool:
        return self._task.done()

    @property
    def count(self) -> int:
        """How many events there are so far; the first has number 1."""
        return len(self._events)

    async def follow(self, after: int = 0) -> AsyncIterator[SessionEvent]:
        """Every event after this number, first those that were, then those that come.

        What keeps the run from being sent at all (a missing key, an unknown model) is raised at the end.
        """
        at = after
        while True:
            changed = self._changed
            while at < len(self._events):
                event = self._events[at]
                at += 1
                yield event
            if self._task.done():
                if at < len(self._events):
                    continue
                if self._error is not None:
                    raise self._error
                return
            if changed is self._changed:
                await changed.wait()

    async def interrupt(self) -> None:
        """Stops it; everything that arrived is kept when this returns."""
        if not self._task.done() and not self._interrupted:
            self._interrupted = True
            self._task.cancel()
        await self.wait()

    async def wait(self) -> None:
        """Until it is over, however it ends."""
        await asyncio.wait([self._task])

    async def _go(self) -> None:
        try:
            async with aclosing(self._happenings) as batches:
                async for batch in batches:
                    self._events += batch
                    self._tell()
        except ThinkwireError as error:
            self._error = error
        finally:
            # Followers look at `done`, which is true only after this; they are woken once it is.
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
