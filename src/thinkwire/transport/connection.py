"""One connection to a provider: HTTP/1.1 on bare asyncio, parsed by `httptools`; one request at a time."""

from __future__ import annotations

import asyncio
import zlib
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from thinkwire.transport.sink import BodySink
from thinkwire.transport.write_batch import write_batch_of
from thinkwire.wire.compression import Decompressor, decompressor

httptools: Any = import_module("httptools") if find_spec("httptools") else None

_MOST_WAITING = 256 * 1024
"""Bytes that may lie unread before the provider is made to wait."""
_LARGEST_HEAD = 256 * 1024
_LONGEST_HEADER = 16 * 1024
"""Bytes of one that is repeated; each repetition copies it."""
MOST_OVERHEAD = 64 * 1024
"""Bytes in a row that bring nothing of a body: trailers, chunk extensions, empty compressed blocks."""
_LOOKS = 4
"""How often it is looked whether a piece has come, in the time in which one must come."""
_LONGEST_LOOK = 15.0
"""Seconds. By no more, and no more than a quarter of its time, is a piece missed too late."""
_REFUSED = 400
"""From this status on an answer is none."""
_NEVER = float("inf")


@lru_cache(maxsize=512)
def _header_name(name: bytes) -> str:
    """Answers bring the same names again and again."""
    return name.decode("latin-1").lower()


class ConnectionClosed(Exception):
    """The connection broke."""


class ReadTimeout(Exception):
    """What was waited for did not come in time."""


