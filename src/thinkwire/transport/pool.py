"""A connection pool: POST over HTTP/1.1 on bare asyncio, parsed by httptools.

It does not support proxies: `open_transport` chooses it where no proxy is configured and `httptools` is
installed, and aiohttp otherwise.
"""

from __future__ import annotations

import asyncio
import ssl
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from thinkwire.errors import ConfigError, Failure, ProviderError
from thinkwire.transport.connection import Connection, ConnectionClosed, ReadTimeout
from thinkwire.transport.connection_limit import ConnectionLimit
from thinkwire.transport.response_body import MAX_RESPONSE_BYTES, WholeBody
from thinkwire.transport.sink import BodySink

GOODBYE = 0.25
"""Seconds that the bytes after an answer's end are waited for, all together."""
KEPT = 15.0
"""Seconds that an idle connection is kept; servers close theirs sooner or later without a word."""
STALE = 5.0
"""Seconds in which an idle connection shows that it was closed already. A provider that takes longer may have
begun to work on the request.
"""
_FIRST_LINES = 4
"""Of every request: what is asked for, and three headers."""
_idle_since = attrgetter("idle_since")
_NO_ANSWER = "the provider did not answer in time"
_SILENT = "the answer fell silent"
_CUT = "the connection failed in the answer"


class Endpoint(NamedTuple):
    """Where an address leads."""

    secure: bool
    host: str
    port: int
    target: str
    head: str
    """The first lines of every request there."""


@lru_cache(maxsize=1024)
def _endpoint(url: str) -> Endpoint:
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
    return Endpoint(secure, host, port, target, head)


def _check_lines(head: str, lines: int) -> None:
    if head.count("\n") != lines or head.count("\r") != lines:
        raise ConfigError("a header has a line break in it")


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


def _request(place: Endpoint, headers: Mapping[str, str], body: bytes) -> bytes:
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


def _why(error: Exception, *, begun: bool) -> str:
    """What a lost connection says of itself, else in which part of the answer it was lost."""
    words = str(error) if isinstance(error, ConnectionClosed) else type(error).__name__
    return words or _CUT if begun else f"no answer: {words or 'the connection failed'}"


