"""Something to hear while a model thinks silently, in the client's own dialect.

Anthropic's wire has an event for it, `ping`; before the answer's first event, and on the other wires, it is a
blank line, which every client passes over. Comments break Google's SDKs, and unknown events break others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from thinkwire.gateway.http.client_response import ClientResponse

_LOOKS = 4
"""How often it is looked whether something was said, in the time after which silence is too long."""

_SHORTEST = 0.01
"""Seconds between two looks at least."""

_log = logging.getLogger("thinkwire.gateway")

BLANK = b"\n\n"
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def beat(dialect: str, *, begun: bool) -> bytes:
    """What is sent after a silence; `begun` says whether the answer's first event is out."""
    return PING if dialect == "anthropic" and begun else BLANK


class KeepAlive:
    """Fills an outlet's silences. It is only looked at now and then, so that what is said costs nothing; a
    silence may last a quarter longer than it should.
    """

    __slots__ = ("_outlet", "_round", "_silent", "_speak", "_speaking")

    def __init__(self, outlet: ClientResponse, speak: Callable[[], None], watch: Round) -> None:
        self._outlet = outlet
        self._speak = speak
        self._speaking: asyncio.Future[None] | None = None
        self._silent = -1
        """Looks at which nothing had been said; the first one may come at once."""
        self._round = watch
        watch.join(self)

    def look(self) -> None:
        outlet = self._outlet
        self._silent = 0 if outlet.way.spoke else self._silent + 1
        if self._silent >= _LOOKS and outlet.between and not outlet.congested and not outlet.over:
            self._silent = 0
            self._speak()
            if outlet.congested:
                self._speaking = asyncio.ensure_future(outlet.drained())
        outlet.way.spoke = False

    def stop(self) -> None:
        self._round.leave(self)
        if self._speaking is not None:
            self._speaking.cancel()


class Round:
    """Looks at streams one after another: a timer for each would cost more than the looks."""

    def __init__(self, seconds: float) -> None:
        """`seconds` may pass in silence."""
        self.seconds = seconds
        # Whatever the number is, and nan is not larger than anything: looking must not keep the loop busy.
        self._interval = seconds / _LOOKS if seconds / _LOOKS > _SHORTEST else _SHORTEST
        self._all: set[KeepAlive] = set()
        self._goes = False

    def join(self, one: KeepAlive) -> None:
        self._all.add(one)
        if not self._goes:
            self._wait()

    def leave(self, one: KeepAlive) -> None:
        self._all.discard(one)

    def _wait(self) -> None:
        self._goes = True
        asyncio.get_running_loop().call_later(self._interval, self._go)

    def _go(self) -> None:
        self._goes = False
        for one in tuple(self._all):
            try:
                one.look()
            except Exception:
                _log.exception("a stream's silence cannot be filled")
                self._all.discard(one)
        if self._all:
            self._wait()
