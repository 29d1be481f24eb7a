"""Every vendor's way to ask for thinking is understood, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest

from thinkwire import dialects
from thinkwire.reasoning import Intent
from thinkwire.reasoning.parse_controls import read_intent

MESSAGES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "openai-responses": {"model": "m", "input": "hi"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
}

SPOKEN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("anthropic", {"thinking": {"type": "enabled", "budget_tokens": 16_000}}, {"budget": 16_000}),
    ("anthropic", {"thinking": {"type": "adaptive"}}, {"on": True}),
    ("anthropic", {"thinking": {"type": "adaptive", "display": "omitted"}}, {"on": True, "show": False}),
    (
        "anthropic",
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "xhigh"}},
        {"on": True, "level": "xhigh", "show": True},
    ),
    (
        "anthropic",
        {"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}},
        {"on": False, "level": "high"},
    ),
    ("anthropic", {"thinking": {"type": "between_tools"}}, {"between_tools": True}),
    ("anthropic", {"output_config": {"effort": "medium"}}, {"level": "med"}),
    ("openai-responses", {"reasoning": {"effort": "none"}}, {"level": "none"}),
    (
        "openai-responses",
        {"reasoning": {"effort": "high", "summary": "detailed"}},
        {"level": "high", "summary": "detailed", "show": True},
    ),
    ("openai-chat", {"reasoning_effort": "minimal"}, {"level": "minimal"}),
    ("openai-chat", {"reasoning": {"effort": "low", "exclude": True}}, {"level": "low", "show": False}),
    ("openai-chat", {"reasoning": {"max_tokens": 2_000}}, {"budget": 2_000}),
    ("openai-chat", {"reasoning": {"enabled": True}}, {"on": True}),
    ("openai-chat", {"reasoning": {"enabled": False, "effort": "high"}}, {"on": False, "level": "high"}),
    ("openai-chat", {"include_reasoning": False}, {"show": False}),
    ("openai-chat", {"enable_thinking": True, "thinking_budget": 500}, {"on": True, "budget": 500}),
    ("openai-chat", {"enable_thinking": False}, {"on": False}),
    ("openai-chat", {"thinking": {"type": "enabled"}}, {"on": True}),
    ("openai-chat", {"thinking": {"type": "enabled", "display": "omitted"}}, {"on": True, "show": False}),
    ("openai-chat", {"chat_template_args": {"enable_thinking": True}}, {"on": True}),
    ("openai-chat", {"disable_reasoning": True}, {"on": False}),
    (
        "openai-chat",
        {"thinking": {"type": "disabled"}, "reasoning_effort": "high"},
        {"on": False, "level": "high"},
    ),
    (
        "openai-chat",
        {"thinking": {"type": "adaptive"}, "reasoning_effort": "max"},
        {"on": True, "level": "max"},
    ),
    ("openai-chat", {"chat_template_kwargs": {"enable_thinking": False}}, {"on": False}),
    ("openai-chat", {"chat_template_kwargs": {"thinking_mode": "enabled"}}, {"on": True}),
    ("openai-chat", {"think": "high"}, {"level": "high"}),
    ("openai-chat", {"think": True}, {"on": True}),
    ("openai-chat", {"reasoning_effort": 3_000}, {"budget": 3_000}),
    ("openai-chat", {"reasoning_effort": "ultra"}, {"level": "max"}),
    ("gemini", {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}, {"level": "low"}),
    (
        "gemini",
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True}}},
        {"budget": -1, "show": True},
    ),
    ("gemini", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}, {"budget": 0}),
]


@pytest.mark.parametrize(("dialect", "fields", "said"), SPOKEN)
def test_native_controls_become_one_intent(
    dialect: str, fields: dict[str, Any], said: dict[str, Any]
) -> None:
    request = dialects.get(dialect).decode_request(MESSAGES[dialect] | fields)
    intent, rest = read_intent(request)
    assert {name: getattr(intent, name) for name in said} == said
    unsaid = Intent()
    others = set(Intent.__struct_fields__) - set(said) - {"said"}
    assert {name: getattr(intent, name) for name in others} == {
        name: getattr(unsaid, name) for name in others
    }
    assert intent.said
    assert rest == dialects.get(dialect).decode_request(MESSAGES[dialect])


def test_what_stands_beside_a_control_stays() -> None:
    body = MESSAGES["anthropic"] | {"output_config": {"effort": "low", "task_budget": {"total": 5}}}
    _, rest = read_intent(dialects.get("anthropic").decode_request(body))
    assert rest.extras == {"anthropic": {"output_config": {"task_budget": {"total": 5}}}}
    body = MESSAGES["openai-chat"] | {"chat_template_kwargs": {"enable_thinking": True, "x": 1}, "seed": 3}
    _, rest = read_intent(dialects.get("openai-chat").decode_request(body))
    assert rest.extras == {"openai_chat": {"chat_template_kwargs": {"x": 1}}}
    assert rest.seed == 3


def test_silence_is_no_intent() -> None:
    request = dialects.get("anthropic").decode_request(MESSAGES["anthropic"])
    intent, rest = read_intent(request)
    assert intent == Intent()
    assert rest is request


@pytest.mark.parametrize("value", [None, [], "x", 7, {"type": 3}, {"budget_tokens": "many"}, {"type": None}])
def test_nonsense_is_not_an_intent_and_not_a_crash(value: Any) -> None:
    for dialect, field in (
        ("anthropic", "thinking"),
        ("openai-chat", "thinking"),
        ("openai-responses", "reasoning"),
    ):
        request = dialects.get(dialect).decode_request(MESSAGES[dialect] | {field: value})
        assert not read_intent(request)[0].says_anything
