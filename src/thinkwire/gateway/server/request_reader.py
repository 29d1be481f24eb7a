"""Reads the requests of one connection with `httptools`, and bounds what a client can make the server keep.

A head may be so large, have so many headers and take so long. A body may take so long, and all unfinished
ones together so much memory. Trailers are discarded. A wish for another protocol is ignored.
"""

from __future__ import annotations

from typing import Any, Protocol

import httptools

from thinkwire.errors import BodyRejected
from thinkwire.gateway.server.deadlines import NEVER
from thinkwire.gateway.server.head_parser import LARGEST_HEAD, MAX_HEADERS, is_too_large, without_upgrade
from thinkwire.gateway.server.request_body import MAX_TRAILERS, BodyMemory, IncomingBody, too_much_framing
from thinkwire.gateway.server.request_cycle import RequestCycle


class Connection(Protocol):
    """What a reader needs of the connection it reads."""

    due: float

    @property
    def is_paused(self) -> bool: ...
    @property
    def has_room(self) -> bool:
        """Whether one more request may wait for its answer."""

    def begin_request(
        self, method: bytes, url: bytes, version: str, headers: list[tuple[bytes, bytes]], *, keep: bool
    ) -> RequestCycle: ...
    def pause(self) -> None: ...
    def body_complete(self) -> None: ...
    def expect(self, seconds: float) -> None: ...
    def refuse(self, error: BodyRejected) -> None: ...
    def close(self) -> None: ...


