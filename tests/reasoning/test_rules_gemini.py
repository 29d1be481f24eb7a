"""Rules 17 to 27: what Gemini takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.genai import types

from tests.reasoning.test_resolver import HELLO, told
from thinkwire.catalog import Facts, default_catalog
from thinkwire.reasoning import LEVELS, Intent, Level, budget_for
from thinkwire.reasoning.explain import Explanation, explain
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.reasoning.target import Target, all_targets, find_target
from thinkwire.request import OutputFormat, Request, Tool

GEMINI = [target for target in all_targets() if target.found and target.found.facts.shape == "gemini"]
BUDGETS = (-1, 0, 1, 64, 512, 8_000, 16_000, 64_000)


def codes(shown: Explanation) -> set[str]:
    return {note.code for note in shown.notes}


def config(shown: Explanation) -> dict[str, Any]:
    thinking: dict[str, Any] = shown.body.get("generationConfig", {}).get("thinkingConfig", {})
    return thinking


def wishes() -> Iterator[Intent]:
    yield from (Intent(level=level) for level in LEVELS)
    yield from (Intent(budget=budget) for budget in BUDGETS)
    yield from (Intent(level="high", budget=8_000), Intent(on=True), Intent(on=False))


def configs(target: Target) -> list[dict[str, Any]]:
    """What a model gets for everything that can be asked of it."""
    return [config(explain(target, wish, HELLO)) for wish in wishes()]


def facts_of(name: str) -> Facts:
    found = find_target(name).found
    assert found is not None
    return found.facts


@pytest.mark.parametrize("target", GEMINI, ids=lambda target: target.model)
def test_rule_17_a_level_and_a_budget_never_go_together(target: Target) -> None:
    assert not any({"thinkingLevel", "thinkingBudget"} <= set(sent) for sent in configs(target))


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        *(
            (f"gemini-{version}", "thinkingBudget")
            for version in ("3-pro", "3.5-flash", "4-argon", "3.9-flash")
        ),
        *((f"gemini-2.5-{kind}", "thinkingLevel") for kind in ("pro", "flash", "flash-lite", "flash-x")),
    ],
)
def test_rule_18_each_generation_has_its_own_control(name: str, absent: str) -> None:
    sent = configs(find_target(name))
    assert any(sent)
    assert all(absent not in thinking for thinking in sent)


# Lite can be off since (0), which the range does not begin with; none is then 0 and not 512.
@pytest.mark.parametrize("name", ["gemini-2.5-flash-lite", "gemini-2.5-flash-lite-preview-09-2025"])
def test_rule_19_lite_has_its_own_range(name: str) -> None:
    assert budget_for(facts_of(name), "none") == 512
    assert config(told(f"{name}/minimal"))["thinkingBudget"] == 512
    assert config(told(f"{name}/low"))["thinkingBudget"] == 8_533
    assert config(told(f"{name}/none"))["thinkingBudget"] == 0
    assert config(told("gemini-2.5-flash/low"))["thinkingBudget"] == 8_192


@pytest.mark.parametrize(
    "wish", [Intent(budget=0), Intent(budget=64), Intent(level="none"), Intent(on=False)]
)
def test_rule_20_pro_gets_no_budget_below_its_least(wish: Intent) -> None:
    shown = explain(find_target("gemini-2.5-pro"), wish, HELLO)
    assert config(shown)["thinkingBudget"] == 128
    assert codes(shown) & {"reasoning.minimum", "reasoning.adjusted"}


def test_rule_21_off_is_a_budget_of_nothing_and_no_thoughts() -> None:
    shown = told("gemini-2.5-flash/none")
    assert config(shown) == {"thinkingBudget": 0, "includeThoughts": False}


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("gemini-3-pro-preview", {"LOW", "HIGH"}),
        ("gemini-3.1-pro-preview", {"LOW", "MEDIUM", "HIGH"}),
        ("gemini-3.1-pro", {"LOW", "MEDIUM", "HIGH"}),
        ("gemini-3.7-flash", {"LOW", "MEDIUM", "HIGH"}),
        ("gemini-4-argon", {"LOW", "MEDIUM", "HIGH"}),
        ("gemini-3.5-flash", {"MINIMAL", "LOW", "MEDIUM", "HIGH"}),
    ],
)
def test_rule_22_levels_that_a_model_does_not_have_are_not_sent(name: str, levels: set[str]) -> None:
    sent = {
        thinking["thinkingLevel"] for thinking in configs(find_target(name)) if "thinkingLevel" in thinking
    }
    assert sent == levels


@pytest.mark.parametrize("name", ["gemini-2.0-flash", "gemini-2.0-flash-lite-001", "gemini-1.5-pro-002"])
def test_rule_23_models_older_than_thinking_get_no_config_and_a_warning(name: str) -> None:
    assert not any(configs(find_target(name)))
    assert codes(told(f"{name}/high")) == {"reasoning.unsupported"}


@pytest.mark.parametrize("target", GEMINI, ids=lambda target: target.model)
def test_rule_24_every_field_and_word_is_one_that_the_vendors_own_types_know(target: Target) -> None:
    for sent in configs(target):
        read = types.ThinkingConfig.model_validate(sent)
        level = sent.get("thinkingLevel")
        assert level is None or read.thinking_level == types.ThinkingLevel[level]
        assert read.thinking_budget == sent.get("thinkingBudget")
        assert read.include_thoughts == sent.get("includeThoughts")


@pytest.mark.parametrize("level", [level for level in LEVELS if level != "none"])
def test_rule_25_a_false_beside_a_level_stays_false(level: Level) -> None:
    shown = explain(find_target("gemini-2.5-flash"), Intent(on=False, level=level), HELLO)
    assert shown.plan.effective.on is False
    assert config(shown) == {"thinkingBudget": 0, "includeThoughts": False}


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning": {"enabled": False, "effort": "high"}},
        {"thinking": {"type": "disabled"}, "reasoning_effort": "high"},
        {"enable_thinking": False, "reasoning_effort": "max"},
        {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low"},
        {"think": False},
    ],
)
def test_rule_25_a_false_in_any_spelling_stays_false(fields: dict[str, Any]) -> None:
    intent, _ = read_intent(Request(extras={"openai_chat": fields}))
    shown = explain(find_target("gemini-2.5-flash"), intent, HELLO)
    assert config(shown) == {"thinkingBudget": 0, "includeThoughts": False}


# Rule 26 leaves the budget out; the fourth seed and the design turn it into a level, with the same warning.
@pytest.mark.parametrize(("budget", "level"), [(8_000, "LOW"), (15_999, "LOW"), (16_000, "HIGH")])
def test_rule_26_a_budget_is_not_sent_to_gemini_3_and_that_is_said(budget: int, level: str) -> None:
    shown = told("gemini-3.5-flash", budget=budget)
    assert config(shown) == {"includeThoughts": True, "thinkingLevel": level}
    assert "reasoning.adjusted" in codes(shown)


# Rule 27 strips additionalProperties; the newer JSON Schema fields take it, only the older ones refuse it.
def test_rule_27_schemas_go_where_additional_properties_are_understood() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    body = told("gemini-3.5-flash", tools=(Tool("f", schema=schema),), output=OutputFormat(schema)).body
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert declared["parametersJsonSchema"] == schema
    assert "parameters" not in declared
    assert body["generationConfig"]["responseJsonSchema"] == schema
    assert "responseSchema" not in body["generationConfig"]


def test_every_gemini_of_the_catalog_is_looked_at() -> None:
    assert len(GEMINI) == sum(facts.shape == "gemini" for facts in default_catalog())
