"""What a server says to the lean client, and who hears it; shared by the tests of both."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from thinkwire.transport import pool as lean

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]
BODY = '{"said":"grüße 🌊"}'.encode()
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@asynccontextmanager
async def server(talk: Talk, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that treats each connection as `talk` does; gives its address."""
    talking: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talking.add(task)
        try:
            await talk(reader, writer)  # type: ignore[misc]
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            talking.discard(task)
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    scheme = "https" if context else "http"
    try:
        yield f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()
        for task in list(talking):
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
        await asyncio.sleep(0)


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
    return head, await reader.readexactly(length)


def answering(*writes: bytes, close: bool = False) -> Talk:
    """Answers every request on a connection with the same bytes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            for data in writes:
                writer.write(data)
                await writer.drain()
            if close:
                return

    return talk


@asynccontextmanager
async def client(
    *, first_byte: float = 1, idle: float = 1, connections: int = 100
) -> AsyncIterator[lean.HttptoolsTransport]:
    http = lean.HttptoolsTransport(connect=2, first_byte=first_byte, idle=idle, connections=connections)
    try:
        yield http
    finally:
        await http.aclose()


def framed(body: bytes, way: str) -> bytes:
    """A whole answer, in one of the ways that a body can be told to end."""
    match way:
        case "length":
            return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        case "chunked":
            head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
            return head + b"%x;ext=1\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        case "interim":
            return b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + framed(body, "length")
    return b"HTTP/1.0 200 OK\r\n\r\n" + body


class Cup:
    """Takes what is poured; full after some pieces, until it is emptied."""

    def __init__(self, room: int, wanted: int) -> None:
        self.held = b""
        self.congested = False
        self.emptied = 0
        self.way = self
        self._room = self._left = room
        self._wanted = wanted

    def take(self, piece: bytes) -> bool:
        assert not self.congested, "nobody pours into a full cup"
        self.held += piece
        self._left -= 1
        self.congested = self._left <= 0
        return len(self.held) < self._wanted

    async def drained(self) -> None:
        await asyncio.sleep(0)
        self.emptied += 1
        self._left, self.congested = self._room, False
