"""Lean connections: POST over HTTP/1.1 on bare asyncio, parsed by `httptools`, kept open between requests.

It knows no proxies. `thinkwire.http` uses it when THINKWIRE_LEAN=1 asks for it, none is needed and
`httptools` is installed; whether it becomes the usual way is for measurements on a quiet machine to say.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache, lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from thinkwire.errors import ConfigError, Failure, ProviderError
from thinkwire.wire.packed import unpacker

_GOODBYE = 0.25
"""Seconds that the bytes after an answer's end are waited for."""
_KEPT = 15.0
"""Seconds that an idle connection is trusted; servers close theirs sooner or later without a word."""
_MOST_WAITING = 256 * 1024
"""Bytes that may lie unread before the provider is made to wait."""
_LARGEST_HEAD = 256 * 1024
_LONG = 16
"""Letters from which a key is hidden where an answer repeats it."""


class _Lost(Exception):
    """The connection broke."""


class _Late(Exception):
    """What was waited for did not come in time."""


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
    return Place(secure, host, port, target, head)


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


def _request(place: Place, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    head = f"{place.head}{lines}content-length: {len(body)}\r\n\r\n"
    if head.count("\n") != 5 + len(headers) + 1 or head.count("\r") != head.count("\n"):
        raise ConfigError("a header has a line break in it")
    return head.encode("latin-1", "replace") + body


class Connection(asyncio.Protocol):
    """One connection: one request at a time, its answer in pieces as the network brings them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = float("inf")
        self._error: Exception | None = None
        self.idle_since = 0.0
        self._begin()

    def _begin(self) -> None:
        """Ready for another answer."""
        from httptools import HttpResponseParser

        self._parser: Any = HttpResponseParser(self)
        self.status = 0
        self.headers: dict[str, str] = {}
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._head_seen = 0
        self.begun = False
        self.over = False
        self._unpack: Any = None
        self._paused = False

    async def ask(self, data: bytes, patience: float, until: float) -> None:
        """Sends a request and waits for the head of its answer."""
        if self._transport is None or self._transport.is_closing():
            raise _Lost
        self._begin()
        self._transport.write(data)
        while not self.begun:
            await self._wait(patience, until)

    async def piece(self, patience: float, until: float) -> bytes:
        """What has come since the last one; empty at the end of the answer."""
        while not self._pieces:
            if self.over:
                return b""
            await self._wait(patience, until)
        joined = self._pieces.popleft() if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._waiting = 0
        if self._paused and self._transport is not None and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()
        return joined

    async def _wait(self, patience: float, until: float) -> None:
        if self._error is not None:
            raise self._error
        self._due = min(self._loop.time() + patience, until)
        if self._timer is None or self._timer.when() > self._due:
            self._arm()
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
            self._due = float("inf")

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        """The one timer looks whether it is late, so that a piece in time costs none."""
        self._timer = None
        if self._due == float("inf"):
            return
        if self._loop.time() < self._due:
            self._arm()
        else:
            self._fail(_Late())

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self.close()
        self._wake()

    def _wake(self) -> None:
        self._due = float("inf")
        if self._waiter is not None and not self._waiter.done():
            if self._error is not None and not self._pieces and not self.over:
                self._waiter.set_exception(self._error)
            else:
                self._waiter.set_result(None)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent here: the answer is over, and both sides agree to go on."""
        kept = self.over and self._error is None and self._transport is not None
        return kept and not self._transport.is_closing() and self._keeps  # type: ignore[union-attr]

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        from httptools import HttpParserError, HttpParserUpgrade

        if self.over or not self._count_head(data):
            self._fail(_Lost())
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade, zlib.error):
            self._fail(_Lost())
            return
        if self._waiting > _MOST_WAITING and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        if self._pieces or self.begun:
            self._wake()

    def _count_head(self, data: bytes) -> bool:
        self._head_seen += len(data)
        return self.begun or self._head_seen <= _LARGEST_HEAD

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        if self.begun and not self.over and error is None and self._error is None and not self._framed:
            self.over, self._keeps = True, False
        self._error = self._error or _Lost()
        self._wake()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What the parser tells.

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.decode("latin-1").lower()
        told = value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]}, {told}" if key in self.headers else told

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if 100 <= self.status < 200:
            self.headers = {}
            return
        headers = self.headers
        self._framed = (
            "content-length" in headers or "chunked" in headers.get("transfer-encoding", "").lower()
        )
        self._unpack = unpacker(headers.get("content-encoding", ""))
        self.begun = True

    def on_body(self, body: bytes) -> None:
        if self._unpack is not None:
            body = self._unpack(body)
        if body:
            self._waiting += len(body)
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        if self.begun:
            self.over = True
            self._keeps = self._parser.should_keep_alive()

    _framed = False
    _keeps = False


