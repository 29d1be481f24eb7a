"""What OpenAI refuses on Chat Completions, and what it just so takes."""

from __future__ import annotations

from typing import Any

from tests.sim.rules.ask import CHAT_TOOLS, Case, Json, assistant, calls, chat, of, result, user
from thinkwire.sim.rules.rule import RuleInput

MODEL, ALWAYS, PLAIN = "gpt-5.6-sol", "gpt-5", "gpt-4o"


def c(model: str, *messages: Json, **fields: Any) -> RuleInput:
    return chat("openai", model, *messages, **fields)


tools = {"tools": CHAT_TOOLS}
long = "c" * 65
CHAT_COMPLETIONS = [
    Case("unknown_parameter", c(MODEL, thinking={}), c(MODEL, verbosity="low"), "'thinking'"),
    Case(
        "bad_role",
        c(MODEL, {"role": "model", "content": "Hi"}),
        c(MODEL, {"role": "developer", "content": "Hi"}),
        "Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user',",
    ),
    Case(
        "unknown_message_field",
        c(MODEL, user("A"), assistant("B", reasoning_content="Hm."), user("C")),
        c(MODEL, user("A"), assistant("B", refusal=None), user("C")),
        "Unknown parameter: 'messages[1].reasoning_content'.",
    ),
    Case(
        "id_too_long",
        c(ALWAYS, user("A"), calls(long), result(long)),
        c(ALWAYS, user("A"), calls(long[:64]), result(long[:64])),
        "Invalid 'messages[1].tool_calls[0].id': string too long.",
    ),
    Case(
        "max_tokens_refused",
        c(MODEL, max_tokens=100),
        c(PLAIN, max_tokens=100),
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
    ),
    Case(
        "effort_unsupported",
        c(PLAIN, reasoning_effort="low"),
        c(ALWAYS, reasoning_effort="low"),
        "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
    ),
    Case(
        "effort_unknown",
        c(ALWAYS, reasoning_effort="hard"),
        c(ALWAYS, reasoning_effort="high"),
        "Invalid value: 'hard'.",
        also=("effort_not_offered",),
    ),
    Case(
        "effort_not_offered",
        c(MODEL, reasoning_effort="max"),
        c(MODEL, reasoning_effort="xhigh"),
        "Unsupported value: 'reasoning_effort' does not support 'max' with this model. "
        "Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'.",
    ),
    Case(
        "tools_with_reasoning",
        c(MODEL, reasoning_effort="low", **tools),
        c(MODEL, reasoning_effort="none", **tools),
        "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ),
    Case("tools_with_reasoning", c(MODEL, **tools), c("gpt-5.4", **tools), "use /v1/responses"),
    Case(
        "sampling_refused",
        c(ALWAYS, temperature=0.2),
        c(PLAIN, temperature=0.2),
        "Unsupported value: 'temperature' does not support 0.2 with this model. "
        "Only the default (1) value is supported.",
    ),
    Case("sampling_refused", c(ALWAYS, logprobs=True), c(ALWAYS, logprobs=False), "'logprobs' is not"),
    Case(
        "penalties_refused",
        c(MODEL, presence_penalty=0.5),
        c(MODEL, presence_penalty=0.5, reasoning_effort="none"),
        "'presence_penalty' is not supported",
    ),
    Case("stop_refused", c(ALWAYS, stop=["."]), c(MODEL, stop=["."]), "'stop' is not supported"),
    Case(
        "calls_without_results",
        c(ALWAYS, user("A"), calls("call_1", "call_2"), result("call_1"), user("B")),
        c(ALWAYS, user("A"), calls("call_1", "call_2"), result("call_2"), result("call_1"), user("B")),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: call_2",
    ),
    Case(
        "result_without_call",
        c(ALWAYS, user("A"), result()),
        c(ALWAYS, user("A"), calls("call_1"), result()),
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ),
]

CASES = of("openai_chat", CHAT_COMPLETIONS)
