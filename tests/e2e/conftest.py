"""One gateway for all clients, and a table of how they fared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from tests.e2e.world import World, world
from tests.support import ROOT

CELL = "client_cell"
"""The property of a report that tells its cell: client|wire|model|what was tried."""
TRIED = ("thinking", "tools")
FILE = ROOT / "build" / "clients.md"


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("gateway")) as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the table and writes it to a file; nothing when no client was run."""
    cells: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties:
                if name == CELL:
                    *row, tried = str(value).split("|")
                    cells[tuple(row)][tried] = "ok" if outcome == "passed" else "FAILED"
    if not cells:
        return
    told = [how for fared in cells.values() for how in fared.values()]
    lines = [*lines_of(cells), "", f"{told.count('ok')} of {len(told)} cells pass."]
    terminalreporter.section("real clients")
    terminalreporter.write("\n".join(lines) + "\n")
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("\n".join(["# Real clients", "", *lines, ""]), "utf-8")


def lines_of(cells: Mapping[tuple[str, ...], Mapping[str, str]]) -> Iterator[str]:
    head = ["client", "wire", "model", *TRIED]
    table = [[*row, *(cells[row].get(tried, "") for tried in TRIED)] for row in sorted(cells)]
    widths = [max(len(line[at]) for line in [head, *table]) for at in range(len(head))]
    for line in [head, ["-" * width for width in widths], *table]:
        cut = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield f"| {' | '.join(cut)} |"
