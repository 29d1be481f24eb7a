"""Many streams on which a model thinks for long: what each of them costs, and that nothing stays of them."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.world import served as process_served
from tests.gateway.gateways import Served
from tests.gateway.security.wire import ASK, hear, post
from thinkwire.sim.fixture import Running

pytestmark = pytest.mark.anyio

STREAMS = 200
MOST = 64 * 1024
"""Bytes of memory for one stream that waits, with both its connections."""
PATIENCE = 60.0
THINKING = ASK | {
    "stream": True,
    "messages": [{"role": "user", "content": "[[think:Hm.]] [[stall:300]] [[say:Yes.]]"}],
}


def memory_of(process: int) -> int:
    """Bytes that a process holds."""
    pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE")


def process_of(port: int) -> int:
    """Who listens on a port of this machine: the child of ours that was told so."""
    wanted = f":{port:04X} 00000000:0000 0A"
    line = next(line for line in Path("/proc/net/tcp").read_text().splitlines() if wanted in line)
    socket = f"socket:[{line.split()[9]}]"
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    for child in children:
        if any(os.readlink(link) == socket for link in Path(f"/proc/{child}/fd").iterdir()):
            return int(child)
    raise AssertionError(f"no child listens on {port}")


@asynccontextmanager
async def streaming(url: str, count: int) -> AsyncIterator[None]:
    """So many streams that have begun and say no more."""
    address = urlsplit(url)
    writers: list[asyncio.StreamWriter] = []
    request = post(THINKING)

    async def begin() -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writers.append(writer)
        writer.write(request)
        await reader.readuntil(b"thinking_delta")

    try:
        async with asyncio.timeout(PATIENCE):
            for _ in range(0, count, 20):
                await asyncio.gather(*(begin() for _ in range(20)))
        yield
    finally:
        for writer in writers:
            writer.close()


async def warmed_up(url: str) -> None:
    """Waits until everything is loaded that is loaded only once."""
    for stream in (True, False):
        assert (await hear(url, post(ASK | {"stream": stream}))).status == 200
    async with streaming(url, 20):
        pass
    await all_over(url)


async def all_over(url: str) -> None:
    """Waits until the gateway knows that everybody has left."""
    async with asyncio.timeout(PATIENCE):
        while b"thinkwire_requests_running 0" not in (await hear(url, _METRICS)).raw:
            await asyncio.sleep(0.05)


_METRICS = post(b"", target="/metrics", method="GET")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_an_idle_stream_costs_little_and_leaves_nothing(
    simulator: Running, tmp_path: Path, record_property: object
) -> None:
    config = tmp_path / "gateway.toml"
    config.write_text(f'[providers.deepseek]\nbase_url = "{simulator.at("deepseek")}"\n')
    options = ("--no-sim", "--no-web", "--config", str(config))
    with process_served(tmp_path, *options, keys={"DEEPSEEK_API_KEY": "any"}) as url:
        process = process_of(urlsplit(url).port or 0)
        await warmed_up(url)
        before = memory_of(process)
        async with streaming(url, STREAMS):
            each = (memory_of(process) - before) / STREAMS
        await all_over(url)
        async with streaming(url, STREAMS):
            again = (memory_of(process) - before) / STREAMS
        await all_over(url)
    assert callable(record_property)
    record_property("bytes_per_idle_stream", round(each))
    print(f"\n{each / 1024:.1f} KiB for each of {STREAMS} idle streams, {again / 1024:.1f} the second time")
    assert each < MOST
    assert again < MOST


def ours() -> Counter[str]:
    """The gateway's own objects that are in memory, by their type."""
    kinds = (type(thing) for thing in gc.get_objects())
    return Counter(
        kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("thinkwire.gateway")
    )


async def test_nothing_of_a_request_waits_for_the_collector(served: Served) -> None:
    """It comes seldom, so that what only it can find would pile up: with whole conversations in it."""
    for _ in range(2):
        await asked_in_every_way(served)  # What is asked a second time is remembered.
    gc.collect()
    gc.disable()
    try:
        served.records.clear()
        before = ours()
        for _ in range(3):
            await asked_in_every_way(served)
        async with asyncio.timeout(PATIENCE):
            while ours() - before:
                served.records.clear()
                await asyncio.sleep(0.05)
    finally:
        gc.enable()


async def asked_in_every_way(served: Served) -> None:
    """Streams to their end, whole answers, and streams that somebody left."""
    for stream in (True, False):
        assert (await hear(served.url, post(ASK | {"stream": stream}))).status == 200
    async with streaming(served.url, 20):
        pass
    async with asyncio.timeout(PATIENCE):
        while served.parts.limits.running:
            await asyncio.sleep(0.01)
