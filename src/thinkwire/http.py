"""The one door to the network: a pooled client whose answers arrive in pieces and can be let go at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from thinkwire.errors import Failure
from thinkwire.lean import LeanHttp, LeanReply

if TYPE_CHECKING:
    import aiohttp


_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WS_PROXY", "WSS_PROXY")

_GOODBYE = 0.25
"""Seconds that the bytes after an answer's end are waited for."""


_LONG = 16
"""Letters of a key that cannot be a word of an answer."""


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds to wait, phase by phase. Models think silently for minutes, so silence alone is no failure."""

    connect: float = 10
    first_byte: float = 600
    idle: float = 300
    """Between two pieces of an answer; keep-alives count as pieces."""


class Reply:
    """The head of an answer, and its body as it comes.

    When the next piece does not come in time the connection is closed. A slow reader is not the provider's
    silence: time counts only while a piece is waited for.
    """

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        patience: float,
        until: float | None = None,
        *,
        secret: bytes = b"",
    ) -> None:
        self._secret = secret
        self._response = response
        self._patience = patience
        self._until = until if until is not None else float("inf")
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self.fell_silent = False

    async def chunks(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        pieces = self._response.content.iter_any()
        while True:
            alarm = loop.call_at(min(loop.time() + self._patience, self._until), self._hang_up)
            try:
                piece = await anext(pieces, None)
            finally:
                alarm.cancel()
            if piece is None:
                return
            yield piece

    async def read(self) -> bytes:
        """The whole body, without the key that it may repeat."""
        body = b"".join([chunk async for chunk in self.chunks()])
        return body.replace(self._secret, b"[hidden]") if len(self._secret) >= _LONG else body

    async def drain(self) -> None:
        """Reads the few bytes after an answer's end, so that its connection can serve the next one."""
        import aiohttp

        self._patience = _GOODBYE
        with contextlib.suppress(aiohttp.ClientError):
            async for _ in self.chunks():
                pass

    def _hang_up(self) -> None:
        self.fell_silent = True
        self._response.close()


class Http:
    """Connections to providers, kept open between calls. Close it with `aclose`."""

    def __init__(self, timeouts: Timeouts | None = None, *, connections: int = 100) -> None:
        self._timeouts = timeouts or Timeouts()
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        until: float | None = None,
        secret: str | None = None,
    ) -> AsyncIterator[Reply]:
        """The reply to one request. Leaving the block early closes the connection; so does `until`, a time
        on the loop's clock by which everything must be over.
        """
        import aiohttp

        session = self._open()
        reply: Reply | None = None
        try:
            async with asyncio.timeout_at(until):
                response = await session.post(url, data=body, headers=headers, allow_redirects=False)
            async with response:
                reply = Reply(response, self._timeouts.idle, until, secret=(secret or "").encode())
                yield reply
        except TimeoutError as error:
            raise Failure(
                "timed_out", _words(error, "the provider did not answer in time")
            ).as_error() from None
        except aiohttp.ClientError as error:
            if reply is not None and reply.fell_silent:
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
                trust_env=_has_proxy(),
            )
        return self._session


def _has_proxy() -> bool:
    """Whether the environment names a proxy; looking for one at every request costs more than it seems."""
    return any(os.environ.get(name) or os.environ.get(name.lower()) for name in _PROXIES)


AnyReply: TypeAlias = Reply | LeanReply


def open_http(timeouts: Timeouts | None = None, *, connections: int = 100) -> Http | LeanHttp:
    """The usual way to the network, or the lean one where that is asked for and will do."""
    wanted = os.environ.get("THINKWIRE_LEAN") == "1"
    if not wanted or _has_proxy() or find_spec("httptools") is None:
        return Http(timeouts, connections=connections)
    times = timeouts or Timeouts()
    return LeanHttp(
        connect=times.connect, first_byte=times.first_byte, idle=times.idle, connections=connections
    )


def _words(error: BaseException, otherwise: str) -> str:
    """What went wrong, without addresses that could carry a key."""
    return f"{otherwise} ({type(error).__name__})"
