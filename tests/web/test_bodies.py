"""Request bodies to the web app behind the server's own protocol: too slow, too large, too many."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.gateway.connections import at
from tests.web.webs import TOKEN, Browser, Served

pytestmark = pytest.mark.anyio

HEADERS = (
    "Host: localhost\r\nCookie: thinkwire_csrf=a\r\nX-CSRF-Token: a\r\nContent-Type: application/json\r\n"
    f"Authorization: Bearer {TOKEN}"
)


async def answer(port: int, path: str, sent: bytes, length: int) -> tuple[int, str, Any]:
    """Status, head and body for a request of which only the beginning is sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"POST {path} HTTP/1.1\r\n{HEADERS}\r\nContent-Length: {length}\r\n\r\n".encode())
        writer.write(sent)
        async with asyncio.timeout(10):
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), json.loads(body)
    finally:
        writer.close()


@pytest.mark.parametrize("path", ["/api/login", "/api/setup", "/api/join"])
async def test_a_slow_body_is_refused_and_the_connection_closed(guarded: Served, path: str) -> None:
    async with at(guarded.app, body_seconds=0.2) as port:
        status, head, body = await answer(port, path, b"{", 10)
    assert status == 408
    assert "connection: close" in head
    assert "body_seconds" in body["error"]["message"]
    assert body["error"]["advice"] == "retry"


async def test_a_slow_file_is_refused(app: Served, browser: Browser) -> None:
    async with at(app.app, body_seconds=0.2) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = HEADERS.replace("application/json", "multipart/form-data; boundary=b")
        writer.write(f"POST /api/files HTTP/1.1\r\n{head}\r\nContent-Length: 900\r\n\r\n--b".encode())
        async with asyncio.timeout(10):
            told = await reader.read()
        writer.close()
    assert told.startswith(b"HTTP/1.1 408 ")


async def test_bodies_beyond_what_may_be_held_are_refused(app: Served) -> None:
    async with at(app.app, max_buffered=100_000) as port:
        status, head, body = await answer(port, "/api/conversations", b" " * 900_000, 1_000_000)
    assert status == 503
    assert "retry-after: 1" in head
    assert body["error"]["retry_after"] == 1


async def test_a_stranger_sends_no_large_body(guarded: Served) -> None:
    browser = await guarded.browser()
    body = {"name": "ada", "password": "x" * 100_000}
    assert (await browser.ask("POST", "/api/login", body)).status == 413
