"""What settings know better than facts: spelling, words, and what they leave alone."""

from __future__ import annotations

import datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.settings.strategies import values_of
from thinkwire.catalog import CatalogMatch, Facts, default_catalog
from thinkwire.catalog.facts import Shape
from thinkwire.catalog.tables import flaw_of
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import Intent
from thinkwire.reasoning.resolve import resolve
from thinkwire.reasoning.target import find_target
from thinkwire.request import Request
from thinkwire.settings import KEYS, ModelOverrides

HELLO = Request(turns=(Turn("user", (Text("Hello"),)),))
DAY = datetime.date(2026, 11, 16)
WIRES = {"anthropic": "anthropic", "responses": "openai-responses", "gemini": "gemini"}

overrides = st.builds(
    ModelOverrides,
    shape=st.none() | st.sampled_from(get_args(Shape)),
    names=st.just({}) | values_of(KEYS["reasoning.effortMap"]),
    field=st.none() | st.just("thoughts"),
)


def facts_of(name: str) -> Facts:
    found = find_target(name).found
    assert found is not None
    return found.facts


def sent(facts: Facts, **intent: Any) -> dict[str, Any]:
    plan, _ = resolve(Intent(**intent), CatalogMatch(facts, "exact"), HELLO)
    return plan.patch


def unknown(**fields: Any) -> Facts:
    shape = fields["shape"]
    dialect = WIRES.get(shape, "openai-chat")
    facts = ModelOverrides(**fields).unknown(provider="mine", model="m", dialect=dialect, day=DAY)
    assert facts is not None
    return facts


@given(st.sampled_from(list(default_catalog())), overrides)
def test_overridden_facts_are_facts_without_contradiction(facts: Facts, over: ModelOverrides) -> None:
    changed = over.applied(facts)
    assert flaw_of(changed) is None
    assert over.applied(changed) == changed
    same = {"id", "dialect", "visible", "replay", "refuses", "context"}
    assert all(getattr(changed, name) == getattr(facts, name) for name in same)


@given(st.sampled_from(list(default_catalog())), overrides, st.sampled_from(["low", "high", "max"]))
def test_a_level_that_was_heard_is_still_heard(facts: Facts, over: ModelOverrides, level: str) -> None:
    heard = bool(sent(facts, level=level)) and facts.mechanism not in ("none", "always")
    assert not heard or sent(over.applied(facts), level=level)


@given(st.sampled_from(list(default_catalog())), overrides)
def test_what_changes_nothing_is_said(facts: Facts, over: ModelOverrides) -> None:
    codes = {note.detail["setting"] for note in over.ignored(facts)}
    if over.shape and over.applied(facts).shape != over.shape:
        assert "reasoning.wireFormat" in codes
    if (
        over.names
        and over.applied(facts).efforts == facts.efforts
        and set(over.names.values()) - set(facts.efforts)
    ):
        assert "reasoning.effortMap" in codes
    assert ("reasoning.fieldName" in codes) is (over.field is not None and facts.dialect != "openai-chat")


@pytest.mark.parametrize(
    ("shape", "high", "off"),
    [
        ("reasoning_effort", {"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
        ("thinking_type", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("enable_thinking", {"enable_thinking": True}, {"enable_thinking": False}),
        (
            "template_kwargs",
            {"chat_template_kwargs": {"enable_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        ("reasoning_enabled", {"reasoning": {"enabled": True}}, {"reasoning": {"enabled": False}}),
        ("openrouter", {"reasoning": {"enabled": True, "effort": "high"}}, {"reasoning": {"enabled": False}}),
        ("think", {"think": True}, {"think": False}),
        (
            "anthropic",
            {"thinking": {"type": "enabled", "budget_tokens": 32_000}},
            {"thinking": {"type": "disabled"}},
        ),
    ],
)
def test_a_server_that_nobody_knows_is_told_as_the_setting_says(
    shape: str, high: dict[str, Any], off: dict[str, Any]
) -> None:
    facts = unknown(shape=shape)
    assert flaw_of(facts) is None
    assert sent(facts, level="high") == high
    assert sent(facts, level="none") == off


@pytest.mark.parametrize("shape", get_args(Shape))
def test_every_spelling_serves_an_unknown_server_on_its_own_wire_only(shape: Shape) -> None:
    assert sent(unknown(shape=shape), level="high")
    elsewhere = "gemini" if shape != "gemini" else "openai-chat"
    over = ModelOverrides(shape)
    assert over.unknown(provider="mine", model="m", dialect=elsewhere, day=DAY) is None
    assert ModelOverrides().unknown(provider="mine", model="m", dialect="openai-chat", day=DAY) is None


@pytest.mark.parametrize(
    ("level", "word"),
    [("minimal", "brief"), ("low", "brief"), ("med", "deep"), ("high", "deep"), ("max", "deep")],
)
def test_every_level_gets_the_nearest_of_the_servers_words(level: str, word: str) -> None:
    names = {"low": "brief", "high": "deep"}
    assert sent(unknown(shape="reasoning_effort", names=names), level=level) == {"reasoning_effort": word}
    assert sent(unknown(shape="think", names=names), level=level) == {"think": word}


def test_words_alone_change_a_model_of_words_and_leave_a_model_of_budgets() -> None:
    over = ModelOverrides(names={"high": "deep"})
    assert sent(over.applied(facts_of("groq/openai/gpt-oss-120b")), level="high") == {
        "reasoning_effort": "deep"
    }
    claude = facts_of("claude-sonnet-4-5")
    assert over.applied(claude) == claude
    assert [note.code for note in over.ignored(claude)] == ["setting.ignored"]


def test_another_spelling_says_in_words_what_it_cannot_say_in_tokens() -> None:
    qwen = facts_of("qwen/qwen3-235b-a22b")
    assert qwen.mechanism == "toggle+budget"
    changed = ModelOverrides("reasoning_effort").applied(qwen)
    assert sent(changed, budget=20_000) == {"reasoning_effort": "medium"}
    assert sent(changed, level="none") == {"reasoning_effort": "none"}


def test_a_setting_for_another_wire_is_ignored_aloud() -> None:
    claude = facts_of("claude-opus-5")
    over = ModelOverrides("template_kwargs", field="thoughts")
    assert over.applied(claude) == claude
    assert [note.message.split(" ")[0] for note in over.ignored(claude)] == [
        "reasoning.wireFormat",
        "reasoning.fieldName",
    ]
