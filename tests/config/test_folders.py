"""Where things are kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from thinkwire.folders import config_folder, data_folder, state_folder

FOLDERS = {"CONFIG": config_folder, "STATE": state_folder, "DATA": data_folder}
AT_HOME = {"CONFIG": ".config", "STATE": ".local/state", "DATA": ".local/share"}


@pytest.mark.parametrize("kind", FOLDERS)
def test_our_own_variable_then_xdg_then_home(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"THINKWIRE_{kind}", str(tmp_path / "own"))
    monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert FOLDERS[kind]() == tmp_path / "own"
    monkeypatch.delenv(f"THINKWIRE_{kind}")
    if sys.platform == "linux":
        assert FOLDERS[kind]() == tmp_path / "xdg" / "thinkwire"
        monkeypatch.delenv(f"XDG_{kind}_HOME")
        assert FOLDERS[kind]() == tmp_path / AT_HOME[kind] / "thinkwire"
    assert list(tmp_path.iterdir()) == []


def test_the_folders_package_is_loaded_only_when_it_decides(tmp_path: Path) -> None:
    code = "import sys, thinkwire.folders as f; f.config_folder(); print('platformdirs' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"THINKWIRE_CONFIG": str(tmp_path)},
    )
    assert run.stdout == "False\n"
