"""`thinkwire ledger`, as a user types it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.app import app
from thinkwire.gateway.ledger import open_ledger
from thinkwire.messages import Thinking, ToolCall, Turn


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path / "config"))


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["ledger", *words])


def remember(*numbers: int, url: str | None = None) -> None:
    async def remembering() -> None:
        async with await open_ledger(url) as ledger:
            for number in numbers:
                turn = Turn("assistant", (Thinking(f"{number}"), ToolCall(f"call_{number}", "ls")))
                assert await ledger.remember("t", "deepseek/v4", turn)

    asyncio.run(remembering())


def test_stats_of_nothing_and_of_something() -> None:
    empty = json.loads(run("stats", "--json").stdout)
    assert (empty["turns"], empty["bytes"], empty["oldest_use"]) == (0, 0, None)
    remember(1, 2)
    shown = run("stats").stdout
    assert "turns       2\n" in shown
    assert "ledger.db" in shown


def test_looking_forgets_nothing(tmp_path: Path) -> None:
    remember(1)
    config = tmp_path / "config" / "gateway.toml"
    config.parent.mkdir()
    config.write_text('[ledger]\nttl = "1s"\nmax_mb = 0.001\n')
    assert json.loads(run("stats", "--json").stdout)["turns"] == 1


def test_purging_by_age_then_all() -> None:
    remember(1, 2, 3)
    assert run("purge").stdout == "0 turns forgotten\n"
    assert json.loads(run("purge", "--older-than", "1h", "--json").stdout) == {"purged": 0}
    assert run("purge", "--all").stdout == "3 turns forgotten\n"
    assert json.loads(run("stats", "--json").stdout)["turns"] == 0


def test_the_configured_ledger_is_meant(tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere.db")
    remember(1, url=elsewhere)
    config = tmp_path / "mine.toml"
    config.write_text(f'[ledger]\nurl = "{elsewhere}"\n')
    assert json.loads(run("stats", "--json", "--config", str(config)).stdout)["turns"] == 1
    assert json.loads(run("stats", "--json", "--url", elsewhere).stdout)["turns"] == 1
    assert json.loads(run("stats", "--json").stdout)["turns"] == 0


@pytest.mark.parametrize("words", [("--older-than", "soon"), ("--older-than", "7d", "--all")])
def test_what_cannot_be_meant_is_a_usage_error(words: tuple[str, ...]) -> None:
    assert run("purge", *words).exit_code == 2


@pytest.mark.parametrize(
    "url", ["mysql://h/d", "redis://user:hunter2@127.0.0.1:1/0", "postgresql://user:hunter2@127.0.0.1:1/d"]
)
def test_a_store_that_is_not_there_is_told_without_its_password(url: str) -> None:
    result = run("stats", "--url", url)
    assert result.exit_code == 1
    told = json.loads(result.stderr)["error"]["message"]
    assert "hunter2" not in result.stderr
    assert "ledger" in told
