"""The guard behind a real server: what crafted bytes get from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from thinkwire.gateway.common.refusal import ClientLeft, Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig, Server
from thinkwire.gateway.http.security import check_request, presented_key, read_body
from thinkwire.sim.server import serving

pytestmark = pytest.mark.anyio
CONFIG = GatewayConfig(server=Server(max_body_mb=0.01))


async def guarded(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the key and the length of the body, or with the status of the refusal."""
    if scope["type"] != "http":
        return
    try:
        check_request(scope, CONFIG)
        body = await read_body(receive, CONFIG)
        status, told = 200, f"{presented_key(scope)} {len(body)}"
    except Refusal as refusal:
        status, told = refusal.status, refusal.kind
    except ClientLeft:
        return
    headers = [(b"content-length", str(len(told)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": told.encode()})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving(guarded) as url:  # type: ignore[arg-type]
        yield urlsplit(url).port or 0


async def answer(port: int, *pieces: bytes) -> tuple[int, bytes]:
    """Sends the pieces as they are; the status and the body of what comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(5):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            return int(head.split(b" ")[1]), await reader.readexactly(length)
    finally:
        writer.close()


def head(*lines: str) -> bytes:
    return "\r\n".join(("POST /v1/messages?beta=true HTTP/1.1", *lines, "", "")).encode("latin-1")


async def test_a_good_request_goes_through(port: int) -> None:
    sent = head("Host: localhost", "X-Api-Key: k", "Content-Length: 3")
    assert await answer(port, sent, b"abc") == (200, b"k 3")


async def test_a_rebound_name_is_refused(port: int) -> None:
    assert (await answer(port, head("Host: evil.example", "Content-Length: 0")))[0] == 403


async def test_an_announced_giant_is_refused_before_it_is_sent(port: int) -> None:
    assert (await answer(port, head("Host: localhost", "Content-Length: 99999999")))[0] == 413


async def test_a_giant_in_pieces_is_refused_while_it_comes(port: int) -> None:
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    sent = head("Host: localhost", "Transfer-Encoding: chunked")
    assert (await answer(port, sent, *[chunk] * 4))[0] == 413


async def test_a_small_body_in_pieces_goes_through(port: int) -> None:
    sent = head("Host: localhost", "Transfer-Encoding: chunked")
    assert await answer(port, sent, b"2\r\nab\r\n", b"1\r\nc\r\n0\r\n\r\n") == (200, b"None 3")


async def test_two_lengths_of_one_body_are_refused(port: int) -> None:
    sent = head("Host: localhost", "Content-Length: 3", "Transfer-Encoding: chunked")
    assert (await answer(port, sent, b"0\r\n\r\n"))[0] == 400
