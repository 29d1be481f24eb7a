"""The one door to the network: a pooled client whose answers arrive in pieces and can be let go at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from thinkwire.connection import Sink
from thinkwire.errors import Failure, ProviderError
from thinkwire.lean import LeanHttp, LeanReply

if TYPE_CHECKING:
    import aiohttp


_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WS_PROXY", "WSS_PROXY")

_GOODBYE = 0.25
"""Seconds that the bytes after an answer's end are waited for."""


_LONG = 16
"""Letters of a key that cannot be a word of an answer."""


_new: ContextVar[bool] = ContextVar("new connection", default=False)
"""Whether the request that is being sent got a connection of its own, or one that was kept."""


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
        import aiohttp

        loop = asyncio.get_running_loop()
        pieces = self._response.content.iter_any()
        while True:
            alarm = loop.call_at(min(loop.time() + self._patience, self._until), self._hang_up)
            try:
                piece = await anext(pieces, None)
            except (TimeoutError, aiohttp.ClientError) as error:
                raise self._failure(error) from None
            finally:
                alarm.cancel()
            if piece is None:
                return
            yield piece

    async def pour(self, sink: Sink, *, patience: float | None = None) -> None:
        """Gives every piece to `sink` as soon as it comes, to the end or until it wants no more."""
        if patience is not None:
            self._patience = patience
        async for piece in self.chunks():
            wanted = sink.take(piece)
            if sink.way.congested:
                await sink.way.drained()
            if not wanted:
                return

    def close(self) -> None:
        """Lets the connection go: to serve again if the answer is over, else for good."""
        self._response.release() if self._response.content.at_eof() else self._response.close()

    def _failure(self, error: Exception) -> ProviderError:
        if self.fell_silent or isinstance(error, TimeoutError):
            return Failure("timed_out", _words(error, "the answer fell silent")).as_error()
        return Failure("connection_lost", _words(error, "the connection failed")).as_error()

    async def read(self) -> bytes:
        """The whole body, without the key that it may repeat."""
        body = b"".join([chunk async for chunk in self.chunks()])
        return body.replace(self._secret, b"[hidden]") if len(self._secret) >= _LONG else body

    async def drain(self) -> None:
        """Reads the few bytes after an answer's end, so that its connection can serve the next one."""
        self._patience = _GOODBYE
        with contextlib.suppress(ProviderError):
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

    async def ask(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        until: float | None = None,
        secret: str | None = None,
        sink: Sink | None = None,
    ) -> Reply:
        """The reply to one request; whoever gets it closes it. `until` is a time on the loop's clock by
        which everything must be over. `sink`, whom the answer will be poured into, gets nothing before that.
        """
        import aiohttp

        session = self._open()
        try:
            async with asyncio.timeout_at(until):
                response = await _asked(session, url, headers, body)
        except TimeoutError as error:
            raise Failure(
                "timed_out", _words(error, "the provider did not answer in time")
            ).as_error() from None
        except aiohttp.ClientError as error:
            raise Failure("connection_lost", _words(error, "the connection failed")).as_error() from None
        return Reply(response, self._timeouts.idle, until, secret=(secret or "").encode())

    @asynccontextmanager
    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, **how: Any
    ) -> AsyncIterator[Reply]:
        """The reply to one request. Leaving the block early closes the connection."""
        reply = await self.ask(url, headers, body, **how)
        try:
            yield reply
        finally:
            reply.close()

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None or self._session.closed:
            times = self._timeouts
            self._session = aiohttp.ClientSession(
                connector=_connector(self._connections),
                timeout=aiohttp.ClientTimeout(
                    total=None,
                    sock_connect=times.connect,
                    sock_read=max(times.first_byte, times.idle),
                ),
                auto_decompress=True,
                trust_env=_has_proxy(),
            )
        return self._session


async def _asked(
    session: aiohttp.ClientSession, url: str, headers: Mapping[str, str], body: bytes
) -> aiohttp.ClientResponse:
    """A kept connection that was closed before it brought an answer was closed for idleness: the server did
    not hear the request. It is sent once more.
    """
    import aiohttp

    _new.set(False)
    try:
        return await session.post(url, data=body, headers=headers, allow_redirects=False)
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientConnectionResetError):
        if _new.get():
            raise
        return await session.post(url, data=body, headers=headers, allow_redirects=False)


def _connector(limit: int) -> aiohttp.TCPConnector:
    """Connections that say when they are new."""
    import aiohttp

    class Telling(aiohttp.TCPConnector):
        async def _create_connection(self, *what: Any, **how: Any) -> Any:
            _new.set(True)
            return await super()._create_connection(*what, **how)

    return Telling(limit=limit)


def _has_proxy() -> bool:
    """Whether the environment names a proxy; looking for one at every request costs more than it seems."""
    return any(os.environ.get(name) or os.environ.get(name.lower()) for name in _PROXIES)


AnyReply: TypeAlias = Reply | LeanReply


def open_http(timeouts: Timeouts | None = None, *, connections: int = 100) -> Http | LeanHttp:
    """The lean way to the network; the other one behind a proxy, or where THINKWIRE_LEAN=0 asks for it."""
    unwanted = os.environ.get("THINKWIRE_LEAN") == "0"
    if unwanted or _has_proxy() or find_spec("httptools") is None:
        return Http(timeouts, connections=connections)
    times = timeouts or Timeouts()
    return LeanHttp(
        connect=times.connect, first_byte=times.first_byte, idle=times.idle, connections=connections
    )


def _words(error: BaseException, otherwise: str) -> str:
    """What went wrong, without addresses that could carry a key."""
    return f"{otherwise} ({type(error).__name__})"
