"""The least that Python can do: bytes go from one socket to another, and nobody reads them.

`python -m bench.relay PORT UPSTREAM`. Each client gets a connection of its own to the provider. It knows no
HTTP, so that the distance between this and a gateway is what the gateway does, not what its language costs.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast


class End(asyncio.Protocol):
    """One end; what comes in here goes out at the other."""

    other: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.write(data)

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        if self.other is not None:
            self.other.close()


class Client(End):
    """The client's end. What comes before the provider's is there waits for it."""

    def __init__(self, upstream: int) -> None:
        self._upstream = upstream
        self._early: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._opening = asyncio.ensure_future(self._open())

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            self._early.append(data)
        else:
            self.other.write(data)

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        _, end = await loop.create_connection(End, "127.0.0.1", self._upstream)
        self.other, end.other = end.transport, self.transport
        self.other.write(b"".join(self._early))


async def serve(port: int, upstream: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Client(upstream), "127.0.0.1", port, backlog=4096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2])))