class Connection(asyncio.Protocol):
    """One connection: one request at a time, its answer in pieces as the network brings them."""

    # In slots, and what every piece touches first: hundreds of streams take turns in the processor's cache.
    __slots__ = (
        *("over", "begun", "_parser", "_sink", "_pieces", "_compressed", "_waiting", "_heard", "_sated"),
        *("_loop", "_patience", "_until", "_due", "_waiter", "_timer", "_looks", "_error", "_paused"),
        *("_transport", "_outbox", "_early", "_framed", "_keeps", "_ended", "_pending", "_overhead"),
        *("idle_since", "status", "headers", "head_seen"),
    )

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._outbox = write_batch_of(self._loop)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._looks = _NEVER
        """When the timer comes."""
        self._due = _NEVER
        self._error: Exception | None = None
        self._sink: BodySink | None = None
        self._early: tuple[BodySink, float] | None = None
        self._sated = False
        self._patience = self._until = _NEVER
        self.idle_since = 0.0
        # One for all answers of the connection: they come one after another.
        self._parser: Any = httptools.HttpResponseParser(self)
        self._begin()

    def _begin(self) -> None:
        """Ready for another answer."""
        self.status = 0
        self.headers: dict[str, str] = {}
        self._pieces: list[bytes] = []
        self._waiting = 0
        self.head_seen = 0
        self.begun = False
        self.over = False
        self._compressed: Decompressor | None = None
        self._pending = False
        """Whether compressed bytes lie here that the reader has to have decompressed."""
        self._ended = False
        """Whether all bytes of the answer are here; it is over once they are decompressed."""
        self._overhead = 0
        self._heard = False
        """Whether a piece has come since the timer last looked."""
        self._paused = False
        self._framed = self._keeps = False

    async def ask(
        self, data: bytes, patience: float, until: float, *, early: tuple[BodySink, float] | None = None
    ) -> None:
        """Sends a request and waits for the head of its answer.

        `early` is a sink, and its patience, which already takes what comes with the head and after it, unless
        the request is refused; `pour` goes on with it.
        """
        self._begin()
        if self._transport is None or self._transport.is_closing():
            raise ConnectionClosed
        self._early = early
        self._outbox.put(self._transport, data)
        try:
            while not self.begun:
                await self._news(patience, until)
        except ConnectionClosed as error:
            # What broke right behind the head is told to who reads on; the status counts until then.
            if not self.begun:
                raise
            error.__traceback__ = None
        finally:
            self._early = self._sink = None

    async def piece(self, patience: float, until: float) -> bytes:
        """What has come since the last one; empty at the end of the answer."""
        while not self._pieces:
            if self._pending:
                await self._step()
            elif self.over:
                return b""
            else:
                await self._news(patience, until)
        self.read_on()
        return self.taken()

    def taken(self) -> bytes:
        """What has come and was not taken yet."""
        pieces = self._pieces
        joined = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._waiting = self._overhead = 0
        return joined

    async def pour(self, sink: BodySink, patience: float, until: float) -> None:
        """Gives every piece to `sink` inside the network's own callback, so that no task has to wake for it.

        Ends with the answer, or when the sink wants no more or is congested.
        """
        self._sink = sink
        self._sated = False
        self.read_on()
        try:
            self._spill()
            while not (self.over or self._sated or sink.way.congested):
                await (self._step() if self._pending else self._news(patience, until))
        finally:
            self._sink = None

    def _spill(self) -> None:
        sink, pieces = self._sink, self._pieces
        if not pieces or sink is None:
            return
        piece = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._waiting = self._overhead = 0
        self._heard = True
        try:
            self._sated = not sink.take(piece)
        except Exception as error:
            self._fail(error)
            return
        if sink.way.congested:
            self._pause()
        elif not (self.over or self._sated):
            return
        self._wake()

    def _pause(self) -> None:
        if not self._paused and self._transport is not None and not self._transport.is_closing():
            self._paused = True
            self._transport.pause_reading()

    def read_on(self) -> None:
        """Takes what the provider sends, where it was made to wait."""
        if self._pending or not self._paused or self._transport is None:
            return
        if not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()

    async def _step(self) -> None:
        """Decompresses the next step, after everybody else had a turn."""
        await asyncio.sleep(0)
        self._decompress()
        self.read_on()
        self._spill()

    def _decompress(self) -> None:
        """Decompresses one step of what has come. If there is more, the provider waits until it is read."""
        stream = self._compressed
        assert stream is not None
        try:
            piece = stream.read()
        except zlib.error as error:
            self._fail(ConnectionClosed(f"the answer cannot be decompressed: {error}"))
            return
        if piece:
            self._waiting += len(piece)
            self._pieces.append(piece)
        self._pending = stream.pending
        if self._pending:
            self._pause()
            self._wake()
        elif self._ended and not stream.complete:
            self._fail(ConnectionClosed("the compressed answer is cut off"))
        else:
            self.over = self._ended

    def _news(self, patience: float, until: float) -> asyncio.Future[None]:
        """Comes when something has come, or fails when it did not come in time."""
        if self._error is not None:
            raise self._error
        self._patience, self._until = patience, until
        now = self._loop.time()
        if now >= until:
            # The timer alone would never find a provider late that sends without a pause.
            self._fail(late := ReadTimeout())
            raise late
        self._wait_from(now)
        if self._due < self._looks:
            self._arm(now)
        self._waiter = waiter = self._loop.create_future()
        return waiter

    def _wait_from(self, now: float) -> None:
        due = now + self._patience
        self._due = due if due < self._until else self._until

    def _arm(self, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        pause = self._patience / _LOOKS
        look = now + (pause if pause < _LONGEST_LOOK else _LONGEST_LOOK)
        self._looks = look if look < self._due else self._due
        self._timer = self._loop.call_at(self._looks, self._look)

    def _look(self) -> None:
        """The one timer looks now and then whether it is late, so that a piece in time costs none."""
        self._timer, self._looks = None, _NEVER
        if self._due == _NEVER:
            return
        now = self._loop.time()
        if self._heard:
            self._heard = False
            self._wait_from(now)
        if now < self._due:
            self._arm(now)
        else:
            self._fail(ReadTimeout())

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self._pending = False
        self.close()
        self._wake()

    def _wake(self) -> None:
        self._due = _NEVER
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            if self._error is not None and not (self._pieces or self._pending or self.over):
                waiter.set_exception(self._error)
            else:
                waiter.set_result(None)

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
        if self.over:
            self._fail(ConnectionClosed())
            return
        if not (begun := self.begun):
            self.head_seen += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            if not self._ended:
                self._fail(ConnectionClosed())
                return
            # The answer is whole; whoever says more than it was asked is not asked again.
            self._keeps = False
            self.close()
        if self._compressed is not None:
            self._decompress()
        if self._sink is not None and self._pieces:
            self._spill()
        elif self._pieces or self._ended or self.begun > begun:
            if self._waiting > _MOST_WAITING:
                self._pause()
            self._wake()
        else:
            self._count_overhead(len(data))

    def _count_overhead(self, size: int) -> None:
        """Bytes that brought nothing of the body: no sign of life, and never many in a row."""
        if not self.begun:
            if self.head_seen > _LARGEST_HEAD:
                self._fail(ConnectionClosed("the head of the answer is too large"))
            return
        self._overhead += size
        if self._overhead > MOST_OVERHEAD and not self._pending:
            self._fail(ConnectionClosed("the provider sends trailers or framing without an end"))

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        if self.begun and not self._ended and error is None and self._error is None and not self._framed:
            self._keeps = False
            self._end()
            if self._compressed is not None and not self._pending:
                self._decompress()
        self._error = self._error or ConnectionClosed()
        self._wake()
        self._parser = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What the parser tells.

    def on_message_begin(self) -> None:
        if self._ended:
            raise ConnectionClosed

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.begun:
            # Trailers say nothing that is needed, and must not change what the head said.
            return
        key = _header_name(name)
        told = value.decode("latin-1")
        if key in self.headers:
            told = f"{self.headers[key]}, {told}"
            if len(told) > _LONGEST_HEADER:
                raise ConnectionClosed
        self.headers[key] = told

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if 100 <= self.status < 200:
            self.headers = {}
            return
        headers = self.headers
        self._framed = (
            "content-length" in headers or "chunked" in headers.get("transfer-encoding", "").lower()
        )
        if "content-encoding" in headers:
            self._compressed = self._decompressor(headers["content-encoding"])
        self.begun = True
        if self._early is not None and self.status < _REFUSED:
            self._sink, self._patience = self._early

    def _decompressor(self, encoding: str) -> Decompressor | None:
        try:
            return decompressor(encoding)
        except zlib.error as error:
            self._error = ConnectionClosed(str(error))
            raise

    def on_body(self, body: bytes) -> None:
        if self._compressed is not None:
            self._compressed.push(body)
        else:
            self._waiting += len(body)
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        if self.begun:
            self._keeps = self._parser.should_keep_alive()
            self._end()

    def _end(self) -> None:
        self._ended = True
        self.over = self._compressed is None
