"""The way out to one client: one head, then pieces, then an end, and silence filled while a model thinks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from thinkwire.gateway.headers import HeaderPairs

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[Message]]

_WHOLE = (b"\n\n", b"\r\n\r\n", b"]", b"\n")


class Outlet:
    """What was sent so far. Every answer goes through here, once."""

    def __init__(self, send: Send, always: HeaderPairs) -> None:
        self._send = send
        self.always = always
        """Headers of every answer."""
        self.status: int | None = None
        self.over = False
        self.between = True
        """Whether the last byte ended an event, so that another may begin."""
        self.spoke = 0.0
        """When something was last sent, on the loop's clock."""
        self.at_end: Callable[[], None] | None = None
        """Called before the last byte."""

    @property
    def began(self) -> bool:
        return self.status is not None

    async def begin(self, status: int, headers: HeaderPairs) -> None:
        self.status = status
        await self._send(
            {"type": "http.response.start", "status": status, "headers": [*headers, *self.always]}
        )

    async def write(self, data: bytes) -> None:
        """One piece, in one send."""
        if not data:
            return
        self.spoke = asyncio.get_running_loop().time()
        self.between = data.endswith(_WHOLE)
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes = b"") -> None:
        if self.over:
            return
        self.over = True
        if self.at_end is not None:
            self.at_end()
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def whole(self, status: int, headers: HeaderPairs, body: bytes) -> None:
        """An answer that is known from its first byte to its last."""
        await self.begin(status, [*headers, (b"content-length", str(len(body)).encode())])
        await self.end(body)


class Departure:
    """Notices that the client has left, and then cancels whoever serves it."""

    def __init__(self, receive: Receive) -> None:
        self.left = False
        self._task = asyncio.current_task()
        self._watch = asyncio.ensure_future(_until_left(receive))
        self._watch.add_done_callback(self._gone)

    def _gone(self, watch: asyncio.Future[None]) -> None:
        if not watch.cancelled() and watch.exception() is None and self._task is not None:
            self.left = True
            self._task.cancel()

    def disarm(self) -> None:
        """From now on nobody is cancelled: the answer is over."""
        self._watch.remove_done_callback(self._gone)
        self._watch.cancel()

    def swallow(self) -> None:
        """The cancellation was ours, and goes no further."""
        if self._task is not None:
            self._task.uncancel()


async def _until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
