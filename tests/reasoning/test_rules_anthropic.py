"""Rules 1 to 16: what the Messages API takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from tests.reasoning.test_resolver import HELLO, TOOL, told
from thinkwire import dialects
from thinkwire.reasoning import LEVELS, Intent
from thinkwire.reasoning.explain import Explanation, explain
from thinkwire.reasoning.levels import LADDER
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.reasoning.target import Target, all_targets, find_target
from thinkwire.request import OutputFormat, ToolChoice

CLAUDE = [
    target
    for target in all_targets()
    if target.found and target.found.facts.maker == "Anthropic" and target.found.facts.shape == "anthropic"
]
BUDGETS = (1, 1_023, 1_024, 8_000, 43_008, 64_000, 128_000, 500_000)
FORCED: dict[str, Any] = {"tools": (TOOL,), "tool_choice": ToolChoice("any")}


def codes(shown: Explanation) -> set[str]:
    return {note.code for note in shown.notes}


def wishes() -> Iterator[Intent]:
    yield from (Intent(level=level) for level in LEVELS)
    yield from (Intent(budget=budget) for budget in BUDGETS)
    yield Intent(on=True)


def bodies(target: Target, **request: Any) -> Iterator[dict[str, Any]]:
    """What a model gets for everything that can be asked of it."""
    for wish in wishes():
        yield explain(target, wish, msgspec.structs.replace(HELLO, **request)).body


def spoken(dialect: str, fields: dict[str, Any], model: str) -> Explanation:
    """What a model gets for a request in somebody's native words."""
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **fields}
    intent, request = read_intent(dialects.get(dialect).decode_request(body))
    return explain(find_target(model), intent, request)


@pytest.mark.parametrize("ceiling", [None, 1, 4_096, 43_008, 64_000])
def test_rule_1_the_ceiling_is_above_the_budget(ceiling: int | None) -> None:
    sent = [body for target in CLAUDE for body in bodies(target, max_tokens=ceiling)]
    with_budget = [body for body in sent if "budget_tokens" in body.get("thinking", {})]
    assert with_budget
    assert all(body["max_tokens"] > body["thinking"]["budget_tokens"] for body in with_budget)


@pytest.mark.parametrize(
    ("name", "ceiling", "budget"),
    [
        ("claude-sonnet-4-5/high", 64_000, 63_999),
        ("claude-opus-4-5/max", 64_000, 63_999),
        ("claude-opus-4-1/high", 32_000, 31_999),
        ("claude-haiku-4-5(200000)", 64_000, 63_999),
    ],
)
def test_rule_2_a_raised_ceiling_stays_within_the_output_limit(name: str, ceiling: int, budget: int) -> None:
    shown = told(name, max_tokens=4_096)
    assert shown.body["max_tokens"] == ceiling
    assert shown.body["thinking"]["budget_tokens"] == budget
    assert "max_tokens.raised" in codes(shown)


def test_rule_3_no_budget_below_1024_is_sent() -> None:
    budgets = [
        body["thinking"]["budget_tokens"]
        for target in CLAUDE
        for body in bodies(target)
        if "budget_tokens" in body.get("thinking", {})
    ]
    assert min(budgets) == 1_024


@pytest.mark.parametrize(
    "name",
    [
        *("claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5"),
        *("claude-opus-5", "claude-fable-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-opus-4-9"),
    ],
)
@pytest.mark.parametrize("level", LADDER)
def test_rule_4_adaptive_models_get_adaptive_thinking_and_no_budget(name: str, level: str) -> None:
    thinking = told(f"{name}/{level}").body["thinking"]
    assert thinking["type"] == "adaptive"
    assert "budget_tokens" not in thinking


@pytest.mark.parametrize("target", CLAUDE, ids=lambda target: target.model)
def test_rule_5_effort_is_in_output_config_and_nowhere_else(target: Target) -> None:
    for body in bodies(target):
        assert "effort" not in body.get("thinking", {})
        assert not {"effort", "reasoning_effort", "reasoning"} & set(body)
    assert told("claude-opus-5/low").body["output_config"] == {"effort": "low"}


def test_rule_6_other_keys_of_output_config_survive() -> None:
    shown = told(
        "claude-opus-5/low",
        output=OutputFormat({"type": "object"}),
        extras={"anthropic": {"output_config": {"task_budget": {"type": "tokens", "total": 9}}}},
    )
    assert shown.body["output_config"] == {
        "format": {"type": "json_schema", "schema": {"type": "object"}},
        "task_budget": {"type": "tokens", "total": 9},
        "effort": "low",
    }


@pytest.mark.parametrize("name", ["claude-haiku-4-5", "claude-haiku-4-5-20251001", "claude-sonnet-4-5"])
def test_rule_7_models_without_effort_get_none(name: str) -> None:
    assert all("output_config" not in body for body in bodies(find_target(name)))


# Rule 8 knows "off" or "always on"; claude-sonnet-5-5 came later and has between_tools instead.
@pytest.mark.parametrize(
    ("name", "thinking", "warned"),
    [
        ("claude-opus-4-6/none", "disabled", False),
        ("claude-opus-5/none", "disabled", False),
        ("claude-sonnet-5/none", "disabled", False),
        ("claude-haiku-5-5/none", "disabled", False),
        ("claude-sonnet-5-5/none", "between_tools", True),
        ("claude-fable-5/none", "adaptive", True),
        ("claude-opus-5-5/none", "adaptive", True),
    ],
)
def test_rule_8_off_is_sent_only_where_it_exists(name: str, thinking: str, warned: bool) -> None:
    shown = told(name)
    assert shown.body["thinking"]["type"] == thinking
    assert ("reasoning.minimum" in codes(shown)) is warned


