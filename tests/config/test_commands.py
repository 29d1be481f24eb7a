"""`thinkwire config` and `thinkwire profile`, as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.config import config
from thinkwire.cli.profile import profile
from thinkwire.settings import KEYS


def run(*words: str, color: bool = False) -> Result:
    return CliRunner().invoke({"config": config, "profile": profile}[words[0]], words[1:], color=color)


def ok(*words: str) -> str:
    done = run(*words)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*words: str) -> str:
    done = run(*words)
    assert done.exit_code == 1
    assert done.stdout == ""
    message: str = json.loads(done.stderr)["error"]["message"]
    return message


def test_show_tells_every_value_and_its_place(home: Path) -> None:
    ok("config", "set", "reasoning.effort", "high")
    lines = ok("config", "show", "--profile", "kimi-k2-thinking").splitlines()
    assert len(lines) == len(KEYS) + 1
    shown = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines}
    assert shown["reasoning.effort"] == ["high", f"user: {home}/config/config.toml"]
    assert shown["reasoning.format"] == ["field", "profile: profile kimi-k2-thinking of the package"]
    assert shown["reasoning.carry"] == ["none", "default"]
    assert shown["maxTokens"] == ["-", "unset"]
    starts = {line.index(line.split()[1], len(line.split()[0])) for line in lines}
    assert len(starts) == 1


def test_show_for_machines_is_one_object_per_line(home: Path) -> None:
    ok("config", "set", "reasoning.effortMap", "low=brief")
    rows = {row["key"]: row for row in map(json.loads, ok("config", "show", "--json").splitlines())}
    assert list(rows) == list(KEYS)
    assert rows["reasoning.effortMap"]["value"] == {"low": "brief"}
    assert rows["reasoning.effort"] == {
        "key": "reasoning.effort",
        "value": None,
        "source": "default",
        "place": None,
    }


def test_control_characters_of_a_file_do_not_reach_the_terminal(home: Path) -> None:
    ok("config", "set", "system", "a\x1b[31mred\nb" + "x" * 100)
    line = next(line for line in ok("config", "show").splitlines() if line.startswith("system"))
    assert "a [31mred bxxx" in line
    assert "…" in line


def test_no_color_means_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in run("config", "show", color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("config", "show", color=True).stdout


def test_set_get_unset(home: Path) -> None:
    assert "reasoning.maxTokens = -1" in ok("config", "set", "reasoning.maxTokens", "-1")
    assert ok("config", "get", "reasoning.maxTokens") == "-1\n"
    assert json.loads(ok("config", "get", "reasoning.maxTokens", "--json"))["value"] == -1
    assert ok("config", "unset", "reasoning.maxTokens") == "reasoning.maxTokens is now - (unset)\n"
    assert ok("config", "get", "reasoning.maxTokens") == ""


def test_set_in_the_project_and_the_word_that_hides_another(home: Path) -> None:
    ok("config", "set", "--project", "model", "of-project")
    assert (home / "project" / "deep" / ".thinkwire.toml").read_text() == 'model = "of-project"\n'
    done = run("config", "set", "model", "of-user")
    assert done.exit_code == 0
    assert "says of-project, and that counts" in done.stderr
    assert json.loads(ok("config", "path", "--json"))["project"].endswith("deep/.thinkwire.toml")
    assert "of-user" in ok("config", "unset", "--project", "model")


def test_path_tells_where_everything_is(home: Path) -> None:
    lines = ok("config", "path").splitlines()
    assert lines == [
        f"user      {home}/config/config.toml",
        "project   no .thinkwire.toml here or above",
        f"profiles  {home}/config/profiles",
        f"keys      {home}/config/keys.toml",
    ]


def test_wrong_words_are_answered_with_right_ones(home: Path) -> None:
    assert "did you mean reasoning.effort?" in refused("config", "set", "reasoning.efort", "high")
    assert "it takes none, minimal" in refused("config", "set", "reasoning.effort", "hard")
    assert "did you mean" in refused("config", "get", "reasoning.efort")
    assert "did you mean" in refused("config", "unset", "reasoning.efort")
    assert "there is no profile 'x'" in refused("config", "show", "--profile", "x")
    assert not (home / "config" / "config.toml").exists()


def test_a_profile_is_saved_listed_shown_chosen_and_deleted(home: Path) -> None:
    saved = ok("profile", "save", "deep", "--from", "kimi-k2-thinking", "reasoning.effort=max")
    assert saved == f"Profile 'deep' saved ({home}/config/profiles/deep.toml)\n"
    assert "  reasoning.effort = max\n" in ok("profile", "show", "deep")
    assert json.loads(ok("profile", "show", "deep", "--json"))["values"]["reasoning.format"] == "field"
    assert "set as default" in ok("profile", "default", "deep")
    assert ok("profile", "default") == "deep\n"
    assert ok("config", "get", "reasoning.effort") == "max\n"
    assert [line.split() for line in ok("profile", "list").splitlines()][:3] == [
        ["profile", "from"],
        ["claude-sonnet-4", "package"],
        ["deep", "you", "default"],
    ]
    assert "It was the default" in ok("profile", "delete", "deep")
    assert ok("profile", "default", "--clear") == "No profile is loaded by default.\n"
    assert "there is no profile" in refused("profile", "show", "deep")


def test_a_damaged_profile_is_listed_with_its_flaw(home: Path) -> None:
    ok("profile", "save", "p", "model=m")
    file = home / "config" / "profiles" / "p.toml"
    file.write_text("[reasoning]\neffort = 'hard'\n")
    assert "damaged: " in next(line for line in ok("profile", "list").splitlines() if line.startswith("p "))
    entries = [json.loads(line) for line in ok("profile", "list", "--json").splitlines()]
    assert [entry["name"] for entry in entries if entry["flaw"]] == ["p"]
    assert "--force" in refused("profile", "save", "p", "model=n")
    ok("profile", "save", "--force", "p", "model=n")


def test_saving_nothing_is_refused(home: Path) -> None:
    assert "nothing to save" in refused("profile", "save", "empty")
    assert "KEY=VALUE" in refused("profile", "save", "empty", "model")
    assert "either NAME or --clear" in refused("profile", "default", "gpt-4o", "--clear")
