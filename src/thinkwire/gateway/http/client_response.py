"""The way out to one client: one head, then pieces, then an end, and the news that it has left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol, TypeAlias

from thinkwire.gateway.http.headers import HeaderPairs, Scope

EXTENSION = "thinkwire.line"
"""The key of the request cycle in an ASGI scope's extensions, where the gateway's own server serves."""

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[Message]]

_WHOLE = (b"\n\n", b"\r\n\r\n", b"]", b"\n")


class ResponseWriter(Protocol):
    """What carries an answer: a line of our own server, or any ASGI server's `send`."""

    on_left: Callable[[], None] | None
    spoke: bool
    """Whether something was written since somebody last looked; who looks takes it back."""

    @property
    def task(self) -> asyncio.Task[None] | None:
        """Who serves the client, where the server tells."""

    @property
    def congested(self) -> bool: ...
    async def drained(self) -> None: ...
    def taken(self) -> bytes | None: ...
    def begin(self, status: int, headers: HeaderPairs, data: bytes = b"") -> None:
        """The head, and the first piece if it is there already."""

    def write(self, data: bytes) -> None: ...
    def put(self, before: bytes, data: bytes, after: bytes) -> None:
        """As writing all three, which are one piece."""

    def end(self, data: bytes) -> None: ...
    def whole(self, status: int, headers: HeaderPairs, body: bytes) -> None:
        """Head and body, whose length is told here."""


def writer_of(scope: Scope, receive: Receive, send: Send) -> ResponseWriter:
    """The direct way, where the server offers one."""
    found: ResponseWriter | None = scope.get("extensions", {}).get(EXTENSION)
    return found if found is not None else AsgiWriter(receive, send)


class AsgiWriter:
    """Another server's way: what is written waits in line until somebody awaits `drained`."""

    task = None
    spoke = False

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._messages: list[Message] = []
        self._watch: asyncio.Future[None] | None = None
        self._on_left: Callable[[], None] | None = None
        self._sending = asyncio.Lock()

    @property
    def on_left(self) -> Callable[[], None] | None:
        return self._on_left

    @on_left.setter
    def on_left(self, call: Callable[[], None] | None) -> None:
        self._on_left = call
        if call is not None and self._watch is None:
            self._watch = asyncio.ensure_future(self._until_left())
        elif call is None and self._watch is not None:
            self._watch.cancel()

    async def _until_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if self._on_left is not None:
            self._on_left()

    @property
    def congested(self) -> bool:
        return bool(self._messages)

    async def drained(self) -> None:
        async with self._sending:
            while self._messages:
                await self._send(self._messages.pop(0))

    def taken(self) -> bytes | None:
        return None

    def begin(self, status: int, headers: HeaderPairs, data: bytes = b"") -> None:
        self._messages.append({"type": "http.response.start", "status": status, "headers": headers})
        if data:
            self.write(data)

    def write(self, data: bytes) -> None:
        self.spoke = True
        self._messages.append({"type": "http.response.body", "body": data, "more_body": True})

    def put(self, before: bytes, data: bytes, after: bytes) -> None:
        self.write(before + data + after)

    def end(self, data: bytes) -> None:
        self._messages.append({"type": "http.response.body", "body": data, "more_body": False})

    def whole(self, status: int, headers: HeaderPairs, body: bytes) -> None:
        self.begin(status, [*headers, (b"content-length", b"%d" % len(body))])
        self.end(body)


class ClientResponse:
    """What was sent so far. Every answer goes through here, once."""

    __slots__ = ("_last", "_task", "always", "began", "left", "over", "status", "way")

    def __init__(self, way: ResponseWriter, always: HeaderPairs) -> None:
        self.way = way
        self.always = always
        """Headers of every answer."""
        self.status: int | None = None
        self.began = self.over = False
        self.left = False
        """Whether the client has gone while it was watched."""
        self._last = b"\n\n"
        self._task: asyncio.Task[Any] | None = None

    def watch(self) -> None:
        """From now on whoever serves the client is cancelled when it leaves; until the answer is over."""
        self._task = self.way.task or asyncio.current_task()
        self.way.on_left = self._gone

    def _gone(self) -> None:
        self.left = True
        if self._task is not None:
            self._task.cancel()

    def swallow(self) -> None:
        """The cancellation was ours, and goes no further."""
        if self._task is not None:
            self._task.uncancel()

    @property
    def between(self) -> bool:
        """Whether the last byte ended an event, so that another may begin."""
        return self._last.endswith(_WHOLE)

    @property
    def congested(self) -> bool:
        """Whether what was pushed has to be waited for."""
        return self.way.congested

    async def drained(self) -> None:
        await self.way.drained()

    def begin(self, status: int, headers: HeaderPairs, data: bytes = b"") -> None:
        """The head, and the first piece if it is there already."""
        self.status, self.began = status, True
        self._last = data or self._last
        self.way.begin(status, [*headers, *self.always], data)

    def push(self, data: bytes) -> None:
        """One piece, now; then look whether the way is congested."""
        if data:
            self._last = data
            self.way.write(data)

    def expect(self, after: bytes) -> None:
        """From now on somebody puts pieces right into the way; each of them ends so."""
        self._last = after

    async def end(self, data: bytes = b"") -> None:
        if self.over:
            return
        self.over = True
        self.way.on_left = None
        self.way.end(data)
        if self.way.congested:
            await self.way.drained()

    async def whole(self, status: int, headers: HeaderPairs, body: bytes) -> None:
        """An answer that is known from its first byte to its last."""
        self.status = status
        self.began = self.over = True
        self.way.on_left = None
        self.way.whole(status, [*headers, *self.always], body)
        if self.way.congested:
            await self.way.drained()
