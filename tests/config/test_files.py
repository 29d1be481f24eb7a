"""The user's file, the project's file, the environment: found, read, refused, changed."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thinkwire.config import Profiles, change_file, load_settings, project_file, user_file
from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS


def test_everything_that_is_set_stands_in_its_order(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file().write_text('model = "of-user"\ntemperature = 0.5\nmaxTokens = 10\nsystem = "of-user"\n')
    (home / "project" / ".thinkwire.toml").write_text(
        'model = "of-project"\nsystem = "of-project"\nmaxTokens = 20\n'
    )
    monkeypatch.setenv("THINKWIRE_MODEL", "of-environment")
    Profiles().save("mine", {"maxTokens": 30, "system": "of-profile"})
    monkeypatch.setenv("THINKWIRE_PROFILE", "mine")
    loaded = load_settings(Path.cwd(), request={"maxTokens": 40})
    assert {row.key: (row.value, row.source) for row in loaded.rows() if row.source != "default"} == {
        "model": ("of-environment", "environment"),
        "system": ("of-profile", "profile"),
        "temperature": (0.5, "user"),
        "maxTokens": (40, "request"),
    }
    places = {row.key: row.place for row in loaded.rows()}
    assert places["temperature"] == str(home / "config" / "config.toml")
    assert places["system"] == str(home / "config" / "profiles" / "mine.toml")
    monkeypatch.delenv("THINKWIRE_MODEL")
    assert load_settings().get("model") == "of-project"


def test_a_machine_without_files_has_the_defaults(home: Path) -> None:
    loaded = load_settings()
    assert all((row.value, row.source) == (KEYS[row.key].default, "default") for row in loaded.rows())


def test_the_profile_named_wins_over_the_variable_and_that_over_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = Profiles()
    for name in ("a", "b", "c"):
        profiles.save(name, {"model": name})
    profiles.set_default("c")
    assert load_settings().get("model") == "c"
    monkeypatch.setenv("THINKWIRE_PROFILE", "b")
    assert load_settings().get("model") == "b"
    assert load_settings(profile="a").get("model") == "a"
    with pytest.raises(ConfigError, match="there is no profile 'd'"):
        load_settings(profile="d")


def test_a_project_file_is_looked_for_as_far_as_home(home: Path) -> None:
    deep = home / "project" / "deep"
    assert project_file(deep) is None
    above = home.parent / ".thinkwire.toml"
    above.write_text("")
    try:
        assert project_file(deep) is None
        assert project_file(home.parent) == above
    finally:
        above.unlink()
    (home / ".thinkwire.toml").write_text("")
    assert project_file(deep) == home / ".thinkwire.toml"
    (home / "project" / ".thinkwire.toml").write_text("")
    assert project_file(deep) == home / "project" / ".thinkwire.toml"
    assert project_file(Path("..")) == home / "project" / ".thinkwire.toml"


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "sk-planted"',
        'ANTHROPIC_API_KEY = "sk-planted"',
        '[keys]\nanthropic = "sk-planted"',
        '[openai]\ntoken = "sk-planted"',
        'providers.x.client_secret = "sk-planted"',
        'password = "sk-planted"',
    ],
)
def test_a_project_file_holds_no_keys(home: Path, line: str) -> None:
    (home / "project" / ".thinkwire.toml").write_text(f'model = "m"\n{line}\n')
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert "shared with others" in str(caught.value)
    assert "keys.toml" in str(caught.value)
    assert "sk-planted" not in str(caught.value)


@pytest.mark.parametrize("line", ['tools.approve = "allow"', 'tools.allow = ["*"]'])
def test_a_project_file_gives_no_leave_to_run_tools(home: Path, line: str) -> None:
    file = home / "project" / ".thinkwire.toml"
    file.write_text(line)
    with pytest.raises(ConfigError, match="cannot be loosened by a project"):
        load_settings()
    user_file().write_text(line)
    file.write_text('tools.approve = "deny"')
    assert load_settings().get("tools.approve") == "deny"


def test_a_project_file_takes_no_leave_by_command_either(home: Path) -> None:
    file = home / "project" / ".thinkwire.toml"
    with pytest.raises(ConfigError, match="cannot be loosened"):
        change_file(file, "tools.approve", "allow", project=True)
    assert not file.exists()


def test_a_misspelled_token_limit_is_no_secret(home: Path) -> None:
    user_file().write_text("[reasoning]\nmaxToken = 5\n")
    with pytest.raises(ConfigError, match=r"line 2: .*did you mean reasoning\.maxTokens"):
        load_settings()


@given(st.binary(max_size=80) | st.text().map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_a_file_are_settings_or_a_config_error(home: Path, data: bytes) -> None:
    user_file().write_bytes(data)
    with suppress(ConfigError):
        assert set(load_settings().layer("user").values) <= set(KEYS)
    assert user_file().read_bytes() == data


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b'model = "m"\nsystem = "\xff"', "line 2: not UTF-8"),
        (b"#" * 2_000_000, "larger than 1024 KiB"),
        (b'model = "m"\n[broken', "line 2"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(home: Path, content: bytes, hint: str) -> None:
    user_file().write_bytes(content)
    for attempt in (load_settings, lambda: change_file(user_file(), "model", "x")):
        with pytest.raises(ConfigError) as caught:
            attempt()
        assert str(user_file()) in str(caught.value)
        assert hint in str(caught.value)
    assert user_file().read_bytes() == content


def test_what_is_no_file_is_not_read(home: Path) -> None:
    user_file().mkdir()
    with pytest.raises(ConfigError, match="is not a file"):
        load_settings()
    user_file().rmdir()
    os.mkfifo(user_file())
    with pytest.raises(ConfigError, match="is not a file"):
        load_settings()


def test_a_change_makes_the_file_and_keeps_it_private(home: Path) -> None:
    change_file(user_file(), "reasoning.effort", "high")
    change_file(user_file(), "tools.allow", ("read_file",))
    assert user_file().read_text() == 'reasoning.effort = "high"\ntools.allow = ["read_file"]\n'
    assert stat.S_IMODE(user_file().stat().st_mode) == 0o600
    change_file(user_file(), "reasoning.effort", None)
    assert load_settings().get("reasoning.effort") is None
    assert [path.name for path in user_file().parent.iterdir()] == ["config.toml"]


def test_a_linked_file_stays_a_link(home: Path) -> None:
    real = home / "dotfiles.toml"
    real.write_text("# kept\n")
    user_file().symlink_to(real)
    change_file(user_file(), "model", "kimi-k3")
    assert user_file().is_symlink()
    assert real.read_text() == '# kept\nmodel = "kimi-k3"\n'


def test_a_folder_that_is_gone_has_no_project(home: Path) -> None:
    gone = home / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    try:
        assert load_settings().get("reasoning.enabled") is True
    finally:
        os.chdir(home)
