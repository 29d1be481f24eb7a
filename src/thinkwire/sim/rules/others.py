"""The refusals of Mistral, Qwen, xAI, MiniMax, OpenRouter, Z.ai, Groq and Ollama."""

from __future__ import annotations

import re
from itertools import pairwise

from thinkwire.catalog import Facts
from thinkwire.sim.rules.rule import Refusal, RuleInput
from thinkwire.sim.rules.shared import (
    OTHERS,
    Book,
    JsonObject,
    Said,
    accepted,
    as_object,
    call_ids,
    forces_call,
    is_thinking,
    listed,
    names,
    number,
    numbered,
    objects,
    refused,
    unknown,
    word,
)

mistral = Book("mistral", "openai-chat")
qwen = Book("qwen", "openai-chat")
xai = Book("xai", "openai-chat", "openai-responses", kind="invalid-argument")
minimax = Book("minimax", "openai-chat", "anthropic", kind="bad_request_error")
openrouter = Book("openrouter", "openai-chat", "openai-responses")
openrouter_chat = Book("openrouter", "openai-chat")
zai = Book("zai", "openai-chat")
groq = Book("groq", "openai-chat")
ollama = Book("ollama", "openai-chat")

_MISTRAL_MESSAGE = names("role content name tool_calls tool_call_id prefix")
_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_XAI_CODE = "Client specified an invalid argument"
_QWEN_FLAW = "<400> InternalError.Algo.InvalidParameter: "
_OLLAMA_WORDS = ("none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max")
_SIGNED_FORMATS = ("anthropic-claude-v1", "google-gemini-v1")


def _messages(asked: RuleInput) -> list[tuple[int, JsonObject]]:
    return numbered(asked.body.get("messages"))


def _effort(asked: RuleInput) -> object:
    """The effort, in either of its two places."""
    nested = as_object(asked.body.get("reasoning")).get("effort")
    return nested if nested is not None else asked.body.get("reasoning_effort")


@mistral.rule(
    "Messages have no other vendor's fields. `param` is the path of the field, as FastAPI gives it.",
    f"{OTHERS}4.1, 8",
    status=422,
)
def unknown_message_field(asked: RuleInput) -> Said:
    for place, message in _messages(asked):
        field = unknown(message, _MISTRAL_MESSAGE)
        if field:
            path = f"body.messages.{place}.{message.get('role')}.{field}"
            return Refusal("Extra inputs are not permitted", "extra_forbidden", path)
    return None


@mistral.rule("Tools are functions.", "recording of a web search tool", status=422)
def tool_type(asked: RuleInput) -> Said:
    for place, tool in numbered(asked.body.get("tools")):
        if tool.get("type", "function") != "function":
            return Refusal("Input should be 'function'", "enum", f"body.tools.list[Tool].{place}.type")
    return None


@mistral.rule("Ids of calls are nine letters or digits.", f"{OTHERS}4.1", kind="invalid_function_call")
def tool_id(asked: RuleInput) -> Said:
    for _, message in _messages(asked):
        answered = message.get("tool_call_id")
        for call in [*call_ids(message), *([answered] if isinstance(answered, str) else [])]:
            if not _MISTRAL_ID.fullmatch(call):
                return Refusal(
                    f"Tool call id was {call} but must be a-z, A-Z, 0-9, with a length of 9.", "3280"
                )
    return None


@mistral.rule(
    "The assistant speaks between a result and the user. Models that think were recorded to be free of this.",
    f"{OTHERS}4.1; recording of mistral-small with a user message after a result",
    kind="invalid_request_message_order",
)
def user_after_tool(asked: RuleInput) -> Said:
    if asked.facts is not None and asked.facts.can_think:
        return None
    roles = [message.get("role") for _, message in _messages(asked)]
    if ("tool", "user") in pairwise(roles):
        return Refusal("Unexpected role 'user' after role 'tool'", "3230")
    return None


@mistral.model_rule("Each model takes its own efforts.", f"{OTHERS}4.1; wording not captured")
def effort_not_offered(asked: RuleInput, facts: Facts) -> Said:
    effort = asked.body.get("reasoning_effort")
    if effort is None or effort in accepted(facts):
        return None
    if not facts.efforts:
        return Refusal("reasoning_effort is not supported by this model", "3051", "reasoning_effort")
    message = f"Invalid reasoning effort: '{effort}'. Supported values are: {listed(accepted(facts))}."
    return Refusal(message, "3051", "reasoning_effort")


def _qwen_thinks(asked: RuleInput, facts: Facts) -> bool:
    told = asked.body.get("enable_thinking")
    return is_thinking(facts, told if isinstance(told, bool) else None)


def _qwen_refusal(message: str) -> Refusal:
    return Refusal(message, "invalid_parameter_error")


