"""Schemathesis against the OpenAPI document of a running server: what is promised is kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.test_fuzz import Server, running
from tests.web.webs import all_bases
from thinkwire.sim.fixture import Running

pytestmark = [pytest.mark.slow, pytest.mark.e2e]

SEMANTIC = "positive_data_acceptance"
"""That a model or a tool exists cannot be said in a schema."""


@pytest.fixture(scope="module")
def server(
    simulator: Running, empty_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("schemathesis")
    shutil.copy(empty_store, folder / "web.db")
    with running(f"sqlite:///{folder / 'web.db'}", all_bases(simulator.url), folder) as one:
        yield one


QUICK = ("--phases", "fuzzing", "--max-examples", "1")
THOROUGH = ("--phases", "coverage,fuzzing", "--max-examples", "5")


@pytest.mark.parametrize("depth", [QUICK, pytest.param(THOROUGH, marks=pytest.mark.full)], ids=" ".join)
def test_what_the_document_promises_is_kept(server: Server, tmp_path: Path, depth: tuple[str, ...]) -> None:
    command = [
        str(Path(sys.executable).with_name("st")),
        *("run", f"http://127.0.0.1:{server.port}/api/openapi.json"),
        *("-H", f"cookie: {server.cookie}", "-H", f"x-csrf-token: {server.csrf}"),
        *("--exclude-checks", SEMANTIC, *depth),
        *("--request-timeout", "30", "--no-color", "--continue-on-failure"),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-8000:]
