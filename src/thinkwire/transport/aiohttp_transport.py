"""The one door to the network: a pooled client whose answers arrive in pieces and can be let go at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from thinkwire.errors import Failure, ProviderError
from thinkwire.transport.connection import MOST_OVERHEAD
from thinkwire.transport.pool import GOODBYE, KEPT, STALE, HttptoolsResponse, HttptoolsTransport
from thinkwire.transport.response_body import MAX_RESPONSE_BYTES, WholeBody
from thinkwire.transport.sink import BodySink
from thinkwire.wire.compression import Decompressor, decompressor

if TYPE_CHECKING:
    import aiohttp


_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WS_PROXY", "WSS_PROXY")

_ACCEPTED = "gzip, deflate"
"""What `thinkwire.wire.compression` decompresses."""
_used: ContextVar[tuple[Any, int] | None] = ContextVar("used connection", default=None)
"""The connection of the request that is being sent, and how many bytes it had received before."""


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds to wait, phase by phase. Models think silently for minutes, so silence alone is no failure."""

    connect: float = 10
    first_byte: float = 600
    idle: float = 300
    """Between two pieces of an answer; keep-alives count as pieces."""


class AiohttpResponse:
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
        max_response: int = MAX_RESPONSE_BYTES,
    ) -> None:
        self._secret = secret
        self._max_response = max_response
        self._response = response
        self._patience = patience
        self._until = until if until is not None else float("inf")
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self.fell_silent = False

    async def chunks(self) -> AsyncIterator[bytes]:
        stream = self._decompressor()
        overhead = 0
        while piece := await self._piece():
            if stream is None:
                yield piece
                continue
            overhead += len(piece)
            stream.push(piece)
            while stream.pending:
                if unpacked := self._decompressed(stream):
                    overhead = 0
                    yield unpacked
                await asyncio.sleep(0)
            if overhead > MOST_OVERHEAD:
                raise self._broken("the provider sends compressed blocks without content")
        if stream is not None and not stream.complete:
            raise self._broken("the compressed answer is cut off")

    async def _piece(self) -> bytes:
        """What has come since the last one, as it was sent; empty at the end."""
        import aiohttp

        loop = asyncio.get_running_loop()
        due = min(loop.time() + self._patience, self._until)
        if due <= loop.time():
            # The alarm alone would never find a provider late that sends without a pause.
            self._hang_up()
            raise self._failure(TimeoutError())
        alarm = loop.call_at(due, self._hang_up)
        try:
            return await self._response.content.readany()
        except (TimeoutError, aiohttp.ClientError) as error:
            raise self._failure(error) from None
        finally:
            alarm.cancel()

    def _decompressor(self) -> Decompressor | None:
        try:
            return decompressor(self.headers.get("content-encoding", ""))
        except zlib.error as error:
            raise self._broken(str(error)) from None

    def _decompressed(self, stream: Decompressor) -> bytes:
        try:
            return stream.read()
        except zlib.error as error:
            raise self._broken(f"the answer cannot be decompressed: {error}") from None

    def _broken(self, words: str) -> ProviderError:
        self._response.close()
        return Failure("connection_lost", words).as_error()

    async def pour(self, sink: BodySink, *, within: float | None = None) -> None:
        """Gives every piece to `sink` as soon as it comes, to the end or until it wants no more; for `within`
        seconds at most.
        """
        if within is not None:
            self._end_within(within)
        async for piece in self.chunks():
            wanted = sink.take(piece)
            if sink.way.congested:
                await sink.way.drained()
            if not wanted:
                return

    def _end_within(self, seconds: float) -> None:
        self._until = min(self._until, asyncio.get_running_loop().time() + seconds)

    def close(self) -> None:
        """Lets the connection go: to serve again if the answer is over, else for good."""
        self._response.release() if self._response.content.at_eof() else self._response.close()

    def _failure(self, error: Exception) -> ProviderError:
        if self.fell_silent or isinstance(error, TimeoutError):
            return Failure("timed_out", _words(error, "the answer fell silent")).as_error()
        return Failure("connection_lost", _words(error, "the connection failed")).as_error()

    async def read(self) -> bytes:
        """The whole body, without the key that it may repeat. Of a refusal no more than its beginning."""
        body = WholeBody(self.status, self._max_response, self._secret)
        self._end_within(body.seconds)
        try:
            async for piece in self.chunks():
                if not body.add(piece):
                    break
        except ProviderError as error:
            body.end_early(error)
        return body.joined()

    async def drain(self) -> None:
        """Reads the few bytes after an answer's end, so that its connection can serve the next one. One that
        sends more than that is not kept.
        """
        self._end_within(GOODBYE)
        with contextlib.suppress(ProviderError):
            while await self._piece():
                pass

    def _hang_up(self) -> None:
        self.fell_silent = True
        self._response.close()


