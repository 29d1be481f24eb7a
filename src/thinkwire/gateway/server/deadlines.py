"""By when something must have come on each of many connections: one timer looks at all of them."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

NEVER = float("inf")
_GRAIN = 0.1
"""Seconds between two looks; by no more is somebody told too late."""

_log = logging.getLogger("thinkwire.gateway")


class DeadlineHolder(Protocol):
    """Who waits for something."""

    due: float
    """When it must have come, on the loop's clock; `NEVER` while nothing is expected."""

    def overdue(self) -> None:
        """It did not come; whoever waits on says until when."""


class Deadlines:
    """Looks as seldom as it can: a timer for each connection, moved for every request, would cost more."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._all: set[DeadlineHolder] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._looks = NEVER
        """When the timer comes."""

    def expect(self, one: DeadlineHolder, seconds: float) -> None:
        """Within so many seconds something must come."""
        self._all.add(one)
        one.due = due = self._loop.time() + seconds
        if due < self._looks:
            self._look_at(due)

    def leave(self, one: DeadlineHolder) -> None:
        """Nothing is expected any more."""
        self._all.discard(one)
        if not self._all and self._timer is not None:
            self._timer.cancel()
            self._timer, self._looks = None, NEVER

    def _look_at(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._looks = due
        self._timer = self._loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer, self._looks = None, NEVER
        now = self._loop.time()
        for one in [one for one in self._all if one.due <= now]:
            one.due = NEVER
            try:
                one.overdue()
            except Exception:
                _log.exception("a connection cannot be given up")
        soonest = min([one.due for one in self._all], default=NEVER)
        if soonest < self._looks:
            self._look_at(max(soonest, now + _GRAIN))
