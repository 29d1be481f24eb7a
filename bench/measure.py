"""One measurement: a gateway, a route, a scenario; CPU of the gateway's process per unit of work."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench import wire
from bench.gateways import Gateway, Way
from bench.machine import BUILD, free_port, running, used, wait_for_file, wait_for_port

EVENTS = 500
PACE = 0.02
BEGINNING = 25
"""Events of streams of which only the first counts: they last until all of them have begun."""
PARTS = {"json": 3, "burst": 6, "paced": 1}
"""Loads in a row that one measurement is made of: which core the kernel gives to whom decides how many events
arrive together, and it decides anew for each load."""
CROWD = 256
"""So many streams want more computing than one core has when they begin together."""


class Scenario(NamedTuple):
    """What is asked, over how many connections at once."""

    kind: str
    """`json`, `burst` (500 events as fast as they go) or `paced` (one event every 20 ms)."""
    connections: int

    @property
    def name(self) -> str:
        return f"{ {'json': 'j', 'burst': 's', 'paced': 'p'}[self.kind] }{self.connections}"

    @property
    def streams(self) -> bool:
        return self.kind != "json"

    @property
    def crowds(self) -> bool:
        return self.kind == "paced" and self.connections == CROWD

    @property
    def waits(self) -> bool:
        """Whether waiting is looked at: then clients and provider stand aside, where half a machine is
        enough for them."""
        return self.kind == "paced" and self.connections <= CROWD


SCENARIOS = tuple(
    Scenario(kind, count)
    for kind, counts in (("json", (1, 8, 64)), ("burst", (1, 32, 256)), ("paced", (1, 32, 256)))
    for count in counts
)


class Up(NamedTuple):
    """A gateway that runs: its port, its process and what starting took."""

    port: int
    pid: int
    cold_start: float
    idle_memory: float


@contextmanager
def upstream() -> Iterator[int]:
    """The mock provider; gives its port."""
    port = free_port()
    command = [sys.executable, "-m", "bench.upstream", str(port)]
    with running(command, BUILD / "logs" / "upstream.log") as process:
        wait_for_port(port, process)
        yield port


@contextmanager
def started(gateway: Gateway, provider: int) -> Iterator[Up]:
    """A gateway while the block runs; TimeoutError when it does not start."""
    folder = BUILD / "run" / gateway.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    port = free_port()
    start = gateway.start(folder, port, provider)
    log = BUILD / "logs" / f"{gateway.name}.log"
    if start.port_file is not None:
        start.port_file.unlink(missing_ok=True)
    with running(start.command, log, env=start.env, cwd=folder) as process:
        began = time.perf_counter()
        if start.port_file is not None:
            port = wait_for_file(start.port_file, process)
        wait_for_port(port, process)
        cold = time.perf_counter() - began
        yield Up(port, process.pid, cold, used(process.pid).memory)


def ask_load(order: dict[str, Any]) -> dict[str, Any]:
    """Runs the load in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=Path(__file__).resolve().parent.parent,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def shape(provider: int, *, aside: bool = False, **how: float) -> None:
    """Tells the upstream how streams shall come, and whether it leaves half of the cores to the gateway."""
    query = "&".join(f"{name}={value}" for name, value in {**how, "aside": int(aside)}.items())
    ask_load({"port": provider, "path": f"/control?{query}", "body": "", "connections": 1, "total": 1})


def order_for(port: int, way: Way, route: str, scenario: Scenario, *, provider: int) -> dict[str, Any]:
    """The load that takes a route through a gateway."""
    path, body = wire.request(route.partition("→")[0], way.model, stream=scenario.streams)
    headers = {name: value.replace("{upstream}", str(provider)) for name, value in way.headers.items()}
    return {
        "port": port,
        "path": way.prefix + path,
        "body": body.decode(),
        "headers": headers,
        "connections": scenario.connections,
    }


def measure(
    order: dict[str, Any],
    scenario: Scenario,
    up: Up | None,
    *,
    seconds: float,
    provider: int,
    beginnings: int = 0,
    crowds: bool = False,
) -> dict[str, Any]:
    """CPU µs per request or event, latency, time to first event; without a gateway, of the upstream alone.

    Where waiting is looked at, clients and provider stand aside: they leave half of the cores to the gateway,
    as if they were elsewhere. Paced streams all begin at once, once: `beginnings` times more for the time to
    the first event, which differs from one to the next, and with `crowds` as often where everybody takes any
    core (`first_crowded`).
    """
    paced = scenario.kind == "paced"
    events = max(50, int(seconds / PACE)) if paced else EVENTS
    order = {**order, "aside": scenario.waits}
    shape(provider, events=BEGINNING if paced else events, pace=PACE if paced else 0, aside=scenario.waits)
    if up is not None:
        # Warms connections and code; its CPU is not counted.
        ask_load({**order, "total": max(scenario.connections, 10), "seconds": 1})
    firsts, crowded = [], []
    if paced:
        order = {**order, "total": scenario.connections}
        firsts = [ask_load(order)["first"] for _ in range(beginnings)]
        if crowds:
            shape(provider, events=BEGINNING, pace=PACE)
            crowded = [ask_load({**order, "aside": False})["first"] for _ in range(beginnings)]
        shape(provider, events=events, pace=PACE, aside=scenario.waits)
    else:
        order = {**order, "seconds": seconds / PARTS[scenario.kind]}
    with ExitStack() as stack:
        peak = stack.enter_context(_memory(up.pid)) if up is not None else [0.0]
        before = used(up.pid).cpu if up is not None else 0.0
        parts = [ask_load({**order, "patience": 60 + seconds}) for _ in range(PARTS[scenario.kind])]
        cpu = (used(up.pid).cpu if up is not None else 0.0) - before
    units = sum(part["finished"] for part in parts) * (events if scenario.streams else 1)
    failure = next((part["failure"] for part in parts if part["failure"]), None)
    if failure or not units:
        return {"failure": failure or "nothing was answered"}
    firsts += [part["first"] for part in parts]
    return {
        "cpu_us": cpu / units * 1e6,
        "units": units,
        "per_second": units / sum(part["seconds"] for part in parts),
        "took": medians([part["took"] for part in parts]),
        "first": medians(list(filter(None, firsts))) if any(firsts) else None,
        "first_crowded": medians(list(filter(None, crowded))) if any(crowded) else None,
        "memory": peak[0],
    }


def medians(seen: list[dict[str, Any]]) -> dict[str, Any]:
    """The middle of every figure over the rounds; the failure where nothing succeeded."""
    good = [one for one in seen if "failure" not in one]
    if not good:
        return seen[0]

    def middle(values: list[Any]) -> Any:
        there = [value for value in values if value is not None]
        if not there:
            return None
        if isinstance(there[0], dict):
            return {key: statistics.median(value[key] for value in there) for key in there[0]}
        return statistics.median(there)

    return {key: middle([one[key] for one in good]) for key in good[0]}


@contextmanager
def _memory(pid: int) -> Iterator[list[float]]:
    """The most memory seen while the block runs."""
    peak, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            peak[0] = max(peak[0], used(pid).memory)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()