class AiohttpTransport:
    """Connections to providers, kept open between calls. Close it with `aclose`."""

    def __init__(
        self,
        timeouts: Timeouts | None = None,
        *,
        connections: int = 100,
        max_response: int = MAX_RESPONSE_BYTES,
        kept: float = KEPT,
    ) -> None:
        """`max_response` bounds the bytes of a whole body; `kept` is how long idle connections stay open."""
        self._timeouts = timeouts or Timeouts()
        self._connections = connections
        self._max_response = max_response
        self._kept = kept
        self._session: aiohttp.ClientSession | None = None

    async def ask(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        until: float | None = None,
        secret: str | None = None,
        sink: BodySink | None = None,
        reuse: bool = True,
        on_resend: Callable[[], None] | None = None,
    ) -> AiohttpResponse:
        """The reply to one request; whoever gets it closes it. `until` is a time on the loop's clock by
        which everything must be over. `sink`, whom the answer will be poured into, gets nothing before that.
        Without `reuse` the request is sent once; `on_resend` is called when it is sent again because its idle
        connection was closed.
        """
        import aiohttp

        session = self._open()
        try:
            async with asyncio.timeout_at(until):
                response = await _asked(session, url, headers, body, reuse=reuse, on_resend=on_resend)
        except TimeoutError as error:
            raise Failure(
                "timed_out", _words(error, "the provider did not answer in time")
            ).as_error() from None
        except aiohttp.ClientError as error:
            raise Failure("connection_lost", _words(error, "the connection failed")).as_error() from None
        return AiohttpResponse(
            response,
            self._timeouts.idle,
            until,
            secret=(secret or "").encode(),
            max_response=self._max_response,
        )

    @asynccontextmanager
    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, **how: Any
    ) -> AsyncIterator[AiohttpResponse]:
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
                connector=_connector(self._connections, self._kept),
                timeout=aiohttp.ClientTimeout(
                    total=None,
                    sock_connect=times.connect,
                    sock_read=max(times.first_byte, times.idle),
                ),
                auto_decompress=False,
                headers={"accept-encoding": _ACCEPTED},
                trust_env=_has_proxy(),
            )
        return self._session


async def _asked(
    session: aiohttp.ClientSession,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    reuse: bool,
    on_resend: Callable[[], None] | None,
) -> aiohttp.ClientResponse:
    """A kept connection that is closed at once and brings no byte was closed for idleness: the server did not
    hear the request. It is sent once more.
    """
    import aiohttp

    loop = asyncio.get_running_loop()
    stale_until = loop.time() + STALE
    _used.set(None)
    try:
        return await session.post(url, data=body, headers=headers, allow_redirects=False)
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientConnectionResetError):
        if not (reuse and _was_closed()) or loop.time() > stale_until:
            raise
    if on_resend is not None:
        on_resend()
    return await session.post(url, data=body, headers=headers, allow_redirects=False)


def _was_closed() -> bool:
    """Whether the connection that was just used had served before, and now brought nothing at all."""
    protocol, received = _used.get() or (None, 0)
    return received > 0 and protocol is not None and protocol.received == received


def _connector(limit: int, kept: float) -> aiohttp.TCPConnector:
    """Connections that count what they receive: a used one that receives nothing more was closed."""
    import aiohttp
    from aiohttp.client_proto import ResponseHandler

    class CountingHandler(ResponseHandler):
        received = 0

        def data_received(self, data: bytes) -> None:
            self.received += len(data)
            super().data_received(data)

    class CountingConnector(aiohttp.TCPConnector):
        def __init__(self, **how: Any) -> None:
            super().__init__(**how)
            self._factory: Any = partial(CountingHandler, loop=self._loop)

        async def connect(self, *what: Any, **how: Any) -> Any:
            connection = await super().connect(*what, **how)
            protocol = connection.protocol
            _used.set((protocol, getattr(protocol, "received", 0)))
            return connection

    return CountingConnector(limit=limit, keepalive_timeout=kept)


def _has_proxy() -> bool:
    """Whether the environment names a proxy; looking for one at every request costs more than it seems."""
    return any(os.environ.get(name) or os.environ.get(name.lower()) for name in _PROXIES)


Response: TypeAlias = AiohttpResponse | HttptoolsResponse


def open_transport(
    timeouts: Timeouts | None = None, *, connections: int = 100, max_response: int = MAX_RESPONSE_BYTES
) -> AiohttpTransport | HttptoolsTransport:
    """The lean way to the network; the other one behind a proxy, or where THINKWIRE_LEAN=0 asks for it."""
    unwanted = os.environ.get("THINKWIRE_LEAN") == "0"
    if unwanted or _has_proxy() or find_spec("httptools") is None:
        return AiohttpTransport(timeouts, connections=connections, max_response=max_response)
    times = timeouts or Timeouts()
    return HttptoolsTransport(
        connect=times.connect,
        first_byte=times.first_byte,
        idle=times.idle,
        connections=connections,
        max_response=max_response,
    )


def _words(error: BaseException, otherwise: str) -> str:
    """What went wrong, without addresses that could carry a key."""
    return f"{otherwise} ({type(error).__name__})"
