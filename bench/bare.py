"""The least that Python can do for a translation: messages in, chat out, and back, for plain text only.

`python -m bench.bare PORT UPSTREAM`. No keys, limits, notes, log, metrics, ledger, errors or thinking; the
same libraries as the gateway. The distance between this and the gateway is what its features cost.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, cast

import httptools
import msgspec

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
_STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_ASK = (
    b"POST /chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"authorization: Bearer bench\r\ncontent-length: %d\r\n\r\n%b"
)
_DELTA = (
    b"event: content_block_delta\n"
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%b}}\n\n'
)
_decode, _encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode


def asked(body: bytes) -> bytes:
    """A request of messages as one of chat."""
    said = _decode(body)
    known = ("model", "messages", "max_tokens", "stream")
    return _ASK % (len(told := _encode({name: said[name] for name in known if name in said})), told)


def answered(body: bytes) -> bytes:
    """A whole answer of chat as one of messages."""
    said = _decode(body)
    usage = said["usage"]
    told = _encode(
        {
            "id": said["id"],
            "type": "message",
            "role": "assistant",
            "model": said["model"],
            "content": [{"type": "text", "text": said["choices"][0]["message"]["content"]}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]},
        }
    )
    return _HEAD % (len(told), told)


def streamed(piece: bytes) -> bytes:
    """Whole events of chat as events of messages; those without words say nothing here."""
    told = []
    for event in piece.split(b"\n\n"):
        if event.startswith(b"data: {"):
            words = _decode(event[6:])["choices"][0]["delta"].get("content")
            if words:
                told.append(_DELTA % _encode(words))
    return b"".join(told)


class Provider(asyncio.Protocol):
    """One connection to the provider, kept between requests."""

    client: Client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self.streams = self._begun = False

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)
        if self.streams and self._pieces and (told := streamed(b"".join(self._pieces))):
            head = b"" if self._begun else _STREAM
            self._begun = True
            self._pieces.clear()
            self.client.transport.write(b"%b%x\r\n%b\r\n" % (head, len(told), told))

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        if self.streams:
            self.client.transport.write(b"0\r\n\r\n")
        else:
            self.client.transport.write(answered(b"".join(self._pieces)))
        self._pieces.clear()
        self._begun = False
        self.client.free.append(self)


class Client(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, upstream: int, free: list[Provider]) -> None:
        self._upstream, self.free = upstream, free
        self._pieces: list[bytes] = []
        self._tasks: set[asyncio.Future[Any]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        body = b"".join(self._pieces)
        self._pieces.clear()
        if self.free:
            self._ask(self.free.pop(), body)
        else:
            self._tasks.add(asyncio.ensure_future(self._open(body)))

    async def _open(self, body: bytes) -> None:
        loop = asyncio.get_running_loop()
        _, provider = await loop.create_connection(Provider, "127.0.0.1", self._upstream)
        self._ask(provider, body)

    def _ask(self, provider: Provider, body: bytes) -> None:
        provider.client, provider.streams = self, b'"stream":true' in body
        provider.transport.write(asked(body))


async def serve(port: int, upstream: int) -> None:
    free: list[Provider] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Client(upstream, free), "127.0.0.1", port, backlog=4096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2])))
