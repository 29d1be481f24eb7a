"""Refusals in the words of many servers, and what is done about each."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.reasoning.test_resolver import HELLO, TOOL
from thinkwire import dialects
from thinkwire.catalog import CatalogMatch, Facts
from thinkwire.messages import Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.providers.encoding import encode_for
from thinkwire.reasoning import parse_name
from thinkwire.reasoning.explain import merged
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.recovery import Recovery, find_recovery
from thinkwire.reasoning.refusal import SentRequest
from thinkwire.reasoning.resolve import resolve
from thinkwire.reasoning.target import find_target
from thinkwire.request import Request, ToolChoice

CALLED = ToolCall("call_1", "get_weather", "{}")
SEALED = Thinking("So.", seal=Seal("anthropic.signature", "c2ln"))


def loop(*blocks: Any) -> tuple[Turn, ...]:
    return (
        Turn("user", (Text("Weather?"),)),
        Turn("assistant", (*blocks, CALLED)),
        Turn("user", (ToolResult("call_1", (Text("Cold."),)),)),
    )


WITH_SEALS: dict[str, Any] = {"turns": loop(SEALED), "tools": (TOOL,)}
WITHOUT_THINKING: dict[str, Any] = {"turns": loop(), "tools": (TOOL,)}
FORCED: dict[str, Any] = {"tools": (TOOL,), "tool_choice": ToolChoice("any")}


class Sent(NamedTuple):
    """A request as it went out."""

    plan: Plan
    request: Request
    body: dict[str, Any]
    dialect: str

    def refused(self, body: Any, status: int = 400) -> Recovery | None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        failure = dialects.get(self.dialect).decode_error(status, {}, data)
        return find_recovery(failure, SentRequest(self.plan, self.request, self.body))


def send(model: str, found: CatalogMatch | None = None, **said: Any) -> Sent:
    named = parse_name(model)
    assert named.intent is not None
    target = find_target(named.name)
    found = found or target.found
    assert found is not None
    assert target.provider is not None
    request = msgspec.structs.replace(HELLO, model=target.model, **said)
    plan, request = resolve(named.intent, found, request)
    encoded = encode_for(target.provider, plan.dialect, request, plan.facts, clean=False)
    return Sent(plan, request, merged(encoded.body, plan.patch), plan.dialect)


def openai(message: str, param: str | None = None, code: str | None = "unsupported_value") -> dict[str, Any]:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": param, "code": code},
    }


def anthropic(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def google(message: str) -> dict[str, Any]:
    return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


def listed(message: str) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "Bad Request", "param": None, "code": 400}


def unsupported(value: str, accepted: str) -> str:
    return (
        f"Unsupported value: '{value}' is not supported with the 'gpt-5.1' model. "
        f"Supported values are: {accepted}."
    )


LITERAL = (
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': "
    "\"Input should be 'low', 'medium' or 'high'\", 'input': 'xhigh', 'ctx': {'expected': "
    "\"'low', 'medium' or 'high'\"}}\n\n  File \"/srv/http_server.py\", line 1324"
)
EXTRA = (
    "[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), "
    "'msg': 'Extra inputs are not permitted', 'input': 'high'}]"
)
FROZEN = (
    "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot "
    "be modified. These blocks must remain as they were in the original response."
)
VERIFY = "Your organization must be verified to generate reasoning summaries. Please go to: https://x.test"
KIMI = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
MUST_START = (
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When "
    "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the "
    "lastmost set of `tool_use` and `tool_result` blocks)."
)
QWEN_FORCED = (
    "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
    "required or object in thinking mode"
)
BUDGET = (
    "Unable to submit request because thinking_budget is out of range; supported values are integers from 1 "
)
ITEM = "Item 'rs_68c4' of type 'reasoning' was provided without its required following item."
STORED = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."
CHAT_TOOLS = (
    "Function tools with reasoning_effort are not supported for o3-mini in /v1/chat/completions. To use "
    "function tools, use /v1/responses or set reasoning_effort to 'none'."
)
BETWEEN = (
    'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": '
    '"disabled"}.'
)
ENABLED = (
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
    '"output_config.effort" to control thinking behavior.'
)
XHIGH = {"efforts": ("low", "medium", "high", "xhigh")}
"""Facts that are too strong for the server."""
ALLOWING: dict[str, Any] = {"refuses": ()}


def change(**fields: Any) -> dict[str, Any]:
    return {"change": fields, "is_lasting": True}


def efforts(*words: str) -> dict[str, Any]:
    return change(efforts=list(words))


STRIPPED = {"strip_thinking": True, "is_lasting": False}
OFF = {"thinking_off": True, "is_lasting": False}
FILLED = {"fill_reasoning": True, "is_lasting": False}
FREED = {"change": {"refuses": ["forced_tools"]}, "is_lasting": False}
UNCONTROLLED = change(mechanism="always")
UNTHINKING = change(mechanism="none")


class Case(NamedTuple):
    model: str
    body: Any
    action: dict[str, Any]
    said: dict[str, Any] = {}  # noqa: RUF012
    facts: dict[str, Any] = {}  # noqa: RUF012
    status: int = 400


CASES = {
    # Efforts
    "OpenAI, named beside": Case(
        "gpt-5/minimal",
        openai(unsupported("minimal", "'none', 'low', 'medium', and 'high'"), "reasoning.effort"),
        efforts("low", "medium", "high"),
    ),
    "OpenAI through a router": Case(
        "openrouter/openai/gpt-5.2/xhigh",
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {
                    "provider_name": "OpenAI",
                    "raw": json.dumps(openai(unsupported("xhigh", "'low', and 'high'"), "reasoning.effort")),
                },
            }
        },
        efforts("low", "high"),
    ),
    "OpenAI, named in the words": Case(
        "gpt-5.6-terra/xhigh",
        openai(
            "Unsupported value: 'reasoning.effort' does not support 'xhigh' with this model. "
            "Supported values are: 'none', 'low', 'medium', and 'high'.",
            "reasoning.effort",
        ),
        efforts("low", "medium", "high"),
    ),
    "OpenAI on chat": Case(
        "o3-mini/high",
        openai(
            "Unsupported value: 'reasoning_effort' does not support 'high' with this model. "
            "Supported values are: 'low', and 'medium'.",
            "reasoning_effort",
        ),
        efforts("low", "medium"),
    ),
    "OpenAI without a list": Case(
        "gpt-5.6-terra/xhigh",
        openai("Unsupported value: 'xhigh' is not supported with this model.", "reasoning.effort"),
        efforts("low", "medium", "high"),
    ),
    "Gemini as OpenAI": Case(
        "o3-mini/xhigh",
        [google("Invalid reasoning_effort: xhigh. Valid values are: high, low, medium, none")],
        efforts("low", "medium", "high"),
        facts=XHIGH,
    ),
    "SGLang": Case("o3-mini/xhigh", listed(LITERAL), efforts("low", "medium", "high"), facts=XHIGH),
    "vLLM": Case("o3-mini/xhigh", {"error": listed(LITERAL)}, efforts("low", "medium", "high"), facts=XHIGH),
    "vLLM through litellm": Case(
        "o3-mini/xhigh",
        openai(
            f"litellm.BadRequestError: Hosted_vllmException - {json.dumps({'error': listed(LITERAL)})}. "
            "Received Model Group=chat-pro",
            code="400",
        ),
        efforts("low", "medium", "high"),
        facts=XHIGH,
    ),
    "SGLang through a relay": Case(
        "o3-mini/xhigh",
        {"detail": "Invalid request: Invalid request: " + json.dumps({"detail": listed(LITERAL)})},
        efforts("low", "medium", "high"),
        facts=XHIGH,
    ),
    "FastAPI": Case(
        "o3-mini/xhigh",
        {
            "detail": [
                {
                    "type": "literal_error",
                    "loc": ["body", "reasoning_effort"],
                    "msg": "Input should be 'low', 'medium' or 'high'",
                    "input": "xhigh",
                }
            ]
        },
        efforts("low", "medium", "high"),
        facts=XHIGH,
        status=422,
    ),
    "a literal, named beside": Case(
        "o3-mini/xhigh",
        openai("Input should be 'low' or 'high'", "reasoning_effort"),
        efforts("low", "high"),
        facts=XHIGH,
    ),
    "Anthropic's literal": Case(
        "claude-opus-5/max",
        anthropic("output_config.effort: Input should be 'low', 'medium' or 'high'"),
        efforts("low", "medium", "high"),
    ),
    "Mistral": Case(
        "o3-mini/medium",
        {"object": "error", "message": "reasoning_effort: supported values are ['low', 'high', 'max']"},
        efforts("low", "high", "max"),
    ),
    "a proxy of levels": Case(
        "claude-opus-5/max",
        anthropic('level "max" not supported, valid levels: low, medium, high, xhigh'),
        efforts("low", "medium", "high", "xhigh"),
    ),
    "Ollama's think": Case(
        "ollama/gpt-oss/max",
        {"error": 'invalid think value: "max" (must be "high", "medium", "low", true, or false)'},
        efforts("low", "medium", "high"),
        facts={"shape": "think", "efforts": ("low", "medium", "high", "max")},
    ),
    "xAI's value": Case(
        "grok-4.6/xhigh",
        {"code": "x", "error": "Model grok-4.6 does not support reasoning_effort value xhigh."},
        efforts("low", "medium", "high"),
    ),
    "no such off": Case("gpt-5.6-terra/none", openai("Invalid reasoning effort: none"), change(off=None)),
    "Gemini's level": Case(
        "gemini-3.5-flash/minimal",
        google("Thinking level MINIMAL is not supported for this model. Please retry with other level."),
        efforts("LOW", "MEDIUM", "HIGH"),
    ),
    # Budgets
    "Vertex": Case(
        "gemini-2.5-pro/high", google(f"{BUDGET}to 24576."), change(budget={"min": 1, "max": 24_576})
    ),
    "Gemini in a string": Case(
        "gemini-2.5-pro/high",
        {
            "error": {
                "message": json.dumps(google("The thinking budget (52428) is invalid."), indent=2) + "\n",
                "code": 400,
                "status": "Bad Request",
            }
        },
        change(budget={"min": 128, "max": 24_576}),
        facts={"budget": {"min": 128, "max": 52_428}},
    ),
    "Gemini's range": Case(
        "gemini-2.5-pro/high",
        google("The thinking budget 32768 is invalid. Please choose a value between 128 and 24,576."),
        change(budget={"min": 128, "max": 24_576}),
    ),
    "Gemini cannot be off": Case(
        "gemini-2.5-flash/none",
        google("Budget 0 is invalid. This model only works in thinking mode."),
        change(off=None),
    ),
    "Anthropic's least": Case(
        "claude-opus-4-5/minimal",
        anthropic("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
        change(budget={"min": 1_024, "max": 64_000}),
        facts={"budget": {"min": 500, "max": 64_000}},
    ),
    # Mechanisms
    "no budgets": Case("claude-opus-4-5/high", anthropic(ENABLED), change(mechanism="adaptive")),
    "no off": Case(
        "claude-opus-5/none",
        anthropic('"thinking.type.disabled" is not supported for this model.'),
        change(off=None),
    ),
    "another off": Case("claude-opus-5/none", anthropic(BETWEEN), change(off="between_tools")),
    "no adaptive": Case(
        "claude-sonnet-5/med",
        anthropic("adaptive thinking is not supported on this model"),
        change(mechanism="budget"),
    ),
    "an effort beside off": Case(
        "claude-opus-5/max",
        anthropic("output_config.effort 'max' is not supported when thinking is disabled on this model."),
        efforts("low", "medium", "high", "xhigh"),
    ),
    "another API": Case(
        "o3-mini/high", openai(CHAT_TOOLS, "reasoning_effort"), change(dialect="openai-responses")
    ),
    "Gemini does not think": Case(
        "gemini-2.5-pro/high", google("Thinking is not enabled for this model"), UNTHINKING
    ),
    "Vertex does not think": Case(
        "gemini-2.5-pro/high", google("thinking is not supported by this model"), UNTHINKING
    ),
    "Ollama does not think": Case(
        "ollama/gpt-oss/high", {"error": '"gpt-oss" does not support thinking'}, UNTHINKING
    ),
    "Gemini has no levels": Case(
        "gemini-3.5-flash/high", google("Thinking level is not supported for this model."), UNCONTROLLED
    ),
    "OpenAI, recorded": Case(
        "gpt-5.6-terra/high",
        openai(
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning.effort",
            "unsupported_parameter",
        ),
        UNCONTROLLED,
    ),
    "xAI, recorded": Case(
        "grok-4.6/high",
        {
            "code": "Client specified an invalid argument",
            "error": "Model grok-code-fast-1 does not support parameter reasoningEffort.",
        },
        UNCONTROLLED,
    ),
    "an argument": Case(
        "o3-mini/high",
        openai("Unrecognized request argument supplied: reasoning_effort", code=None),
        UNCONTROLLED,
    ),
    "vLLM knows no effort": Case("o3-mini/high", listed(EXTRA), UNCONTROLLED),
    "Anthropic knows no thinking": Case(
        "claude-opus-4-5/high", anthropic("thinking: Extra inputs are not permitted"), UNCONTROLLED
    ),
    "always on": Case(
        "claude-opus-5/none",
        anthropic("thinking cannot be disabled on this model; use low, high or max"),
        change(off=None),
    ),
    "no summaries": Case("gpt-5.6-terra/high", openai(VERIFY, "reasoning.summary"), change(visible="none")),
    "no such summaries": Case(
        "gpt-5.6-terra/high",
        openai("Unsupported parameter: 'reasoning.summary' is not supported with this model."),
        change(visible="none"),
    ),
    # Seals and items
    "a signature": Case(
        "claude-opus-4-5/high",
        anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"),
        STRIPPED,
        WITH_SEALS,
    ),
    "no signature": Case(
        "claude-opus-4-5/high",
        anthropic("messages.1.content.0.thinking.signature: Field required"),
        STRIPPED,
        {"turns": loop(Thinking("So.")), "tools": (TOOL,)},
    ),
    "changed thinking": Case("claude-opus-4-5/high", anthropic(FROZEN), STRIPPED, WITH_SEALS),
    "changed thinking behind a relay": Case(
        "claude-opus-4-5/high",
        {"error": {"type": "upstream_error", "upstream_error": anthropic(FROZEN)}},
        STRIPPED,
        WITH_SEALS,
    ),
    "changed thinking in a string": Case(
        "claude-opus-4-5/high",
        {"type": "error", "error": {"type": "api", "message": f"400 {json.dumps(anthropic(FROZEN))}"}},
        STRIPPED,
        WITH_SEALS,
    ),
    "encrypted content": Case(
        "gpt-5.6-terra/high",
        openai("The encrypted content gAAA… could not be verified.", None, "invalid_encrypted_content"),
        STRIPPED,
        WITH_SEALS,
    ),
    "an item alone": Case("gpt-5.6-terra/high", openai(ITEM, "input", None), STRIPPED, WITH_SEALS),
    "an item not kept": Case(
        "gpt-5.6-terra/high", openai(STORED, "input", None), STRIPPED, WITH_SEALS, status=404
    ),
    "a thought signature": Case(
        "gemini-3.5-flash/high", google("Corrupted thought signature."), STRIPPED, WITH_SEALS
    ),
    # Thinking that the history lacks
    "Kimi": Case("kimi-k2.6/high", openai(KIMI), OFF, WITHOUT_THINKING),
    "Kimi through a router": Case(
        "openrouter/moonshotai/kimi-k2.6/high",
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": json.dumps(openai(KIMI)), "provider_name": "Moonshot AI"},
            }
        },
        FILLED,
        WITHOUT_THINKING,
    ),
    "Kimi at a host": Case(
        "openrouter/moonshotai/kimi-k2.6/high",
        {"code": 20015, "message": KIMI, "data": None},
        FILLED,
        WITHOUT_THINKING,
    ),
    "DeepSeek": Case(
        "deepseek-v4-pro/high",
        openai("The `reasoning_content` in the thinking mode must be passed back to the API."),
        OFF,
        WITHOUT_THINKING,
    ),
    "DeepSeek's field": Case(
        "openrouter/deepseek/deepseek-v4-pro/high",
        openai("Missing `reasoning_content` field in the assistant message at message index 1."),
        FILLED,
        WITHOUT_THINKING,
    ),
    "litellm": Case(
        "openrouter/deepseek/deepseek-v4-pro/high",
        openai("messages[1]: assistant message with tool_calls must include reasoning_content."),
        FILLED,
        WITHOUT_THINKING,
    ),
    "Anthropic": Case("claude-opus-4-5/high", anthropic(MUST_START), OFF, WITH_SEALS),
    "Kimi as Anthropic": Case("claude-opus-4-5/high", anthropic(KIMI), OFF, WITH_SEALS),
    # The rest
    "Qwen forced, recorded": Case("qwen3.8-max/high", openai(QWEN_FORCED), FREED, FORCED, ALLOWING),
    "DeepSeek forced": Case(
        "deepseek-v4-pro/high",
        openai("Thinking mode does not support this tool_choice"),
        FREED,
        FORCED,
        ALLOWING,
    ),
    "Anthropic forced": Case(
        "claude-opus-5/high",
        anthropic("Thinking may not be enabled when tool_choice forces tool use."),
        FREED,
        FORCED,
    ),
    "Anthropic never forced": Case(
        "claude-opus-5/high",
        anthropic('tool_choice: type "tool" and "any" are not supported for this model.'),
        FREED,
        FORCED,
    ),
    "two ceilings": Case(
        "groq/openai/gpt-oss-120b/high",
        openai(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            "max_tokens",
            "invalid_parameter_combination",
        ),
        {"dropped": ("max_tokens",), "is_lasting": False},
        {"max_tokens": 200, "extras": {"openai_chat": {"max_tokens": 100}}},
    ),
    "an effort and a budget": Case(
        "qwen3.8-max/high",
        openai("'reasoning_effort' and 'thinking_budget' cannot be set simultaneously"),
        {"dropped": ("thinking_budget",), "is_lasting": False},
        {"extras": {"openai_chat": {"reasoning_effort": "low", "thinking_budget": 100}}},
    ),
    "a level and a budget": Case(
        "gemini-3.5-flash/high",
        google("You can only set only one of thinking budget and thinking level."),
        {"dropped": ("generationConfig.thinkingConfig.thinkingBudget",), "is_lasting": False},
        {
            "extras": {
                "gemini": {
                    "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 9}}
                }
            }
        },
    ),
    "only streams": Case(
        "qwen3.8-max/high",
        openai("parameter.enable_thinking must be set to false for non-streaming calls"),
        {"streamed": True, "is_lasting": False},
    ),
    "only streams, too": Case(
        "qwen3.8-max/high",
        openai(
            "This model only support stream mode, please enable the stream parameter to access the model."
        ),
        {"streamed": True, "is_lasting": False},
    ),
    "only streams, elsewhere": Case(
        "qwen3.8-max/high",
        openai("enable thinking can not be support when `stream=False`."),
        {"streamed": True, "is_lasting": False},
    ),
    "no streams": Case(
        "gpt-5.6-terra/high",
        openai("Your organization must be verified to stream this model.", "stream"),
        {"streamed": False, "is_lasting": False},
        {"stream": True},
    ),
    "no streams, too": Case(
        "o3-mini/high",
        openai(
            "Unsupported value: 'stream' does not support true with this model. Only the default (false) "
            "value is supported.",
            "stream",
        ),
        {"streamed": False, "is_lasting": False},
        {"stream": True},
    ),
}


def found_with(model: str, facts: dict[str, Any]) -> CatalogMatch:
    found = find_target(parse_name(model).name).found
    assert found is not None
    return CatalogMatch(msgspec.convert(msgspec.to_builtins(found.facts) | facts, Facts), found.by)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_refusal_leads_to_its_remedy(case: Case) -> None:
    sent = send(case.model, found_with(case.model, case.facts), **case.said)
    recovery = sent.refused(case.body, case.status)
    assert recovery is not None
    for name, expected in case.action.items():
        value = getattr(recovery, name)
        if name == "change":
            assert {field: _plain(value[field]) for field in expected} == expected
        else:
            assert value == expected
    assert recovery.note.message.startswith("refused: ")


def _plain(value: Any) -> Any:
    """Without what the tables say of dynamic budgets and other refusals."""
    if isinstance(value, dict):
        return {key: inner for key, inner in value.items() if key in ("min", "max")}
    return ["forced_tools"] if isinstance(value, list) and "forced_tools" in value else value


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.action.get("change")])
def test_corrected_facts_are_facts(case: Case) -> None:
    found = found_with(case.model, case.facts)
    recovery = send(case.model, found, **case.said).refused(case.body, case.status)
    assert recovery is not None
    send(case.model, CatalogMatch(recovery.apply(found.facts), "exact"), **case.said)


UNRELATED: list[tuple[str, Any]] = [
    ("claude-opus-4-5/high", anthropic("tools.0.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")),
    ("claude-opus-4-5/high", anthropic("max_tokens: 200000 > 128000, which is the maximum allowed number")),
    ("claude-opus-4-5/high", anthropic("metadata.thinking: Extra inputs are not permitted")),
    ("claude-opus-4-5/high", anthropic("messages.0.content.0.thinking: Extra inputs are not permitted")),
    ("claude-opus-4-5/high", anthropic("messages[0].thinking: Extra inputs are not permitted")),
    ("gpt-5.6-terra/high", openai("Unsupported parameter: 'temperature' is not supported.", "temperature")),
    ("gpt-5.6-terra/high", openai(unsupported("high", "'medium'"), "text.verbosity")),
    ("gpt-5.6-terra/high", openai(unsupported("high", "'medium'"))),
    ("gpt-5.6-terra/high", openai("Unknown parameter: 'reasoning_summary'.", "reasoning_summary")),
    ("gpt-5.6-terra/high", openai(unsupported("high", "'low' and 'high'"), "reasoning.effort")),
    ("gpt-5.6-terra/high", openai(unsupported("low", "'none'"), "reasoning.effort")),
    ("o3-mini/high", openai("Invalid schema for function 'reasoning_effort': not valid under this schema")),
    ("gemini-2.5-pro/high", google("The thinking budget (1) is invalid.")),
    ("gemini-2.5-pro/high", google('Invalid JSON payload received. Unknown name "thinking_budget"')),
    ("claude-opus-4-5/high", anthropic("Invalid `signature` in `thinking` block")),
    ("claude-opus-4-5/high", "<html>thinking</html>"),
    ("claude-opus-4-5/high", {"error": {"upstream_error": {"error": {"upstream_error": {}}}}}),
]


@pytest.mark.parametrize(("model", "body"), UNRELATED)
def test_other_refusals_lead_to_no_second_try(model: str, body: Any) -> None:
    assert send(model).refused(body) is None


def test_a_field_that_was_set_by_hand_teaches_nothing() -> None:
    extras = {"openai_chat": {"reasoning_effort": "xhigh"}}
    assert send("o3-mini/high", extras=extras).refused(listed(LITERAL)) is None


def test_nested_errors_are_read_to_a_bounded_depth() -> None:
    body: Any = anthropic(FROZEN)
    for _ in range(10):
        body = {"error": {"upstream_error": body}}
    assert send("claude-opus-4-5/high", **WITH_SEALS).refused(body) is None
