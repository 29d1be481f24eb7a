"""A changed configuration counts without a restart; a broken one changes nothing."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

import msgspec
import pytest

from thinkwire.gateway.config.gateway_config import GatewayConfig, Server
from thinkwire.gateway.config.reload import AT_START, ConfigWatcher


def write(path: Path, text: str) -> None:
    """Replaces the file, with a time of its own however coarse the clock of the disk is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 1_000_000_000, before + 1_000_000_000))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "gateway.toml"
    write(path, '[aliases]\na = "one"\n')
    return path


def test_a_change_counts_once(file: Path) -> None:
    seen: list[GatewayConfig] = []
    watcher = ConfigWatcher(GatewayConfig.load(file), seen.append)
    assert not watcher.poll()
    write(file, '[aliases]\na = "two"\n')
    assert watcher.poll()
    assert not watcher.poll()
    assert [config.aliases["a"] for config in seen] == ["two"]
    assert watcher.config is seen[0]


@pytest.mark.parametrize("text", ["[aliases", "[server]\nport = 1\nhots = 1\n", "\x00"])
def test_a_broken_file_keeps_everything_and_says_why(
    file: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = GatewayConfig.load(file)
    watcher = ConfigWatcher(before)
    write(file, text)
    assert not watcher.poll()
    assert watcher.config is before
    assert f"{file}, line" in caplog.text
    write(file, '[aliases]\na = "three"\n')
    assert watcher.poll()
    assert watcher.config.aliases["a"] == "three"


def test_a_file_that_goes_away_keeps_everything(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    watcher = ConfigWatcher(GatewayConfig.load(file))
    file.unlink()
    assert not watcher.poll()
    assert watcher.config.aliases == {"a": "one"}
    assert "there is no configuration" in caplog.text


def test_a_file_that_comes_later_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    watcher = ConfigWatcher(GatewayConfig.load())
    assert not watcher.poll()
    write(tmp_path / "gateway.toml", '[aliases]\na = "late"\n')
    assert watcher.poll()
    assert watcher.config.aliases == {"a": "late"}


def test_what_the_command_line_said_stays_and_a_move_is_for_the_next_start(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    running = msgspec.structs.replace(GatewayConfig.load(file), server=Server(port=9))
    watcher = ConfigWatcher(running)
    write(file, "[server]\nport = 10\nmax_streams = 3\n")
    with caplog.at_level(logging.INFO, "thinkwire"):
        assert watcher.poll()
    assert (watcher.config.server.port, watcher.config.server.max_streams) == (9, 3)
    assert "port of [server] will count after the next start" in caplog.text


@pytest.mark.parametrize("section", AT_START)
def test_what_is_opened_at_the_start_stays_and_is_told_by_its_section(
    file: Path, caplog: pytest.LogCaptureFixture, section: str
) -> None:
    changes = {
        "server": "idle_seconds = 7",
        "limits": 'url = "redis://elsewhere"',
        "ledger": "enabled = false",
        "logging": "content = true",
        "metrics": "enabled = false",
        "tracing": "enabled = true",
    }
    running = GatewayConfig.load(file)
    watcher = ConfigWatcher(running)
    write(file, f"[{section}]\n{changes[section]}\n")
    with caplog.at_level(logging.INFO, "thinkwire"):
        watcher.poll()
    assert getattr(watcher.config, section) == getattr(running, section)
    name = changes[section].partition(" ")[0]
    assert f"{name} of [{section}] will count after the next start" in caplog.text


def test_a_reload_by_hand_reads_what_looks_the_same(file: Path) -> None:
    watcher = ConfigWatcher(GatewayConfig.load(file))
    state = file.stat()
    file.write_text('[aliases]\na = "two"\n')
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert not watcher.poll()
    assert watcher.reload()


@pytest.mark.anyio
async def test_it_watches_until_it_is_stopped(file: Path) -> None:
    changed = asyncio.Event()
    watcher = ConfigWatcher(GatewayConfig.load(file), lambda config: changed.set())
    task = asyncio.create_task(watcher.run(interval=0.01))
    write(file, '[aliases]\na = "two"\n')
    async with asyncio.timeout(5):
        await changed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
