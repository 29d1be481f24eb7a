"""The gateway inside this process, between a scripted provider and a scripted client: no sockets, no threads
that anybody waits for, so that the same request makes the same calls on every machine.
"""

from __future__ import annotations

import cProfile
import logging
import pstats
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from bench import wire
from thinkwire.client.engine import Client
from thinkwire.gateway.app import Gateway
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.http.client_response import EXTENSION
from thinkwire.gateway.pipeline.services import open_services

WAYS = {
    "messages→messages": ("messages", "claude-opus-5"),
    "messages→chat": ("messages", "deepseek/deepseek-v4-pro"),
    "chat→messages": ("chat", "anthropic/claude-opus-5"),
    "chat→chat": ("chat", "gpt-4.1"),
    "responses→chat": ("responses", "deepseek/deepseek-v4-pro"),
    "messages→gemini": ("messages", "google/gemini-3.5-flash"),
}
EVENTS_PER_READ = 8


class ScriptedReply:
    """An answer that is there already."""

    status = 200
    fell_silent = False

    def __init__(self, pieces: list[bytes], kind: str) -> None:
        self._pieces = pieces
        self.headers: Mapping[str, str] = {"content-type": kind}

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def read(self) -> bytes:
        return b"".join(self._pieces)

    async def pour(self, sink: Any, **how: object) -> None:
        while self._pieces and sink.take(self._pieces.pop(0)):
            if sink.way.congested:
                await sink.way.drained()

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        pass


class ScriptedHttp:
    """Stands where the network is: knows the answer by the path, and whether it is streamed by the body."""

    def __init__(self, events: int = 0, per_read: int = EVENTS_PER_READ) -> None:
        self.events = events
        self.per_read = per_read

    async def ask(self, url: str, headers: Mapping[str, str], body: bytes, **how: object) -> ScriptedReply:
        answer = wire.answer_for(url.partition("?")[0])
        assert answer is not None
        if not self.events:
            return ScriptedReply([answer.whole], "application/json")
        deltas = [answer.deltas[n % len(answer.deltas)] for n in range(self.events)]
        size = self.per_read
        groups = [b"".join(deltas[n : n + size]) for n in range(0, self.events, size)]
        return ScriptedReply([answer.head, *groups, answer.tail], "text/event-stream")

    async def aclose(self) -> None:
        pass


class Inside:
    """One gateway, and what it answered."""

    def __init__(self, gateway: Gateway, http: ScriptedHttp) -> None:
        self._gateway = gateway
        self._http = http
        self.sent = 0
        self.count_waiting = gateway.parts.metrics.count_waiting
        """What the metrics have put off belongs to the requests that were asked."""

    async def ask(
        self, route: str, *, events: int = 0, body: bytes | None = None, per_read: int = EVENTS_PER_READ
    ) -> bytes:
        """One request on a route, streamed when `events` is not 0; the bytes that its client gets."""
        dialect, model = WAYS[route]
        path, usual = wire.request(dialect, model, stream=bool(events))
        body = usual if body is None else body
        self._http.events, self._http.per_read = events, per_read
        head = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"user-agent", b"bench/1")]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "headers": [*head, (b"content-length", str(len(body)).encode())],
            "server": ("127.0.0.1", 4141),
        }
        visit = ScriptedVisit(body)
        scope["extensions"] = {EXTENSION: visit}
        await self._gateway(scope, _nothing, _nothing)
        assert visit.status == 200, f"{route}: status {visit.status}"
        return bytes(visit.told)


async def _nothing(*_: Any) -> Any:
    raise AssertionError("the direct way was not taken")


class ScriptedVisit:
    """Stands where the server's line is."""

    on_left: Any = None
    task: Any = None
    congested = False
    status = 0

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.told = bytearray()

    def taken(self) -> bytes:
        return self._body

    def begin(self, status: int, headers: Any, data: bytes = b"") -> None:
        self.status = status
        self.told += data

    def write(self, data: bytes) -> None:
        self.told += data

    def put(self, before: bytes, data: bytes, after: bytes) -> None:
        self.told += before + data + after

    end = write

    def whole(self, status: int, headers: Any, body: bytes) -> None:
        self.status = status
        self.told += body


@asynccontextmanager
async def inside(folder: Path) -> AsyncIterator[Inside]:
    """A gateway with limits, ledger and metrics, in a folder of its own; no access key, no log handler.

    The folders of configuration and state are the environment's: set THINKWIRE_CONFIG and THINKWIRE_STATE.
    """
    text = f'[ledger]\nurl = "sqlite:///{folder / "ledger.db"}"\n'
    config = GatewayConfig.read(text, str(folder / "gateway.toml"))
    async with AsyncExitStack() as stack:
        names = ("anthropic", "openai", "deepseek", "google")
        client = Client(keys=dict.fromkeys(names, "bench"), providers=config.providers(), sim=False)
        http = ScriptedHttp()
        client._http = http  # type: ignore[assignment]
        await stack.enter_async_context(client)
        parts = await stack.enter_async_context(open_services(config, client=client))
        yield Inside(Gateway(parts), http)


async def calls(gateway: Inside, route: str, *, times: int = 20, **how: Any) -> pstats.Stats:
    """The profile of a request on a route that has been taken before; `how` it is asked."""
    quiet = logging.getLogger("thinkwire")
    handler = logging.NullHandler()
    quiet.addHandler(handler)
    try:
        for _ in range(3):
            await gateway.ask(route, **how)
        gateway.count_waiting()
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(times):
            await gateway.ask(route, **how)
        gateway.count_waiting()
        profile.disable()
    finally:
        quiet.removeHandler(handler)
    return pstats.Stats(profile)


async def counted_calls(gateway: Inside, route: str, *, times: int = 1, **how: Any) -> float:
    """Function calls of one request."""
    profile: Any = await calls(gateway, route, times=times, **how)
    return float(profile.total_calls) / times
