"""What DeepSeek and Moonshot refuse, and what they just so take."""

from __future__ import annotations

from typing import Any

from tests.sim.rules.ask import (
    CHAT_TOOLS,
    Case,
    Json,
    ask,
    assistant,
    calls,
    chat,
    function_call,
    of,
    output,
    responses,
    result,
    text,
    tool_result,
    tool_use,
    user,
)
from thinkwire.sim.rules.rule import RuleInput

V4, OLDER, R1 = "deepseek-v4-pro", "deepseek-reasoner", "deepseek-r1"
K3, K26, K27 = "kimi-k3", "kimi-k2.6", "kimi-k2.7-code"
ON, OFF = {"type": "enabled"}, {"type": "disabled"}


def d(model: str, *messages: Json, **fields: Any) -> RuleInput:
    return chat("deepseek", model, *messages, **fields)


said = assistant("Done.")
thought = {"reasoning_content": "Hm."}
forced: Json = {"tools": CHAT_TOOLS, "tool_choice": "required"}
must = "The reasoning_content in the thinking mode must be passed back to the API."
web = [{"type": "web_search"}]
DEEPSEEK = [
    Case("thinking_refused", d(R1, thinking=ON), d(V4, thinking=ON), "thinking parameter"),
    Case(
        "reasoning_content_refused",
        d(R1, user("A"), {**said, **thought}, user("B")),
        d(R1, user("A"), said, user("B")),
        "The reasoning_content is an intermediate result for display purposes only",
    ),
    Case(
        "reasoning_content_missing",
        d(V4, user("A"), calls("c1"), result("c1")),
        d(V4, user("A"), calls("c1", reasoning_content=""), result("c1")),
        must,
    ),
    Case(
        "reasoning_content_missing",
        d(V4, user("A"), calls("c1", **thought), result("c1"), said, user("B")),
        d(V4, user("A"), calls("c1", **thought), result("c1"), {**said, **thought}, user("B")),
        must,
    ),
    Case(
        "reasoning_content_missing",
        d(V4, user("A"), calls("c1"), result("c1")),
        d(V4, user("A"), calls("c1"), result("c1"), thinking=OFF),
        must,
    ),
    Case(
        "loop_reasoning_missing",
        d(OLDER, user("A"), calls("c1"), result("c1")),
        d(OLDER, user("A"), calls("c1"), result("c1"), said, user("B")),
        must,
    ),
    Case(
        "forced_tools",
        d(V4, **forced),
        d(V4, **forced, thinking=OFF),
        "Thinking mode does not support this tool_choice",
    ),
    Case(
        "json_schema",
        d(V4, response_format={"type": "json_schema"}),
        d(V4, response_format={"type": "json_object"}),
        "This response_format type is unavailable now",
    ),
    Case(
        "tool_type",
        d(V4, tools=web),
        d(V4, tools=CHAT_TOOLS),
        "unknown variant 'web_search', expected 'function'",
    ),
    Case(
        "calls_without_results",
        d(V4, user("A"), calls("c1", **thought), user("B")),
        d(V4, user("A"), calls("c1", **thought), result("c1"), user("B")),
        "(insufficient tool messages following tool_calls message)",
    ),
    Case(
        "stranded_call",
        responses(
            V4,
            *(function_call("a"), assistant("Hm"), function_call("b"), output("a"), output("b")),
            provider="deepseek",
        ),
        responses(
            V4,
            *(assistant("Hm"), function_call("a"), function_call("b"), output("a"), output("b")),
            provider="deepseek",
        ),
        "No tool output found for tool call a.",
    ),
]


def k(model: str, *messages: Json, **fields: Any) -> RuleInput:
    return chat("moonshot", model, *messages, **fields)


def skin(*blocks: Json) -> RuleInput:
    messages = [user("A"), assistant(*blocks, tool_use()), user(tool_result())]
    return ask("moonshot", "anthropic", {"model": K3, "max_tokens": 100, "messages": messages})


named = {"type": "function", "function": {"name": "look"}}
missing = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
KIMI = [
    Case(
        "effort_not_offered",
        k(K3, reasoning_effort="medium"),
        k(K3, reasoning_effort="high"),
        "low, high, max",
    ),
    Case("effort_not_offered", k(K26, reasoning_effort="none"), k(K26, reasoning_effort="max"), "none"),
    Case("effort_not_offered", k(K3, reasoning_effort={"effort": "low"}), k(K3), "reasoning_effort"),
    Case("thinking_refused_with_effort", k(K3, thinking=ON), k(K26, thinking=ON), "use reasoning_effort"),
    Case("disabled_impossible", k(K27, thinking=OFF), k(K27, thinking=ON), "only type=enabled"),
    Case(
        "temperature_fixed",
        k(K26, temperature=0.5),
        k(K26, temperature=0.5, thinking=OFF),
        "invalid temperature: only 1 is allowed for this model",
    ),
    Case(
        "forced_tool_choice",
        k(K26, tools=CHAT_TOOLS, tool_choice="required"),
        k(K26, tools=CHAT_TOOLS, tool_choice="auto"),
        "tool_choice 'required' is incompatible with thinking enabled",
    ),
    Case(
        "forced_tool_choice",
        k(K26, tools=CHAT_TOOLS, tool_choice=named),
        k(K26, tools=CHAT_TOOLS, tool_choice=named, thinking=OFF),
        "tool_choice 'specified' is incompatible with thinking enabled",
    ),
    Case(
        "reasoning_missing",
        k(K3, user("A"), calls("look:0"), result("look:0")),
        k(K3, user("A"), calls("look:0", reasoning_content=""), result("look:0")),
        missing,
    ),
    Case(
        "reasoning_missing",
        k(K3, user("A"), calls("look:0"), result("look:0"), assistant("B"), user("C")),
        k(K26, user("A"), calls("look:0"), result("look:0"), thinking=OFF),
        missing,
    ),
    Case("thinking_block_missing", skin(text("Hm.")), skin({"type": "thinking", "thinking": ""}), missing),
]

CASES = of("deepseek", DEEPSEEK) + of("kimi", KIMI)
