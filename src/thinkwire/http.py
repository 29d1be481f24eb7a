"""The one door to the network: a pooled client whose answers arrive in pieces and can be let go at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from thinkwire.errors import Failure

if TYPE_CHECKING:
    import aiohttp


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds to wait, phase by phase. Models think silently for minutes, so silence alone is no failure."""

    connect: float = 10
    first_byte: float = 600
    idle: float = 300
    """Between two pieces of an answer; keep-alives count as pieces."""


class Reply(msgspec.Struct, frozen=True):
    """The head of an answer, and its body as it comes."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks])


class Http:
    """Connections to providers, kept open between calls. Close it with `aclose`."""

    def __init__(self, timeouts: Timeouts | None = None, *, connections: int = 100) -> None:
        self._timeouts = timeouts or Timeouts()
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """The reply to one request. Leaving the block early closes the connection."""
        import aiohttp

        session = self._open()
        silence: _Silence | None = None
        try:
            async with session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                silence = _Silence(response, self._timeouts.idle)
                yield Reply(response.status, response.headers, silence.chunks())
        except TimeoutError as error:
            raise Failure(
                "timed_out", _words(error, "the provider did not answer in time")
            ).as_error() from None
        except aiohttp.ClientError as error:
            if silence is not None and silence.too_long:
                raise Failure("timed_out", _words(error, "the answer fell silent")).as_error() from None
            raise Failure("connection_lost", _words(error, "the connection failed")).as_error() from None

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None or self._session.closed:
            times = self._timeouts
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                timeout=aiohttp.ClientTimeout(
                    total=None,
                    sock_connect=times.connect,
                    sock_read=max(times.first_byte, times.idle),
                ),
                auto_decompress=True,
                trust_env=True,
            )
        return self._session


class _Silence:
    """Hangs up when the next piece does not come in time. A slow reader is not the provider's silence."""

    def __init__(self, response: aiohttp.ClientResponse, patience: float) -> None:
        self._response = response
        self._patience = patience
        self.too_long = False

    async def chunks(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        pieces = self._response.content.iter_any()
        while True:
            alarm = loop.call_later(self._patience, self._hang_up)
            try:
                piece = await anext(pieces, None)
            finally:
                alarm.cancel()
            if piece is None:
                return
            yield piece

    def _hang_up(self) -> None:
        self.too_long = True
        self._response.close()


def _words(error: BaseException, otherwise: str) -> str:
    """What went wrong, without addresses that could carry a key."""
    return f"{otherwise} ({type(error).__name__})"
