"""OpenAI Chat Completions: the strictest of those who speak it."""

from __future__ import annotations

from thinkwire.catalog import Facts
from thinkwire.sim.rules.rule import Refusal, RuleInput
from thinkwire.sim.rules.shared import (
    BIG_THREE,
    Book,
    Said,
    accepted,
    call_ids,
    is_thinking,
    listed,
    names,
    number,
    numbered,
    refused,
    stray_results,
    unanswered_calls,
    unknown,
    word,
)

book = Book("openai_chat", "openai-chat", at="openai")

_TOP = names(
    """
    audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty
    prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format
    safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
    top_logprobs top_p user verbosity web_search_options
    """
)
_MESSAGE = names("role content name tool_calls tool_call_id refusal audio function_call annotations")
_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_LONGEST = 64


def _thinks(asked: RuleInput, facts: Facts) -> bool:
    effort = word(asked.body.get("reasoning_effort"))
    return is_thinking(facts, effort != "none" if effort else None)


def _unsupported(field: str, advice: str = "") -> Refusal:
    message = f"Unsupported parameter: '{field}' is not supported with this model.{advice}"
    return Refusal(message, "unsupported_parameter", field)


@book.rule("Parameters that the API does not know are refused.", f"{BIG_THREE}B1.2; SDK 3.49.0 types")
def unknown_parameter(asked: RuleInput) -> Said:
    field = unknown(asked.body, _TOP)
    return Refusal(f"Unknown parameter: '{field}'.", "unknown_parameter", field) if field else None


@book.rule("There are six roles.", f"{BIG_THREE}B1.3; SDK 3.49.0 types")
def bad_role(asked: RuleInput) -> Said:
    for place, message in numbered(asked.body.get("messages")):
        if message.get("role") not in _ROLES:
            return Refusal(
                f"Invalid value: '{message.get('role')}'. Supported values are: {listed(_ROLES)}.",
                "invalid_value",
                f"messages[{place}].role",
            )
    return None


@book.rule(
    "Messages carry no thinking here, and no other field that the API does not know.",
    f"{BIG_THREE}B1.2, B5; SDK 3.49.0 types",
)
def unknown_message_field(asked: RuleInput) -> Said:
    for place, message in numbered(asked.body.get("messages")):
        field = unknown(message, _MESSAGE)
        if field:
            path = f"messages[{place}].{field}"
            return Refusal(f"Unknown parameter: '{path}'.", "unknown_parameter", path)
    return None


@book.rule("Ids of calls are no longer than 64 characters.", f"{BIG_THREE}B2, D1")
def id_too_long(asked: RuleInput) -> Said:
    for place, message in numbered(asked.body.get("messages")):
        for number_of_call, call in enumerate(call_ids(message)):
            if len(call) > _LONGEST:
                path = f"messages[{place}].tool_calls[{number_of_call}].id"
                return Refusal(
                    f"Invalid '{path}': string too long. Expected a string with maximum length {_LONGEST}, "
                    f"but got a string with length {len(call)} instead.",
                    "string_above_max_length",
                    path,
                )
    return None


@book.model_rule("Models that reason count their thinking too, in another field.", f"{BIG_THREE}B1.2, B2")
def max_tokens_refused(asked: RuleInput, facts: Facts) -> Said:
    if asked.body.get("max_tokens") is None or not facts.can_think:
        return None
    return _unsupported("max_tokens", " Use 'max_completion_tokens' instead.")


@book.model_rule("Models that do not reason take no effort.", f"{BIG_THREE}B2")
def effort_unsupported(asked: RuleInput, facts: Facts) -> Said:
    if asked.body.get("reasoning_effort") is None or facts.efforts:
        return None
    return _unsupported("reasoning_effort")


@book.rule("There are seven efforts.", f"{BIG_THREE}B1.2")
def effort_unknown(asked: RuleInput) -> Said:
    effort = asked.body.get("reasoning_effort")
    if effort is None or effort in _EFFORTS:
        return None
    message = f"Invalid value: '{effort}'. Supported values are: {listed(_EFFORTS)}."
    return Refusal(message, "invalid_value", "reasoning_effort")


@book.model_rule("Each model takes its own efforts, and here none takes max.", f"{BIG_THREE}B1.2, B1.4, B2")
def effort_not_offered(asked: RuleInput, facts: Facts) -> Said:
    effort = asked.body.get("reasoning_effort")
    offered = [name for name in accepted(facts) if name != "max"]
    if effort is None or not offered or effort in offered:
        return None
    return Refusal(
        f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. "
        f"Supported values are: {listed(offered)}.",
        "unsupported_value",
        "reasoning_effort",
    )


@book.model_rule(
    "From 5.4 on, function tools and reasoning go together on Responses only.", f"{BIG_THREE}B1.2"
)
def tools_with_reasoning(asked: RuleInput, facts: Facts) -> Said:
    if "tools_on_chat_when_thinking" not in facts.refuses:
        return None
    if not asked.body.get("tools") or not _thinks(asked, facts):
        return None
    return Refusal(
        f"Function tools with reasoning_effort are not supported for {asked.model} in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        param="reasoning_effort",
    )


@book.model_rule("Sampling is refused while the model reasons; the default is taken.", f"{BIG_THREE}B1.3, B2")
def sampling_refused(asked: RuleInput, facts: Facts) -> Said:
    if not refused(facts, "sampling", _thinks(asked, facts)):
        return None
    temperature = number(asked.body.get("temperature"))
    if temperature is not None and temperature != 1:
        return Refusal(
            f"Unsupported value: 'temperature' does not support {temperature} with this model. "
            "Only the default (1) value is supported.",
            "unsupported_value",
            "temperature",
        )
    for field in ("top_p", "logprobs", "top_logprobs", "logit_bias"):
        value = asked.body.get(field)
        if value not in (None, False, {}) and not (field == "top_p" and value == 1):
            return _unsupported(field)
    return None


@book.model_rule("Penalties are refused like sampling.", f"{BIG_THREE}B1.3")
def penalties_refused(asked: RuleInput, facts: Facts) -> Said:
    thinking = _thinks(asked, facts)
    if not refused(facts, "penalties", thinking) and not refused(facts, "sampling", thinking):
        return None
    fields = ("presence_penalty", "frequency_penalty")
    return next((_unsupported(field) for field in fields if number(asked.body.get(field))), None)


@book.model_rule("Some models take no stop sequences.", f"{BIG_THREE}B1.3")
def stop_refused(asked: RuleInput, facts: Facts) -> Said:
    return _unsupported("stop") if "stop" in facts.refuses and asked.body.get("stop") else None


@book.rule("Every call is answered right after it.", f"{BIG_THREE}B2")
def calls_without_results(asked: RuleInput) -> Said:
    missing = unanswered_calls(asked.body)
    if not missing:
        return None
    return Refusal(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}",
        param="messages",
    )


@book.rule("A tool message answers a call right before it.", f"{BIG_THREE}B2")
def result_without_call(asked: RuleInput) -> Said:
    strays = stray_results(asked.body)
    if not strays:
        return None
    return Refusal(
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        param=f"messages[{strays[0]}].role",
    )
