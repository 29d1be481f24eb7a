"""The simulators on a loopback socket: inside a running loop, or in a thread of their own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any

from thinkwire.sim.app import Simulator
from thinkwire.sim.chaos import RESET, Message, Receive, Send

if TYPE_CHECKING:
    import uvicorn

_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends a reset instead of a goodbye."""
_BACKLOG = 256


@contextlib.asynccontextmanager
async def serving(
    app: Simulator | None = None, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serves the application in the running loop; gives the base address."""
    listener = socket.create_server((host, port), backlog=_BACKLOG)
    # asyncio does this only for sockets that it made itself; without it small pieces wait for each other.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = _server(app if app is not None else Simulator())
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        yield f"http://{host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await task
        listener.close()


@contextlib.contextmanager
def running_simulator(app: Simulator | None = None, *, port: int = 0) -> Iterator[str]:
    """Serves the application in a thread until the block ends; gives the base address."""
    started: list[str] = []
    ready, done = threading.Event(), threading.Event()

    async def serve() -> None:
        async with serving(app, port=port) as address:
            started.append(address)
            ready.set()
            while not done.is_set():
                await asyncio.sleep(0.02)

    failure: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            failure.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="thinkwire simulators", daemon=True)
    thread.start()
    ready.wait()
    if not started:
        raise failure[0]
    try:
        yield started[0]
    finally:
        done.set()
        thread.join()


def _server(app: Simulator) -> uvicorn.Server:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    connections: dict[Any, Callable[[], None]] = {}

    class Protocol(H11Protocol):
        """Remembers how to break each connection."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            connections[transport.get_extra_info("peername")] = lambda: _break(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.pop(self.client, None)
            super().connection_lost(exc)

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals belong to whoever runs the loop."""
            yield

    async def with_reset(scope: Message, receive: Receive, send: Send) -> None:
        reset = connections.get(tuple(scope.get("client") or ()))
        if reset is not None:
            scope["extensions"] = {**scope.get("extensions", {}), RESET: reset}
        try:
            await app(scope, receive, send)
        except Exception:
            logging.getLogger("thinkwire.sim").exception("%s %s", scope.get("method"), scope.get("path"))
            raise

    config = uvicorn.Config(
        with_reset,
        http=Protocol,
        loop="asyncio",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return Server(config)


def _break(transport: asyncio.Transport) -> None:
    found = transport.get_extra_info("socket")
    if found is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()
