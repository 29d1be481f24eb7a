"""Readiness of one process: named checks, run concurrently, bounded in time and cached."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from thinkwire.jsonvalue import dump

TIMEOUT = 2.0
"""Seconds that one check may take."""
MAX_AGE = 1.0
"""Seconds for which a report is reused, so that probing costs one round of checks per second at most."""
OK = "ok"

Check = Callable[[], Awaitable[None]]
"""Returns when a part can be used, raises otherwise."""

_log = logging.getLogger("thinkwire.gateway.telemetry.readiness")


class NotReady(Exception):
    """A failed check. The message is public: no paths, hosts or user names. The cause is logged only."""


class Report(msgspec.Struct, frozen=True):
    """The state of every check by name: `ok`, or a short reason."""

    checks: dict[str, str]

    @property
    def is_ready(self) -> bool:
        return all(state == OK for state in self.checks.values())

    @property
    def body(self) -> bytes:
        return dump({"status": "ready" if self.is_ready else "not ready", "checks": self.checks})


class Readiness:
    """Runs checks on demand. Concurrent callers share one run; a check that hangs is not started twice."""

    def __init__(
        self,
        *,
        timeout: float = TIMEOUT,
        max_age: float = MAX_AGE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout = timeout
        self._max_age = max_age
        self._clock = clock
        self._checks: dict[str, Check] = {}
        self._pending: dict[str, asyncio.Future[None]] = {}
        self._run: asyncio.Task[Report] | None = None
        self._report = Report({})
        self._until = float("-inf")

    def add(self, name: str, check: Check) -> None:
        """Add a check, or replace the one of this name."""
        self._checks[name] = check
        self._until = float("-inf")

    async def report(self) -> Report:
        """Return the state of all checks, at most `max_age` seconds old."""
        if self._clock() < self._until:
            return self._report
        if self._run is None:
            self._run = asyncio.create_task(self._check_all())
        return await asyncio.shield(self._run)

    async def aclose(self) -> None:
        """Cancel the checks that still run."""
        running: list[asyncio.Future[Any]] = [*self._pending.values()]
        if self._run is not None:
            running.append(self._run)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _check_all(self) -> Report:
        try:
            names = sorted(self._checks)
            states = await asyncio.gather(*(self._check(name) for name in names))
            self._report = Report(dict(zip(names, states, strict=True)))
            self._until = self._clock() + self._max_age
            return self._report
        finally:
            self._run = None

    async def _check(self, name: str) -> str:
        task = self._pending.get(name)
        if task is None:
            task = self._pending[name] = asyncio.ensure_future(self._checks[name]())
            task.add_done_callback(lambda done: self._finish(name, done))
        await asyncio.wait({task}, timeout=self._timeout)
        state, cause = _state_of(task)
        if state != self._report.checks.get(name, OK):
            if state == OK:
                _log.info("ready again: %s", name)
            else:
                _log.warning("not ready: %s: %s", name, cause or state)
        return state

    def _finish(self, name: str, task: asyncio.Future[None]) -> None:
        if self._pending.get(name) is task:
            del self._pending[name]
        if not task.cancelled():
            task.exception()


def _state_of(task: asyncio.Future[None]) -> tuple[str, object]:
    """The public state of a check, and the cause of a failure for the log."""
    if not task.done():
        return "no answer in time", None
    error = None if task.cancelled() else task.exception()
    if isinstance(error, NotReady):
        return str(error), error.__cause__
    if error is not None or task.cancelled():
        return "cannot be used", error
    return OK, None
