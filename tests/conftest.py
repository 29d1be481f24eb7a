"""Offline, repeatable, and loud about what could not be tested."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.gateway.matrix.table import show_matrix
from tests.support import MISSING, PARTS, need, recordings_root

settings.register_profile(
    "default", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

LOOPBACK = re.compile(r"localhost$|127\.|::1$|::ffff:127\.")


def _stay_on_loopback(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(args[1], tuple) and not LOOPBACK.match(str(args[1][0])):
        raise RuntimeError(f"tests are offline, but one connects to {args[1]}")


sys.addaudithook(_stay_on_loopback)


_serial = itertools.count()


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point state, configuration and data at folders that are created when a test writes to them."""
    base = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("THINKWIRE_STATE", str(base / "state-that-is-not-there"))
    monkeypatch.setenv("THINKWIRE_CONFIG", str(base / "config-that-is-not-there"))
    monkeypatch.setenv("THINKWIRE_DATA", str(base / f"data-{next(_serial)}"))
    for name in (
        "MODELS",
        "MODEL",
        "PROFILE",
        "SIM",
        "DATABASE_URL",
        "REDIS_URL",
        "STORE_KEY",
        "GATEWAY_KEY",
        "WORKSPACE",
        "WEB_TOKEN",
        "WEB_COOKIE_SECRET",
    ):
        monkeypatch.delenv(f"THINKWIRE_{name}", raising=False)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for part in mark.args:
            need(part)


def pytest_report_header() -> str | None:
    if recordings_root():
        return None
    return f"NO RECORDINGS: {PARTS['recordings'].remedy} to test against real traffic"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = (report.longrepr[2] for report in terminalreporter.getreports("skipped"))
    missing = Counter(reason.split(MISSING, 1)[1].split(" ", 1)[0] for reason in reasons if MISSING in reason)
    if missing:
        counts = ", ".join(f"{part} {count}" for part, count in sorted(missing.items()))
        remedies = ", ".join(sorted({PARTS[part].remedy for part in missing}))
        line = f"{missing.total()} skipped for missing parts: {counts}. To run them: {remedies}"
        terminalreporter.write_line(line, yellow=True, bold=True)
    show_matrix(terminalreporter)
