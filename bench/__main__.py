"""`python -m bench [quick]`: measures everything side by side and writes RESULTS.md, results.json and plots.

Rounds are interleaved: in each, every gateway is started anew and takes its routes; figures are medians over
rounds. Inside a network namespace of its own, where the kernel allows, so that no peer calls home.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
from typing import Any

from bench import libraries, report
from bench.gateways import GATEWAYS, Gateway, Start, Way
from bench.growth import long_talk
from bench.machine import BUILD, ROOT, described
from bench.measure import (
    SCENARIOS,
    Scenario,
    Up,
    ask_load,
    measure,
    medians,
    order_for,
    started,
    upstream,
)

QUICK = ("j64", "s32", "p1", "p256")
QUICK_ROUTES = ("messages→chat", "chat→messages", "messages→messages")
STREAMS = (1, 8, 64, 256, 1000, 2000)
BEGINNINGS = 2
"""How often paced streams begin besides, in each round, for the time to their first event."""
TALK = 100
"""Turns of a talk that is asked on by several workers."""
_ROUTE = "messages→chat"
"""The one on which streams at once and workers are counted."""

Cells = dict[str, list[dict[str, Any]]]


def alone() -> None:
    """Starts this again in a network namespace of its own, or brings up its loopback when it is there."""
    if os.environ.get("BENCH_ALONE") == "1":
        _loopback_up()
        return
    if shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], check=False).returncode == 0:
        env = {**os.environ, "BENCH_ALONE": "1"}
        os.execvpe("unshare", ["unshare", "-rn", sys.executable, "-m", "bench", *sys.argv[1:]], env)
    print("no network namespace here; peers may call home", flush=True)


def _loopback_up() -> None:
    get_flags, set_flags, up = 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        asked = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(sock, get_flags, asked))[1]
        fcntl.ioctl(sock, set_flags, struct.pack("16sh14x", b"lo", flags | up))


class Run:
    """One whole measurement and what it has seen so far."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.quick: bool = args.quick
        self.rounds: int = args.rounds or (1 if args.quick else 3)
        self.seconds: float = args.seconds or (0.5 if args.quick else 2.0)
        self.only: set[str] = set(args.only or [])
        self.cells: Cells = {}
        self.starts: dict[str, list[Up]] = {}
        self.failures: dict[str, str] = {}

    def scenarios(self, gateway: str) -> list[Scenario]:
        chosen = [one for one in SCENARIOS if not self.quick or one.name in QUICK]
        if gateway != "litellm":
            return chosen
        # A thousand µs per event: bursts over many connections would take minutes.
        names = ("j64",) if self.quick else ("j1", "j64", "s1", "p1", "p32")
        return [one for one in SCENARIOS if one.name in names]

    def gateways(self) -> list[Gateway]:
        here = []
        for gateway in GATEWAYS:
            if self.only and gateway.name not in self.only:
                continue
            if gateway.version() is None:
                self.failures[gateway.name] = "not installed"
            else:
                here.append(gateway)
        return here

    def note(self, key: str, seen: dict[str, Any]) -> None:
        self.cells.setdefault(key, []).append(seen)
        shown = seen.get("failure") or f"{seen['cpu_us']:9.1f} µs  {seen['per_second']:10.0f}/s"
        print(f"  {key:45} {shown}", flush=True)

    def direct(self, provider: int) -> None:
        """The upstream alone: its ceiling, and the latency that is not the gateways'."""
        for scenario in self.scenarios("direct"):
            order = order_for(provider, Way("bench-model"), "chat→chat", scenario, provider=provider)
            seen = measure(order, scenario, None, seconds=self.seconds, provider=provider)
            self.note(f"direct|chat→chat|{scenario.name}", seen)

    def round(self, gateway: Gateway, provider: int) -> None:
        try:
            with started(gateway, provider) as up:
                self.starts.setdefault(gateway.name, []).append(up)
                for route, way in gateway.ways.items():
                    if self.quick and route not in QUICK_ROUTES:
                        continue
                    for scenario in self.scenarios(gateway.name):
                        order = order_for(up.port, way, route, scenario, provider=provider)
                        seen = measure(
                            order,
                            scenario,
                            up,
                            seconds=self.seconds,
                            provider=provider,
                            beginnings=BEGINNINGS if scenario.crowds or not self.quick else 0,
                            crowds=scenario.crowds and not self.quick,
                        )
                        self.note(f"{gateway.name}|{route}|{scenario.name}", seen)
        except (TimeoutError, RuntimeError, subprocess.SubprocessError) as error:
            self.failures[gateway.name] = str(error)
            print(f"  {gateway.name}: {error}", flush=True)

    def all(self, provider: int) -> None:
        gateways = self.gateways()
        for number in range(self.rounds):
            print(f"round {number + 1} of {self.rounds}", flush=True)
            self.direct(provider)
            for gateway in gateways[number % len(gateways) :] + gateways[: number % len(gateways)]:
                self.round(gateway, provider)

    def streams_at_once(self, provider: int) -> list[tuple[int, float]]:
        """CPU µs of an event against the number of paced streams."""
        gateway, points = GATEWAYS[0], []
        with started(gateway, provider) as up:
            for count in STREAMS if not self.quick else STREAMS[:4]:
                scenario = Scenario("paced", count)
                order = order_for(
                    up.port, gateway.ways["messages→chat"], "messages→chat", scenario, provider=provider
                )
                seen = measure(order, scenario, up, seconds=self.seconds, provider=provider)
                if "cpu_us" in seen:
                    points.append((count, seen["cpu_us"]))
        return points

    def workers(self, provider: int) -> dict[str, float]:
        """Requests a second of one worker and of two, by the clock: long talks, as agents send them, which
        leave the cores to the gateway; and short questions, where load and provider need as much as it does.
        In the middle of as many rounds as everything else.
        """
        return medians([self._workers_once(provider) for _ in range(self.rounds)])

    def _workers_once(self, provider: int) -> dict[str, float]:
        told: dict[str, float] = {}
        scenario = next(one for one in SCENARIOS if one.name == "j64")
        own = GATEWAYS[0]
        for count in (1, 2):
            gateway = own._replace(start=_with_workers(own, count), name=f"workers{count}")
            with started(gateway, provider) as up:
                short = order_for(up.port, own.ways[_ROUTE], _ROUTE, scenario, provider=provider)
                talk = {**short, "body": long_talk(TALK).decode(), "connections": 16}
                for name, order in (("talks", talk), ("questions", short)):
                    ask_load({**order, "total": 1000, "seconds": 1})
                    seen = ask_load({**order, "seconds": max(2.0, self.seconds)})
                    told[f"{name} {count}"] = seen["finished"] / seen["seconds"]
        # In each round by itself: the machine is not the same in all of them.
        return told | {name: told[f"{name} 2"] / told[f"{name} 1"] for name in ("talks", "questions")}


