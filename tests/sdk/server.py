"""A real HTTP server on loopback that gives SDKs prepared answers and keeps what they sent.

Every prepared answer has a case name, the first step of the path: `http://127.0.0.1:PORT/CASE/v1/messages`.
Streams leave in pieces of odd sizes, so that no client may rely on a frame coming whole.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

PATHS = {
    "anthropic": re.compile(r"/v1/messages"),
    "openai-chat": re.compile(r"/v1/chat/completions"),
    "openai-responses": re.compile(r"/v1/responses"),
    # The SDK for Python says v1, the one for JavaScript v1beta.
    "gemini": re.compile(r"/v1(beta)?/models/[^/:]+:(generateContent|streamGenerateContent\?alt=sse)"),
}
PIECES = (1, 2, 3, 5, 7, 11, 13, 17, 61, 127, 509, 1021, 2)
PATIENCE = 15.0


class Case(NamedTuple):
    """What one path answers: a whole body when asked for one, a stream when asked for a stream."""

    dialect: str
    whole: Any = None
    stream: bytes = b""
    status: int = 200


class Received(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def wants_stream(self) -> bool:
        return ":streamGenerateContent" in self.path or self.json.get("stream") is True


class Loopback:
    """The server's memory, shared by its threads: cases by name, and the requests to each."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._cases: dict[str, Case] = {}
        self._received: dict[str, list[Received]] = {}
        self._names = itertools.count()

    def serve(self, case: Case, name: str = "") -> str:
        """The base URL under which the case is answered from now on."""
        name = f"{name or 'case'}-{next(self._names)}"
        self._received[name] = []
        self._cases[name] = case
        return f"{self._url}/{name}"

    def received(self, base_url: str) -> list[Received]:
        """The requests that came to a case, in order."""
        return self._received[base_url.removeprefix(f"{self._url}/")]

    def case(self, name: str, request: Received) -> Case | None:
        """The answer to a request; None when the path is not one of the dialect's."""
        case = self._cases.get(name)
        if case is None or not PATHS[case.dialect].fullmatch(request.path):
            return None
        self._received[name].append(request)
        return case


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        name, _, path = self.path.lstrip("/").partition("/")
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        request = Received(f"/{path}", {key.lower(): value for key, value in self.headers.items()}, body)
        case = self.server.loopback.case(name, request)
        # A client that has read enough, or gave up, hangs up; that is its right.
        with suppress(ConnectionError):
            if case is None:
                self._whole(404, {"error": {"code": 404, "message": f"no such path: {self.path}"}})
            elif case.status == 200 and request.wants_stream:
                self._stream(case.stream)
            else:
                self._whole(case.status, case.whole)

    def _whole(self, status: int, value: Any) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self._head(status, "application/json", ("content-length", str(len(body))))
        self.wfile.write(body)

    def _stream(self, body: bytes) -> None:
        self._head(200, "text/event-stream", ("transfer-encoding", "chunked"))
        sizes = itertools.cycle(PIECES)
        start = 0
        while start < len(body):
            piece = body[start : start + next(sizes)]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            start += len(piece)
        self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, content_type: str, length: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("content-type", content_type), length, ("connection", "close")):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: pytest shows what matters."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    loopback: Loopback


@contextmanager
def running() -> Iterator[Loopback]:
    """The server, from its first connection until every thread has ended."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.loopback = Loopback(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.loopback
        finally:
            server.shutdown()
            thread.join()
