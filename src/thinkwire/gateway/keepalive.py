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


_LOOKS = 4
"""How often it is looked whether something was said, in the time after which silence is too long."""


class KeepAlive:
    """Fills an outlet's silences. It only looks now and then, so that what is said costs nothing; a silence
    may last a quarter longer than it should.
    """

    def __init__(self, outlet: Outlet, seconds: float, speak: Callable[[], None]) -> None:
        self._outlet = outlet
        self._seconds = seconds
        self._speak = speak
        self._loop = loop = asyncio.get_running_loop()
        self._speaking: asyncio.Future[None] | None = None
        self._silent = 0
        """Looks at which nothing had been said."""
        self._timer = loop.call_later(seconds / _LOOKS, self._look)

    def _look(self) -> None:
        outlet = self._outlet
        if outlet.over:
            return
        self._silent = 0 if outlet.way.spoke else self._silent + 1
        if self._silent >= _LOOKS and outlet.between and not outlet.congested:
            self._silent = 0
            self._speak()
            if outlet.congested:
                self._speaking = asyncio.ensure_future(outlet.drained())
        outlet.way.spoke = False
        self._timer = self._loop.call_later(self._seconds / _LOOKS, self._look)

    def stop(self) -> None:
        self._timer.cancel()
        if self._speaking is not None:
            self._speaking.cancel()
