"""What the other vendors refuse, and what they just so take."""

from __future__ import annotations

from typing import Any

from tests.sim.rules.ask import (
    CHAT_TOOLS,
    OTHER_ACCOUNT,
    Case,
    Json,
    assistant,
    calls,
    chat,
    function_call,
    of,
    output,
    reasoning,
    responses,
    result,
    seal,
    text,
    user,
)
from thinkwire.sim.rules.rule import RuleInput

OFF = {"type": "disabled"}


def m(model: str, *messages: Json, **fields: Any) -> RuleInput:
    return chat("mistral", model, *messages, **fields)


old, new = "mistral-large-2512", "mistral-small-latest"
loop = [user("A"), calls("abcdefghi"), result("abcdefghi")]
MISTRAL = [
    Case(
        "unknown_message_field",
        m(new, user("A"), assistant("B", reasoning_content="Hm."), user("C")),
        m(new, user("A"), assistant({"type": "thinking", "thinking": []}, text("B")), user("C")),
        "Extra inputs are not permitted",
    ),
    Case(
        "tool_type",
        m(old, tools=[{"type": "web_search"}]),
        m(old, tools=CHAT_TOOLS),
        "should be 'function'",
    ),
    Case(
        "tool_id",
        m(new, user("A"), calls("call_1"), result("call_1")),
        m(new, *loop),
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
    ),
    Case(
        "user_after_tool",
        m(old, *loop, user("B")),
        m(old, *loop, assistant("Done."), user("B")),
        "Unexpected role 'user' after role 'tool'",
    ),
    Case(
        "effort_not_offered",
        m(new, reasoning_effort="low"),
        m(new, reasoning_effort="none"),
        "Invalid reasoning effort: 'low'. Supported values are: 'none' and 'high'.",
    ),
    Case("effort_not_offered", m(old, reasoning_effort="high"), m(old), "is not supported by this model"),
]


def q(model: str, **fields: Any) -> RuleInput:
    return chat("qwen", model, **fields)


effort, hybrid, open_weight = "qwen3.8-max", "qwen-plus", "qwen3-32b"
QWEN = [
    Case(
        "effort_with_budget",
        q(effort, reasoning_effort="low", thinking_budget=2000),
        q(effort, reasoning_effort="low"),
        "reasoning_effort parameter cannot be used together with thinking_budget",
    ),
    Case(
        "effort_with_budget",
        q(effort, reasoning_effort="low", enable_thinking=True),
        q(effort, enable_thinking=True),
        "together with enable_thinking",
    ),
    Case(
        "budget_out_of_range",
        q(hybrid, enable_thinking=True, thinking_budget=81_921),
        q(hybrid, enable_thinking=True, thinking_budget=81_920),
        "Range of thinking_budget should be [1, 81920]",
    ),
    Case(
        "max_tokens_out_of_range",
        q(hybrid, max_tokens=32_769),
        q(hybrid, max_tokens=32_768),
        "Range of max_tokens should be [1, 32768]",
    ),
    Case(
        "not_streamed",
        q(open_weight),
        q(open_weight, enable_thinking=False),
        "parameter.enable_thinking must be set to false for non-streaming calls",
    ),
    Case("not_streamed", q("qwq-plus"), q("qwq-plus", stream=True), "This model only support stream mode"),
    Case(
        "forced_tools",
        q(hybrid, enable_thinking=True, tools=CHAT_TOOLS, tool_choice="required"),
        q(hybrid, tools=CHAT_TOOLS, tool_choice="required"),
        "The tool_choice parameter does not support being set to required or object in thinking mode",
    ),
]


def x(model: str, **fields: Any) -> RuleInput:
    return chat("xai", model, **fields)


def r(*items: Json, **fields: Any) -> RuleInput:
    return responses("grok-4.5", *items, provider="xai", **fields)


own, other = (seal("openai.encrypted", "grok-4.5", "Hm."), seal("x", "y", "z", account=OTHER_ACCOUNT))
XAI = [
    Case(
        "effort_unsupported",
        x("grok-code-fast-1", reasoning_effort="low"),
        x("grok-code-fast-1"),
        "Model grok-code-fast-1 does not support parameter reasoningEffort.",
    ),
    Case(
        "effort_value",
        r(user("A"), reasoning={"effort": "none"}),
        r(user("A"), reasoning={"effort": "low"}),
        "Model grok-4.5 does not support reasoning_effort value none.",
    ),
    Case(
        "stop_refused",
        x("grok-4.5", stop=["."]),
        x("grok-3", stop=["."]),
        "not supported on this model: stop",
    ),
    Case(
        "penalties_refused",
        x("grok-4.5", presence_penalty=0),
        x("grok-3-mini", presence_penalty=0),
        "Argument not supported on this model: presencePenalty",
    ),
    Case(
        "encrypted_content",
        r(user("A"), reasoning(encrypted_content=other), function_call(), output()),
        r(user("A"), reasoning(encrypted_content=own), function_call(), output()),
        "encrypted_content",
    ),
]


