"""`thinkwire sim`: says where it is and that it is simulated, and closes on Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import httpx2
import pytest
from click.testing import CliRunner

from thinkwire.cli.sim import sim

COMMAND = """
import signal, sys
from thinkwire.cli.sim import sim
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell starts what shall run behind it
sim(sys.argv[1:])
"""


@pytest.fixture
def running(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-u", "-c", COMMAND, "--port", "0", *request.param]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    yield process
    process.kill()
    with process:  # closes its pipes, and waits
        pass


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert found, line
    return found[0]


def rest_of(process: subprocess.Popen[str]) -> str:
    """Read what the process still writes, to its end, with the reader that `address` used: no other one sees
    what that has buffered.
    """
    assert process.stdout is not None
    limit = threading.Timer(15, process.kill)
    limit.start()
    try:
        return process.stdout.read()
    finally:
        limit.cancel()
        process.wait()


@pytest.mark.parametrize("running", [["--seed", "3"]], indirect=True)
@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_and_closes_cleanly(running: subprocess.Popen[str], told: signal.Signals) -> None:
    url = address(running)
    body = {"model": "qwen3", "messages": [{"role": "user", "content": "[[say:Hi]]"}]}
    got = httpx2.post(f"{url}/ollama/v1/chat/completions", json=body).json()
    assert got["choices"][0]["message"]["content"] == "Hi"
    running.send_signal(told)
    said = rest_of(running)
    assert "Everything here is simulated" in said
    assert f"{url}/anthropic" in said
    assert said.rstrip().endswith("The simulators are closed.")
    assert "Traceback" not in said
    assert running.returncode == 0


@pytest.mark.parametrize("running", [["--chaos", "status=503"]], indirect=True)
def test_chaos_concerns_every_request(running: subprocess.Popen[str]) -> None:
    url = address(running)
    assert httpx2.get(f"{url}/ollama/v1/models").status_code == 503


def test_a_chaos_that_nobody_knows_is_refused_before_anything_starts() -> None:
    result = CliRunner().invoke(sim, ["--chaos", "nonsense"])
    assert result.exit_code == 2
    assert "nonsense" in result.output
