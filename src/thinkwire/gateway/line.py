"""The server's side of one client's connection: HTTP/1.1 parsed by `httptools`, as a protocol for uvicorn.

An ASGI server like uvicorn's own, and besides a direct way: an application finds the `Visit` under
`scope["extensions"]["thinkwire.line"]` and writes without a task switch, from wherever an answer's bytes
come in. A head that does not come in time, or does not end, closes the connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import httptools

from thinkwire.gateway.deadlines import NEVER, Deadlines
from thinkwire.gateway.visit import EXTENSION, STATUS, Visit
from thinkwire.outbox import outbox_of

HEAD_SECONDS = 30.0
"""In which the head of a request must be whole, from its first byte on."""
LARGEST_HEAD = 64 * 1024
_LAST_WORDS = 1.0
"""Seconds for a client to hear why it is refused: closing at once would take the words back."""

_log = logging.getLogger("thinkwire.gateway")


class Board:
    """What all lines of one server share."""

    __slots__ = ("app", "app_state", "deadlines", "head_seconds", "idle", "loop", "outbox", "state")

    def __init__(
        self, config: Any, state: Any, app_state: dict[str, Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.app = config.loaded_app
        self.app_state = app_state
        self.state = state
        self.idle = float(config.timeout_keep_alive)
        self.head_seconds = float(getattr(config, "head_seconds", HEAD_SECONDS))
        self.loop = loop
        self.outbox = outbox_of(loop)
        self.deadlines = Deadlines(loop)


class Lines:
    """Makes a line for each connection of a server; uvicorn calls it as it calls its own protocols."""

    def __init__(self) -> None:
        self._board: Board | None = None

    def __call__(
        self,
        config: Any,
        server_state: Any,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> Line:
        board = self._board
        if board is None or board.state is not server_state:
            loop = _loop or asyncio.get_running_loop()
            board = self._board = Board(config, server_state, app_state, loop)
        return Line(board)


class Line(asyncio.Protocol):
    """One connection. uvicorn tells it when the server ends."""

    __slots__ = (
        *("send", "congested", "_visit", "_transport", "_parser", "_asking", "_queue", "_board"),
        *("_task", "_called", "_at", "due"),
        *("_url", "_headers", "_head_seen", "_paused", "_deaf", "_drained"),
    )

    def __init__(self, board: Board) -> None:
        self._board = board
        self._parser: Any = httptools.HttpRequestParser(self)
        self._visit: Visit | None = None
        self._asking: Visit | None = None
        self._queue: deque[Visit] | None = None
        """Asked before the answer to the last one."""
        self._paused = False
        self._deaf = False
        self.congested = False
        self._drained: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._called: asyncio.Future[None] | None = None
        """Comes with the next visit, while the task waits for one."""
        self.due = NEVER
        self._head_seen = 0

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self.send: Callable[[bytes], None] = transport.write  # type: ignore[attr-defined]
        board = self._board
        board.state.connections.add(self)
        self._at = {
            "server": _address(transport.get_extra_info("sockname")),
            "client": _address(transport.get_extra_info("peername")),
            "scheme": "https" if transport.get_extra_info("sslcontext") else "http",
        }
        board.deadlines.expect(self, board.idle)

    def connection_lost(self, error: Exception | None) -> None:
        self._board.state.connections.discard(self)
        self._board.deadlines.leave(self)
        self.resume_writing()
        if self._visit is not None:
            self._visit.leave()
        for visit in self._queue or ():
            visit.leave()
        self._visit = self._asking = self._parser = self._queue = None
        if self._called is not None and not self._called.done():
            self._called.set_result(None)
        self._called = None

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        begun = self._head_seen
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Nobody speaks another protocol here; what follows the request is not read.
            self._deaf = True
        except httptools.HttpParserError:
            self._refuse(400, b"this is not HTTP")
            return
        if self._head_seen:
            self._head_seen += len(data)
            if not begun:
                self._expect(self._board.head_seconds)
            if self._head_seen > LARGEST_HEAD:
                self._refuse(431, b"the head of the request is too long")

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

    # What the parser tells.

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._asking = None
        self._head_seen = 1

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.due = NEVER
        self._head_seen = 0
        parser = self._parser
        version = parser.get_http_version()
        path, raw_path, query = (_usual if len(self._url) <= _USUAL_LENGTH else _target)(self._url)
        scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "method": parser.get_method().decode("ascii"),
            "root_path": "",
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": self._headers,
            "state": self._board.app_state.copy(),
            **self._at,
        }
        expects = (b"expect", b"100-continue") in self._headers
        keep = version != "1.0" and parser.should_keep_alive() and not parser.should_upgrade()
        self._asking = visit = Visit(self, scope, keep=keep, expects=expects)
        scope["extensions"] = {EXTENSION: visit}
        if self._visit is None:
            self._serve(visit)
        else:
            if self._queue is None:
                self._queue = deque()
            self._queue.append(visit)
            self._pause()

    def on_body(self, body: bytes) -> None:
        if self._asking is not None and not self._asking.over and not self._asking.add(body):
            self._pause()

    def on_message_complete(self) -> None:
        if self._asking is not None:
            self._asking.complete()
            self._asking = None

    # What visits do.

    def send_soon(self, data: bytes) -> None:
        """Sends with what the others have to send in this turn; what is sent later comes after it."""
        self._board.outbox.put(self._transport, data)

    def call_soon(self, action: Callable[[], None]) -> None:
        self._board.loop.call_soon(action)

    def read_on(self) -> None:
        if self._paused and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()

    def finished(self, visit: Visit) -> None:
        """An answer is over: the next one, or silence for a while, or the end."""
        self._board.state.total_requests += 1
        if not visit.keep or visit.left:
            self._close()
            return
        self._visit = None
        if self._queue:
            self._serve(self._queue.popleft())
        elif not self._head_seen:
            self._expect(self._board.idle)
        if self._paused and not self._queue:
            self.read_on()

    def shutdown(self) -> None:
        """The server ends: no further request on this connection."""
        if self._visit is None:
            self._close()
        else:
            self._visit.keep = False

    def _serve(self, visit: Visit) -> None:
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

    async def _run(self, visit: Visit) -> None:
        try:
            await self._board.app(visit.scope, visit.receive, visit.send)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            _log.error("the application broke", exc_info=error)
        visit.scope.pop("extensions", None)
        if visit.over or visit.left:
            return
        visit.keep = False
        if visit.began:
            visit.let_go()
            self._close()
        else:
            visit.whole(500, [], b"")

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def _refuse(self, status: int, words: bytes) -> None:
        """Says why, where nothing else is being said, and closes once that can have been read."""
        if self._visit is not None:
            self._close()
        else:
            length = b"content-length: %d\r\n" % len(words)
            head = STATUS[status] + b"content-type: text/plain\r\n" + length + b"connection: close\r\n\r\n"
            self._board.outbox.flush()
            self._transport.write(head + words)
            self._deaf, self._head_seen = True, 0
            self._transport.write_eof()
            self._expect(_LAST_WORDS)

    def _expect(self, seconds: float) -> None:
        self._board.deadlines.expect(self, seconds)

    def overdue(self) -> None:
        """What was expected did not come in time."""
        if self._transport.is_closing():
            self._board.deadlines.leave(self)
            return
        if self._head_seen and self._visit is not None:
            # The answer before it is still being told; the head has time until that is over.
            self._expect(self._board.head_seconds)
        elif self._head_seen:
            self._refuse(408, b"the head of the request did not come in time")
        else:
            self._close()

    def _close(self) -> None:
        """Ends the connection once all that was sent has been read."""
        self._board.outbox.flush()
        self._transport.close()


_ASGI = {"version": "3.0", "spec_version": "2.3"}


def _target(url: bytes) -> tuple[str, bytes, bytes]:
    """The path that is meant, the path as it came, and the query."""
    parsed = httptools.parse_url(url)
    raw_path = parsed.path or b"/"
    path = raw_path.decode("ascii")
    return unquote(path) if "%" in path else path, raw_path, parsed.query or b""


_USUAL_LENGTH = 256
_usual = lru_cache(maxsize=256)(_target)
"""Clients ask for the same few places again and again."""


def _address(name: Any) -> tuple[str, int] | None:
    return (name[0], name[1]) if type(name) is tuple and len(name) >= 2 else None
