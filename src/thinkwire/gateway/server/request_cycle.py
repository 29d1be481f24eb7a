"""One request on a connection, and its answer."""

from __future__ import annotations

import asyncio
import http
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Protocol

from thinkwire.errors import BodyRejected
from thinkwire.gateway.server.half_close import CHUNK_SIZE_START, STATUS_LINE_START

_MOST_UNREAD = 256 * 1024
"""Bytes of a body that may lie unread before the client is made to wait."""

STATUS = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in http.HTTPStatus}
_BODYLESS = frozenset({204, 304})
_FRAMING = frozenset({b"connection", b"content-length", b"transfer-encoding"})
"""Headers that say how an answer is delimited, and whether another may follow."""
_line = b"%b: %b\r\n".__mod__


class Connection(Protocol):
    """The connection under a visit."""

    congested: bool
    send: Callable[[bytes], None]

    def send_soon(self, data: bytes) -> None: ...
    def call_soon(self, action: Callable[[], None]) -> None: ...
    async def drained(self) -> None: ...
    def read_on(self) -> None: ...
    def finished(self, visit: RequestCycle) -> None: ...


class RequestCycle:
    """One request on a line, and its answer; the same object is the application's `receive` and `send`."""

    __slots__ = (
        *("_send", "_chunked", "_held", "left", "congested", "spoke", "_line"),
        *("began", "over", "keep", "on_left", "task", "scope"),
        *("_expects", "_pieces", "_unread", "_more", "_given", "_waiters", "_length"),
        *("_rejected", "_status_line_sent"),
    )

    def __init__(self, line: Connection, scope: dict[str, Any], *, keep: bool, expects: bool) -> None:
        self.scope = scope
        self.left = False
        """Whether the client has gone."""
        self.congested = False
        """Whether the client reads too slowly for more; the line keeps it up to date."""
        self.spoke = False
        """Whether something was written since somebody last looked."""
        self.began = False
        self.over = False
        self.keep = keep
        self.on_left: Callable[[], None] | None = None
        self.task: asyncio.Task[None] | None = None
        """Who serves it."""
        self._line = line
        self._send = line.send
        self._expects = expects
        self._pieces: list[bytes] = []
        self._unread = 0
        self._more = True
        self._given = False
        self._waiters: list[asyncio.Future[None]] = []
        self._chunked = False
        self._held = b""
        """A head that waits for its first piece, no longer than a turn of the loop."""
        self._length = -1
        self._rejected: BodyRejected | None = None
        """Why the rest of the body will not come, until the application knows."""
        self._status_line_sent = False
        """Whether the first bytes of the head are out already."""

    # The request.

    def taken(self) -> bytes | None:
        """The whole body, if it is here already."""
        if self._more or self._given:
            return None
        self._given = True
        return self._join()

    async def receive(self) -> dict[str, Any]:
        """ASGI: the next part of the body, or that the client is gone."""
        if self._expects and self._more and not self.began:
            self._expects = False
            self._send(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not (self.left or self.over or self._pieces or self._rejected) and (self._more or self._given):
            self._line.read_on()
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        if self.left or self.over:
            return {"type": "http.disconnect"}
        if self._rejected is not None:
            raise self._take_rejection()
        self._given = not self._more
        return {"type": "http.request", "body": self._join(), "more_body": self._more}

    def _take_rejection(self) -> BodyRejected:
        # No frame that raises it may hold it: the cycle would keep what was read of the body.
        error, self._rejected = self._rejected, None
        assert error is not None
        return error

    def _join(self) -> bytes:
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._unread = 0
        return body

    def add(self, piece: bytes) -> bool:
        """A part of the body has come; whether there is room for more."""
        self._pieces.append(piece)
        self._unread += len(piece)
        if self._waiters:
            self._wake()
        return self._unread <= _MOST_UNREAD

    def complete(self) -> None:
        self._more = False
        if self._waiters:
            self._wake()

    def reject(self, error: BodyRejected) -> None:
        """The rest of the body will not come: `receive` raises `error`, and the answer is the last one."""
        self.keep = False
        self._rejected = error
        self._pieces.clear()
        self._unread = 0
        self._wake()

    def leave(self) -> None:
        """The client is gone."""
        self.left, self.congested = True, False
        if not self.over and self.on_left is not None:
            self.on_left()
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    # The answer.

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """ASGI: the head or a piece of the answer."""
        if self._line.congested and not self.left:
            await self._line.drained()
        if self.left:
            return
        kind = message["type"]
        if self.over or (kind == "http.response.start") is self.began:
            raise RuntimeError(f"{kind} is out of order")
        if not self.began:
            headers = [(name.lower(), value) for name, value in message.get("headers", ())]
            self.begin(message["status"], headers)
        elif message.get("more_body", False):
            self.write(message.get("body", b""))
        else:
            self.end(message.get("body", b""))

    async def drained(self) -> None:
        """Waits until the client has read enough for more."""
        await self._line.drained()

    def begin(self, status: int, headers: Sequence[tuple[bytes, bytes]], data: bytes = b"") -> None:
        self._held = self._head(status, headers)
        if data:
            self.write(data)
        else:
            self._line.call_soon(self.let_go)

    def let_go(self) -> None:
        """Sends the head, if it still waits."""
        if self._held and not self.left:
            self._send(self._held)
        self._held = b""

    def probe(self) -> None:
        """Sends the first bytes of what comes next, where they are known: a client that is gone resets."""
        if self.over or self.congested:
            return
        if not self.began:
            self._send(STATUS_LINE_START)
            self._status_line_sent = True
        elif self._chunked:
            self.let_go()
            self._send(CHUNK_SIZE_START)

    def whole(self, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> None:
        """Head and body in one write; the length is told here."""
        self._length = len(body)
        head = self._head(status, headers, b"content-length: %d\r\n" % len(body))
        self._line.send_soon(head if self.scope["method"] == "HEAD" else head + body)
        self._finish()

    def write(self, data: bytes) -> None:
        if data and not self.left:
            self.spoke = True
            framed = b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else self._framed(data)
            if self._held:
                framed, self._held = self._held + framed, b""
            self._send(framed)

    def put(self, before: bytes, data: bytes, after: bytes) -> None:
        """As writing all three, which are one piece."""
        if self._held or self.left or not self._chunked:
            self.write(before + data + after)
        else:
            self.spoke = True
            size = len(before) + len(data) + len(after)
            self._send(b"%x\r\n%b%b%b\r\n" % (size, before, data, after))

    def end(self, data: bytes = b"") -> None:
        if self.over:
            return
        last = self._held + self._framed(data, last=True)
        self._held = b""
        if self._length > 0 and self.scope["method"] != "HEAD":
            self.keep = False
        if last and not self.left:
            self._send(last)
        self._finish()

    def _finish(self) -> None:
        self.over = True
        if self._waiters:
            self._wake()
        self._line.finished(self)

    def _framed(self, data: bytes, *, last: bool = False) -> bytes:
        """A piece of the body as it goes over the wire."""
        if self.scope["method"] == "HEAD":
            return b""
        if not self._chunked:
            if self._length >= 0:
                self._length -= len(data)
                if self._length < 0:
                    raise RuntimeError("the body is longer than its content-length")
            return data
        framed = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
        return framed + b"0\r\n\r\n" if last else framed

    def _head(self, status: int, headers: Sequence[tuple[bytes, bytes]], length: bytes = b"") -> bytes:
        """The head; `length` is its line where the body is known."""
        if not _FRAMING.isdisjoint(dict(headers)):
            headers = self._framing(headers)
        lines = [STATUS.get(status) or b"HTTP/1.1 %d \r\n" % status, *map(_line, headers)]
        if length:
            lines.append(length)
        elif self._length < 0 and status not in _BODYLESS and self.scope["method"] != "HEAD":
            if self.scope["http_version"] == "1.1":
                self._chunked = True
                lines.append(b"transfer-encoding: chunked\r\n")
            else:
                self.keep = False
        if not self.keep:
            lines.append(b"connection: close\r\n")
        head = b"".join(lines)
        if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines):
            raise RuntimeError("a header has a line break in it")
        self.began = True
        if self._status_line_sent:
            head = head.removeprefix(STATUS_LINE_START)
        return head + b"\r\n"

    def _framing(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Hears what the application says about framing; what of its headers is told the client."""
        told = []
        for name, value in headers:
            if name == b"content-length":
                if self._length >= 0:
                    continue
                self._length = int(value)
            elif name == b"connection" and b"close" in value.lower():
                self.keep = False
                continue
            elif name == b"transfer-encoding":
                continue
            told.append((name, value))
        return told