class RequestReader:
    """Feeds a parser, whose callbacks are the `on_…` methods, and watches what is unfinished."""

    __slots__ = (
        *("_line", "_parser", "_memory", "_head_seconds", "_body_seconds"),
        *("_url", "_headers", "_long_read", "_body", "_received", "_trailing", "_error"),
        *("head_size", "stopped", "visit"),
    )

    def __init__(
        self, line: Connection, memory: BodyMemory, *, head_seconds: float, body_seconds: float
    ) -> None:
        self._line = line
        self._memory = memory
        self._head_seconds = head_seconds
        self._body_seconds = body_seconds
        self._parser: Any = httptools.HttpRequestParser(self)
        self._long_read = False
        """Whether what is being parsed may hold a head that is too large."""
        self._body: IncomingBody | None = None
        """The body that is not whole yet, if it takes more than one read."""
        self._received = self._trailing = 0
        self._error: BodyRejected | None = None
        """Why a callback stopped the parser."""
        self.head_size = 0
        """Bytes of a head that is not whole; 0 between heads."""
        self.stopped = False
        """Whether everything that still comes is discarded."""
        self.visit: RequestCycle | None = None
        """The request whose body is being read."""

    @property
    def is_between(self) -> bool:
        """Whether no request has begun to come."""
        return not self.head_size and self.visit is None

    def feed(self, data: bytes) -> None:
        """Parses what came, and checks the bounds of what is unfinished after it."""
        if self.stopped:
            return
        begun = self.head_size
        self._long_read = begun + len(data) > LARGEST_HEAD
        try:
            self._parse(data)
        except httptools.HttpParserError:
            error, self._error = self._error, None
            self._reject(error or BodyRejected(400, "this is not HTTP"))
            return
        if self.head_size:
            self.head_size += len(data)
            if not begun:
                self._line.expect(self._head_seconds)
            if self.head_size > LARGEST_HEAD or len(self._headers) > MAX_HEADERS:
                self._reject(_head_too_large())
        elif self.visit is not None:
            self._follow_body(self.visit, len(data))

    def stop(self) -> RequestCycle | None:
        """Discards whatever still comes; gives the request whose body was being read."""
        unfinished, self.visit = self.visit, None
        self.stopped, self.head_size = True, 0
        self._end_body()
        return unfinished

    def close(self) -> None:
        """Lets go of the connection, so that no reference cycle is left behind."""
        self.stop()
        del self._line, self._parser

    def resume(self) -> None:
        """The connection is read again after a pause, which the client must not pay for."""
        if self._body is not None:
            self._body.restart()
            self._line.expect(self._body.seconds)

    def discard_body(self, visit: RequestCycle) -> None:
        """The answer to a request is over: the rest of its body takes no memory."""
        if self._body is not None and self.visit is visit:
            self._body.release()

    def overdue(self) -> bool:
        """Something did not come in time; False when nothing is unfinished."""
        if self.head_size:
            self._reject(BodyRejected(408, "the head of the request did not come in time"))
            return True
        body = self._body
        if body is None:
            return False
        if not self._line.is_paused:
            error = body.check_pace(kept=self.visit is not None and not self.visit.over)
            if error is None:
                self._line.expect(body.seconds)
            else:
                self._reject(error)
        return True

    # What the parser calls.

    def on_message_begin(self) -> None:
        if not self._line.has_room:
            self._stop_parsing(BodyRejected(429, "too many requests at once; wait for the answers to some"))
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self.visit = None
        self.head_size = 1

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.visit is None:
            self._headers.append((name.lower(), value))
            return
        # A trailer: it says nothing about a request that is already being served.
        self._trailing += len(name) + len(value) + 4
        if self._trailing > MAX_TRAILERS:
            self._stop_parsing(too_much_framing())

    def on_headers_complete(self) -> None:
        parser = self._parser
        method, upgrades = parser.get_method(), parser.should_upgrade()
        if upgrades and method != b"CONNECT":
            # It is parsed once more, without the wish.
            return
        if len(self._headers) > MAX_HEADERS or (self._long_read and is_too_large(self._url, self._headers)):
            self._stop_parsing(_head_too_large())
        self.head_size = self._received = self._trailing = 0
        version = parser.get_http_version()
        keep = version != "1.0" and parser.should_keep_alive() and not upgrades
        self.visit = self._line.begin_request(method, self._url, version, self._headers, keep=keep)

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        visit = self.visit
        if visit is not None and not visit.over and not visit.add(body):
            self._line.pause()

    def on_message_complete(self) -> None:
        if self.visit is not None:
            self.visit.complete()
            self.visit = None
            if self._body is not None:
                self._end_body()
                self._line.body_complete()

    def _stop_parsing(self, error: BodyRejected) -> None:
        self._error = error
        raise _Stopped

    def _parse(self, data: bytes) -> None:
        """Feeds the parser. It stops at a request for another protocol; a new one goes on from there."""
        while True:
            try:
                self._parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as upgrade:
                method = self._parser.get_method()
                if method == b"CONNECT":
                    # What follows is not for this server.
                    self.stopped = True
                    return
                version = self._parser.get_http_version()
                head = without_upgrade(method, self._url, version, self._headers)
                self._parser = httptools.HttpRequestParser(self)
                data = head + data[upgrade.args[0] :]

    def _follow_body(self, visit: RequestCycle, size: int) -> None:
        """A read has ended in the middle of a body."""
        body = self._body
        if body is None:
            body = self._body = IncomingBody(self._memory, self._body_seconds)
            self._line.expect(self._body_seconds)
            size = 0
        error = body.add(size, self._received, kept=not visit.over)
        if error is not None:
            self._reject(error)

    def _end_body(self) -> None:
        """The body is whole, or not waited for any more."""
        if self._body is not None:
            self._body.release()
            self._body = None
            self._line.due = NEVER

    def _reject(self, error: BodyRejected) -> None:
        """Refuses what is being read: a body through its application, a head with words of the server."""
        visit = self.stop()
        if visit is None:
            self._line.refuse(error)
        elif visit.over:
            self._line.close()
        else:
            visit.reject(error)


class _Stopped(Exception):
    """Ends the parser's work from one of its callbacks."""


def _head_too_large() -> BodyRejected:
    return BodyRejected(431, "the head of the request is too long")
