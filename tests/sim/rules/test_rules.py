"""Each rule refuses what it is there for, in the vendor's words, and nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.grouping import for_each
from tests.sim.rules import (
    cases_anthropic,
    cases_anthropic_messages,
    cases_deepseek_kimi,
    cases_gemini,
    cases_openai,
    cases_openai_chat,
    cases_others,
)
from tests.sim.rules.ask import (
    CHAT_TOOLS,
    Case,
    ask,
    assistant,
    calls,
    chat,
    content,
    function_call,
    gemini,
    messages_api,
    model_call,
    output,
    reasoning,
    response,
    responses,
    result,
    seal,
    text,
    thought_signature,
    tool_result,
    tool_use,
    user,
)
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.table import all_rules, first_refusal, rules_for
from thinkwire.sim.seal_binding import prefix_of

TABLES = (
    cases_anthropic,
    cases_anthropic_messages,
    cases_openai,
    cases_openai_chat,
    cases_gemini,
    cases_deepseek_kimi,
    cases_others,
)
CASES = [case for table in TABLES for case in table.CASES]


def family_of(case: Case) -> str:
    return case.rule.partition(".")[0]


def refusals(asked: RuleInput) -> list[str]:
    rules = rules_for(asked.provider, asked.dialect)
    return [rule.id for rule in rules if rule.check(asked) is not None]


@for_each("case", CASES, group=family_of, ids=lambda case: case.rule)
def test_refuses_what_it_is_there_for(case: Case) -> None:
    found = first_refusal(case.refused)
    assert found is not None
    rule, refusal = found
    assert (rule.id, [*refusals(case.refused)]) == (case.rule, [case.rule, *case.also])
    assert case.words in refusal.message


@for_each("case", CASES, group=family_of, ids=lambda case: case.rule)
def test_lets_its_neighbour_pass(case: Case) -> None:
    assert refusals(case.passes) == []


def test_no_rule_is_without_a_case() -> None:
    assert {rule.id for rule in all_rules()} - {case.rule for case in CASES} == set()


def test_rules_are_told_apart_and_explained() -> None:
    ids = [rule.id for rule in all_rules()]
    assert len(ids) == len(set(ids))
    for rule in all_rules():
        assert rule.reason.endswith(".")
        assert rule.source
        assert rule.status in (400, 404, 422)


def _claude_loop() -> RuleInput:
    """A round of adaptive thinking with its prefix bound, as it goes back."""
    model = "claude-opus-5-5"
    body: dict[str, Any] = {
        "system": "Be brief.",
        "tools": [cases_anthropic.LOOK],
        "messages": [user("Look")],
    }
    signature = seal("anthropic.signature", model, "Hm.", prefix=prefix_of(body, 1))
    thinking = {"type": "thinking", "thinking": "", "signature": signature}
    turn = [assistant(thinking, text("I look."), tool_use()), user(tool_result())]
    return messages_api(model, user("Look"), *turn, system=body["system"], tools=body["tools"])


def _openai_loop() -> RuleInput:
    item = reasoning(encrypted_content=seal("openai.encrypted", "gpt-6.1-sol", "Hm."))
    fields: dict[str, Any] = {
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high"},
    }
    return responses("gpt-6.1-sol", user("Look"), item, function_call(), output(), **fields)


def _gemini_loop() -> RuleInput:
    called = content("model", model_call(signature=thought_signature("gemini-4-carbon")))
    answered = content("user", response())
    return gemini("gemini-4-carbon", content("user", {"text": "Look"}), called, answered)


def _chat_loop(provider: str, model: str, **fields: Any) -> RuleInput:
    name = "abcdefghi"
    return chat(provider, model, user("Look"), calls(name, **fields), result(name), tools=CHAT_TOOLS)


BASELINES = [
    _claude_loop(),
    _openai_loop(),
    chat(
        "openai",
        "gpt-5.4",
        user("Look"),
        calls("call_1"),
        result(),
        tools=CHAT_TOOLS,
        reasoning_effort="none",
    ),
    _gemini_loop(),
    _chat_loop("deepseek", "deepseek-v4-pro", reasoning_content="Hm."),
    _chat_loop("moonshot", "kimi-k3", reasoning_content="Hm."),
    _chat_loop("mistral", "mistral-small-latest"),
    _chat_loop("qwen", "qwen3.8-max"),
    _chat_loop("minimax", "MiniMax-M3"),
    _chat_loop("openrouter", "anthropic/claude-opus-5.5", reasoning_details=[]),
    _chat_loop("zai", "glm-5.3", reasoning_content="Hm."),
    _chat_loop("groq", "openai/gpt-oss-120b", reasoning="Hm."),
    _chat_loop("ollama", "qwen3", reasoning="Hm."),
    responses(
        "grok-4.7", user("Look"), function_call(), output(), provider="xai", reasoning={"effort": "xhigh"}
    ),
    _chat_loop("xai", "grok-4.7"),
    responses("deepseek-v4-pro", user("Look"), function_call(), output(), provider="deepseek"),
    responses("openai/gpt-6.1-sol", user("Look"), provider="openrouter", reasoning={"effort": "high"}),
    ask("moonshot", "anthropic", {"model": "kimi-k3", "max_tokens": 100, "messages": [user("Hello")]}),
    ask("minimax", "anthropic", {"model": "MiniMax-M3", "max_tokens": 100, "messages": [user("Hello")]}),
]


@pytest.mark.parametrize("asked", BASELINES, ids=lambda asked: f"{asked.provider}-{asked.dialect}")
def test_takes_a_tool_loop_as_it_should_be(asked: RuleInput) -> None:
    assert asked.facts is not None
    assert refusals(asked) == []


def test_every_api_that_has_rules_has_an_accepted_body() -> None:
    shown = {(asked.provider, asked.dialect) for asked in BASELINES}
    assert {
        (name, kind) for rule in all_rules() for name in rule.providers for kind in rule.dialects
    } == shown


NONSENSE: tuple[Any, ...] = (None, True, -1, "", "\u00e9", [], [[1]], {}, {"type": ["x"]})


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where everything inside a JSON value is."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with another one at a place inside it."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


@for_each("case", CASES, group=family_of, ids=lambda case: case.rule)
def test_no_rule_breaks_over_nonsense(case: Case) -> None:
    """Whatever stands anywhere in a body, rules refuse or let pass; none fails."""
    for path in _paths(case.passes.body):
        for new in NONSENSE:
            asked = case.passes._replace(body=_with(case.passes.body, path, new))
            for rule in rules_for(asked.provider, asked.dialect):
                said = rule.check(asked)
                assert said is None or said, (rule.id, path, new)
