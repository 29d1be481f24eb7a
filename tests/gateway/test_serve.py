"""`thinkwire serve` as a process: its banner, its configuration, its workers, and its end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx2
import pytest
from click.testing import CliRunner

from thinkwire.cli.serve import serve

PATIENCE = 20.0
STALL = "[[think:Hm.]] [[say:One.]] [[stall:0.4]] [[say:Two.]]"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return kept | {"THINKWIRE_STATE": str(tmp_path / "state"), "THINKWIRE_CONFIG": str(tmp_path)}


@contextmanager
def served(environment: dict[str, str], *options: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The running process, its address, and its banner."""
    command = [sys.executable, "-m", "thinkwire", "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            banner = _until(process.stdout, "x-thinkwire-explain")
            found = re.search(r"at (http://\S+)", banner)
            assert found, banner
            _wait_for(found[1])
            yield process, found[1], banner
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)


def _until(stream: IO[str], word: str) -> str:
    lines: list[str] = []
    for line in stream:
        lines.append(line)
        if word in line:
            break
    return "".join(lines)


def _wait_for(url: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if httpx2.get(f"{url}/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.02)
    raise AssertionError("the gateway did not become ready")


def ask(url: str, text: str, **more: Any) -> dict[str, Any]:
    return {"model": "deepseek/deepseek-v4-pro", "messages": [{"role": "user", "content": text}], **more}


def test_a_first_try_needs_no_key_and_a_signal_drains_what_runs(environment: dict[str, str]) -> None:
    with served(environment) as (process, url, banner):
        assert "SIMULATED" in banner
        assert "ANTHROPIC_BASE_URL" in banner
        with httpx2.stream(
            "POST", f"{url}/v1/chat/completions", json=ask(url, STALL, stream=True), timeout=PATIENCE
        ) as reply:
            pieces = reply.iter_text()
            said = next(pieces)
            process.send_signal(signal.SIGTERM)
            said += "".join(pieces)
        assert "Two." in said
        assert "[DONE]" in said
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM)
        assert process.stderr is not None
        lines = [json.loads(line) for line in process.stderr.read().splitlines()]
    (told,) = [line for line in lines if line["logger"] == "thinkwire.gateway.request"]
    assert (told["status"], told["model"], told["finish"]) == (200, "deepseek-v4-pro", "stop")


def test_a_changed_configuration_counts_and_a_second_signal_ends_at_once(
    environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text('[server]\ndrain_seconds = 60\n[aliases]\nmine = "deepseek/deepseek-v4-pro"\n')
    with served(environment, "--sim") as (process, url, _):
        assert httpx2.get(f"{url}/v1/models/mine").json()["owned_by"] == "DeepSeek"
        file.write_text('[server]\ndrain_seconds = 60\n[aliases]\nmine = "claude-opus-5-5"\n')
        process.send_signal(signal.SIGHUP)
        end = time.monotonic() + PATIENCE
        while httpx2.get(f"{url}/v1/models/mine").json()["owned_by"] != "Anthropic":
            assert time.monotonic() < end
            time.sleep(0.02)
        asked = ask(url, "[[say:One.]] [[stall:30]] [[say:Two.]]", stream=True)
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=asked, timeout=PATIENCE) as reply:
            assert reply.status_code == 200, reply.read()
            pieces = reply.iter_bytes()  # kept: dropping the iterator closes the connection
            assert b"One." in next(pieces)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.15)
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def test_several_workers_share_a_socket(environment: dict[str, str]) -> None:
    with served(environment, "--sim", "--workers", "2") as (process, url, _):
        for _ in range(3):
            reply = httpx2.post(
                f"{url}/v1/chat/completions", json=ask(url, "[[say:Hello.]]"), timeout=PATIENCE
            )
            assert reply.json()["choices"][0]["message"]["content"] == "Hello."
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        assert process.stderr is not None
        lines = [json.loads(line) for line in process.stderr.read().splitlines()]
    told = [line["status"] for line in lines if line["logger"] == "thinkwire.gateway.request"]
    assert told == [200, 200, 200], "a signal right after the last answer loses no line"


def run(*options: str) -> Any:
    return CliRunner().invoke(serve, options)


def test_a_configuration_can_be_checked(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text('[aliases]\nmine = "nobody-has-this"\n')
    done = run("--check", "--config", str(file))
    assert done.exit_code == 0
    assert "in order" in done.output
    assert "nobody-has-this" in done.output
    file.write_text("[server]\nprot = 1\n")
    done = run("--check", "--config", str(file))
    assert done.exit_code == 1
    assert "line 2" in done.output
    assert "port" in done.output


def test_others_cannot_reach_it_without_keys() -> None:
    done = run("--host", "0.0.0.0", "--port", "0")
    assert done.exit_code == 1
    assert "thinkwire keys create" in done.output


def test_a_taken_port_is_told() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--port", str(port), "--sim")
    assert done.exit_code == 1
    assert str(port) in done.output
