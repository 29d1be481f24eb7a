"""Profiles: saved and restored whole, never half, never elsewhere."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.settings.strategies import anything, assignments, value_tables
from thinkwire.config import Profiles, load_settings
from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS, intent_of, overrides_of, replay_of

SHIPPED: dict[str, dict[str, Any]] = {
    "claude-sonnet-4": {"reasoning.includeInContext": True, "reasoning.format": "native"},
    "gemini-2.5-flash": {"reasoning.includeInContext": False},
    "gpt-4o": {"reasoning.enabled": False},
    "kimi-k2-thinking": {"reasoning.includeInContext": True, "reasoning.format": "field"},
}


@pytest.fixture
def profiles(home: Path) -> Profiles:
    return Profiles()


def everything_under(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@given(st.builds(lambda one, more: more | dict([one]), assignments, value_tables))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_setting_is_saved_and_restored(profiles: Profiles, values: dict[str, Any]) -> None:
    profiles.save("p", values)
    assert profiles.load("p") == values
    assert Profiles(profiles.folder).list()[-1].flaw is None


@given(st.text(), st.dictionaries(st.text() | st.sampled_from(list(KEYS)), anything, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_name_and_values_are_saved_inside_the_folder_or_refused(
    home: Path, name: str, values: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory(dir=home) as inside:
        folder = Path(inside) / "profiles"
        before = everything_under(home)
        with suppress(ConfigError):
            path = Profiles(folder).save(name, values)
            assert path.parent == folder
            assert set(Profiles(folder).load(name)) == set(values)
        new = set(everything_under(home)) - set(before)
        assert all(Path(path).parent == folder for path in new)


@given(st.binary(max_size=60) | st.text().map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_is_a_profile_or_reported_and_left(profiles: Profiles, data: bytes) -> None:
    profiles.folder.mkdir(exist_ok=True)
    (profiles.folder / "odd.toml").write_bytes(data)
    flaw = next(entry.flaw for entry in profiles.list() if entry.name == "odd")
    if flaw is None:
        assert set(profiles.load("odd")) <= set(KEYS)
    else:
        with pytest.raises(ConfigError, match="it stays as it is"):
            profiles.save("odd", {"model": "m"})
        assert (profiles.folder / "odd.toml").read_bytes() == data


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../up", "a/b", "/etc/x", "a\\b", ".hidden", "-x", "a\n", "ä", "a" * 65, "a\0b", "a b"],
)
def test_a_name_that_is_no_name_reaches_no_file(profiles: Profiles, home: Path, name: str) -> None:
    victim = home / "up.toml"
    victim.write_text('model = "victim"\n')
    for attempt in (
        profiles.load,
        profiles.delete,
        profiles.set_default,
        lambda name: profiles.save(name, {"model": "m"}),
    ):
        with pytest.raises(ConfigError, match="cannot name a profile"):
            attempt(name)
    assert victim.read_text() == 'model = "victim"\n'


def test_a_crash_while_saving_leaves_the_old_profile(
    profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles.save("p", {"model": "old"})
    before = everything_under(profiles.folder)

    def crash(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    for call in ("replace", "fsync"):
        with monkeypatch.context() as broken:
            broken.setattr(os, call, crash)
            with pytest.raises(ConfigError, match="No space left on device"):
                profiles.save("p", {"model": "new"})
        assert everything_under(profiles.folder) == before
    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            profiles.save("p", {"model": "new"})
    assert everything_under(profiles.folder) == before
    assert profiles.load("p") == {"model": "old"}


def test_a_damaged_profile_is_overwritten_only_by_force(profiles: Profiles) -> None:
    profiles.save("p", {"model": "m"})
    (profiles.folder / "p.toml").write_text("model = \n")
    with pytest.raises(ConfigError, match=r"p\.toml: .*line 1"):
        profiles.load("p")
    with pytest.raises(ConfigError, match="--force"):
        profiles.save("p", {"model": "new"})
    profiles.save("p", {"model": "new"}, force=True)
    assert profiles.load("p") == {"model": "new"}


def test_a_wrong_value_leaves_the_profile_as_it_was(profiles: Profiles) -> None:
    profiles.save("p", {"model": "m"})
    for values in ({"model": "n", "temperature": 9}, {"nonsense": 1}, {}):
        with pytest.raises(ConfigError):
            profiles.save("p", values)
    assert profiles.load("p") == {"model": "m"}


def test_a_profile_is_readable_by_its_owner_alone(profiles: Profiles) -> None:
    path = profiles.save("p", {"model": "m"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", SHIPPED)
def test_the_four_examples_come_with_the_package(profiles: Profiles, name: str) -> None:
    values = profiles.load(name)
    assert values.pop("model").endswith(f"/{name}")
    assert values == SHIPPED[name]
    with pytest.raises(ConfigError, match="comes with the package"):
        profiles.delete(name)


def test_a_profile_of_your_own_hides_the_example(profiles: Profiles) -> None:
    assert all(entry.shipped and entry.flaw is None for entry in profiles.list())
    profiles.save("gpt-4o", {"model": "mine"})
    assert profiles.load("gpt-4o") == {"model": "mine"}
    assert [entry.name for entry in profiles.list() if not entry.shipped] == ["gpt-4o"]
    profiles.delete("gpt-4o")
    assert profiles.load("gpt-4o")["reasoning.enabled"] is False


def test_saving_and_loading_gives_the_same_thinking(profiles: Profiles) -> None:
    """Success criterion 7 of seed 001, through the files that a second process would read."""
    session = load_settings()
    for key, value in {
        "model": "moonshot/kimi-k2-thinking",
        "reasoning.includeInContext": True,
        "reasoning.format": "native",
        "reasoning.stripFromContext": "allButLast",
        "reasoning.effort": "high",
        "reasoning.maxTokens": 9_000,
        "reasoning.summary": "concise",
        "reasoning.effortMap": {"low": "brief"},
        "reasoning.wireFormat": "think",
        "reasoning.fieldName": "thoughts",
    }.items():
        session = session.set("session", key, value)
    profiles.save("mymodel", session.saved())
    restored = load_settings(profile="mymodel")
    for meaning in (intent_of, replay_of, overrides_of):
        assert meaning(restored) == meaning(session)
    assert restored.get("model") == session.get("model")
    switched = restored.set("session", "model", "anthropic/claude-opus-5")
    assert (intent_of(switched), replay_of(switched)) == (intent_of(session), replay_of(session))


def test_the_default_is_chosen_kept_and_given_up(profiles: Profiles) -> None:
    assert profiles.default() is None
    with pytest.raises(ConfigError, match="there is no profile"):
        profiles.set_default("p")
    profiles.save("p", {"model": "m"})
    profiles.set_default("p")
    assert [entry.name for entry in Profiles().list() if entry.default] == ["p"]
    profiles.delete("p")
    assert profiles.default() is None
    profiles.set_default("gpt-4o")
    profiles.set_default(None)
    profiles.set_default(None)
    assert profiles.default() is None


def test_a_damaged_default_says_what_to_do(profiles: Profiles) -> None:
    profiles.save("p", {"model": "m"})
    profiles.set_default("p")
    (profiles.folder / "p.toml").unlink()
    with pytest.raises(ConfigError, match=r"there is no profile 'p'.*profile default --clear"):
        load_settings()
    (profiles.folder / "default").write_text("../../etc\n")
    with pytest.raises(ConfigError, match="delete it"):
        load_settings()


def test_deleting_what_is_not_there_says_what_is(profiles: Profiles) -> None:
    with pytest.raises(ConfigError, match="there are: claude-sonnet-4, gemini"):
        profiles.delete("nobody")
