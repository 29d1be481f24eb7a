"""Lean connections: POST over HTTP/1.1 on bare asyncio, kept open between requests.

It knows no proxies: `thinkwire.http` uses it where none is named and `httptools` is installed, and aiohttp
otherwise.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache, lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from thinkwire.connection import Connection, Late, Lost, Sink
from thinkwire.errors import ConfigError, Failure, ProviderError

_GOODBYE = 0.25
"""Seconds that the bytes after an answer's end are waited for."""
_KEPT = 15.0
"""Seconds that an idle connection is trusted; servers close theirs sooner or later without a word."""
_FIRST_LINES = 4
"""Of every request: what is asked for, and three headers."""
_NO_ANSWER = "the provider did not answer in time"
_SILENT = "the answer fell silent"
_CUT = "the connection failed in the answer"
_LONG = 16
"""Letters from which a key is hidden where an answer repeats it."""


class Place(NamedTuple):
    """Where an address leads."""

    secure: bool
    host: str
    port: int
    target: str
    head: str
    """The first lines of every request there."""


@lru_cache(maxsize=1024)
def _place(url: str) -> Place:
    parts = urlsplit(url)
    secure, host = parts.scheme == "https", parts.hostname
    if host is None or parts.scheme not in ("http", "https"):
        raise ConfigError("an address must be http(s)://HOST[:PORT][/PATH]")
    port = parts.port or (443 if secure else 80)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    named = f"[{host}]" if ":" in host else host
    authority = named if parts.port is None else f"{named}:{port}"
    head = f"POST {target} HTTP/1.1\r\nhost: {authority}\r\naccept: */*\r\naccept-encoding: gzip, deflate\r\n"
    _check_lines(head, _FIRST_LINES)
    return Place(secure, host, port, target, head)


def _check_lines(head: str, lines: int) -> None:
    if head.count("\n") != lines or head.count("\r") != lines:
        raise ConfigError("a header has a line break in it")


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


def _request(place: Place, headers: Mapping[str, str], body: bytes) -> bytes:
    return b"%bcontent-length: %d\r\n\r\n%b" % (_head(place.head, tuple(headers.items())), len(body), body)


