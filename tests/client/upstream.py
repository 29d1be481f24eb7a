"""A scripted provider on a real socket: answers each request with the next reply, and remembers it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from thinkwire import dialects
from thinkwire.events import Answer, events_of


class Reply(NamedTuple):
    """What to send. `cut` closes the connection after so many bytes; `stall` waits before the rest."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = {}  # noqa: RUF012
    cut: int | None = None
    stall: float = 0.0
    delay: float = 0.0
    """Seconds before the first byte."""


class Upstream:
    """The provider's memory: what it will say, what it was asked, and whether anybody still listens."""

    def __init__(self) -> None:
        self.url = ""
        self.replies: list[Reply] = []
        self.received: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.hung_up = asyncio.Event()
        self.talking: set[asyncio.Task[None]] = set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.talking.add(task)
        task.add_done_callback(self.talking.discard)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.received.append((first.split()[1], headers, json.loads(body)))
        reply = self.replies.pop(0)
        await asyncio.sleep(reply.delay)
        extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        writer.write(
            f"HTTP/1.1 {reply.status} X\r\ncontent-length: {len(reply.body)}\r\n{extra}\r\n".encode()
        )
        half = len(reply.body) // 2 if reply.cut is None else reply.cut
        writer.write(reply.body[:half])
        await writer.drain()
        if reply.stall:
            watch = asyncio.ensure_future(reader.read(1))
            done, _ = await asyncio.wait([watch], timeout=reply.stall)
            if done:
                self.hung_up.set()
                return
            watch.cancel()
        if reply.cut is None:
            writer.write(reply.body[half:])
            await writer.drain()


@asynccontextmanager
async def upstream() -> AsyncIterator[Upstream]:
    memory = Upstream()
    server = await asyncio.start_server(memory.handle, "127.0.0.1", 0)
    memory.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield memory
    while memory.talking:
        for task in memory.talking:
            task.cancel()
        await asyncio.wait(memory.talking)


def streamed(dialect: str, answer: Answer, **changes: Any) -> Reply:
    """An answer as this dialect streams it."""
    encoder = dialects.get(dialect).stream_encoder()
    body = b"".join([*(encoder.feed(event) for event in events_of(answer)), encoder.close()])
    return Reply(body=body, **changes)


def refused(status: int, message: str, **headers: str) -> Reply:
    body = json.dumps(
        {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    ).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})
