"""The numbers and lines that the product was asked for, to the letter."""

from __future__ import annotations

from typing import Any

import pytest

from thinkwire.messages import Text, Turn
from thinkwire.reasoning import Intent, budget_for, parse_level, parse_name
from thinkwire.reasoning.explain import Explanation, explain
from thinkwire.reasoning.target import find_target
from thinkwire.request import Request

HELLO = Request(turns=(Turn("user", (Text("Hello"),)),))


def told(name: str, **intent: Any) -> Explanation:
    named = parse_name(name)
    return explain(find_target(named.name), named.intent or Intent(**intent), HELLO)


BUDGETS = {
    "claude-sonnet-4-5": (1_024, 22_016, 43_008, 64_000),
    "claude-opus-4-5": (1_024, 22_016, 43_008, 64_000),
    "claude-haiku-4-5": (1_024, 11_349, 21_674, 32_000),
    "claude-3-7-sonnet": (1_024, 11_349, 21_674, 32_000),
    "gemini-2.5-pro": (128, 11_008, 21_888, 32_768),
    "gemini-2.5-flash": (0, 8_192, 16_384, 24_576),
    "gemini-2.5-flash-lite": (512, 8_533, 16_554, 24_576),
}


@pytest.mark.parametrize("model", BUDGETS)
def test_levels_are_thirds_of_the_budget_range(model: str) -> None:
    found = find_target(model).found
    assert found is not None
    levels = [parse_level(word) for word in ("none", "low", "med", "high")]
    assert tuple(budget_for(found.facts, level) for level in levels if level) == BUDGETS[model]


def test_a_dated_id_finds_its_row() -> None:
    found = find_target("claude-sonnet-4-5-20250929").found
    assert found is not None
    assert budget_for(found.facts, "med") == 43_008


FEEDBACK = {
    "claude-sonnet-4-5/med": """
✓ Switched to Anthropic claude-sonnet-4-5
  Thinking: medium (43,008 tokens)""",
    "gemini-2.5-pro/high": """
✓ Switched to Google gemini-2.5-pro
  Thinking: high (32,768 tokens)""",
    "gemini-3-pro/none": """
✓ Switched to Google gemini-3-pro
  ⚠ This model does not support disabling thinking
  Thinking: LOW level (minimum)""",
    "o3/med": """
✓ Switched to OpenAI o3 (Responses API)
  Thinking: medium effort (~50% of output budget)
  Recommended output buffer: 25,000 tokens""",
    "o3-mini/none": """
✓ Switched to OpenAI o3-mini
  ⚠ This model does not support disabling thinking
  Thinking: medium effort (default)""",
}


@pytest.mark.parametrize("name", FEEDBACK)
def test_the_feedback_lines_are_as_they_were_asked_for(name: str) -> None:
    assert told(name).feedback == FEEDBACK[name].strip("\n").splitlines()


WIRES: list[tuple[str, dict[str, Any]]] = [
    ("claude-sonnet-4-5/med", {"thinking": {"type": "enabled", "budget_tokens": 43_008}}),
    ("claude-sonnet-4-5/none", {"thinking": {"type": "disabled"}}),
    (
        "gemini-2.5-pro/med",
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 21_888, "includeThoughts": True}}},
    ),
    (
        "gemini-2.5-pro/none",
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 128, "includeThoughts": True}}},
    ),
    (
        "gemini-2.5-flash/none",
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0, "includeThoughts": False}}},
    ),
    (
        "gemini-3-pro/high",
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True}}},
    ),
    (
        "gemini-3-pro/med",
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True}}},
    ),
    (
        "gemini-3-pro/low",
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}}},
    ),
    ("o3-mini/med", {"reasoning_effort": "medium"}),
    ("o3-mini/none", {"reasoning_effort": "medium"}),
]


@pytest.mark.parametrize(("name", "fields"), WIRES)
def test_the_wire_is_as_the_tables_say(name: str, fields: dict[str, Any]) -> None:
    body = told(name).body
    for key, value in fields.items():
        assert body[key] == value


@pytest.mark.parametrize(
    ("level", "effort"), [("none", "medium"), ("low", "low"), ("med", "medium"), ("high", "high")]
)
def test_o3_takes_an_effort_on_the_responses_api(level: str, effort: str) -> None:
    body = told(f"o3/{level}").body
    assert body["reasoning"] == {"effort": effort, "summary": "auto"}
    assert "reasoning_effort" not in body


@pytest.mark.parametrize("level", ["none", "low", "med", "high"])
def test_a_level_model_never_gets_a_budget_and_a_budget_model_never_a_level(level: str) -> None:
    three = told(f"gemini-3-pro/{level}").body["generationConfig"]["thinkingConfig"]
    assert "thinkingBudget" not in three
    two = told(f"gemini-2.5-pro/{level}").body["generationConfig"]["thinkingConfig"]
    assert "thinkingLevel" not in two


ALIGNMENT: list[tuple[str, int, dict[str, Any]]] = [
    ("o3", 3_999, {"reasoning": {"effort": "low", "summary": "auto"}}),
    ("o3", 4_000, {"reasoning": {"effort": "low", "summary": "auto"}}),
    ("o3", 16_000, {"reasoning": {"effort": "medium", "summary": "auto"}}),
    ("o3", 31_999, {"reasoning": {"effort": "medium", "summary": "auto"}}),
    ("o3", 32_000, {"reasoning": {"effort": "high", "summary": "auto"}}),
    ("gpt-5", 3_999, {"reasoning": {"effort": "minimal", "summary": "auto"}}),
    (
        "gemini-3-pro",
        15_999,
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}}},
    ),
    (
        "gemini-3-pro",
        16_000,
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True}}},
    ),
    (
        "gemini-2.5-flash",
        16_000,
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 16_000, "includeThoughts": True}}},
    ),
    (
        "gemini-2.5-flash",
        30_000,
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 24_576, "includeThoughts": True}}},
    ),
    ("grok-3-mini", 19_999, {"reasoning_effort": "low"}),
    ("grok-3-mini", 20_000, {"reasoning_effort": "high"}),
    ("qwen3-235b-a22b", 16_000, {"enable_thinking": True, "thinking_budget": 16_000}),
    ("MiniMax-M2", 16_000, {"reasoning_split": True}),
]


@pytest.mark.parametrize(("model", "budget", "fields"), ALIGNMENT)
def test_a_budget_becomes_what_the_model_understands(model: str, budget: int, fields: dict[str, Any]) -> None:
    body = told(model, budget=budget).body
    for key, value in fields.items():
        assert body[key] == value


@pytest.mark.parametrize("model", ["deepseek-reasoner", "grok-3"])
def test_models_without_a_control_get_no_field(model: str) -> None:
    shown = told(model, budget=16_000)
    assert not {"thinking", "reasoning", "reasoning_effort", "enable_thinking"} & shown.body.keys()
    assert "reasoning.unsupported" in {note.code for note in shown.notes}