def o(model: str, *messages: Json, **fields: Any) -> RuleInput:
    return chat("openrouter", model, *messages, **fields)


def detailed(**detail: Any) -> RuleInput:
    return o(claude, user("A"), assistant("B", reasoning_details=[detail]), user("C"))


must, claude = "openai/gpt-5", "anthropic/claude-haiku-4.5"
mandatory = "Reasoning is mandatory for this endpoint and cannot be disabled."
signed = {"type": "reasoning.text", "text": "Hm.", "format": "anthropic-claude-v1"}
own = seal("anthropic.signature", claude, "Hm.")
OPENROUTER = [
    Case(
        "reasoning_mandatory",
        o(must, reasoning={"enabled": False}),
        o(claude, reasoning={"enabled": False}),
        mandatory,
    ),
    Case(
        "reasoning_mandatory",
        o(must, reasoning_effort="none"),
        o(must, reasoning_effort="low"),
        mandatory,
    ),
    Case(
        "efforts_differ",
        o(must, reasoning={"effort": "low"}, reasoning_effort="high"),
        o(must, reasoning={"effort": "low"}, reasoning_effort="low"),
        "must not differ",
    ),
    Case(
        "effort_and_budget",
        o(claude, reasoning={"effort": "low", "max_tokens": 2000}),
        o(claude, reasoning={"max_tokens": 2000, "enabled": True}),
        "Only one of",
    ),
    Case(
        "details_altered",
        detailed(**signed),
        detailed(**signed, signature=own),
        "Provider returned error",
    ),
    Case(
        "details_altered",
        detailed(type="reasoning.encrypted", data=own[:-4]),
        detailed(type="reasoning.encrypted", data=own),
        "Provider returned error",
    ),
]


oss, glm = "openai/gpt-oss-120b", "glm-5.3"
raw = {"reasoning_format": "raw"}
SMALL = [
    Case(
        "minimax.temperature_range",
        chat("minimax", "MiniMax-M2", temperature=1.1),
        chat("minimax", "MiniMax-M2", temperature=1),
        "invalid params, temperature",
    ),
    Case(
        "zai.disabled_impossible",
        chat("zai", glm, thinking=OFF),
        chat("zai", "glm-4.7", thinking=OFF),
        "use low, high or max",
    ),
    Case(
        "groq.effort_word",
        chat("groq", oss, reasoning_effort="none"),
        chat("groq", "qwen/qwen3-32b", reasoning_effort="none"),
        "`reasoning_effort` must be one of `low`, `medium`, or `high`",
    ),
    Case(
        "groq.effort_word",
        chat("groq", "llama-3.3-70b-versatile", reasoning_effort="low"),
        chat("groq", oss, reasoning_effort="low"),
        "`reasoning_effort` is not supported with this model",
    ),
    Case(
        "groq.format_and_include",
        chat("groq", oss, reasoning_format="parsed", include_reasoning=True),
        chat("groq", oss, include_reasoning=True),
        "cannot specify both",
    ),
    Case(
        "groq.raw_format",
        chat("groq", oss, **raw, tools=CHAT_TOOLS),
        chat("groq", oss, **raw),
        "`parsed`",
    ),
    Case(
        "groq.reasoning_content_refused",
        chat("groq", oss, user("A"), assistant("B", reasoning_content=""), user("C")),
        chat("groq", oss, user("A"), assistant("B", reasoning="Hm."), user("C")),
        "property 'reasoning_content' is unsupported",
    ),
    Case(
        "ollama.reasoning_value",
        chat("ollama", "qwen3", reasoning_effort="hard"),
        chat("ollama", "qwen3", reasoning={"effort": "max"}),
        "invalid reasoning value: 'hard'",
    ),
    Case(
        "ollama.thinking_unsupported",
        chat("ollama", "llama3.3", reasoning_effort="low"),
        chat("ollama", "llama3.3", reasoning_effort="none"),
        '"llama3.3" does not support thinking',
    ),
]

CASES = [
    *of("mistral", MISTRAL),
    *of("qwen", QWEN),
    *of("xai", XAI),
    *of("openrouter", OPENROUTER),
    *SMALL,
]