def _with_workers(gateway: Gateway, count: int) -> Any:
    def start(folder: Any, port: int, provider: int) -> Start:
        usual = gateway.start(folder, port, provider)
        return usual._replace(command=[*usual.command, "--workers", str(count)])

    return start


def grown(quick: bool) -> dict[str, Any]:
    """The growth page's curves, measured in thinkwire's own environment."""
    out = BUILD / "growth.json"
    command = [str(BUILD / "own" / "bin" / "python"), "-m", "bench.growth", str(out)]
    command += ["quick"] if quick else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failure": done.stderr.strip().splitlines()[-1]}
    curves: dict[str, Any] = json.loads(out.read_text())
    return curves


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.partition("\n")[0])
    parser.add_argument("quick", nargs="?", help="one short round, about three minutes")
    parser.add_argument("--rounds", type=int, help="3, or 1 when quick")
    parser.add_argument("--seconds", type=float, help="of each measurement; 2, or 0.5 when quick")
    parser.add_argument("--only", action="append", help="a gateway; may be given several times")
    args = parser.parse_args()
    args.quick = args.quick == "quick"
    alone()
    # Told to end, it ends what it has started too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run = Run(args)
    machine = described()
    with upstream() as provider:
        run.all(provider)
        told = {
            "machine": machine,
            "quick": run.quick,
            "rounds": run.rounds,
            "seconds": run.seconds,
            "versions": {gateway.name: gateway.version() for gateway in GATEWAYS},
            "failures": run.failures,
            "cells": {key: medians(seen) for key, seen in run.cells.items()},
            "starts": {
                name: {
                    "cold_start": statistics.median(up.cold_start for up in ups),
                    "idle_memory": statistics.median(up.idle_memory for up in ups),
                }
                for name, ups in run.starts.items()
            },
            "streams": run.streams_at_once(provider),
            "workers": run.workers(provider),
            "libraries": libraries.streams(provider, rounds=run.rounds, count=1 if run.quick else 3),
        }
    told["imports"] = libraries.imports(rounds=1 if run.quick else 5)
    told["growth"] = grown(run.quick)
    report.write(told, BUILD / "quick" if run.quick else ROOT / "bench")


if __name__ == "__main__":
    main()
