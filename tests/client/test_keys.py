"""Keys: found in order, refused when others can read them, and never shown."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from thinkwire.client.credentials import find_key, missing_key
from thinkwire.client.engine import Client
from thinkwire.errors import ConfigError
from thinkwire.providers import default_providers

ANTHROPIC = default_providers()["anthropic"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)
    return tmp_path


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "keys.toml"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_there_may_be_no_key(folder: Path) -> None:
    assert find_key(ANTHROPIC) is None
    assert "set ANTHROPIC_API_KEY, or `anthropic = …` in " in str(missing_key(ANTHROPIC))


def test_the_environment_wins_over_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder, 'anthropic = "from-file"')
    assert find_key(ANTHROPIC) == "from-file"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-environment")
    assert find_key(ANTHROPIC) == "from-environment"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_can_read_is_refused(folder: Path, mode: int) -> None:
    written(folder, 'anthropic = "from-file"', mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        find_key(ANTHROPIC)


@pytest.mark.parametrize("text", ['anthropic = "sk-secret', "anthropic = 7", 'anthropic = ["sk-secret"]'])
def test_a_broken_file_is_refused_without_showing_what_is_in_it(folder: Path, text: str) -> None:
    written(folder, text)
    with pytest.raises(ConfigError) as caught:
        find_key(ANTHROPIC)
    assert "sk-secret" not in str(caught.value)


def test_the_keyring_is_the_last_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = ModuleType("keyring")
    ring.get_password = lambda service, user: f"{service}-{user}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert find_key(ANTHROPIC) == "thinkwire-anthropic"
    written(folder, 'anthropic = "from-file"')
    assert find_key(ANTHROPIC) == "from-file"


def test_a_broken_keyring_is_as_good_as_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = ModuleType("keyring")

    def broken(service: str, user: str) -> str:
        raise RuntimeError("no backend")

    ring.get_password = broken  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert find_key(ANTHROPIC) is None


def test_a_key_that_was_found_counts_for_a_moment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(sim=False)
    monkeypatch.setattr("thinkwire.client.engine.CHECK_INTERVAL", 1000.0)
    assert not client.has_key(ANTHROPIC)
    file = written(folder, 'anthropic = "from-file"')
    assert client.has_key(ANTHROPIC)
    file.unlink()
    assert client.has_key(ANTHROPIC)
    client.know(default_providers())
    assert not client.has_key(ANTHROPIC)


def test_after_that_it_is_looked_for_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(sim=False)
    monkeypatch.setattr("thinkwire.client.engine.CHECK_INTERVAL", 0.0)
    file = written(folder, 'anthropic = "from-file"')
    assert client.has_key(ANTHROPIC)
    file.unlink()
    assert not client.has_key(ANTHROPIC)
