"""Something to hear while a model thinks silently, in the client's own dialect.

Anthropic's wire has an event for it, `ping`; before the answer's first event, and on the other wires, it is a
blank line, which every client passes over. Comments break Google's SDKs, and unknown events break others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from thinkwire.gateway.outlet import Outlet

BLANK = b"\n\n"
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def beat(dialect: str, *, begun: bool) -> bytes:
    """What is sent after a silence; `begun` says whether the answer's first event is out."""
    return PING if dialect == "anthropic" and begun else BLANK


class KeepAlive:
    """Fills an outlet's silences. A timer, so that it costs nothing while something is said."""

    def __init__(self, outlet: Outlet, seconds: float, speak: Callable[[], None]) -> None:
        self._outlet = outlet
        self._seconds = seconds
        self._speak = speak
        self._loop = loop = asyncio.get_running_loop()
        self._speaking: asyncio.Future[None] | None = None
        outlet.clock = loop.time
        outlet.spoke = loop.time()
        self._timer = loop.call_at(outlet.spoke + seconds, self._look)

    def _look(self) -> None:
        outlet = self._outlet
        if outlet.over:
            return
        now = self._loop.time()
        if now - outlet.spoke >= self._seconds and outlet.between and not outlet.congested:
            outlet.spoke = now
            self._speak()
            if outlet.congested:
                self._speaking = asyncio.ensure_future(outlet.drained())
        due = max(outlet.spoke + self._seconds, now + self._seconds / 4)
        self._timer = self._loop.call_at(due, self._look)

    def stop(self) -> None:
        self._timer.cancel()
        if self._speaking is not None:
            self._speaking.cancel()
