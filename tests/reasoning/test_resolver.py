"""The resolver in tables: what is present, what is absent, what is noted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest

from thinkwire.catalog import default_catalog
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import Intent, parse_name
from thinkwire.reasoning.explain import Explanation, difference, explain, merged
from thinkwire.reasoning.resolve import ConversationState
from thinkwire.reasoning.target import find_target
from thinkwire.request import Request, Tool, ToolChoice

HELLO = Request(turns=(Turn("user", (Text("Hello"),)),))
TOOL = Tool("f", schema={"type": "object"})


def told(name: str, circumstances: ConversationState | None = None, **request: Any) -> Explanation:
    named = parse_name(name)
    budget = request.pop("budget", None)
    intent = named.intent or Intent()
    if budget is not None:
        intent = msgspec.structs.replace(intent, budget=budget)
    return explain(find_target(named.name), intent, msgspec.structs.replace(HELLO, **request), circumstances)


class Case(NamedTuple):
    name: str
    request: dict[str, Any]
    present: Mapping[str, Any] = MappingProxyType({})
    absent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


CASES = [
    Case(
        "claude-sonnet-4-5/med",
        {"max_tokens": 4_096},
        {"max_tokens": 47_104, "thinking": {"type": "enabled", "budget_tokens": 43_008}},
        notes=("max_tokens.raised",),
    ),
    Case(
        "claude-sonnet-4-5/high",
        {"max_tokens": 4_096},
        {"max_tokens": 64_000, "thinking": {"type": "enabled", "budget_tokens": 63_999}},
        notes=("reasoning.adjusted", "max_tokens.raised"),
    ),
    Case("claude-sonnet-4-5/med", {}, {"max_tokens": 47_104}),
    Case("claude-sonnet-4-5", {"budget": 500}, {"thinking": {"type": "enabled", "budget_tokens": 1_024}}),
    Case(
        "claude-sonnet-4-5/med",
        {"budget": 50_000},
        {"thinking": {"type": "enabled", "budget_tokens": 50_000}},
    ),
    Case(
        "claude-sonnet-4-5/med",
        {"temperature": 0.0, "top_k": 5},
        absent=("temperature", "top_k"),
        notes=("sampling.dropped",),
    ),
    Case(
        "claude-sonnet-4-5/none", {"temperature": 0.0}, {"temperature": 0.0, "thinking": {"type": "disabled"}}
    ),
    Case(
        "claude-sonnet-4-5/med",
        {"tools": (TOOL,), "tool_choice": ToolChoice("any")},
        {"tool_choice": {"type": "auto"}},
        notes=("tool_choice.degraded",),
    ),
    Case(
        "claude-opus-5-5/high",
        {"turns": (*HELLO.turns, Turn("assistant", (Text("Sure:"),)))},
        notes=("prefill.closed",),
    ),
    Case(
        "claude-opus-5/max",
        {"budget": None},
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}},
    ),
    Case(
        "claude-opus-4-6",
        {"budget": 20_000},
        {"thinking": {"type": "enabled", "budget_tokens": 20_000}},
        absent=("output_config",),
    ),
    Case("claude-haiku-4-5/high", {}, {}, absent=("output_config",)),
    Case("claude-sonnet-5-5/off", {}, {"thinking": {"type": "between_tools"}}, notes=("reasoning.minimum",)),
    Case("gpt-5.6-terra/high", {"temperature": 0.3}, absent=("temperature",), notes=("sampling.dropped",)),
    Case("gpt-5.6-terra/none", {"temperature": 0.3}, {"temperature": 0.3, "reasoning": {"effort": "none"}}),
    Case("gpt-4o/high", {}, absent=("reasoning", "reasoning_effort"), notes=("reasoning.unsupported",)),
    Case("o1-mini/high", {}, absent=("reasoning", "reasoning_effort")),
    Case("deepseek-v4-pro/none", {}, {"thinking": {"type": "disabled"}}, absent=("reasoning_effort",)),
    Case("glm-5.3/none", {}, {"reasoning_effort": "low"}, notes=("reasoning.minimum",)),
    Case(
        "kimi-k3/med", {}, {"reasoning_effort": "high"}, absent=("thinking",), notes=("reasoning.adjusted",)
    ),
    Case("kimi-k2.6/none", {}, {"thinking": {"type": "disabled"}}, absent=("reasoning_effort",)),
    Case("MiniMax-M3/high", {}, {"thinking": {"type": "adaptive"}}, notes=("reasoning.adjusted",)),
    Case("mistral-small-latest/low", {}, {"reasoning_effort": "high"}, notes=("reasoning.adjusted",)),
    Case("groq/openai/gpt-oss-120b/none", {}, {"reasoning_effort": "low"}, notes=("reasoning.minimum",)),
    Case("openrouter/anthropic/claude-opus-5/none", {}, {"reasoning": {"enabled": False}}),
    Case("openrouter/anthropic/claude-sonnet-4.5", {"budget": 5_000}, {"reasoning": {"max_tokens": 5_000}}),
    Case(
        "grok-4.20-reasoning/high",
        {},
        absent=("reasoning", "reasoning_effort"),
        notes=("reasoning.unsupported",),
    ),
    Case("no-such-model/high", {}, absent=("reasoning", "thinking"), notes=("reasoning.unknown_host",)),
    Case("claude-opus-9/low", {}, {"output_config": {"effort": "low"}}, notes=("reasoning.unknown_model",)),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_body_is_legal_and_every_change_is_noted(case: Case) -> None:
    shown = told(case.name, **case.request)
    for field, value in case.present.items():
        assert shown.body[field] == value
    for field in case.absent:
        assert field not in shown.body
    assert set(case.notes) <= {note.code for note in shown.notes}


def test_a_long_conversation_gets_a_smaller_budget() -> None:
    long = ConversationState(context_tokens=150_001)
    shown = told("claude-sonnet-4-5/med", long)
    assert shown.body["thinking"]["budget_tokens"] == 10_000
    assert "reasoning.dynamic_budget" in {note.code for note in shown.notes}
    assert (
        told("claude-sonnet-4-5/med", ConversationState(150_000)).body["thinking"]["budget_tokens"] == 43_008
    )
    unchanged = told("claude-sonnet-4-5/med", ConversationState(150_001, dynamic_budget=False))
    assert unchanged.body["thinking"]["budget_tokens"] == 43_008


@pytest.mark.parametrize("value", [None, "anything", {"type": "enabled", "budget_tokens": 7}])
def test_a_native_parameter_set_by_hand_is_sent_as_it_is(value: Any) -> None:
    shown = told("claude-sonnet-4-5/med", extras={"anthropic": {"thinking": value}})
    assert shown.body["thinking"] == value
    assert shown.plan.outcome == "suppressed"
    assert [note.code for note in shown.notes] == ["reasoning.native_wins"]


def test_interleaved_thinking_is_asked_for_where_a_header_is_needed() -> None:
    assert "anthropic-beta" not in told("claude-sonnet-4-5/med").headers
    headers = told("claude-sonnet-4-5/med", tools=(TOOL,)).headers
    assert headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    assert "anthropic-beta" not in told("claude-opus-5/med", tools=(TOOL,)).headers


def test_system_turns_move_to_the_top_where_the_model_refuses_them() -> None:
    turns = (*HELLO.turns, Turn("system", (Text("Now in French."),)))
    moved = told("claude-sonnet-4-5/med", turns=turns)
    assert moved.body["system"] == "Now in French."
    assert [message["role"] for message in moved.body["messages"]] == ["user"]
    assert "system.moved" in {note.code for note in moved.notes}
    kept = told("claude-opus-5-5/med", turns=turns)
    assert [message["role"] for message in kept.body["messages"]] == ["user", "system"]


def test_models_that_refuse_tools_beside_an_effort_on_chat_are_asked_elsewhere() -> None:
    refusing = [facts for facts in default_catalog() if "tools_on_chat_when_thinking" in facts.refuses]
    assert refusing
    assert {facts.dialect for facts in refusing} == {"openai-responses"}


def test_other_keys_of_a_shared_object_survive_the_patch() -> None:
    extras = {"anthropic": {"output_config": {"task_budget": {"total": 9}}}}
    body = told("claude-opus-5/low", extras=extras).body
    assert body["output_config"] == {"task_budget": {"total": 9}, "effort": "low"}


def test_merging_joins_objects_and_lists() -> None:
    assert merged({"a": {"b": 1}, "c": [1], "d": 1}, {"a": {"e": 2}, "c": [1, 2], "d": 3}) == {
        "a": {"b": 1, "e": 2},
        "c": [1, 2],
        "d": 3,
    }


def test_a_difference_names_every_field() -> None:
    before, after = {"a": {"b": 1}, "c": [1, 2], "x": 1}, {"a": {"b": 2}, "c": [1, 3], "y": 2}
    assert {change["path"] for change in difference(before, after)} == {"a.b", "c[1]", "x", "y"}
    assert difference(before, before) == []
