"""What settings mean: for the plan, for replay, for what is shown."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.settings.strategies import stacks
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import Intent
from thinkwire.reasoning.resolve import ConversationState, resolve
from thinkwire.reasoning.target import find_target
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request
from thinkwire.settings import (
    Layer,
    Settings,
    conversation_state_of,
    intent_of,
    model_layer,
    overrides_of,
    replay_of,
    thinking_shown,
)

HELLO = Request(turns=(Turn("user", (Text("Hello"),)),))


def stack(**layers: dict[str, Any]) -> Settings:
    return Settings(tuple(Layer(source, _dotted(values)) for source, values in layers.items()))


def _dotted(values: dict[str, Any]) -> dict[str, Any]:
    return {key if key == "model" else f"reasoning.{key}": value for key, value in values.items()}


def asked(settings: Settings) -> Intent | None:
    intent = intent_of(settings)
    return msgspec.structs.replace(intent, said="") if intent else None


@pytest.mark.parametrize(
    ("layers", "intent"),
    [
        ({}, None),
        ({"session": {"includeInResponse": False}}, None),
        ({"session": {"effort": "high"}}, Intent(level="high")),
        ({"session": {"maxTokens": 5000}}, Intent(budget=5000)),
        ({"session": {"maxTokens": 0}}, Intent(budget=0)),
        ({"session": {"summary": "detailed"}}, Intent(summary="detailed")),
        ({"session": {"enabled": True}}, Intent(on=True)),
        ({"session": {"enabled": False}}, Intent(on=False)),
        # one layer says two things: the resolver gets both
        ({"profile": {"effort": "high", "maxTokens": 5000}}, Intent(level="high", budget=5000)),
        ({"profile": {"effort": "high", "enabled": False}}, Intent(level="high", on=False)),
        # two layers: the stronger counts
        ({"session": {"effort": "low"}, "profile": {"maxTokens": 5000}}, Intent(level="low")),
        ({"session": {"maxTokens": 5000}, "profile": {"effort": "low"}}, Intent(budget=5000)),
        ({"session": {"effort": "auto"}, "profile": {"maxTokens": 5000}}, Intent(level="auto")),
        ({"session": {"enabled": False}, "profile": {"effort": "high"}}, Intent(on=False)),
        ({"request": {"effort": "high"}, "user": {"enabled": False}}, Intent(level="high")),
        ({"session": {"enabled": True}, "profile": {"effort": "none"}}, Intent(on=True)),
        ({"session": {"enabled": True}, "profile": {"effort": "high"}}, Intent(level="high")),
        ({"session": {"effort": "none"}, "profile": {"enabled": True}}, Intent(level="none")),
        # a level in the model's name is said by the layer that names the model
        ({"session": {"model": "claude-opus-5/high"}}, Intent(level="high")),
        ({"session": {"model": "gemini-2.5-flash(12000)"}}, Intent(budget=12_000)),
        ({"session": {"model": "kimi-k3/high"}, "profile": {"effort": "low"}}, Intent(level="high")),
        ({"session": {"effort": "low"}, "profile": {"model": "kimi-k3/high"}}, Intent(level="low")),
        ({"session": {"effort": "low", "model": "kimi-k3/high"}}, Intent(level="low")),
        (
            {"session": {"model": "kimi-k3/high"}, "user": {"summary": "concise"}},
            Intent(level="high", summary="concise"),
        ),
        ({"session": {"model": "kimi-k3"}, "profile": {"effort": "low"}}, Intent(level="low")),
    ],
)
def test_how_hard_to_think(layers: dict[str, dict[str, Any]], intent: Intent | None) -> None:
    assert asked(stack(**layers)) == intent


@given(stacks)
def test_every_stack_has_a_meaning_and_a_plan(settings: Settings) -> None:
    intent, replay = intent_of(settings), replay_of(settings)
    assert isinstance(replay, ReplaySettings)
    assert isinstance(thinking_shown(settings), bool)
    found = find_target("kimi-k3").found
    assert found is not None
    facts = overrides_of(settings).applied(found.facts)
    plan, _ = resolve(
        intent or Intent(), type(found)(facts, found.by), HELLO, conversation_state_of(settings)
    )
    assert plan.facts == facts


def test_an_effort_that_the_switch_leaves_out_is_said() -> None:
    found = find_target("claude-sonnet-4-5").found
    intent = intent_of(stack(profile={"enabled": False, "effort": "high"}))
    assert intent is not None
    plan, _ = resolve(intent, found, HELLO)
    assert plan.patch == {"thinking": {"type": "disabled"}}
    assert "the effort 'high' is left out" in plan.notes[0].message


def test_the_intent_says_in_whose_words_it_was_asked() -> None:
    intent = intent_of(stack(session={"effort": "high", "maxTokens": 9}))
    assert intent is not None
    assert intent.said == "reasoning.effort=high, reasoning.maxTokens=9"


@pytest.mark.parametrize(
    ("values", "replay"),
    [
        ({}, ReplaySettings()),
        ({"includeInContext": True}, ReplaySettings(include=True)),
        ({"includeInContext": False}, ReplaySettings(include=False)),
        ({"includeInContext": "auto"}, ReplaySettings(include=None)),
        (
            {"stripFromContext": "allButLast", "carry": "text"},
            ReplaySettings(strip="allButLast", carry="text"),
        ),
        ({"format": "native", "fieldName": "thoughts"}, ReplaySettings(format="native", field="thoughts")),
    ],
)
def test_what_goes_back(values: dict[str, Any], replay: ReplaySettings) -> None:
    assert replay_of(stack(session=values)) == replay


@pytest.mark.parametrize(
    ("layers", "shown"),
    [
        ({}, True),
        ({"session": {"includeInResponse": False}}, False),
        ({"session": {"enabled": False}}, False),
        ({"session": {"effort": "high"}, "user": {"enabled": False}}, True),
        ({"session": {"effort": "none"}}, True),
    ],
)
def test_what_is_shown(layers: dict[str, dict[str, Any]], shown: bool) -> None:
    assert thinking_shown(stack(**layers)) is shown


def test_budgets_stay_as_they_are_unless_asked_to_shrink() -> None:
    assert conversation_state_of(Settings(), 200_000) == ConversationState(200_000, dynamic_budget=False)
    assert conversation_state_of(stack(user={"dynamicBudget": True})).dynamic_budget is True


def test_the_models_own_limit_counts_until_somebody_sets_one() -> None:
    found = find_target("claude-sonnet-4-5").found
    assert found is not None
    settings = Settings().with_layer(model_layer(found.facts))
    assert settings.get("context.limit") == found.facts.context
    assert settings.origin("context.limit") == "model"
    assert settings.set("user", "context.limit", 9_000).get("context.limit") == 9_000
    assert settings.with_layer(model_layer(None)).get("context.limit") is None


def test_a_provider_switch_loses_no_reasoning_setting_of_the_profile() -> None:
    profile = {
        "model": "moonshot/kimi-k2-thinking",
        "includeInContext": True,
        "format": "field",
        "effort": "high",
    }
    loaded = stack(profile=profile)
    switched = loaded.with_layer(model_layer(None)).set("session", "model", "google/gemini-2.5-flash")
    assert switched.get("model") == "google/gemini-2.5-flash"
    assert (intent_of(switched), replay_of(switched)) == (intent_of(loaded), replay_of(loaded))
    changed = [key for key, value in loaded.layer("profile").values.items() if switched.get(key) != value]
    assert changed == ["model"]
    assert switched.unset("session", "model").get("model") == "moonshot/kimi-k2-thinking"
