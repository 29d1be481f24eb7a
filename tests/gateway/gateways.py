"""A gateway on a real socket, in front of strict simulators or of a scripted provider."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from thinkwire.catalog import Catalog
from thinkwire.client.engine import Client
from thinkwire.client.learned_facts import LearnedFactsFile
from thinkwire.gateway.app import Gateway
from thinkwire.gateway.auth.key_cache import KeyCache
from thinkwire.gateway.auth.keys import KeyFile, LastUsed
from thinkwire.gateway.auth.limits import Limits, OwnCounter
from thinkwire.gateway.config.gateway_config import GatewayConfig, Server
from thinkwire.gateway.ledger import open_ledger
from thinkwire.gateway.pipeline.services import Services
from thinkwire.gateway.pipeline.upstream import ModelRouter
from thinkwire.gateway.responses.store import open_responses
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.gateway.server.serve import serving
from thinkwire.gateway.telemetry.record import RequestRecord

SECRET = bytes(range(32))
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ROUNDS = (
    '[[think:First I look.]] [[call:get_weather {"city":"Oslo"}]] '
    '[[think:Two more at once.]] [[call:get_weather {"city":"Bergen"}]] & '
    '[[call:get_weather {"city":"Rome"}]] '
    '[[think:One last.]] [[call:get_weather {"city":"Nice"}]] [[think:Now I know.]] [[say:Cold and late.]]'
)
"""A tool loop of three rounds, and the answer."""
THOUGHTS = ["First I look.", "Two more at once.", "One last.", "Now I know."]


class Served(NamedTuple):
    """A gateway: its address, what it is made of, and the records of what it served."""

    url: str
    parts: Services
    records: list[RequestRecord]

    async def recorded(self, count: int) -> list[RequestRecord]:
        """The records, once there are so many: an answer is told before it is recorded."""
        async with asyncio.timeout(10):
            while len(self.records) < count:
                await asyncio.sleep(0.005)
        return self.records


def config_of(text: str = "", **server: Any) -> GatewayConfig:
    """A configuration, with quick keep-alives and a short end."""
    config = GatewayConfig.read(text, "gateway.toml")
    quick = {"drain_seconds": 1, "keepalive_seconds": 10.0, **server}
    return msgspec.structs.replace(config, server=msgspec.structs.replace(config.server, **quick))


@asynccontextmanager
async def gateway(
    folder: Path,
    bases: dict[str, str],
    config: GatewayConfig | None = None,
    *,
    key: str = "upstream-key",
    learned_facts: LearnedFactsFile | bool = False,
    catalog: Catalog | None = None,
    **server: Any,
) -> AsyncIterator[Served]:
    """Serves in the running loop. `bases` are the providers' addresses; they all have a key. `server` is
    for uvicorn.
    """
    config = config or config_of()
    records: list[RequestRecord] = []
    async with AsyncExitStack() as stack:
        client = Client(
            keys=dict.fromkeys(bases, key),
            bases=bases,
            learned_facts=learned_facts,
            catalog=catalog,
            retries=1,
            providers=config.providers(),
            sim=False,
        )
        await stack.enter_async_context(client)
        ledger = await stack.enter_async_context(await open_ledger(str(folder / "ledger.db"), key=SECRET))
        responses = await stack.enter_async_context(
            await open_responses(str(folder / "responses.db"), key=SECRET)
        )
        limits = Limits(config, OwnCounter(folder / "spending.db"))
        stack.push_async_callback(limits.aclose)
        ring = KeyCache(KeyFile(folder / "access.toml"), loopback=True, used=LastUsed(folder / "used.json"))
        parts = Services(
            config=config,
            client=client,
            directory=ModelRouter(client, config),
            carrier=Carrier(SECRET),
            keys=ring,
            limits=limits,
            ledger=ledger,
            responses=responses,
            observers=(records.append,),
        )
        url = await stack.enter_async_context(serving(Gateway(parts), config, **server))
        yield Served(url, parts, records)


@contextmanager
def running_gateway(
    folder: Path, bases: dict[str, str], config: GatewayConfig | None = None
) -> Iterator[Served]:
    """The same in a thread of its own, for clients that block."""
    ready = threading.Event()
    served: list[Served] = []
    ends: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        end = asyncio.Event()
        async with gateway(folder, bases, config) as one:
            served.append(one)
            ends.append((asyncio.get_running_loop(), end))
            ready.set()
            await end.wait()

    def main() -> None:
        try:
            asyncio.run(run())
        finally:
            ready.set()

    thread = threading.Thread(target=main, name="gateway under test")
    thread.start()
    ready.wait(10)
    assert served, "the gateway did not start"
    try:
        yield served[0]
    finally:
        loop, end = ends[0]
        loop.call_soon_threadsafe(end.set)
        thread.join()


__all__ = ["ROUNDS", "THOUGHTS", "WEATHER", "Served", "Server", "config_of", "gateway", "running_gateway"]
