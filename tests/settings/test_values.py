"""What can be set, and how wrong words are answered."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.settings.strategies import anything, assignments
from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS, check_value, parse_assignments, parse_value, spelled


@given(assignments)
def test_what_is_spelled_out_is_read_back(assignment: tuple[str, Any]) -> None:
    key, value = assignment
    assert parse_value(key, spelled(value)) == value


@given(assignments)
def test_a_value_in_its_usual_form_is_kept(assignment: tuple[str, Any]) -> None:
    key, value = assignment
    assert check_value(key, value) == value
    assert check_value(key, check_value(key, value)) == value


@given(st.text() | st.sampled_from(list(KEYS)), st.text())
def test_any_text_is_a_value_or_a_config_error(key: str, text: str) -> None:
    with suppress(ConfigError):
        value = parse_value(key, text)
        assert check_value(key, value) == value


@given(st.sampled_from(list(KEYS)), anything)
def test_anything_at_all_is_a_value_or_a_config_error(key: str, value: Any) -> None:
    with suppress(ConfigError):
        checked = check_value(key, value)
        assert check_value(key, checked) == checked


@given(st.lists(st.text()))
def test_any_assignments_are_all_taken_or_none(texts: list[str]) -> None:
    with suppress(ConfigError):
        assert set(parse_assignments(texts)) <= set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_describes_itself(key: str) -> None:
    setting = KEYS[key]
    parse_value(key, setting.example)
    assert setting.help.endswith(".")
    assert setting.allows
    assert setting.default is None or check_value(key, setting.default) == setting.default


SEED = {
    "reasoning.enabled": True,
    "reasoning.includeInResponse": True,
    "reasoning.effort": None,
    "reasoning.maxTokens": None,
    "reasoning.format": "field",
    "reasoning.stripFromContext": "none",
    "reasoning.includeInContext": "auto",
    "context.compressAt": 0.85,
}


@pytest.mark.parametrize("key", SEED)
def test_defaults_are_the_documented_ones(key: str) -> None:
    assert KEYS[key].default == SEED[key]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("reasoning.effort", "medium", "med"),
        ("reasoning.effort", "OFF", "none"),
        ("reasoning.includeInContext", "auto", "auto"),
        ("reasoning.includeInContext", "False", False),
        ("reasoning.includeInResponse", "on", True),
        ("reasoning.stripFromContext", "allbutlast", "allButLast"),
        ("reasoning.maxTokens", "-1", -1),
        ("reasoning.maxTokens", "16,384", 16_384),
        ("reasoning.effortMap", "med=normal, min=brief", {"minimal": "brief", "med": "normal"}),
        ("reasoning.effortMap", '{"high": "deep"}', {"high": "deep"}),
        ("tools.allow", "read_file, list_*", ("read_file", "list_*")),
        ("tools.allow", "", ()),
        ("temperature", "1", 1.0),
        ("system", " as it is ", " as it is "),
    ],
)
def test_people_may_type_it_like_this(key: str, text: str, value: Any) -> None:
    assert parse_value(key, text) == value


@pytest.mark.parametrize(
    ("key", "text", "hint"),
    [
        ("reasoning.effort", "hihg", "none, minimal, low, med, high, xhigh, max or auto"),
        ("reasoning.includeInContext", "maybe", "auto, true or false"),
        ("reasoning.maxTokens", "-2", "from -1 to 1,000,000,000"),
        ("reasoning.maxTokens", "9" * 5000, "a whole number"),
        ("temperature", "nan", "from 0 to 2"),
        ("context.compressAt", "0", "from 0.01 to 1"),
        ("reasoning.fieldName", "content", "not one that messages have already"),
        ("reasoning.wireFormat", "openai", "template_kwargs"),
        ("reasoning.effortMap", "none=off", "low=brief"),
        ("reasoning.effortMap", "low=a, low=b", "low=brief"),
        ("reasoning.effortMap", "[" * 100_000, "low=brief"),
        ("tools.enabled", "a,,b", "a list of names"),
        ("model", "two\nlines", "on one line"),
    ],
)
def test_a_wrong_value_is_told_what_is_allowed(key: str, text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_value(key, text)
    assert str(caught.value).startswith(f"{key} cannot be ")
    assert hint in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("reasoning.efort", "reasoning.effort"),
        ("reasoning.includeincontext", "reasoning.includeInContext"),
        ("effort", "reasoning.effort"),
        ("max_tokens", "maxTokens"),
        ("context.compressat", "context.compressAt"),
    ],
)
def test_a_wrong_key_is_told_the_nearest(key: str, nearest: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean {nearest}\\?"):
        parse_value(key, "high")


def test_one_wrong_assignment_spoils_them_all() -> None:
    with pytest.raises(ConfigError, match=r"reasoning\.effort cannot be"):
        parse_assignments(["model=kimi-k3", "reasoning.effort=hard"])
    with pytest.raises(ConfigError, match="KEY=VALUE"):
        parse_assignments(["model=kimi-k3", "reasoning.effort"])
    assert parse_assignments(["model=kimi-k3", "system=a=b"]) == {"model": "kimi-k3", "system": "a=b"}


@pytest.mark.parametrize(
    ("key", "value"), [("reasoning.enabled", 1), ("maxTokens", True), ("maxTokens", 1.0)]
)
def test_values_of_files_keep_their_type(key: str, value: Any) -> None:
    with pytest.raises(ConfigError):
        check_value(key, value)