@qwen.rule("An effort says it all: no switch and no budget beside it.", f"{OTHERS}3.5; wording not captured")
def effort_with_budget(asked: RuleInput) -> Said:
    if asked.body.get("reasoning_effort") is None:
        return None
    for field in ("thinking_budget", "enable_thinking"):
        if asked.body.get(field) is not None:
            return _qwen_refusal(
                f"{_QWEN_FLAW}The reasoning_effort parameter cannot be used together with {field}"
            )
    return None


@qwen.model_rule("A budget lies in the model's range.", f"{OTHERS}3.5; wording after that of max_tokens")
def budget_out_of_range(asked: RuleInput, facts: Facts) -> Said:
    budget, most = number(asked.body.get("thinking_budget")), facts.budget_limit
    if budget is None or most is None or 1 <= budget <= most:
        return None
    return _qwen_refusal(f"{_QWEN_FLAW}Range of thinking_budget should be [1, {most}]")


@qwen.model_rule("A ceiling lies in the model's range.", f"{OTHERS}3.5")
def max_tokens_out_of_range(asked: RuleInput, facts: Facts) -> Said:
    ceiling, most = number(asked.body.get("max_tokens")), facts.max_output
    if ceiling is None or most is None or 1 <= ceiling <= most:
        return None
    return _qwen_refusal(f"{_QWEN_FLAW}Range of max_tokens should be [1, {most}]")


@qwen.model_rule("Open-weight models only think in a stream.", f"{OTHERS}3.5")
def not_streamed(asked: RuleInput, facts: Facts) -> Said:
    if asked.body.get("stream") is True or "streaming_off_when_thinking" not in facts.refuses:
        return None
    if not _qwen_thinks(asked, facts):
        return None
    if facts.mechanism == "always":
        return _qwen_refusal("This model only support stream mode, please enable the stream parameter.")
    return _qwen_refusal("parameter.enable_thinking must be set to false for non-streaming calls")


@qwen.model_rule(
    "A call cannot be forced while the model thinks.", "recording of qwen3.8-max with a forced call"
)
def forced_tools(asked: RuleInput, facts: Facts) -> Said:
    choice = asked.body.get("tool_choice")
    if not forces_call(choice) or not refused(facts, "forced_tools", _qwen_thinks(asked, facts)):
        return None
    return _qwen_refusal(
        f"{_QWEN_FLAW}The tool_choice parameter does not support being set to required or object in thinking "
        "mode"
    )


@xai.model_rule("Some models take no effort.", "recording of grok-code-fast-1 with an effort")
def effort_unsupported(asked: RuleInput, facts: Facts) -> Said:
    if _effort(asked) is None or facts.efforts:
        return None
    return Refusal(f"Model {asked.model} does not support parameter reasoningEffort.", _XAI_CODE)


@xai.model_rule("Each model takes its own efforts.", f"{OTHERS}3.1")
def effort_value(asked: RuleInput, facts: Facts) -> Said:
    effort = _effort(asked)
    if effort is None or not facts.efforts or effort in accepted(facts):
        return None
    return Refusal(f"Model {asked.model} does not support reasoning_effort value {effort}.", _XAI_CODE)


@xai.model_rule("Models that reason take no stop sequences.", f"{OTHERS}3.1; public issue threads")
def stop_refused(asked: RuleInput, facts: Facts) -> Said:
    if "stop" not in facts.refuses or not asked.body.get("stop"):
        return None
    return Refusal("Argument not supported on this model: stop", _XAI_CODE)


@xai.model_rule("Newer models take no penalties, not even 0.", f"{OTHERS}3.1; public issue threads")
def penalties_refused(asked: RuleInput, facts: Facts) -> Said:
    if "penalties" not in facts.refuses:
        return None
    for field, name in (("presence_penalty", "presencePenalty"), ("frequency_penalty", "frequencyPenalty")):
        if asked.body.get(field) is not None:
            return Refusal(f"Argument not supported on this model: {name}", _XAI_CODE)
    return None


@xai.rule("Encrypted reasoning is the vendor's own, unaltered.", f"{OTHERS}3.1, 8; wording not captured")
def encrypted_content(asked: RuleInput) -> Said:
    for _, item in numbered(asked.body.get("input")):
        data = word(item.get("encrypted_content"))
        sealed = asked.sealer.open(data) if data else None
        if data and (sealed is None or sealed.account != asked.account):
            return Refusal("Could not decrypt the provided encrypted_content.", _XAI_CODE)
    return None


@minimax.rule(
    "The temperature lies between 0 and 1. The docs leave out 0, which was recorded to be taken.",
    f"{OTHERS}3.4; recordings with a temperature of 0; wording not captured",
)
def temperature_range(asked: RuleInput) -> Said:
    temperature = number(asked.body.get("temperature"))
    if temperature is None or 0 <= temperature <= 1:
        return None
    return "invalid params, temperature must be in the range (0,1]"


