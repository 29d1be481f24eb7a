"""Open files and memory of the serving process."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from thinkwire.gateway.server import serve
from thinkwire.gateway.server.process_limits import (
    SPARE_FILES,
    MemoryTrimmer,
    warn_of_few_files,
)

FEW, MORE = 300, 400


def printed_by(code: str) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def in_a_process(code: str, soft: int, hard: int) -> str:
    """The same with these limits of open files."""
    return printed_by(
        f"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))\n{code}"
    )


RAISE = """
from thinkwire.gateway.server.process_limits import raise_open_files
print(raise_open_files(%s), resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_the_soft_limit_is_raised_to_the_hard_one_within_reason() -> None:
    assert in_a_process(RAISE % "", FEW, MORE) == f"{MORE} ({MORE}, {MORE})"
    assert in_a_process(RAISE % 350, FEW, MORE) == f"350 (350, {MORE})"
    assert in_a_process(RAISE % 200, FEW, MORE) == f"{FEW} ({FEW}, {MORE})", "none is lowered"


def wait_until_served(banner: str) -> None:
    found = re.search(r"at (http://\S+)", banner)
    assert found
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{found[1]}/healthz", timeout=5):
            return
        time.sleep(0.02)
    raise TimeoutError("the gateway does not serve")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_serving_raises_the_limit_and_warns_when_the_streams_do_not_fit(tmp_path: Path, workers: str) -> None:
    environment = os.environ | {"THINKWIRE_STATE": str(tmp_path / "state"), "THINKWIRE_CONFIG": str(tmp_path)}
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({FEW}, {MORE}))\n"
        "from thinkwire.cli.app import app\n"
        f"app(['serve', '--sim', '--no-web', '--port', '0', '--workers', '{workers}'])\n"
    )
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, **pipes) as process:
        assert process.stdout is not None
        try:
            wait_until_served(next(line for line in process.stdout if "at http://" in line))
            limits = Path(f"/proc/{process.pid}/limits").read_text()
        finally:
            process.terminate()
            _, told = process.communicate(timeout=20)
    line = next((line for line in told.splitlines() if "max_streams" in line), "")
    assert str(512 * 2 + SPARE_FILES) in line
    assert str(MORE) in line
    assert re.search(rf"Max open files\s+{MORE}\s+{MORE}", limits)


@pytest.mark.parametrize(
    ("files", "streams", "warns"),
    [(1024, 512, True), (1152, 512, False), (65_536, 512, False), (None, 10**6, False), (255, 64, True)],
)
def test_streams_that_do_not_fit_are_told(
    files: int | None, streams: int, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "thinkwire.gateway"):
        warn_of_few_files(files, streams)
    assert bool(caplog.records) is warns


def test_loading_ahead_that_fails_is_one_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(name: str) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(serve, "import_module", fail)
    with caplog.at_level(logging.WARNING, "thinkwire.gateway"):
        serve.warm_up()
    (record,) = caplog.records
    assert record.exc_info is None
    assert "Too many open files" in record.getMessage()


@pytest.mark.anyio
async def test_memory_is_given_back_when_much_was_used_and_nothing_is_served() -> None:
    used, idle, trimmed = 100, True, 0

    def trim() -> None:
        nonlocal used, trimmed
        used, trimmed = 120, trimmed + 1

    trimmer = MemoryTrimmer(lambda: idle, used=lambda: used, trim=trim, growth=50)
    assert not await trimmer.check(), "nothing has grown"
    used = 1000
    idle = False
    assert not await trimmer.check(), "something is being served"
    idle = True
    assert await trimmer.check()
    used = 160
    assert not await trimmer.check(), "it grows from what was left"
    used = 171
    assert await trimmer.check()
    assert trimmed == 2


HEAP = """
import asyncio
from thinkwire.gateway.server.process_limits import TRIM_GROWTH, memory_trimmer
trimmer = memory_trimmer(lambda: True)
used = trimmer._used
start = used()
pieces = [bytes(4000) for _ in range(75_000)]
last = bytes(4000)
peak = used()
del pieces
freed = used()
assert asyncio.run(trimmer.check())
print(start, peak, freed, used(), sep=" ")
"""


def test_the_memory_of_a_real_process_comes_back() -> None:
    found = subprocess.run(
        [sys.executable, "-c", HEAP], capture_output=True, text=True, check=True, timeout=60
    )
    start, peak, freed, trimmed = map(int, found.stdout.split())
    assert freed - start > 0.8 * (peak - start), "freeing alone does not give it back"
    assert trimmed - start < 0.2 * (peak - start)
