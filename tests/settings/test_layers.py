"""Whose word counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.settings.strategies import assignments, stacks, value_tables
from thinkwire.errors import ConfigError
from thinkwire.settings import DEFAULT, KEYS, SOURCES, Layer, Settings, checked_layer

sources = st.sampled_from(SOURCES)


@given(stacks, st.sampled_from(list(KEYS)))
def test_the_strongest_layer_that_has_a_key_decides(settings: Settings, key: str) -> None:
    holders = [source for source in SOURCES if key in settings.layer(source).values]
    if holders:
        assert settings.get(key) == settings.layer(holders[0]).values[key]
        assert settings.origin(key) == holders[0]
    else:
        assert settings.get(key) == KEYS[key].default
        assert settings.origin(key) == DEFAULT


@given(stacks, sources, assignments)
def test_a_lower_layer_never_overwrites_a_higher(
    settings: Settings, source: str, assignment: tuple[str, Any]
) -> None:
    key, value = assignment
    changed = settings.set(source, key, value)
    stronger = settings.rank(key) < SOURCES.index(source)
    assert changed.get(key) == (settings.get(key) if stronger else value)
    assert all(changed.get(other) == settings.get(other) for other in KEYS if other != key)


@given(stacks, sources, assignments)
def test_unset_releases_what_the_layers_below_say(
    settings: Settings, source: str, assignment: tuple[str, Any]
) -> None:
    key, value = assignment
    below = settings.unset(source, key)
    assert below.set(source, key, value).unset(source, key).rows() == below.rows()
    assert key not in below.layer(source).values


@given(stacks, sources, value_tables)
def test_a_layer_is_replaced_as_a_whole(settings: Settings, source: str, values: dict[str, Any]) -> None:
    changed = settings.with_layer(Layer(source, values))
    assert changed.layer(source).values == values
    assert [layer for layer in changed.layers if layer.source != source] == [
        layer for layer in settings.layers if layer.source != source
    ]
    order = [SOURCES.index(layer.source) for layer in changed.layers]
    assert order == sorted(order)


@given(stacks)
def test_rows_tell_every_setting_once_with_its_origin(settings: Settings) -> None:
    rows = settings.rows()
    assert [row.key for row in rows] == list(KEYS)
    assert all((row.value, row.source) == (settings.get(row.key), settings.origin(row.key)) for row in rows)


def test_the_order_is_the_documented_one() -> None:
    settings = Settings()
    for source in reversed(SOURCES):
        settings = settings.set(source, "model", f"of-{source}")
        assert settings.get("model") == f"of-{source}"
    assert [layer.source for layer in settings.layers] == list(SOURCES)


def test_one_layer_does_not_come_twice_nor_from_nowhere() -> None:
    with pytest.raises(ValueError, match="same source"):
        Settings((Layer("user"), Layer("user")))
    with pytest.raises(ValueError, match="whim"):
        Layer("whim")


def test_a_wrong_value_changes_nothing() -> None:
    settings = Settings().set("session", "model", "kimi-k3")
    with pytest.raises(ConfigError):
        settings.set("session", "temperature", 9)
    with pytest.raises(ConfigError):
        checked_layer("session", {"model": "kimi-k3", "nonsense": 1})
    with pytest.raises(ConfigError):
        settings.unset("session", "nonsense")
    with pytest.raises(ConfigError):
        settings.get("nonsense")
    assert settings.layer("session").values == {"model": "kimi-k3"}


def test_saving_takes_the_session_over_the_profile_and_nothing_else() -> None:
    settings = Settings(
        (
            Layer("session", {"reasoning.effort": "high"}),
            Layer("profile", {"model": "kimi-k3", "reasoning.effort": "low"}),
            Layer("user", {"temperature": 0.5}),
        )
    )
    assert settings.saved() == {"model": "kimi-k3", "reasoning.effort": "high"}
