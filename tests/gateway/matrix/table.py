"""The matrix as a table: one line for each client and provider, one column for each scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from tests.gateway.matrix.scenarios import SCENARIOS
from tests.support import ROOT

FILE = ROOT / "build" / "gateway-matrix.md"
CELL = "gateway_cell"
"""The property of a report that tells its cell: ingress/provider/scenario."""

_SHOWN = pytest.StashKey[bool]()


def cells_of(reports: Iterable[pytest.TestReport]) -> dict[tuple[str, str, str], str]:
    """What became of each cell that was tested."""
    found: dict[tuple[str, str, str], str] = {}
    for report in reports:
        for name, value in report.user_properties:
            if name == CELL and (report.when == "call" or report.failed):
                ingress, provider, scenario = str(value).split("/")
                found[ingress, provider, scenario] = "ok" if report.passed else "FAILED"
    return found


def lines_of(cells: dict[tuple[str, str, str], str]) -> Iterator[str]:
    columns = [name for name in SCENARIOS if any(name == scenario for *_, scenario in cells)]
    rows = list(dict.fromkeys((ingress, provider) for ingress, provider, _ in sorted(cells)))
    head = ["client", "provider", *columns]
    table = [[*row, *(cells.get((*row, column), "") for column in columns)] for row in rows]
    widths = [max(len(line[at]) for line in [head, *table]) for at in range(len(head))]
    for line in [head, ["-" * width for width in widths], *table]:
        cut = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield f"| {' | '.join(cut)} |"


def show_matrix(terminal: pytest.TerminalReporter) -> None:
    """Prints the table and writes it to a file, once; nothing when no cell was tested."""
    reports = [report for kind in ("passed", "failed", "error") for report in terminal.getreports(kind)]
    cells = cells_of(report for report in reports if isinstance(report, pytest.TestReport))
    if not cells or terminal.config.stash.get(_SHOWN, False):
        return
    terminal.config.stash[_SHOWN] = True
    passed = sum(told == "ok" for told in cells.values())
    lines = [*lines_of(cells), "", f"{passed} of {len(cells)} cells pass."]
    terminal.write_sep("-", "gateway matrix")
    terminal.write("\n".join(lines) + "\n")
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("\n".join(["# Gateway matrix", "", *lines, ""]), "utf-8")
