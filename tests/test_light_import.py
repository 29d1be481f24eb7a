"""Starting is quick because nothing heavy is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"aiohttp", "asyncio", "httpx2", "pydantic", "rich", "sqlalchemy", "starlette", "textual", "uvicorn"}

VERSION_COMMAND = """
import sys
from thinkwire.cli import main
sys.argv = ["thinkwire", "--version"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.mark.parametrize("code", ["import thinkwire", VERSION_COMMAND], ids=["import", "thinkwire --version"])
def test_nothing_heavy_is_loaded(code: str) -> None:
    report = "\nimport sys; print(*sys.modules, sep='\\n', file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert HEAVY & set(run.stderr.split()) == set()
