"""The status: who answers and how hard it thinks, how full the window is, what it cost."""

from __future__ import annotations

import msgspec
from textual.widgets import Static

from thinkwire.usage import Usage


class StatusData(msgspec.Struct, frozen=True):
    """What the status tells."""

    provider: str = ""
    model: str = "no model"
    level: str = ""
    context: str = "?"
    simulated: bool = False
    hidden: bool = False
    """Thinking is not shown."""
    turn: Usage | None = None
    turn_cost: float | None = None
    asked: bool = False
    """Whether there was a turn at all."""
    total: int | None = None
    total_cost: float | None = None


class StatusBar(Static):
    """Two lines: the next request above, what the last ones took below."""

    def __init__(self) -> None:
        super().__init__("starting…", markup=False)
        self._standing: StatusData | None = None

    def on_resize(self) -> None:
        self._draw()

    def show(self, standing: StatusData) -> None:
        self._standing = standing
        self._draw()

    def _draw(self) -> None:
        if self._standing is not None:
            self.update("\n".join(lines_of(self._standing, self.size.width or 80)), layout=False)


def lines_of(standing: StatusData, width: int) -> tuple[str, str]:
    """Both lines, at most so wide: what matters less goes first."""
    from thinkwire.session.formatting import count, money, tokens

    mark = "SIMULATED " if standing.simulated else ""
    name = f"{standing.model}/{standing.level}" if standing.level else standing.model
    hidden = "thinking hidden" if standing.hidden else ""
    left = f"{mark}{standing.provider} {name}".strip()
    first = _fitted([left, f"context {standing.context}", hidden], width, [left, hidden, standing.context])
    if not standing.asked:
        return first, ""
    turn = f"turn {tokens(standing.turn)}, {money(standing.turn_cost)}"
    whole = f"conversation {count(standing.total)}, {money(standing.total_cost)}"
    short = f"all {count(standing.total)}, {money(standing.total_cost)}"
    return first, _fitted([turn, whole], width, [turn, short])


def _fitted(parts: list[str], width: int, short: list[str]) -> str:
    """The parts, or their short forms, as many as there is room for."""
    if len(line := " · ".join(filter(None, parts))) <= width:
        return line
    shown = [part for part in short if part]
    while len(shown) > 1 and len(" · ".join(shown)) > width:
        shown.pop()
    line = " · ".join(shown)
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"