class LeanReply:
    """The head of an answer, and its body as it comes; as `thinkwire.http.Reply`."""

    def __init__(self, connection: Connection, patience: float, until: float, *, secret: bytes = b"") -> None:
        self._secret = secret
        self._connection = connection
        self._patience = patience
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
        while piece := await self._piece():
            pieces.append(piece)
        body = b"".join(pieces)
        return body.replace(self._secret, b"[hidden]") if len(self._secret) >= _LONG else body

    async def drain(self) -> None:
        """Reads the few bytes after an answer's end, so that its connection can serve the next one."""
        self._patience = _GOODBYE
        with suppress(ProviderError):
            while await self._piece():
                pass

    async def _piece(self) -> bytes:
        try:
            return await self._connection.piece(self._patience, self._until)
        except _Late:
            self.fell_silent = True
            raise Failure("timed_out", "the answer fell silent").as_error() from None
        except _Lost:
            raise Failure("connection_lost", "the connection failed in the answer").as_error() from None


class LeanHttp:
    """Connections to providers, kept open between calls; as `thinkwire.http.Http`. Close it with `aclose`."""

    def __init__(
        self, *, connect: float = 10, first_byte: float = 600, idle: float = 300, connections: int = 100
    ):
        self._connect, self._first_byte, self._idle = connect, first_byte, idle
        self._most = connections
        self._free: dict[tuple[bool, str, int], list[Connection]] = {}
        self._room: asyncio.Semaphore | None = None

    @asynccontextmanager
    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        until: float | None = None,
        secret: str | None = None,
    ) -> AsyncIterator[LeanReply]:
        """The reply to one request. Leaving the block early closes the connection; so does `until`, a time
        on the loop's clock by which everything must be over.
        """
        place = _place(url)
        data = _request(place, headers, body)
        by = float("inf") if until is None else until
        if self._room is None:
            self._room = asyncio.Semaphore(self._most)
        async with self._room:
            connection = await self._begin(place, data, by)
            try:
                yield LeanReply(connection, self._idle, by, secret=(secret or "").encode())
            finally:
                self._finish(place, connection)

    async def _begin(self, place: Place, data: bytes, until: float) -> Connection:
        """A connection on which the answer has begun."""
        connection: Connection | None = None
        try:
            connection = self._taken(place) or await self._opened(place, until)
            await connection.ask(data, self._first_byte, until)
            return connection
        except (_Late, TimeoutError):
            if connection is not None:
                connection.close()
            raise Failure("timed_out", "the provider did not answer in time").as_error() from None
        except (_Lost, OSError) as error:
            if connection is not None:
                connection.close()
            words = "the connection failed" if isinstance(error, _Lost) else type(error).__name__
            raise Failure("connection_lost", f"no answer: {words}").as_error() from None
        except asyncio.CancelledError:
            if connection is not None:
                connection.close()
            raise

    def _taken(self, place: Place) -> Connection | None:
        """An open connection, the one that was used last."""
        free = self._free.get((place.secure, place.host, place.port), [])
        now = asyncio.get_running_loop().time()
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

    def _finish(self, place: Place, connection: Connection) -> None:
        if not connection.reusable:
            connection.close()
            return
        connection.idle_since = asyncio.get_running_loop().time()
        self._free.setdefault((place.secure, place.host, place.port), []).append(connection)

    async def aclose(self) -> None:
        for free in self._free.values():
            for connection in free:
                connection.close()
        self._free.clear()
        # An aborted transport tells so in the next turn of the loop.
        await asyncio.sleep(0)
