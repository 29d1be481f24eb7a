"""DeepSeek and Moonshot: their thinking must come back, or must not, and calls cannot be forced meanwhile."""

from __future__ import annotations

from thinkwire.catalog import Facts
from thinkwire.sim.rules.rule import Refusal, RuleInput
from thinkwire.sim.rules.shared import (
    OTHERS,
    Book,
    JsonObject,
    Said,
    as_object,
    forces_call,
    is_thinking,
    number,
    numbered,
    objects,
    refused,
    tool_calls,
    unanswered_calls,
    word,
)

deepseek = Book("deepseek", "openai-chat")
deepseek_responses = Book("deepseek", "openai-responses")
kimi = Book("kimi", "openai-chat", at="moonshot")
kimi_messages = Book("kimi", "anthropic", at="moonshot")

_MUST_COME_BACK = "The reasoning_content in the thinking mode must be passed back to the API."
_ANSWERED = "An assistant message with 'tool_calls' must be followed by tool messages responding to each "


def _messages(asked: RuleInput) -> list[tuple[int, JsonObject]]:
    return numbered(asked.body.get("messages"))


def _thinks(asked: RuleInput, facts: Facts) -> bool:
    told = {"enabled": True, "adaptive": True, "disabled": False}
    kind = word(as_object(asked.body.get("thinking")).get("type"))
    return is_thinking(facts, told.get(kind) if kind else None)


def _takes_no_thinking(facts: Facts) -> bool:
    """A model of the first kind: it thinks, and wants to hear nothing about it."""
    return facts.mechanism == "always" and facts.replay == "never"


@deepseek.model_rule(
    "The first thinking models know no switch.", f"{OTHERS}3.2, 9; seed 004; wording not captured"
)
def thinking_refused(asked: RuleInput, facts: Facts) -> Said:
    if asked.body.get("thinking") is None or not _takes_no_thinking(facts):
        return None
    return _refusal("This model does not support the thinking parameter.")


@deepseek.model_rule("The first thinking models refuse to read what they thought.", f"{OTHERS}3.2, 8")
def reasoning_content_refused(asked: RuleInput, facts: Facts) -> Said:
    if not _takes_no_thinking(facts):
        return None
    if all(message.get("reasoning_content") is None for _, message in _messages(asked)):
        return None
    return _refusal(
        "The reasoning_content is an intermediate result for display purposes only and will not be included "
        "in the context for inference. Please remove the reasoning_content from your message to reduce "
        "network traffic."
    )


@deepseek.model_rule(
    "Once tools were used, every assistant message carries its thinking, an empty one if need be.",
    f"{OTHERS}3.2, 8",
)
def reasoning_content_missing(asked: RuleInput, facts: Facts) -> Said:
    messages = [message for _, message in _messages(asked)]
    if facts.replay != "always" or not _thinks(asked, facts) or not any(map(tool_calls, messages)):
        return None
    return _refusal(_MUST_COME_BACK) if any(map(_lacks_thinking, messages)) else None


@deepseek.model_rule(
    "Inside a tool loop, assistant messages with calls carry their thinking.", f"{OTHERS}3.2, 8"
)
def loop_reasoning_missing(asked: RuleInput, facts: Facts) -> Said:
    messages = [message for _, message in _messages(asked)]
    if facts.replay != "tool_loop" or not _thinks(asked, facts):
        return None
    users = [place for place, message in enumerate(messages) if message.get("role") == "user"]
    loop = messages[users[-1] if users else 0 :]
    return _refusal(_MUST_COME_BACK) if any(tool_calls(m) and _lacks_thinking(m) for m in loop) else None


@deepseek.model_rule("A call cannot be forced while the model thinks.", f"{OTHERS}3.2; recorded traffic")
def forced_tools(asked: RuleInput, facts: Facts) -> Said:
    if not forces_call(asked.body.get("tool_choice")):
        return None
    if not refused(facts, "forced_tools", _thinks(asked, facts)):
        return None
    return _refusal("Thinking mode does not support this tool_choice")


@deepseek.rule("Answers by a JSON schema are not offered.", f"{OTHERS}3.2")
def json_schema(asked: RuleInput) -> Said:
    kind = as_object(asked.body.get("response_format")).get("type")
    return _refusal("This response_format type is unavailable now") if kind == "json_schema" else None


@deepseek.rule("Tools are functions.", f"{OTHERS}3.2")
def tool_type(asked: RuleInput) -> Said:
    kinds = [tool.get("type") for tool in objects(asked.body.get("tools"))]
    other = next((kind for kind in kinds if kind != "function"), "function")
    return None if other == "function" else _refusal(f"unknown variant '{other}', expected 'function'")


