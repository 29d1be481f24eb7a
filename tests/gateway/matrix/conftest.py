"""The matrix is shown at the end of a run."""

from __future__ import annotations

import pytest

from tests.gateway.matrix.table import show_matrix


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    show_matrix(terminalreporter)