@pytest.mark.parametrize("name", ["claude-opus-5", "claude-haiku-5-5", "claude-sonnet-5-5"])
@pytest.mark.parametrize("effort", ["xhigh", "max"])
def test_rule_9_thinking_that_is_off_goes_without_a_strong_effort(name: str, effort: str) -> None:
    off = {"thinking": {"type": "disabled"}, "output_config": {"effort": effort}}
    body = spoken("anthropic", off, name).body
    assert body["thinking"]["type"] in ("disabled", "between_tools")
    assert body.get("output_config", {}).get("effort") not in ("xhigh", "max")


def test_rule_10_words_that_a_model_does_not_have_are_not_sent() -> None:
    for target in CLAUDE:
        efforts = {body.get("output_config", {}).get("effort") for body in bodies(target)}
        assert "minimal" not in efforts
        if target.model in ("claude-sonnet-4-6", "claude-opus-4-6"):
            assert efforts == {None, "low", "medium", "high", "max"}


def test_rule_11_adaptive_thinking_is_shown_unless_it_should_be_hidden() -> None:
    hides = [target for target in CLAUDE if target.found and target.found.facts.visible == "omitted"]
    assert {"claude-opus-4-7", "claude-opus-5", "claude-fable-5"} <= {target.model for target in hides}
    for target in hides:
        shown = explain(target, Intent(level="low"), HELLO)
        hidden = explain(target, Intent(level="low", show=False), HELLO)
        assert shown.body["thinking"]["display"] == "summarized"
        assert hidden.body["thinking"]["display"] == "omitted"


# Rule 12 sends max for xhigh everywhere; xhigh has since become a word of its own where the model has it.
@pytest.mark.parametrize(
    ("name", "effort"),
    [
        ("claude-opus-5/minimal", "low"),
        ("claude-opus-4-6/minimal", "low"),
        ("claude-opus-4-6/xhigh", "max"),
        ("claude-sonnet-4-6/max", "max"),
        ("claude-opus-5/xhigh", "xhigh"),
        ("claude-opus-5/max", "max"),
    ],
)
def test_rule_12_the_ends_of_the_ladder_go_to_the_nearest_effort(name: str, effort: str) -> None:
    assert told(name).body["output_config"] == {"effort": effort}


@pytest.mark.parametrize("level", ["xhigh", "max"])
def test_rule_12_models_without_adaptive_thinking_stop_at_high(level: str) -> None:
    assert told(f"claude-opus-4-5/{level}").body == told("claude-opus-4-5/high").body


@pytest.mark.parametrize(
    "name", ["claude-sonnet-4-5/low", "claude-opus-4-6/low", "claude-opus-5/low", "claude-opus-5-5/low"]
)
def test_rule_13_no_sampling_beside_thinking(name: str) -> None:
    shown = told(name, temperature=0.0, top_k=5)
    assert not {"temperature", "top_k"} & set(shown.body)
    assert "sampling.dropped" in codes(shown)


# Beside adaptive thinking a forced call is refused only from 5.1 on; beside a budget it is everywhere.
@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("claude-sonnet-4-5/low", "auto"),
        ("claude-opus-4-5/low", "auto"),
        ("claude-opus-5-5/low", "auto"),
        ("claude-fable-5-1/low", "auto"),
        ("claude-opus-4-6(8000)", "auto"),
        ("claude-sonnet-4-6(8000)", "auto"),
        ("claude-opus-4-6/low", "any"),
        ("claude-opus-5/low", "any"),
        ("claude-sonnet-4-5/none", "any"),
    ],
)
def test_rule_13_no_tool_is_forced_where_thinking_forbids_it(name: str, choice: str) -> None:
    shown = told(name, **FORCED)
    assert shown.body["tool_choice"]["type"] == choice
    assert ("tool_choice.degraded" in codes(shown)) is (choice == "auto")


def test_rule_14_fields_of_other_wires_are_not_spread_into_the_body() -> None:
    foreign = {"reasoning_effort": "low", "logit_bias": {}, "store": True, "made_up": 1, "max_tokens": 64}
    shown = spoken("openai-chat", foreign, "claude-opus-5")
    assert set(shown.body) == {"model", "messages", "max_tokens", "thinking", "output_config"}
    (dropped,) = (note.detail["fields"] for note in shown.notes if note.code == "field.dropped")
    assert {"logit_bias", "made_up", "store"} <= set(dropped)


# Rule 15 leaves names like these without adaptive thinking; here they are unknown models, and said to be.
@pytest.mark.parametrize("name", ["claude-sonnet-50", "claude-sonnet-5-mini", "vendor/claude-sonnet-5"])
def test_rule_15_a_lookalike_is_not_the_model(name: str) -> None:
    found = find_target(name).found
    assert found is None or found.by == "family"
    assert codes(told(f"{name}/low")) & {"reasoning.unknown_model", "reasoning.unknown_host"}
    dated = find_target("claude-sonnet-5-20260630").found
    assert dated is not None
    assert (dated.by, dated.facts.id) == ("dated", "claude-sonnet-5")


@pytest.mark.parametrize("name", ["claude-opus-4-6", "claude-sonnet-4-6"])
def test_rule_16_a_budget_goes_where_it_is_still_taken(name: str) -> None:
    assert told(name, budget=8_000).body["thinking"] == {"type": "enabled", "budget_tokens": 8_000}


# Rule 16 fails before sending; the design turns the budget into the nearest effort, with a Note.
@pytest.mark.parametrize("name", ["claude-fable-5", "claude-opus-4-7", "claude-opus-5"])
def test_rule_16_a_budget_becomes_an_effort_where_it_is_refused(name: str) -> None:
    shown = told(name, budget=8_000)
    assert shown.body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert shown.body["output_config"] == {"effort": "low"}
    assert "reasoning.adjusted" in codes(shown)
