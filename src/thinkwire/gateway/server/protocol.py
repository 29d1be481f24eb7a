"""The server's side of one client's connection: HTTP/1.1, as a protocol for uvicorn.

An ASGI server like uvicorn's own, and besides a direct way: an application finds the `Visit` under
`scope["extensions"]["thinkwire.line"]` and writes without a task switch, from wherever an answer's bytes
come in. `request_reader` bounds what a client can make the server wait for or keep.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from thinkwire.errors import BodyRejected
from thinkwire.gateway.http.client_response import EXTENSION
from thinkwire.gateway.server import half_close
from thinkwire.gateway.server.deadlines import NEVER, Deadlines
from thinkwire.gateway.server.head_parser import address_of, parse_target
from thinkwire.gateway.server.request_body import BodyMemory
from thinkwire.gateway.server.request_cycle import STATUS, RequestCycle
from thinkwire.gateway.server.request_reader import RequestReader
from thinkwire.transport.write_batch import write_batch_of

HEAD_SECONDS = 30.0
"""In which the head of a request must be whole, from its first byte on."""
BODY_SECONDS = 60.0
"""In which the rest of a request must be whole, unless it brings `request_body.MIN_RATE`."""
MAX_BUFFERED = 256 * 1024 * 1024
"""Bytes of unfinished request bodies in one process."""
MAX_PIPELINED = 100
"""Requests that may wait on one connection for the answer to the one before them."""
_LAST_WORDS = 1.0
"""Seconds for a client to hear why it is refused: closing at once would take the words back."""

_log = logging.getLogger("thinkwire.gateway")


class ServerState:
    """What all lines of one server share."""

    __slots__ = (
        *("app", "app_state", "body_seconds", "deadlines", "head_seconds", "idle", "loop", "memory"),
        *("outbox", "state"),
    )

    def __init__(
        self, config: Any, state: Any, app_state: dict[str, Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.app = config.loaded_app
        self.app_state = app_state
        self.state = state
        self.idle = float(config.timeout_keep_alive)
        self.head_seconds = float(getattr(config, "head_seconds", HEAD_SECONDS))
        self.body_seconds = float(getattr(config, "body_seconds", BODY_SECONDS))
        self.memory = BodyMemory(int(getattr(config, "max_buffered", MAX_BUFFERED)))
        self.loop = loop
        self.outbox = write_batch_of(loop)
        self.deadlines = Deadlines(loop)


class ProtocolFactory:
    """Makes a line for each connection of a server; uvicorn calls it as it calls its own protocols."""

    def __init__(self) -> None:
        self._board: ServerState | None = None

    def __call__(
        self,
        config: Any,
        server_state: Any,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> HttpProtocol:
        board = self._board
        if board is None or board.state is not server_state:
            loop = _loop or asyncio.get_running_loop()
            board = self._board = ServerState(config, server_state, app_state, loop)
        return HttpProtocol(board)


class HttpProtocol(asyncio.Protocol):
    """One connection. uvicorn tells it when the server ends."""

    __slots__ = (
        *("send", "congested", "_visit", "_transport", "_reader", "_queue", "_board"),
        *("_task", "_called", "_at", "due"),
        *("_paused", "_drained", "_refusal", "_half_closed"),
    )

    def __init__(self, board: ServerState) -> None:
        self._board = board
        self._reader = RequestReader(
            self, board.memory, head_seconds=board.head_seconds, body_seconds=board.body_seconds
        )
        self._visit: RequestCycle | None = None
        self._queue: deque[RequestCycle] | None = None
        """Asked before the answer to the last one."""
        self._paused = False
        self.congested = False
        self._drained: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._called: asyncio.Future[None] | None = None
        """Comes with the next visit, while the task waits for one."""
        self.due = NEVER
        self._refusal: BodyRejected | None = None
        """The refusal that is sent after the answers to the requests before it."""
        self._half_closed = False
        """Whether the client has ended its side, and may still listen."""

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self.send: Callable[[bytes], None] = transport.write  # type: ignore[attr-defined]
        board = self._board
        board.state.connections.add(self)
        self._at = {
            "server": address_of(transport.get_extra_info("sockname")),
            "client": address_of(transport.get_extra_info("peername")),
            "scheme": "https" if transport.get_extra_info("sslcontext") else "http",
        }
        board.deadlines.expect(self, board.idle)

    def connection_lost(self, error: Exception | None) -> None:
        self._board.state.connections.discard(self)
        self._board.deadlines.leave(self)
        self._reader.close()
        self.resume_writing()
        if self._visit is not None:
            self._visit.leave()
        for visit in self._queue or ():
            visit.leave()
        self._visit = self._queue = None
        if self._called is not None and not self._called.done():
            self._called.set_result(None)
        self._called = None

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)

    def eof_received(self) -> bool:
        """The client sends nothing more. What it asked for in whole is answered, if it still listens."""
        unfinished = self._reader.stop()
        if unfinished is not None and self._queue and self._queue[-1] is unfinished:
            self._queue.pop()
        visit = self._visit
        if visit is None or visit.over or visit is unfinished:
            return False
        (self._queue[-1] if self._queue else visit).keep = False
        self._half_closed = True
        half_close.give_up_on_silence(self._transport)
        self._board.outbox.flush()
        visit.probe()
        self.expect(half_close.FIRST_CHECK_SECONDS)
        return True

    def pause_writing(self) -> None:
        self._congest(True)

    def resume_writing(self) -> None:
        self._congest(False)
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def _congest(self, full: bool) -> None:
        self.congested = full
        if self._visit is not None:
            self._visit.congested = full

    async def drained(self) -> None:
        if self.congested:
            if self._drained is None:
                self._drained = self._board.loop.create_future()
            await asyncio.shield(self._drained)

    # What the reader calls.

    @property
    def is_paused(self) -> bool:
        return self._paused

    @property
    def has_room(self) -> bool:
        return self._queue is None or len(self._queue) < MAX_PIPELINED

    def begin_request(
        self, method: bytes, url: bytes, version: str, headers: list[tuple[bytes, bytes]], *, keep: bool
    ) -> RequestCycle:
        """A head is whole: its request is served at once, or after those before it."""
        self.due = NEVER
        path, raw_path, query = parse_target(url)
        scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "method": method.decode("ascii"),
            "root_path": "",
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": headers,
            "state": self._board.app_state.copy(),
            **self._at,
        }
        visit = RequestCycle(self, scope, keep=keep, expects=(b"expect", b"100-continue") in headers)
        scope["extensions"] = {EXTENSION: visit}
        if self._visit is None:
            self._serve(visit)
        else:
            if self._queue is None:
                self._queue = deque()
            self._queue.append(visit)
            self.pause()
        return visit

    def body_complete(self) -> None:
        """The last of a body has come, maybe after the answer."""
        if self._visit is None:
            self.expect(self._board.idle)

    def pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def refuse(self, error: BodyRejected) -> None:
        """Says what was wrong, after the answers to the requests before it, and closes."""
        self._reader.stop()
        self.due = NEVER
        if self._visit is not None:
            self._refusal = error
            return
        words = str(error).encode()
        length = b"content-length: %d\r\n" % len(words)
        head = STATUS[error.status] + b"content-type: text/plain\r\n" + length
        self._board.outbox.flush()
        self._transport.write(head + b"connection: close\r\n\r\n" + words)
        self._linger()

    def expect(self, seconds: float) -> None:
        self._board.deadlines.expect(self, seconds)

    def close(self) -> None:
        """Ends the connection once all that was sent has been read."""
        self._board.outbox.flush()
        self._transport.close()

    # What visits do.

    def send_soon(self, data: bytes) -> None:
        """Sends with what the others have to send in this turn; what is sent later comes after it."""
        self._board.outbox.put(self._transport, data)

    def call_soon(self, action: Callable[[], None]) -> None:
        self._board.loop.call_soon(action)

    def read_on(self) -> None:
        if self._paused and not self._half_closed and not self._transport.is_closing():
            self._paused = False
            self._reader.resume()
            self._transport.resume_reading()

    def finished(self, visit: RequestCycle) -> None:
        """An answer is over: the next one, or silence for a while, or the end."""
        self._board.state.total_requests += 1
        reader = self._reader
        if not visit.keep or visit.left:
            if reader.stopped or reader.visit is not None:
                self._linger()
            else:
                self.close()
            return
        self._visit = None
        reader.discard_body(visit)
        if self._queue:
            self._serve(self._queue.popleft())
        elif self._refusal is not None:
            self.refuse(self._refusal)
        elif reader.is_between:
            self.expect(self._board.idle)
        if self._paused and not self._queue:
            self.read_on()

    def shutdown(self) -> None:
        """The server ends: no further request on this connection."""
        if self._visit is None:
            self.close()
        else:
            self._visit.keep = False

    def _serve(self, visit: RequestCycle) -> None:
        self._visit = visit
        visit.congested = self.congested
        tasks, called = self._board.state.tasks, self._called
        if called is not None and self._task is not None:
            self._called = None
            tasks.add(self._task)
            called.set_result(None)
        else:
            self._task = self._board.loop.create_task(self._serve_visits())
            tasks.add(self._task)
        visit.task = self._task

    async def _serve_visits(self) -> None:
        """One visit after another, as long as each is over before the next comes: a task for each costs more
        than a call.
        """
        task, tasks = self._task, self._board.state.tasks
        assert task is not None
        try:
            while self._visit is not None:
                # Without a name here: what is over must not be kept until the next one comes.
                await self._run(self._visit)
                if self._visit is not None or self._task is not task or task.cancelling():
                    return
                if self._transport.is_closing():
                    return
                tasks.discard(task)
                self._called = self._board.loop.create_future()
                await self._called
        finally:
            tasks.discard(task)

    async def _run(self, visit: RequestCycle) -> None:
        try:
            await self._board.app(visit.scope, visit.receive, visit.send)
        except asyncio.CancelledError:
            pass
        except BodyRejected as error:
            headers = [(b"content-type", b"text/plain")]
            if error.retry_after is not None:
                headers.append((b"retry-after", b"%d" % error.retry_after))
            self._break_off(visit, error.status, headers, str(error).encode())
        except Exception as error:
            _log.error("the application broke", exc_info=error)
        visit.scope.pop("extensions", None)
        self._break_off(visit, 500, [], b"")

    def _break_off(
        self, visit: RequestCycle, status: int, headers: list[tuple[bytes, bytes]], words: bytes
    ) -> None:
        """Ends the answer of an application that gave none, or only the beginning of one."""
        if visit.over or visit.left:
            return
        visit.keep = False
        if visit.began:
            visit.let_go()
            self.close()
        else:
            visit.whole(status, headers, words)

    def _linger(self) -> None:
        """Closes a moment later: with something unread, closing at once would take the last words back."""
        self._reader.stop()
        self._board.outbox.flush()
        if self._half_closed or self._transport.is_closing():
            self._transport.close()
            return
        self._transport.write_eof()
        self.read_on()
        self.expect(_LAST_WORDS)

    def overdue(self) -> None:
        """What was expected did not come in time."""
        if self._transport.is_closing():
            self._board.deadlines.leave(self)
            return
        if self._half_closed:
            self._check_peer()
        elif self._reader.head_size and self._visit is not None:
            # The answer before it is still being told; the head has time until that is over.
            self.expect(self._board.head_seconds)
        elif not self._reader.overdue():
            self.close()

    def _check_peer(self) -> None:
        """Ends the connection of a client that ended its side and turns out to be gone."""
        if half_close.is_reset(self._transport):
            self._transport.abort()
        else:
            self.expect(half_close.CHECK_SECONDS)


_ASGI = {"version": "3.0", "spec_version": "2.3"}
