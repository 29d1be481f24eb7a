"""Trouble on request, at the level of bytes: silence, cuts, splits, resets, wrong lengths, other bodies.

`Chaos.parse("cut=120,latency=0.2")` says what shall go wrong; an `Outlet` is the one place where it does.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from thinkwire.errors import ConfigError

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Headers: TypeAlias = dict[str, str]

RESET = "thinkwire.reset"
"""Scope extension of a server that can break its connection: a function that does."""

_PAGE = b"""<html>\r
<head><title>502 Bad Gateway</title></head>\r
<body>\r
<center><h1>502 Bad Gateway</h1></center>\r
<hr><center>simulated</center>\r
</body>\r
</html>\r
"""
_SURPLUS = 64
"""How much longer than the body a wrong content-length is."""


_Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=3600)]
_Bytes: TypeAlias = Annotated[int, Meta(ge=0, le=2**40)]


class Chaos(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What goes wrong. `p` is how often; the other fields apply together."""

    p: Annotated[float, Meta(ge=0, le=1)] = 1.0
    latency: _Seconds = 0.0
    """Seconds of silence before the first byte."""
    stall: _Seconds = 0.0
    """Seconds of silence after the first bytes of the body."""
    split: _Bytes = 0
    """The body leaves in pieces of so many bytes, characters or not."""
    cut: _Bytes | None = None
    """The connection ends after so many bytes of the body."""
    status: Annotated[int, Meta(ge=400, le=599)] | None = None
    """This error instead of an answer."""
    retry_after: float | None = None
    reset: bool = False
    """The connection is reset before an answer."""
    html: bool = False
    """A proxy's error page instead of an answer."""
    gzip: bool = False
    dup: bool = False
    """Reasoning in two fields of a chat message at once."""
    error_in_stream: bool = False
    """An error inside an answer that began well."""
    wrong_length: bool = False
    """The content-length promises more than comes."""

    @staticmethod
    def parse(spec: str) -> Chaos:
        """`name=value` and bare names, separated by commas."""
        fields: dict[str, object] = {}
        for entry in filter(None, (entry.strip() for entry in spec.split(","))):
            name, equals, value = entry.partition("=")
            fields[name.strip().replace("_", "-")] = value.strip() if equals else True
        try:
            return msgspec.convert(fields, Chaos, strict=False)
        except msgspec.ValidationError as error:
            names = ", ".join(field.encode_name for field in msgspec.structs.fields(Chaos))
            raise ConfigError(f"chaos {spec!r}: {error}; there are {names}") from None


CALM = Chaos()


class Gone(Exception):
    """The connection is over: the client went away, or chaos took it."""


class ChaosWriter:
    """The way out of one answer. Everything that leaves goes through here, and so does everything wrong."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.chaos = CALM
        self.headers: Headers = {}
        """What every answer says."""
        self.started = False
        self._scope = scope
        self._receive = receive
        self._send = send
        self._sent = 0
        self._stalled = False
        self._zip: zlib._Compress | None = None

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """An answer that is known from its first byte to its last."""
        if self.chaos.html:
            status, headers, body = 502, {"content-type": "text/html"}, _PAGE
        if self.chaos.gzip:
            headers = headers | {"content-encoding": "gzip"}
            body = zlib.compress(body, wbits=31)
        promised = len(body) + (_SURPLUS if self.chaos.wrong_length else 0)
        await self._start(status, headers | {"content-length": str(promised)})
        await self._write(body)
        await self._end()

    async def begin(self, headers: Headers) -> None:
        """An answer whose end nobody knows yet."""
        if self.chaos.html:
            await self.whole(200, {}, b"")
            raise Gone
        if self.chaos.gzip:
            headers = headers | {"content-encoding": "gzip"}
            self._zip = zlib.compressobj(wbits=31)
        if self.chaos.wrong_length:
            headers = headers | {"content-length": str(1 << 30)}
        await self._start(200, headers)

    async def write(self, data: bytes) -> None:
        if self._zip is not None and data:
            data = self._zip.compress(data) + self._zip.flush(zlib.Z_SYNC_FLUSH)
        await self._write(data)

    async def end(self) -> None:
        if self._zip is not None:
            await self._write(self._zip.flush())
        await self._end()

    async def cut(self) -> None:
        """Ends the connection in the middle of the answer."""
        raise Gone

    async def pause(self, seconds: float) -> None:
        """Silence, unless the client leaves."""
        if seconds <= 0:
            return
        try:
            await asyncio.wait_for(self._left(), seconds)
        except TimeoutError:
            return
        raise Gone

    async def _left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _start(self, status: int, headers: Headers) -> None:
        await self.pause(self.chaos.latency)
        if self.chaos.reset:
            self._reset()
        self.started = True
        said = self.headers | headers
        pairs = [(name.encode(), value.encode("latin-1", "replace")) for name, value in said.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})

    def _reset(self) -> None:
        reset = self._scope.get("extensions", {}).get(RESET)
        if reset is None:
            raise ConnectionResetError("simulated")
        reset()
        raise Gone

    async def _write(self, data: bytes) -> None:
        for piece in self._pieces(data):
            room = len(piece) if self.chaos.cut is None else self.chaos.cut - self._sent
            if room < len(piece):
                await self._body(piece[: max(room, 0)])
                raise Gone
            await self._body(piece)
            if self.chaos.stall and not self._stalled:
                self._stalled = True
                await self.pause(self.chaos.stall)

    def _pieces(self, data: bytes) -> list[bytes]:
        size = self.chaos.split or len(data)
        if self.chaos.stall and not self._stalled and not self.chaos.split:
            size = max(1, len(data) // 2)
        return [data[at : at + size] for at in range(0, len(data), size)] if data else []

    async def _body(self, data: bytes) -> None:
        self._sent += len(data)
        if data:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def _end(self) -> None:
        if self.chaos.wrong_length:
            raise Gone
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
