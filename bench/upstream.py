"""A provider that answers at once: prepared bytes over bare sockets, so that it is not what is measured.

`python -m bench.upstream PORT`. `GET /control?events=500&pace=0.02&group=1` sets how streams come: `events`
pieces; `pace` seconds between them, or none, and then `group` of them in each write. With `aside=1` it keeps
to the upper half of the cores from then on.
"""

from __future__ import annotations

import asyncio
import json
import sys
from urllib.parse import parse_qsl, urlsplit

from bench.machine import stand_aside
from bench.wire import Answer, answer_for

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
_STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Style:
    """How streams come, and what was served so far."""

    def __init__(self) -> None:
        self.shape: dict[str, float] = {"events": 500, "pace": 0, "group": 1, "aside": 0}
        self.requests = self.streams = 0
        self._made: dict[tuple[int, int, int], list[bytes]] = {}

    def pieces(self, answer: Answer) -> list[bytes]:
        """The writes of one stream, made once."""
        events, pace = int(self.shape["events"]), self.shape["pace"]
        group = 1 if pace else int(self.shape["group"])
        key = (id(answer), events, group)
        if key not in self._made:
            deltas = [answer.deltas[n % len(answer.deltas)] for n in range(events)]
            # The first words come with the head, as they do from providers.
            first = _STREAM + _chunk(answer.head + b"".join(deltas[:group]))
            rest = [_chunk(b"".join(deltas[n : n + group])) for n in range(group, events, group)]
            self._made[key] = [first, *rest, _chunk(answer.tail) + b"0\r\n\r\n"]
        return self._made[key]


class Connection(asyncio.Protocol):
    """One connection. Requests on it come one after another."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._buffer = b""
        self._need = 0
        self._pieces: list[bytes] = []
        self._next = 0
        self._full = False
        self._due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._loop = asyncio.get_running_loop()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) < self._need:
            return
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        self._need = len(head) + 4 + _length(head)
        if len(self._buffer) < self._need:
            return
        rest, self._buffer = self._buffer[self._need :], b""
        self._need = 0
        self._answer(head.split(b" ", 2)[1].decode("latin-1"), body)
        if rest:
            self.data_received(rest)

    def _answer(self, path: str, body: bytes) -> None:
        parts = urlsplit(path)
        if parts.path == "/control":
            self._control(dict(parse_qsl(parts.query)))
            return
        answer = answer_for(parts.path)
        if answer is None:
            self._transport.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
            return
        style = self._style
        style.requests += 1
        if "streamGenerate" not in parts.path and not (b'"stream":true' in body or b'"stream": true' in body):
            self._transport.write(_HEAD % (len(answer.whole), answer.whole))
            return
        style.streams += 1
        self._pieces, self._next, self._due = style.pieces(answer), 0, self._loop.time()
        self._go_on()

    def _control(self, said: dict[str, str]) -> None:
        style = self._style
        style.shape |= {name: float(value) for name, value in said.items() if name in style.shape}
        stand_aside(bool(style.shape["aside"]))
        told = json.dumps({"requests": style.requests, "streams": style.streams, **style.shape}).encode()
        self._transport.write(_HEAD % (len(told), told))

    def _go_on(self) -> None:
        """The next write; the others' come before the one after it."""
        if self._full or self._transport.is_closing() or self._next >= len(self._pieces):
            return
        self._transport.write(self._pieces[self._next])
        self._next += 1
        pace = self._style.shape["pace"]
        if self._next == len(self._pieces):
            # Nothing comes later on: it would hurry the next answer on this connection.
            return
        if pace:
            self._due += pace
            self._loop.call_at(self._due, self._go_on)
        else:
            self._loop.call_soon(self._go_on)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._loop.call_soon(self._go_on)


def _length(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(b"\r\ncontent-length:")
    if at >= 0:
        return int(lower[at + 17 :].split(b"\r\n", 1)[0])
    if b"transfer-encoding: chunked" in lower:
        raise NotImplementedError("chunked requests are not read here")
    return 0


async def serve(port: int) -> None:
    style = Style()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(style), "127.0.0.1", port, backlog=4096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
