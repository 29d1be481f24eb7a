"""What thinkwire must reach, checked against the peers of the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Figure = Callable[[str, str, str], float | None]
"""One kind of figure: of whom, on which route, in which scenario."""
PEERS = ("tensorzero", "claudish", "portkey", "ccr", "litellm")


class Row(NamedTuple):
    what: str
    ours: str
    against: str
    verdict: str


class Figures:
    """The figures of a run, by name."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told

    def cpu(self, name: str, route: str, scenario: str) -> float | None:
        return self._cell(name, route, scenario).get("cpu_us")

    def first(self, name: str, route: str, scenario: str, which: str = "first") -> float | None:
        spread = self._cell(name, route, scenario).get(which)
        return spread["p50"] if spread else None

    def memory(self, name: str, scenario: str) -> float | None:
        seen = [
            cell["memory"]
            for key, cell in self.told["cells"].items()
            if key.startswith(f"{name}|") and key.endswith(f"|{scenario}") and "memory" in cell
        ]
        return max(seen, default=None)

    def best_peer(self, figure: Figure, route: str, scenario: str) -> dict[str, float | None]:
        """The smallest figure of another on this route, by its name."""
        seen = [(name, one) for name in PEERS if (one := figure(name, route, scenario))]
        return {f"best peer ({name})": one for name, one in sorted(seen, key=lambda pair: pair[1])[:1]}

    def start(self, name: str, what: str) -> float | None:
        found: dict[str, float] = self.told["starts"].get(name, {})
        return found.get(what)

    def _cell(self, name: str, route: str, scenario: str) -> dict[str, Any]:
        found: dict[str, Any] = self.told["cells"].get(f"{name}|{route}|{scenario}", {})
        return found


def checked(figures: Figures) -> Iterator[Row]:
    """Every target that this run has figures for."""
    yield from _requests(figures)
    yield from _events(figures)
    yield from _waiting(figures)
    yield from _library(figures)


def _row(what: str, ours: float | None, limits: dict[str, float | None], unit: str) -> Iterator[Row]:
    """One target: ours must be below every limit that is known."""
    known = {name: limit for name, limit in limits.items() if limit is not None}
    if ours is None or not known:
        return
    reached = all(ours <= limit for limit in known.values())
    against = ", ".join(f"{name} {limit:.3g}" for name, limit in known.items())
    yield Row(what, f"{ours:.3g} {unit}", f"{against} {unit}", "reached" if reached else "**missed**")


def _requests(figures: Figures) -> Iterator[Row]:
    for route in ("chat→messages", "messages→chat"):
        rival = figures.cpu("tensorzero", "chat→messages", "j64")
        limits = {"wanted": 160.0, "half of TensorZero": rival / 2 if rival else None}
        yield from _row(f"JSON request, {route}, j64", figures.cpu("thinkwire", route, "j64"), limits, "µs")


def _events(figures: Figures) -> Iterator[Row]:
    route = "messages→chat"
    limits = {"wanted": 9.0, **figures.best_peer(figures.cpu, route, "s32")}
    yield from _row(f"event, {route}, s32", figures.cpu("thinkwire", route, "s32"), limits, "µs")
    floor = figures.cpu("nginx", "chat→chat", "p256") or figures.cpu("nginx", "messages→messages", "p256")
    limits = {"1.8 x nginx": floor * 1.8 if floor else None, **figures.best_peer(figures.cpu, route, "p256")}
    yield from _row(f"event, {route}, p256", figures.cpu("thinkwire", route, "p256"), limits, "µs")
    for route in ("messages→messages", "chat→chat"):
        floor = figures.cpu("nginx", route, "s32")
        limits = {"1.5 x nginx": floor * 1.5 if floor else None}
        yield from _row(
            f"event, {route} (untouched), s32", figures.cpu("thinkwire", route, "s32"), limits, "µs"
        )


def _waiting(figures: Figures) -> Iterator[Row]:
    route = "messages→chat"
    for scenario, wanted in (("p1", 3.0), ("p256", 10.0)):
        ours = figures.first("thinkwire", route, scenario)
        crowded = figures.first("thinkwire", route, scenario, "first_crowded")
        limits = {"wanted": wanted, **figures.best_peer(figures.first, route, scenario)}
        for row in _row(f"first event, {scenario}", ours, limits, "ms"):
            beside = f" ({crowded:.3g} when all take any core)" if crowded else ""
            yield row._replace(ours=row.ours + beside)
    yield from _row("idle memory", figures.start("thinkwire", "idle_memory"), {"wanted": 60.0}, "MB")
    yield from _row("memory, p256", figures.memory("thinkwire", "p256"), {"wanted": 110.0}, "MB")
    yield from _row("cold start", figures.start("thinkwire", "cold_start"), {"wanted": 0.7}, "s")
    workers = figures.told.get("workers", {})
    if workers:
        verdict = "reached" if workers["talks"] >= 1.7 else "**missed**"
        told = f"{workers['talks']:.2f} x one ({workers['questions']:.2f} x with short questions)"
        yield Row("two workers, talks of 100 turns a second", told, "wanted 1.7 x one", verdict)


def _library(figures: Figures) -> Iterator[Row]:
    seen = figures.told["libraries"]
    ours = seen.get("thinkwire", {}).get("cpu_us")
    rivals = [one["cpu_us"] for name, one in seen.items() if name != "thinkwire" and "cpu_us" in one]
    limits = {"wanted": 10.0, "best other": min(rivals, default=None)}
    yield from _row("library, streamed event", ours, limits, "µs")
    yield from _row("import thinkwire", figures.told["imports"].get("thinkwire"), {"wanted": 0.08}, "s")
