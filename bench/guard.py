"""The guard: function calls of a request and of a streamed event, against committed budgets.

Calls do not depend on the machine or on who else uses it, so a regression shows in seconds: `python -m
bench.guard`. After an improvement, `python -m bench.guard --write` lowers the budgets to what was counted; it
raises none. A budget is raised by hand, with the reason in the commit.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from bench.growth import long_talk
from bench.inside import EVENTS_PER_READ, WAYS, counted_calls, inside

BUDGETS = Path(__file__).with_name("budgets.toml")
KINDS = ("request", "stream", "event", "piece", "talk", "turn")
TALK = "messages→chat"
"""The route that talks take."""
EVENTS = 400
TURNS = 40
TIMES = 10
_SLACK = 1.1
"""Calls differ a little between versions of Python and of the libraries; small features cost a few."""


async def count(folder: Path) -> dict[str, float]:
    """Calls by what makes them: `request ROUTE` for a question and its whole answer, `stream ROUTE` for a
    stream of one event, `event ROUTE` for one more that comes in a burst, `piece ROUTE` for one that comes
    alone; `talk ROUTE` for a request in a talk with tools and thinking, and `turn ROUTE` for one more turn of
    it.
    """
    counted: dict[str, float] = {}
    async with inside(folder) as gateway:
        for route in WAYS:
            counted[f"request {route}"] = round(await counted_calls(gateway, route, times=TIMES), 1)
            counted[f"stream {route}"] = round(await counted_calls(gateway, route, events=1, times=TIMES), 1)
            for kind, size in (("event", EVENTS_PER_READ), ("piece", 1)):
                short = await counted_calls(gateway, route, events=8, times=TIMES, per_read=size)
                long = await counted_calls(gateway, route, events=8 + EVENTS, times=TIMES, per_read=size)
                counted[f"{kind} {route}"] = round((long - short) / EVENTS, 2)
        talk, longer = [
            await counted_calls(gateway, TALK, body=long_talk(turns), times=TIMES) for turns in (8, 8 + TURNS)
        ]
        counted[f"talk {TALK}"], counted[f"turn {TALK}"] = round(talk, 1), round((longer - talk) / TURNS, 2)
    return counted


def read_budgets(path: Path = BUDGETS) -> dict[str, float]:
    table = tomllib.loads(path.read_text("utf-8"))
    return {f"{kind} {route}": calls for kind, routes in table.items() for route, calls in routes.items()}


def over_budget(counted: Mapping[str, float], budgets: Mapping[str, float]) -> list[str]:
    """What costs more calls than it may, or has no budget."""
    return [
        f"{name}: {calls:g} calls, and the budget is {budgets.get(name, 'not there')}"
        for name, calls in counted.items()
        if name not in budgets or calls > budgets[name] * _SLACK
    ]


def lowered(counted: Mapping[str, float], budgets: Mapping[str, float]) -> dict[str, float]:
    """The budgets after an improvement; none is raised."""
    return {name: min(calls, budgets.get(name, calls)) for name, calls in counted.items()}


def budgets_text(budgets: Mapping[str, float]) -> str:
    lines = ["# Function calls, counted by `python -m bench.guard --write`. Lower is better."]
    for kind in KINDS:
        lines += ["", f"[{kind}]"]
        for name, calls in budgets.items():
            if name.startswith(f"{kind} "):
                lines.append(f'"{name.removeprefix(f"{kind} ")}" = {calls:g}')
    return "\n".join(lines) + "\n"


def main(args: list[str]) -> int:
    with tempfile.TemporaryDirectory() as name:
        os.environ["THINKWIRE_CONFIG"] = os.environ["THINKWIRE_STATE"] = name
        counted = asyncio.run(count(Path(name)))
    budgets = read_budgets() if BUDGETS.exists() else {}
    for what, calls in counted.items():
        print(f"{what:28} {calls:8g} calls, of {budgets.get(what, 0):g}")
    if "--write" in args:
        BUDGETS.write_text(budgets_text(lowered(counted, budgets)), "utf-8")
        return 0
    flaws = over_budget(counted, budgets)
    for flaw in flaws:
        print(f"over budget: {flaw}", file=sys.stderr)
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