@lru_cache(maxsize=256)
def _head(first: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """All lines but the length: the same from request to request."""
    head = first + "".join([f"{name}: {value}\r\n" for name, value in headers])
    _check_lines(head, _FIRST_LINES + len(headers))
    return head.encode("latin-1", "replace")


def _forget(error: Exception) -> None:
    """Drops where an error was raised. Its connection keeps it, and its frames keep the connection and the
    whole request: only the collector could let them go, and it comes seldom.
    """
    error.__traceback__ = None


def _given_up(connection: Connection | None, error: Exception) -> bool:
    """Closes a connection that failed; whether its answer had begun."""
    _forget(error)
    if connection is None:
        return False
    connection.close()
    return connection.begun


class LeanReply:
    """The head of an answer, and its body as it comes; as `thinkwire.http.Reply`."""

    def __init__(
        self, http: LeanHttp, place: Place, connection: Connection, until: float, *, secret: bytes = b""
    ) -> None:
        self._http = http
        self._place = place
        self._secret = secret
        self._connection: Connection | None = connection
        self._patience = http.idle
        self._until = until
        self.status = connection.status
        self.headers: Mapping[str, str] = connection.headers
        self.fell_silent = False

    async def chunks(self) -> AsyncIterator[bytes]:
        while piece := await self._piece():
            yield piece

    async def read(self) -> bytes:
        """The whole body, without the key that it may repeat."""
        pieces = []
        while not self._open.over:
            pieces.append(await self._piece())
        pieces.append(self._open.taken())
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return body.replace(self._secret, b"[hidden]") if len(self._secret) >= _LONG else body

    async def pour(self, sink: Sink, *, patience: float | None = None) -> None:
        """Gives every piece to `sink` as soon as it comes, to the end or until it wants no more."""
        connection = self._open
        wait = self._patience if patience is None else patience
        try:
            while True:
                if sink.way.congested:
                    await sink.way.drained()
                await connection.pour(sink, wait, self._until)
                if not sink.way.congested:
                    return
        except (Late, Lost) as error:
            raise self._failure(error) from None

    async def drain(self) -> None:
        """Reads the few bytes after an answer's end, so that its connection can serve the next one."""
        if self._connection is None or self._connection.over:
            return
        self._patience = _GOODBYE
        with suppress(ProviderError):
            while await self._piece():
                pass

    def close(self) -> None:
        """Lets the connection go: to serve again if the answer is over, else for good."""
        if self._connection is not None:
            self._http.finish(self._place, self._connection)
            self._connection = None

    @property
    def _open(self) -> Connection:
        if self._connection is None:
            raise Failure("connection_lost", "the answer was let go").as_error()
        return self._connection

    async def _piece(self) -> bytes:
        try:
            return await self._open.piece(self._patience, self._until)
        except (Late, Lost) as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> ProviderError:
        _forget(error)
        if isinstance(error, Late):
            self.fell_silent = True
            return Failure("timed_out", _SILENT).as_error()
        return Failure("connection_lost", _CUT).as_error()


class Room:
    """Places for so many at once. Who finds none waits, and gets one in the order of coming."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: deque[asyncio.Future[None]] = deque()

    def enter(self) -> bool:
        """Takes a place; whether there was one."""
        if self._free == 0:
            return False
        self._free -= 1
        return True

    async def wait(self) -> None:
        """Waits for a place that somebody leaves, and takes it."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


class LeanHttp:
    """Connections to providers, kept open between calls; as `thinkwire.http.Http`. Close it with `aclose`."""

    def __init__(
        self, *, connect: float = 10, first_byte: float = 600, idle: float = 300, connections: int = 100
    ):
        self._connect, self._first_byte, self.idle = connect, first_byte, idle
        self._free: dict[tuple[bool, str, int], list[Connection]] = {}
        self._room = Room(connections)

    async def ask(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        until: float | None = None,
        secret: str | None = None,
        sink: Sink | None = None,
    ) -> LeanReply:
        """The reply to one request; whoever gets it closes it. `until` is a time on the loop's clock by
        which everything must be over. `sink` is whom an answer will be poured into: it may get the beginning
        of one before the reply is here, or all of it.
        """
        place = _place(url)
        data = _request(place, headers, body)
        by = float("inf") if until is None else until
        if not self._room.enter():
            await self._room.wait()
        try:
            connection = await self._begin(place, data, by, None if sink is None else (sink, self.idle))
        except BaseException:
            self._room.leave()
            raise
        return LeanReply(self, place, connection, by, secret=(secret or "").encode())

    @asynccontextmanager
    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, **how: Any
    ) -> AsyncIterator[LeanReply]:
        """The reply to one request. Leaving the block early closes the connection."""
        reply = await self.ask(url, headers, body, **how)
        try:
            yield reply
        finally:
            reply.close()

    async def _begin(
        self, place: Place, data: bytes, until: float, early: tuple[Sink, float] | None
    ) -> Connection:
        """A connection on which the answer has begun."""
        connection = self._taken(place)
        try:
            if connection is not None:
                try:
                    await connection.ask(data, self._first_byte, until, early=early)
                    return connection
                except Lost as error:
                    # Closed without a byte, it was closed for idleness; another may still serve.
                    if connection.head_seen:
                        raise
                    _forget(error)
            connection = await self._opened(place, until)
            await connection.ask(data, self._first_byte, until, early=early)
            return connection
        except (Late, TimeoutError) as error:
            begun = _given_up(connection, error)
            raise Failure("timed_out", _SILENT if begun else _NO_ANSWER).as_error() from None
        except (Lost, OSError) as error:
            begun = _given_up(connection, error)
            words = "the connection failed" if isinstance(error, Lost) else type(error).__name__
            raise Failure("connection_lost", _CUT if begun else f"no answer: {words}").as_error() from None
        except asyncio.CancelledError:
            if connection is not None:
                connection.close()
            raise

    def _taken(self, place: Place) -> Connection | None:
        """An open connection, the one that was used last."""
        free = self._free.get((place.secure, place.host, place.port), [])
        now = time.monotonic()
        while free:
            connection = free.pop()
            if connection.reusable and now - connection.idle_since < _KEPT:
                return connection
            connection.close()
        return None

    async def _opened(self, place: Place, until: float) -> Connection:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout_at(min(loop.time() + self._connect, until)):
            _, connection = await loop.create_connection(
                Connection, place.host, place.port, ssl=_trust() if place.secure else None
            )
        return connection

    def finish(self, place: Place, connection: Connection) -> None:
        """A connection that nobody reads any more: kept for the next request, or closed."""
        self._room.leave()
        if not connection.reusable:
            connection.close()
            return
        # An answer may have ended while nobody read on; the next one has to be heard, and a goodbye too.
        connection.read_on()
        connection.idle_since = time.monotonic()
        self._free.setdefault((place.secure, place.host, place.port), []).append(connection)

    async def aclose(self) -> None:
        for free in self._free.values():
            for connection in free:
                connection.close()
        self._free.clear()
        # An aborted transport tells so in the next turn of the loop.
        await asyncio.sleep(0)
