"""A machine of its own for every test: home, configuration folder, working folder."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a configuration folder, and a project in it as the working folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path / "config"))
    for name in ("THINKWIRE_PROFILE", "THINKWIRE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "config").mkdir()
    (tmp_path / "project" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "deep")
    return tmp_path
