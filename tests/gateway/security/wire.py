"""Requests written byte by byte, and what a gateway made of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PATIENCE = 20.0
ASK: dict[str, Any] = {
    "model": "deepseek/deepseek-v4-pro",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "Hi"}],
}


class Heard(NamedTuple):
    """Everything that came back on one connection."""

    raw: bytes

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1]) if self.raw.startswith(b"HTTP/") else 0

    @property
    def head(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[0]

    @property
    def answers(self) -> int:
        return self.raw.count(b"HTTP/1.1 ")


def post(
    body: bytes | dict[str, Any], *lines: str, target: str = "/v1/messages", method: str = "POST"
) -> bytes:
    """A whole request whose headers say what `lines` say, and else what is right."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {line.partition(":")[0].lower() for line in lines}
    head = [f"{method} {target} HTTP/1.1", *lines]
    head += [] if "host" in names else ["Host: localhost"]
    head += [] if {"content-length", "transfer-encoding"} & names else [f"Content-Length: {len(raw)}"]
    return "\r\n".join([*head, "Connection: close", "", ""]).encode("latin-1") + raw


async def hear(url: str, *pieces: bytes) -> Heard:
    """Sends the pieces as they are, and reads until the gateway closes."""
    address = urlsplit(url)
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            return Heard(await reader.read())
        except ConnectionError:
            return Heard(b"")
        finally:
            writer.close()


class Trap:
    """An address that nobody has any business with."""

    def __init__(self) -> None:
        self.url = ""
        self.visits = 0

    async def _visited(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        writer.close()


@asynccontextmanager
async def trap() -> AsyncIterator[Trap]:
    found = Trap()
    server = await asyncio.start_server(found._visited, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield found
