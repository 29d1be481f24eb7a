"""Settings in TOML: written, read, changed one at a time."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.settings.strategies import assignments, value_tables
from thinkwire.config import read_values, toml
from thinkwire.config.edit_toml import with_value, without_value
from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS


@given(value_tables)
def test_what_is_written_is_read_back(values: dict[str, Any]) -> None:
    text = toml.write(values)
    assert read_values(text, "f") == values
    tomllib.loads(text)


@given(
    st.text()
    | st.lists(st.sampled_from(['"', "'", "[", "]", ".", "=", "\n", "#", "reasoning", "effort", "1"]))
)
def test_any_text_is_settings_or_a_config_error(text: str | list[str]) -> None:
    with suppress(ConfigError):
        assert set(read_values("".join(text), "f")) <= set(KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a" + ".a" * 5_000 + " = 1",
        "maxTokens = " + "9" * 5_000,
        "a = 1-1-1",
        "\ufeffa = 1",
    ],
)
def test_strange_texts_are_config_errors(text: str) -> None:
    with pytest.raises(ConfigError):
        read_values(text, "f")


def test_tables_dots_and_quotes_are_the_same_key() -> None:
    for text in (
        '[reasoning]\neffort = "high"',
        'reasoning.effort = "high"',
        'reasoning = { effort = "high" }',
        '"reasoning.effort" = "high"',
        '[reasoning]\n"effort" = "high"',
    ):
        assert read_values(text, "f") == {"reasoning.effort": "high"}
    assert read_values('[reasoning.effortMap]\nlow = "brief"', "f") == {
        "reasoning.effortMap": {"low": "brief"}
    }
    assert read_values("[reasoning]\n[tools]\n", "f") == {}


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ('model = "m"\n\neffort', 3, ""),
        ('model = "m"\n[reasoning]\n# hm\nefort = "high"', 4, "did you mean reasoning.effort?"),
        ('model = "m"\n[reasoning]\nenabled = true\neffort = "hard"', 4, "reasoning.effort cannot be 'hard'"),
        ('# x\nreasoning = { effort = "hard" }', 2, "it takes none, minimal"),
        ('model = "m"\n[nonsense]', 2, "there is no setting 'nonsense'"),
        ("[[reasoning]]\neffort = 1", 1, "there is no setting 'reasoning'"),
        ('reasoning.effort = "low"\n"reasoning.effort" = "high"', 1, "twice"),
        ("temperature = 2026-11-16", 1, "a number from 0 to 2"),
    ],
)
def test_a_complaint_names_file_and_line(text: str, line: int, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_values(text, "here.toml")
    assert str(caught.value).startswith("here.toml")
    assert f"line {line}" in str(caught.value)
    assert hint in str(caught.value)


WRITTEN = """\
# Mine, by hand.
model = "kimi-k3"  # the good one

[reasoning]
# not too hard
effort = "low"
includeInContext = "auto"

[reasoning.effortMap]
low = "brief"

[tools]
enabled = [
  "read_file",  # safe
  "list_files",
]
"""


@given(value_tables, assignments, st.sampled_from([WRITTEN, ""]))
def test_one_key_is_changed_and_no_other(
    values: dict[str, Any], assignment: tuple[str, Any], written: str
) -> None:
    key, value = assignment
    text = written or toml.write(values)
    before = read_values(text, "f")
    after = with_value(text, key, value, "f")
    assert read_values(after, "f") == before | {key: value}
    assert with_value(after, key, value, "f").count("\n") == after.count("\n")
    rest = without_value(after, key, "f")
    assert read_values(rest, "f") == {other: told for other, told in before.items() if other != key}
    comments = [line for line in ("# Mine, by hand.", "# not too hard") if line in text]
    assert all(comment in rest for comment in comments)


def test_a_change_stays_where_the_key_was() -> None:
    assert with_value(WRITTEN, "reasoning.effort", "high", "f") == WRITTEN.replace(
        '"low"\ninc', '"high"\ninc'
    )
    assert 'effortMap]\nlow = "brief"\n\n[tools]\nenabled = ["x"]\n' in with_value(
        WRITTEN, "tools.enabled", ("x",), "f"
    )
    assert '[tools]\napprove = "deny"\nenabled' in with_value(WRITTEN, "tools.approve", "deny", "f")
    assert without_value(WRITTEN, "reasoning.effortMap", "f").count("effortMap") == 0
    assert without_value(WRITTEN, "temperature", "f") == WRITTEN


def test_windows_line_ends_survive() -> None:
    text = 'model = "a"\r\n[reasoning]\r\neffort = "low"\r\n'
    changed = with_value(text, "reasoning.effort", "high", "f")
    assert read_values(changed, "f") == {"model": "a", "reasoning.effort": "high"}
    assert changed.startswith('model = "a"\r\n[reasoning]\r\n')


def test_what_cannot_be_changed_alone_is_left_to_the_person() -> None:
    text = 'reasoning = { effort = "low", enabled = true }\n'
    with pytest.raises(ConfigError, match=r"f, line 1: .*by hand"):
        with_value(text, "reasoning.effort", "high", "f")
    with pytest.raises(ConfigError, match="by hand"):
        without_value(text, "reasoning.effort", "f")


def test_a_look_alike_inside_a_long_text_is_not_touched() -> None:
    text = 'system = """\nreasoning.effort = "low"\n[tools]\n"""\nreasoning.effort = "med"\n'
    changed = with_value(text, "reasoning.effort", "high", "f")
    assert changed == text.replace('"med"', '"high"')