@deepseek.rule("Every call is answered right after it.", f"{OTHERS}3.2; public issue threads")
def calls_without_results(asked: RuleInput) -> Said:
    if not unanswered_calls(asked.body):
        return None
    return _refusal(f"{_ANSWERED}'tool_call_id'. (insufficient tool messages following tool_calls message)")


@deepseek_responses.rule(
    "A call's result comes before the assistant speaks again: words between two calls strand the first.",
    f"{OTHERS}3.2; recording of interleaved calls",
)
def stranded_call(asked: RuleInput) -> Said:
    waiting: dict[str, None] = {}
    stranded: list[str] = []
    for _, item in numbered(asked.body.get("input")):
        kind, call = item.get("type"), str(item.get("call_id"))
        if kind == "function_call":
            waiting[call] = None
        elif kind == "function_call_output":
            waiting.pop(call, None)
        else:
            stranded += waiting
            waiting = {}
    missing = [*stranded, *waiting]
    return _refusal(f"No tool output found for tool call {missing[0]}.") if missing else None


def _refusal(message: str) -> Refusal:
    return Refusal(message, "invalid_request_error")


def _lacks_thinking(message: JsonObject) -> bool:
    return message.get("role") == "assistant" and not isinstance(message.get("reasoning_content"), str)


@kimi.model_rule("An effort is a word that the model knows.", f"{OTHERS}3.3; wording not captured")
def effort_not_offered(asked: RuleInput, facts: Facts) -> Said:
    effort = asked.body.get("reasoning_effort")
    if effort is None:
        return None
    words = facts.mechanism == "effort"
    if isinstance(effort, str) and (effort in facts.efforts if words else effort != "none"):
        return None
    offered = ", ".join(facts.efforts) if words else "low, high, max"
    return f"invalid reasoning_effort: {effort}, must be one of: {offered}"


@kimi.model_rule("Models that take an effort take no switch.", f"{OTHERS}3.3; wording not captured")
def thinking_refused_with_effort(asked: RuleInput, facts: Facts) -> Said:
    if asked.body.get("thinking") is None or facts.mechanism != "effort":
        return None
    return "invalid request: thinking is not supported for this model, use reasoning_effort"


@kimi.model_rule("Models that always think cannot be told not to.", f"{OTHERS}1.2, 3.3; wording not captured")
def disabled_impossible(asked: RuleInput, facts: Facts) -> Said:
    kind = as_object(asked.body.get("thinking")).get("type")
    if kind != "disabled" or facts.mechanism != "always":
        return None
    return "invalid thinking: only type=enabled is allowed for this model"


@kimi.model_rule("Thinking models have a fixed temperature.", f"{OTHERS}3.3; public issue threads")
def temperature_fixed(asked: RuleInput, facts: Facts) -> Said:
    temperature = number(asked.body.get("temperature"))
    if temperature in (None, 1) or not (refused(facts, "sampling", thinking=True) and _thinks(asked, facts)):
        return None
    return "invalid temperature: only 1 is allowed for this model"


@kimi.model_rule("A call cannot be forced while the model thinks.", f"{OTHERS}3.3; Q39; public issue threads")
def forced_tool_choice(asked: RuleInput, facts: Facts) -> Said:
    choice = asked.body.get("tool_choice")
    if not forces_call(choice) or not refused(facts, "forced_tools", _thinks(asked, facts)):
        return None
    name = "specified" if isinstance(choice, dict) else "required"
    return f"tool_choice '{name}' is incompatible with thinking enabled"


@kimi.model_rule("Assistant messages with calls carry their thinking, in every turn.", f"{OTHERS}3.3, 8")
def reasoning_missing(asked: RuleInput, facts: Facts) -> Said:
    if facts.replay != "tool_loop" or not _thinks(asked, facts):
        return None
    places = (place for place, m in _messages(asked) if tool_calls(m) and _lacks_thinking(m))
    return next(map(_missing_at, places), None)


@kimi_messages.model_rule(
    "On the Messages wire, assistant messages with calls carry their thinking too.", f"{OTHERS}3.3, 4.11"
)
def thinking_block_missing(asked: RuleInput, facts: Facts) -> Said:
    if facts.replay != "tool_loop" or not _thinks(asked, facts):
        return None
    for place, message in _messages(asked):
        kinds = [block.get("type") for block in objects(message.get("content"))]
        if "tool_use" in kinds and "thinking" not in kinds and "redacted_thinking" not in kinds:
            return _missing_at(place)
    return None


def _missing_at(place: int) -> str:
    message = "thinking is enabled but reasoning_content is missing in assistant tool call message at index"
    return f"{message} {place}"
