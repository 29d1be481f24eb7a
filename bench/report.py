"""The report: RESULTS.md, results.json and the plots, from what a run has seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench import plots
from bench.gateways import GATEWAYS, ROUTES
from bench.measure import CROWD, SCENARIOS
from bench.targets import Figures, checked

LABELS = {"direct": "the upstream itself", **{gateway.name: gateway.label for gateway in GATEWAYS}}
_PLOTTED = (
    ("messages→chat", "j64", "CPU per JSON request, messages→chat, 64 connections"),
    ("chat→messages", "j64", "CPU per JSON request, chat→messages, 64 connections"),
    ("messages→chat", "s32", "CPU per event, messages→chat, burst, 32 streams"),
    ("messages→chat", "p256", "CPU per event, messages→chat, paced, 256 streams"),
    ("messages→messages", "s32", "CPU per event, messages→messages, burst, 32 streams"),
)

_INTRO = """# Results

Written by `make bench{quick}`; do not edit. Medians of {rounds} interleaved rounds, {seconds:g} s each.
CPU is user and system time of the gateway's processes, from the kernel. Absolute times belong to this
machine at this hour; trust the ratios, which are within one run.
{preliminary}
| machine | |
|---|---|
{machine}

j*N* is JSON requests over *N* connections (µs per request); s*N* bursts of 500 events over *N* connections,
each event written alone, and p*N* one event every 20 ms on each of *N* streams (µs per event). For p*N*,
clients and provider keep to half of the cores, as if they were elsewhere; "crowded" is the wait when they
take any core, the gateway's too.
"""
_PRELIMINARY = """
**Preliminary: a quick run.** Short measurements on a busy machine; differences below a third mean nothing.
"""


def write(told: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    drawn = folder / "plots"
    drawn.mkdir(exist_ok=True)
    names = _draw(told, drawn)
    (folder / "RESULTS.md").write_text(_text(told, names))
    print(f"{folder / 'RESULTS.md'}", flush=True)


def _text(told: dict[str, Any], names: list[tuple[str, str]]) -> str:
    machine = "\n".join(f"| {name} | {value} |" for name, value in told["machine"].items())
    parts = [
        _INTRO.format(
            quick=" QUICK=1" if told["quick"] else "",
            rounds=told["rounds"],
            seconds=told["seconds"],
            machine=machine,
            preliminary=_PRELIMINARY if told["quick"] else "",
        ),
        _versions(told),
        "## Targets\n\n" + _targets(told),
        *(_route(told, route) for route in ROUTES),
        "## Memory and start\n\n" + _starts(told),
        "## Library\n\n" + _libraries(told),
        "## Growth of thinkwire\n\n" + _growth(told),
        "## Plots\n\n" + "\n\n".join(f"![{title}](plots/{name})" for name, title in names),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _versions(told: dict[str, Any]) -> str:
    rows = [
        f"| {LABELS[name]} | {version or '-'} | {told['failures'].get(name, '')} |"
        for name, version in told["versions"].items()
    ]
    return "\n".join(["| measured | version | left out |", "|---|---|---|", *rows])


def _targets(told: dict[str, Any]) -> str:
    rows = [f"| {row.what} | {row.ours} | {row.against} | {row.verdict} |" for row in checked(Figures(told))]
    return "\n".join(["| what | thinkwire | against, in this run | |", "|---|---|---|---|", *rows])


def _cell(told: dict[str, Any], name: str, route: str, scenario: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = told["cells"].get(f"{name}|{route}|{scenario}")
    return found


def _route(told: dict[str, Any], route: str) -> str:
    """CPU of everybody on a route, and then the latencies."""
    names = [name for name in LABELS if any(_cell(told, name, route, one.name) for one in SCENARIOS)]
    shown = [one.name for one in SCENARIOS if any(_cell(told, name, route, one.name) for name in names)]
    if not shown:
        return ""
    head = f"## {route}\n\nCPU µs; in brackets, how many times thinkwire's.\n"
    lines = [f"| | {' | '.join(shown)} |", "|---|" + "---|" * len(shown)]
    for name in (one for one in names if one != "direct"):
        cells = [_cpu_words(told, name, route, scenario) for scenario in shown]
        lines.append(f"| {LABELS[name]} | {' | '.join(cells)} |")
    lines += ["", "Milliseconds, p50 / p99: JSON requests until the end, streams until the first event.", ""]
    waits = [(one, one, "took" if one.startswith("j") else "first") for one in shown]
    waits += [(f"{one}, crowded", one, "first_crowded") for one in shown if one == f"p{CROWD}"]
    lines += [f"| | {' | '.join(title for title, _, _ in waits)} |", "|---|" + "---|" * len(waits)]
    for name in names:
        cells = [_wait_words(_cell(told, name, route, scenario), which) for _, scenario, which in waits]
        lines.append(f"| {LABELS[name]} | {' | '.join(cells)} |")
    return head + "\n" + "\n".join(lines)


def _cpu_words(told: dict[str, Any], name: str, route: str, scenario: str) -> str:
    cell, ours = _cell(told, name, route, scenario), _cell(told, "thinkwire", route, scenario)
    if cell is None:
        return ""
    if "failure" in cell:
        return str(cell["failure"])
    words = plots.number_words(cell["cpu_us"])
    if name == "thinkwire" or ours is None or not ours.get("cpu_us"):
        return words
    return f"{words} ({cell['cpu_us'] / ours['cpu_us']:.2g}x)"


def _wait_words(cell: dict[str, Any] | None, which: str) -> str:
    spread = None if cell is None else cell.get(which)
    return "" if spread is None else f"{spread['p50']:.3g} / {spread['p99']:.3g}"


def _starts(told: dict[str, Any]) -> str:
    lines = ["| | cold start, s | idle, MB | most seen, MB |", "|---|---|---|---|"]
    for name, start in told["starts"].items():
        mine = [cell for key, cell in told["cells"].items() if key.startswith(f"{name}|")]
        most = max((cell.get("memory", 0.0) for cell in mine), default=0.0)
        figures = f"{start['cold_start']:.2f} | {start['idle_memory']:.0f} | {most:.0f}"
        lines.append(f"| {LABELS[name]} | {figures} |")
    return "\n".join(lines)


def _libraries(told: dict[str, Any]) -> str:
    lines = [
        "Reading streams of 2,000 events; importing, beyond a bare Python.",
        "",
        "| | CPU µs per event | events per second | import, CPU s |",
        "|---|---|---|---|",
    ]
    for name, seen in told["libraries"].items():
        taken = told["imports"].get(name)
        figures = (
            f"{seen['failure']} | "
            if "failure" in seen
            else f"{plots.number_words(seen['cpu_us'])} | {plots.number_words(seen['per_second'])}"
        )
        lines.append(f"| {name} | {figures} | {'-' if taken is None else f'{taken:.3f}'} |")
    return "\n".join(lines)


def _growth(told: dict[str, Any]) -> str:
    if "failure" in told["growth"]:
        return f"Not measured: {told['growth']['failure']}"
    lines = [
        "CPU milliseconds of one request (or of one call of the store) against size. The power is that of",
        "the last two points: 1 is linear, 0 is flat. A curve bends where it costs twice the smallest.",
        "",
        "| against | points | power at the end | bends at |",
        "|---|---|---|---|",
    ]
    for name, seen in told["growth"].items():
        points = ", ".join(f"{plots.number_words(size)}: {cost:.2f}" for size, cost in seen["points"])
        power = "-" if seen["exponent"] is None else f"{seen['exponent']:.2f}"
        bend = "-" if seen["bend"] is None else plots.number_words(seen["bend"])
        lines.append(f"| {name} | {points} | {power} | {bend} |")
    streams = ", ".join(f"{count}: {cost:.0f}" for count, cost in told["streams"])
    lines += ["", f"CPU µs of an event against paced streams at once: {streams}."]
    return "\n".join(lines)


def _draw(told: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    names = []
    for route, scenario, title in _PLOTTED:
        values = {
            name: cell["cpu_us"]
            for name in LABELS
            if name != "direct" and (cell := _cell(told, name, route, scenario)) and "cpu_us" in cell
        }
        if len(values) > 1:
            file = f"{route.replace('→', '-')}-{scenario}.svg"
            (folder / file).write_text(plots.bars(title, values))
            names.append((file, title))
    values = {name: seen["cpu_us"] for name, seen in told["libraries"].items() if "cpu_us" in seen}
    if values:
        (folder / "library.svg").write_text(plots.bars("Library: CPU per streamed event", values))
        names.append(("library.svg", "Library: CPU per streamed event"))
    for name, seen in told["growth"].items():
        if isinstance(seen, dict) and len(seen["points"]) > 1:
            file = f"growth-{name.partition(',')[0].replace(': ', '-')}.svg"
            drawn = plots.curve(f"Cost against {name}", seen["points"], x=name, y="CPU ms")
            (folder / file).write_text(drawn)
            names.append((file, f"Cost against {name}"))
    return names