class HttptoolsResponse:
    """The head of an answer, and its body as it comes; as `thinkwire.transport.aiohttp_transport.Reply`."""

    def __init__(
        self,
        http: HttptoolsTransport,
        place: Endpoint,
        connection: Connection,
        until: float,
        *,
        secret: bytes = b"",
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
        """The whole body, without the key that it may repeat. Of a refusal no more than its beginning."""
        body = WholeBody(self.status, self._http.max_response, self._secret)
        self._end_within(body.seconds)
        try:
            while not self._open.over and body.add(await self._piece()):
                pass
            body.add(self._open.taken())
        except ProviderError as error:
            body.end_early(error)
        return body.joined()

    async def pour(self, sink: BodySink, *, within: float | None = None) -> None:
        """Gives every piece to `sink` as soon as it comes, to the end or until it wants no more; for `within`
        seconds at most.
        """
        connection = self._open
        if within is not None:
            self._end_within(within)
        try:
            while True:
                if sink.way.congested:
                    await sink.way.drained()
                await connection.pour(sink, self._patience, self._until)
                if not sink.way.congested:
                    return
        except (ReadTimeout, ConnectionClosed) as error:
            raise self._failure(error) from None

    async def drain(self) -> None:
        """Reads the few bytes after an answer's end, so that its connection can serve the next one. One that
        sends more than that is not kept.
        """
        if self._connection is None or self._connection.over:
            return
        self._end_within(GOODBYE)
        with suppress(ProviderError):
            while await self._piece():
                pass

    def close(self) -> None:
        """Lets the connection go: to serve again if the answer is over, else for good."""
        if self._connection is not None:
            self._http.finish(self._place, self._connection)
            self._connection = None

    def _end_within(self, seconds: float) -> None:
        self._until = min(self._until, asyncio.get_running_loop().time() + seconds)

    @property
    def _open(self) -> Connection:
        if self._connection is None:
            raise Failure("connection_lost", "the answer was let go").as_error()
        return self._connection

    async def _piece(self) -> bytes:
        try:
            return await self._open.piece(self._patience, self._until)
        except (ReadTimeout, ConnectionClosed) as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> ProviderError:
        _forget(error)
        if isinstance(error, ReadTimeout):
            self.fell_silent = True
            return Failure("timed_out", _SILENT).as_error()
        return Failure("connection_lost", _why(error, begun=True)).as_error()


class HttptoolsTransport:
    """Connections to providers, kept open between calls, with the interface of `AiohttpTransport`."""

    def __init__(
        self,
        *,
        connect: float = 10,
        first_byte: float = 600,
        idle: float = 300,
        connections: int = 100,
        max_response: int = MAX_RESPONSE_BYTES,
        kept: float = KEPT,
    ) -> None:
        """`max_response` bounds the bytes of a whole body; `kept` is how long idle connections stay open."""
        self._connect, self._first_byte, self.idle = connect, first_byte, idle
        self.max_response = max_response
        self._kept = kept
        self._free: dict[tuple[bool, str, int], list[Connection]] = {}
        """Idle connections by where they lead, the one that was used last at the end."""
        self._closer: asyncio.TimerHandle | None = None
        self._room = ConnectionLimit(connections)

    async def ask(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        until: float | None = None,
        secret: str | None = None,
        sink: BodySink | None = None,
        reuse: bool = True,
        on_resend: Callable[[], None] | None = None,
    ) -> HttptoolsResponse:
        """The reply to one request; whoever gets it closes it. `until` is a time on the loop's clock by
        which everything must be over. `sink` is whom an answer will be poured into: it may get the beginning
        of one before the reply is here, or all of it. Without `reuse` the request gets a new connection and
        is sent once; `on_resend` is called when it is sent again because its idle connection was closed.
        """
        place = _endpoint(url)
        data = _request(place, headers, body)
        by = float("inf") if until is None else until
        if not self._room.enter():
            await self._room.wait()
        try:
            early = None if sink is None else (sink, self.idle)
            connection = await self._begin(place, data, by, early, reuse=reuse, on_resend=on_resend)
        except BaseException:
            self._room.leave()
            raise
        return HttptoolsResponse(self, place, connection, by, secret=(secret or "").encode())

    @asynccontextmanager
    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, **how: Any
    ) -> AsyncIterator[HttptoolsResponse]:
        """The reply to one request. Leaving the block early closes the connection."""
        reply = await self.ask(url, headers, body, **how)
        try:
            yield reply
        finally:
            reply.close()

    async def _begin(
        self,
        place: Endpoint,
        data: bytes,
        until: float,
        early: tuple[BodySink, float] | None,
        *,
        reuse: bool,
        on_resend: Callable[[], None] | None,
    ) -> Connection:
        """A connection on which the answer has begun."""
        connection = self._taken(place) if reuse else None
        try:
            if connection is not None:
                loop = asyncio.get_running_loop()
                stale_until = loop.time() + STALE
                try:
                    await connection.ask(data, self._first_byte, until, early=early)
                    return connection
                except ConnectionClosed as error:
                    # Closed at once and without a byte, it was closed for idleness; another may still serve.
                    if connection.head_seen or loop.time() > stale_until:
                        raise
                    _forget(error)
                if on_resend is not None:
                    on_resend()
            connection = await self._opened(place, until)
            await connection.ask(data, self._first_byte, until, early=early)
            return connection
        except (ReadTimeout, TimeoutError) as error:
            begun = _given_up(connection, error)
            raise Failure("timed_out", _SILENT if begun else _NO_ANSWER).as_error() from None
        except (ConnectionClosed, OSError) as error:
            begun = _given_up(connection, error)
            raise Failure("connection_lost", _why(error, begun=begun)).as_error() from None
        except asyncio.CancelledError:
            if connection is not None:
                connection.close()
            raise

    def _taken(self, place: Endpoint) -> Connection | None:
        """An open connection, the one that was used last."""
        free = self._free.get((place.secure, place.host, place.port), [])
        oldest = asyncio.get_running_loop().time() - self._kept
        while free:
            connection = free.pop()
            if connection.reusable and connection.idle_since > oldest:
                return connection
            connection.close()
        return None

    async def _opened(self, place: Endpoint, until: float) -> Connection:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout_at(min(loop.time() + self._connect, until)):
            _, connection = await loop.create_connection(
                Connection, place.host, place.port, ssl=_trust() if place.secure else None
            )
        return connection

    def finish(self, place: Endpoint, connection: Connection) -> None:
        """A connection that nobody reads any more: kept for the next request, or closed."""
        self._room.leave()
        if not connection.reusable:
            connection.close()
            return
        # An answer may have ended while nobody read on; the next one has to be heard, and a goodbye too.
        connection.read_on()
        loop = asyncio.get_running_loop()
        connection.idle_since = now = loop.time()
        self._free.setdefault((place.secure, place.host, place.port), []).append(connection)
        if self._closer is None or self._closer.when() < now:
            # One that is overdue belongs to a loop that is over.
            self._closer = loop.call_later(self._kept, self._close_idle)

    def _close_idle(self) -> None:
        """Closes the connections that were idle too long; comes back for the next one."""
        loop = asyncio.get_running_loop()
        if self._closer is not None:
            self._closer.cancel()
            self._closer = None
        oldest = loop.time() - self._kept
        for place, free in list(self._free.items()):
            expired = bisect_right(free, oldest, key=_idle_since)
            for connection in free[:expired]:
                connection.close()
            del free[:expired]
            if not free:
                del self._free[place]
        if self._free:
            due = min(free[0].idle_since for free in self._free.values()) + self._kept
            self._closer = loop.call_at(due, self._close_idle)

    async def aclose(self) -> None:
        if self._closer is not None:
            self._closer.cancel()
            self._closer = None
        for free in self._free.values():
            for connection in free:
                connection.close()
        self._free.clear()
        # An aborted transport tells so in the next turn of the loop.
        await asyncio.sleep(0)