@openrouter.model_rule("Some models must think.", f"{OTHERS}2.1; public issue threads")
def reasoning_mandatory(asked: RuleInput, facts: Facts) -> Said:
    told_off = as_object(asked.body.get("reasoning")).get("enabled") is False or _effort(asked) == "none"
    if not told_off or facts.can_be_off:
        return None
    return "Reasoning is mandatory for this endpoint and cannot be disabled."


@openrouter.rule("The effort and its shorthand say the same.", f"{OTHERS}2.1; wording not captured")
def efforts_differ(asked: RuleInput) -> Said:
    nested = as_object(asked.body.get("reasoning")).get("effort")
    short = asked.body.get("reasoning_effort")
    if nested is None or short is None or nested == short:
        return None
    return '"reasoning_effort" and "reasoning.effort" must not differ when both are specified'


@openrouter.rule("An effort and a budget exclude each other.", f"{OTHERS}2.1; wording not captured")
def effort_and_budget(asked: RuleInput) -> Said:
    reasoning = as_object(asked.body.get("reasoning"))
    if reasoning.get("effort") is None or reasoning.get("max_tokens") is None:
        return None
    return 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified'


@openrouter_chat.rule(
    "Thinking that its maker signed comes back with the signature, unaltered.",
    f"{OTHERS}2.4, 8; wording not captured",
)
def details_altered(asked: RuleInput) -> Said:
    for _, message in _messages(asked):
        for detail in objects(message.get("reasoning_details")):
            if _is_altered(asked, detail):
                return "Provider returned error"
    return None


def _is_altered(asked: RuleInput, detail: JsonObject) -> bool:
    if detail.get("type") == "reasoning.encrypted":
        return asked.sealer.open(str(detail.get("data"))) is None
    if detail.get("type") != "reasoning.text" or detail.get("format") not in _SIGNED_FORMATS:
        return False
    return asked.sealer.open(str(detail.get("signature"))) is None


@zai.model_rule(
    "The newest models cannot be switched off, and say what to ask for instead.",
    f"{OTHERS}3.7; wording not captured",
)
def disabled_impossible(asked: RuleInput, facts: Facts) -> Said:
    kind = as_object(asked.body.get("thinking")).get("type")
    if kind != "disabled" or facts.can_be_off:
        return None
    words = ", ".join(facts.efforts[:-1])
    return Refusal(
        "thinking.type disabled is not supported by this model; set reasoning_effort and "
        f"use {words} or {facts.efforts[-1] if facts.efforts else 'enabled'}",
        "1210",
    )


@groq.model_rule(
    "Each model takes its own efforts; gpt-oss cannot be turned off.",
    f"{OTHERS}4.2; public issue threads",
)
def effort_word(asked: RuleInput, facts: Facts) -> Said:
    effort = asked.body.get("reasoning_effort")
    if effort is None or effort in accepted(facts):
        return None
    if not facts.efforts:
        return "`reasoning_effort` is not supported with this model"
    return f"`reasoning_effort` must be one of {listed(accepted(facts), '`', 'or')}"


@groq.rule("Two fields for one thing exclude each other.", f"{OTHERS}4.2; wording not captured")
def format_and_include(asked: RuleInput) -> Said:
    if asked.body.get("reasoning_format") is None or asked.body.get("include_reasoning") is None:
        return None
    return "cannot specify both `reasoning_format` and `include_reasoning`"


@groq.rule("Raw thinking goes with neither tools nor JSON.", f"{OTHERS}4.2; wording not captured")
def raw_format(asked: RuleInput) -> Said:
    kind = as_object(asked.body.get("response_format")).get("type")
    structured = kind in ("json_object", "json_schema")
    if asked.body.get("reasoning_format") != "raw" or not (asked.body.get("tools") or structured):
        return None
    return "`reasoning_format` must be one of `parsed` or `hidden` when using JSON mode or tools"


@groq.rule("Messages have no field of other vendors for thinking.", "public issue threads, 2026")
def reasoning_content_refused(asked: RuleInput) -> Said:
    for place, message in _messages(asked):
        if message.get("role") == "assistant" and "reasoning_content" in message:
            where = f"'messages.{place}'"
            return (
                f"{where} : for 'role:assistant' the following must be satisfied"
                f"[({where} : property 'reasoning_content' is unsupported)]"
            )
    return None


@ollama.rule("An effort is one of the words that the server knows.", f"{OTHERS}5.1; server's source")
def reasoning_value(asked: RuleInput) -> Said:
    effort = _effort(asked)
    if effort is None or effort in _OLLAMA_WORDS:
        return None
    return f'invalid reasoning value: \'{effort}\' (must be "high", "medium", "low", "max", or "none")'


@ollama.model_rule("A model that cannot think is not asked to.", f"{OTHERS}5.1; server's source")
def thinking_unsupported(asked: RuleInput, facts: Facts) -> Said:
    if _effort(asked) in (None, "none") or facts.can_think:
        return None
    return f'"{asked.model}" does not support thinking'
