"""`thinkwire db`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.postgres import PostgreSQL
from thinkwire.cli.db import db
from thinkwire.store.schema import NEWEST


def run(*words: str) -> Result:
    return CliRunner().invoke(db, words)


def test_the_file_is_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_DATA", str(tmp_path))
    assert run("path").output == f"{tmp_path / 'thinkwire.db'}\n"
    monkeypatch.setenv("THINKWIRE_DATABASE_URL", "postgresql://me:secret@host:5432/talks?sslmode=require")
    assert run("path").output == "postgresql://me@host:5432/talks\n"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_up_and_down(kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "postgresql":
        server: PostgreSQL = request.getfixturevalue("postgres")
        monkeypatch.setenv("THINKWIRE_DATABASE_URL", server.database())
    before = run("current")
    assert (before.exit_code, before.output) == (1, f"empty (newest: {NEWEST})\n")
    assert f"is at step {NEWEST}" in run("upgrade").output
    assert f"is at step {NEWEST}" in run("upgrade").output
    after = run("current")
    assert (after.exit_code, after.output) == (0, f"{NEWEST}\n")
    assert run("downgrade", "base").exit_code == 1
    assert run("current").exit_code == 0
    assert "is at step base" in run("downgrade", "base", "--yes").output
    assert run("current").exit_code == 1


def test_mistakes_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_DATA", str(tmp_path / "data"))
    assert "there is no step 7; there are base, " in run("downgrade", "7", "--yes").output
    result = run("upgrade", "--url", "mysql://me:secret@host/x")
    assert (result.exit_code, "a store is at sqlite:///" in result.output) == (1, True)
    assert "secret" not in result.output
    assert not (tmp_path / "data").exists()
