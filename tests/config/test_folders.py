"""Where things are kept."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from thinkwire.client.learned_facts import LOCAL_USER, LearnedFact, default_learned_facts
from thinkwire.config import Profiles
from thinkwire.config.paths import config_folder, data_folder, make_folder, state_folder
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.common.secret_box import load_secrets
from thinkwire.gateway.ledger import open_ledger
from thinkwire.store import open_store
from thinkwire.terminal.prompt_history import PromptHistory

FACT = LearnedFact(LOCAL_USER, "p", "m", {}, "said so", 0.0)

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
    code = "import sys, thinkwire.config.paths as f; f.config_folder(); print('platformdirs' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"THINKWIRE_CONFIG": str(tmp_path)},
    )
    assert run.stdout == "False\n"


@contextmanager
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def use_state() -> None:
    load_secrets()


def use_learned_facts() -> None:
    default_learned_facts().add(FACT)


def use_config() -> None:
    KeyFile().create("ci")


def use_profiles() -> None:
    Profiles().save("mine", {"temperature": 1.0})


def use_ledger() -> None:
    async def opening() -> None:
        async with await open_ledger(key=bytes(32)):
            pass

    asyncio.run(opening())


def use_store() -> None:
    async def opening() -> None:
        async with await open_store():
            pass

    asyncio.run(opening())


def use_history() -> None:
    PromptHistory().add("Hello.")


USES = [use_state, use_learned_facts, use_config, use_profiles, use_ledger, use_store, use_history]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_folders_are_their_owners_whatever_the_umask_is(
    use: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in FOLDERS:
        monkeypatch.setenv(f"THINKWIRE_{kind}", str(tmp_path / "above" / kind.lower()))
    with open_umask():
        use()
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert len(folders) >= 2
    assert {str(path): mode(path) for path in folders} == dict.fromkeys(map(str, folders), 0o700)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if mode(path) & 0o077]


@pytest.mark.parametrize(
    ("before", "after"), [(0o777, 0o755), (0o707, 0o705), (0o1777, 0o1777), (0o770, 0o770)]
)
def test_a_folder_that_others_can_write_to_is_told_and_closed_where_that_is_safe(
    before: int, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(before)
    for _ in range(2):
        make_folder(tmp_path / "state")
    assert mode(tmp_path / "state") == after
    assert caplog.text.count(str(tmp_path / "state")) == (2 if before == after else 1)


def test_folders_of_others_stay_as_they_are(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tmp_path.chmod(0o777)
    make_folder(tmp_path)
    assert mode(tmp_path) == 0o777
    assert not caplog.text


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        make_folder(tmp_path / "file" / "below")
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")
