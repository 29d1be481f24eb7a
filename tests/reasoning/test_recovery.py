"""A refusal that names a reasoning control corrects the facts; any other does not."""

from __future__ import annotations

from typing import Any

import pytest

from thinkwire.catalog import CatalogMatch
from thinkwire.errors import Failure
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import parse_name
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.recovery import Recovery, find_recovery
from thinkwire.reasoning.refusal import SentRequest
from thinkwire.reasoning.resolve import resolve
from thinkwire.reasoning.target import find_target
from thinkwire.request import Request

HELLO = Request(turns=(Turn("user", (Text("Hello"),)),), max_tokens=4_096)


def planned(name: str, found: CatalogMatch | None = None) -> Plan:
    named = parse_name(name)
    assert named.intent is not None
    return resolve(named.intent, found or find_target(named.name).found, HELLO)[0]


def recovery_of(refusal: str, plan: Plan, **failure: Any) -> Recovery | None:
    sent = SentRequest(plan, HELLO, dict(plan.patch))
    return find_recovery(Failure("bad_request", refusal, status=400, **failure), sent)


def second_try(name: str, refusal: str) -> tuple[Recovery | None, Plan]:
    first = planned(name)
    recovery = recovery_of(refusal, first)
    if recovery is None or first.facts is None:
        return recovery, first
    return recovery, planned(name, CatalogMatch(recovery.apply(first.facts), "exact"))


REFUSALS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "gpt-5.1/xhigh",
        "Unsupported value: 'reasoning.effort' does not support 'high' with this model. "
        "Supported values are: 'none', 'low', and 'medium'.",
        {"effort": "medium"},
    ),
    (
        "gpt-5.6-terra/none",
        "Unsupported value: 'reasoning_effort' does not support 'none' with this model. "
        "Supported values are: 'minimal', 'low', 'medium', and 'high'.",
        {"effort": "minimal"},
    ),
    ("grok-4.6/xhigh", "Model grok-4.6 does not support reasoning_effort value xhigh.", {"effort": "high"}),
    ("grok-4.3/none", "Model grok-4.3 does not support reasoning_effort value none.", {"effort": "low"}),
    (
        "gemini-3.5-flash/minimal",
        "Thinking level MINIMAL is not supported for this model.",
        {"effort": "LOW"},
    ),
    (
        "gemini-2.5-flash/none",
        "Budget 0 is invalid. This model only works in thinking mode.",
        {"budget": 128},
    ),
    (
        "gemini-2.5-pro/high",
        "The thinking budget 32768 is invalid. Please choose a value between 128 and 24,576.",
        {"budget": 24_576},
    ),
    (
        "claude-opus-4-5/high",
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
        '"output_config.effort" to control thinking behavior.',
        {"effort": "high"},
    ),
    (
        "claude-opus-5/none",
        '"thinking.type.disabled" is not supported for this model.',
        {"effort": "low"},
    ),
    (
        "claude-opus-5/max",
        "output_config.effort 'max' is not supported when thinking is disabled on this model.",
        {"effort": "xhigh"},
    ),
    ("claude-sonnet-5/med", "adaptive thinking is not supported on this model", {"budget": 85_674}),
]


@pytest.mark.parametrize(("name", "refusal", "effective"), REFUSALS)
def test_the_second_try_is_legal_and_asks_for_no_more(
    name: str, refusal: str, effective: dict[str, Any]
) -> None:
    recovery, plan = second_try(name, refusal)
    assert recovery is not None
    for field, value in effective.items():
        assert getattr(plan.effective, field) == value


DROPPED = [
    ("grok-4.6/high", "Model grok-4.6 does not support parameter reasoningEffort."),
    ("gpt-5.6-terra/high", "Unsupported parameter: 'reasoning.effort' is not supported with this model."),
    ("gemini-3.5-flash/high", "Thinking level is not supported for this model."),
]


@pytest.mark.parametrize(("name", "refusal"), DROPPED)
def test_a_refused_parameter_is_dropped_and_said(name: str, refusal: str) -> None:
    recovery, plan = second_try(name, refusal)
    assert recovery is not None
    assert plan.patch.keys() <= {"include"}
    assert plan.outcome == "unsupported"


def test_tools_and_effort_on_chat_lead_to_the_responses_api() -> None:
    refusal = (
        "Function tools with reasoning_effort are not supported for some-model in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    )
    recovery, plan = second_try("o3-mini/high", refusal)
    assert recovery is not None
    assert plan.dialect == "openai-responses"
    assert plan.patch["reasoning"]["effort"] == "high"


OTHER = [
    "prompt is too long: 250000 tokens > 200000 maximum",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "tools.0.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens",
    "Unsupported parameter: 'temperature' is not supported with this model.",
]


@pytest.mark.parametrize("refusal", OTHER)
def test_a_refusal_about_something_else_teaches_nothing(refusal: str) -> None:
    assert second_try("gpt-5.6-terra/high", refusal)[0] is None


def test_only_a_refusal_teaches() -> None:
    plan = planned("grok-4.6/high")
    words = "Model grok-4.6 does not support parameter reasoningEffort."
    sent = SentRequest(plan, HELLO, dict(plan.patch))
    assert find_recovery(Failure("overloaded", words, status=503), sent) is None


def test_nothing_is_learned_when_nothing_was_sent() -> None:
    named = parse_name("gpt-4o/high")
    assert named.intent is not None
    plan = resolve(named.intent, find_target(named.name).found, HELLO)[0]
    words = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    assert recovery_of(words, plan) is None
