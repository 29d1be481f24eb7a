"""Any ASGI application behind the server's own protocol, and requests written byte by byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import uvicorn

from thinkwire.gateway.server.protocol import ProtocolFactory
from thinkwire.gateway.server.serve import EmbeddedServer, listen

App = Callable[[Any, Any, Any], Awaitable[None]]


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Method, path, query and body, in a body of known length."""
    body = b""
    while True:
        message = await receive()
        body += message["body"]
        if not message["more_body"]:
            break
    told = f"{scope['method']} {scope['path']} {scope['query_string'].decode()} ".encode() + body
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"Content-Length", b"%d" % len(told))],
        }
    )
    await send({"type": "http.response.body", "body": told})


@asynccontextmanager
async def at(app: App, *, idle: int = 5, **bounds: float) -> AsyncIterator[int]:
    """The application behind our protocol; gives its port. `bounds` are those of `serve.Settings`."""
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app, http=cast(Any, ProtocolFactory()), log_config=None, lifespan="off", timeout_keep_alive=idle
    )
    for name, bound in bounds.items():
        setattr(config, name, bound)
    server = EmbeddedServer(config)
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.002)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        listener.close()


async def said(port: int, *pieces: bytes) -> bytes:
    """What the server says until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def post(body: bytes, *more: str, path: str = "/here?a=b") -> bytes:
    lines = ["POST " + path + " HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *more]
    return "\r\n".join([*lines, "", ""]).encode() + body
