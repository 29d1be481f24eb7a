"""Anthropic Messages: what is refused of the parameters. What is refused of the conversation is next door."""

from __future__ import annotations

from thinkwire.catalog import Facts
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.shared import (
    BIG_THREE,
    Book,
    JsonObject,
    Said,
    as_object,
    is_thinking,
    names,
    number,
    refused,
    unknown,
    word,
)

book = Book("anthropic", "anthropic")

EFFORTS = ("low", "medium", "high", "xhigh", "max")
_BINDING_BETA = "thinking-binding-controls-2026-08-01"
_INTERLEAVED_BETA = "interleaved-thinking-2025-05-14"
_MANUAL = (
    "Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)
_BUDGET_ADVICE = f"{_MANUAL}#max-tokens-and-context-window-size"
_ADAPTIVE_ADVICE = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
_FORCED = ("any", "tool")

_TOP = names(
    """
    model max_tokens messages system thinking output_config tools tool_choice stop_sequences stream metadata
    service_tier speed inference_geo container cache_control diagnostics user_profile_id workspace_id
    context_management mcp_servers fallbacks fallback_credit_token compaction thread betas output_format
    """
)
_SAMPLING = ("temperature", "top_p", "top_k")
_NEWEST_VERSION = "2026-10-21"
"""The first version of the API that does not know sampling any more."""
_THINKING = {
    "adaptive": frozenset({"type", "display", "block_binding"}),
    "enabled": frozenset({"type", "budget_tokens", "display", "block_binding"}),
    "disabled": frozenset({"type"}),
    "between_tools": frozenset({"type"}),
}


def thinking_of(asked: RuleInput) -> JsonObject:
    return as_object(asked.body.get("thinking"))


def thinks(asked: RuleInput, facts: Facts) -> bool:
    """Whether the model will think before its first word."""
    told = {"adaptive": True, "enabled": True, "disabled": False, "between_tools": False}
    kind = word(thinking_of(asked).get("type"))
    if kind == "between_tools":
        return False
    return is_thinking(facts, told.get(kind) if kind else None)


def has_beta(asked: RuleInput, name: str) -> bool:
    return name in asked.headers.get("anthropic-beta", "")


@book.rule("Fields that the API does not know are refused.", f"{BIG_THREE}A1.2, A2; SDK 2.8.0 types")
def unknown_field(asked: RuleInput) -> Said:
    known = _TOP
    if asked.headers.get("anthropic-version", "") < _NEWEST_VERSION:
        known = known.union(_SAMPLING)
    field = unknown(asked.body, known)
    return f"{field}: Extra inputs are not permitted" if field else None


@book.rule(
    "Each way of thinking has its own fields, and binding controls are behind a beta header.",
    f"{BIG_THREE}A1.3",
)
def unknown_thinking_field(asked: RuleInput) -> Said:
    thinking = thinking_of(asked)
    kind = word(thinking.get("type")) or ""
    if not thinking or kind not in _THINKING:
        return None
    known = _THINKING[kind]
    if not has_beta(asked, _BINDING_BETA):
        known = known - {"block_binding"}
    field = unknown(thinking, known)
    if field == "block_binding":
        return "block_binding: Extra inputs are not permitted"
    return f"thinking.{kind}.{field}: Extra inputs are not permitted" if field else None


@book.rule("There are four ways of thinking.", f"{BIG_THREE}A1.3; wording not captured")
def unknown_thinking_type(asked: RuleInput) -> Said:
    if "thinking" not in asked.body or asked.body["thinking"] is None:
        return None
    kind = thinking_of(asked).get("type")
    if isinstance(kind, str) and kind in _THINKING:
        return None
    tags = ", ".join(f"'{name}'" for name in _THINKING)
    return f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"


@book.rule("A ceiling for the answer is required.", f"{BIG_THREE}A1.2")
def max_tokens_missing(asked: RuleInput) -> Said:
    return "max_tokens: Field required" if asked.body.get("max_tokens") is None else None


@book.model_rule("The ceiling may not lie above what the model can put out.", f"{BIG_THREE}A2")
def max_tokens_above_output(asked: RuleInput, facts: Facts) -> Said:
    ceiling, most = number(asked.body.get("max_tokens")), facts.max_output
    if ceiling is None or most is None or ceiling <= most:
        return None
    limit = f"{most}, which is the maximum allowed number of output tokens for {asked.model}"
    return f"max_tokens: {ceiling} > {limit}"


@book.model_rule("Models that think adaptively take no budget.", f"{BIG_THREE}A2")
def budget_on_adaptive_model(asked: RuleInput, facts: Facts) -> Said:
    if (
        thinking_of(asked).get("type") != "enabled"
        or facts.mechanism != "adaptive"
        or facts.budget is not None
    ):
        return None
    return f'"thinking.type.enabled" is not supported for this model. {_ADAPTIVE_ADVICE}'


@book.model_rule("Models that think by budget do not think adaptively.", f"{BIG_THREE}A2")
def adaptive_on_budget_model(asked: RuleInput, facts: Facts) -> Said:
    if thinking_of(asked).get("type") != "adaptive" or facts.mechanism == "adaptive":
        return None
    return "adaptive thinking is not supported on this model"


@book.model_rule("Some models cannot be told not to think.", f"{BIG_THREE}A2")
def disabled_impossible(asked: RuleInput, facts: Facts) -> Said:
    if thinking_of(asked).get("type") != "disabled" or facts.can_be_off:
        return None
    return f'"thinking.type.disabled" is not supported for this model. {_ADAPTIVE_ADVICE}'


@book.model_rule("Some models can only be told to think between tool calls.", f"{BIG_THREE}A2")
def disabled_not_between_tools(asked: RuleInput, facts: Facts) -> Said:
    if thinking_of(asked).get("type") != "disabled" or facts.off != "between_tools":
        return None
    return (
        'To turn thinking off on this model, send "thinking": {"type": "between_tools"} '
        'instead of {"type": "disabled"}.'
    )


@book.model_rule(
    "Thinking between tool calls only is a word of few models.", f"{BIG_THREE}A1.6; wording not captured"
)
def between_tools_unsupported(asked: RuleInput, facts: Facts) -> Said:
    if thinking_of(asked).get("type") != "between_tools" or facts.off == "between_tools":
        return None
    return '"thinking.type.between_tools" is not supported for this model.'


@book.rule("There are five efforts.", f"{BIG_THREE}A1.4; wording not captured")
def effort_unknown(asked: RuleInput) -> Said:
    effort = as_object(asked.body.get("output_config")).get("effort")
    if effort is None or effort in EFFORTS:
        return None
    return "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"


@book.model_rule("Some models take no effort, others not every one.", f"{BIG_THREE}A1.6; wording varies")
def effort_not_offered(asked: RuleInput, facts: Facts) -> Said:
    effort = as_object(asked.body.get("output_config")).get("effort")
    if effort is None or effort in facts.efforts:
        return None
    if not facts.efforts:
        return "This model does not support the effort parameter."
    offered = ", ".join(f"'{name}'" for name in facts.efforts)
    return f"output_config.effort '{effort}' is not supported on this model. Supported values are: {offered}."


@book.model_rule("Without thinking, the strongest efforts are refused.", f"{BIG_THREE}A2")
def effort_without_thinking(asked: RuleInput, facts: Facts) -> Said:
    effort = word(as_object(asked.body.get("output_config")).get("effort"))
    limit = facts.off_effort
    if effort not in EFFORTS or limit not in EFFORTS or thinks(asked, facts):
        return None
    if EFFORTS.index(effort) <= EFFORTS.index(limit):
        return None
    return (
        f"output_config.effort '{effort}' is not supported when thinking is disabled on this model. "
        f"Use effort '{limit}' or below, or enable thinking."
    )


@book.rule("Thinking by budget needs the budget.", f"{BIG_THREE}A1.3")
def budget_missing(asked: RuleInput) -> Said:
    thinking = thinking_of(asked)
    if thinking.get("type") != "enabled" or thinking.get("budget_tokens") is not None:
        return None
    return "thinking.enabled.budget_tokens: Field required"


@book.rule("A budget is at least 1,024 tokens.", f"{BIG_THREE}A2")
def budget_below_minimum(asked: RuleInput) -> Said:
    budget = number(thinking_of(asked).get("budget_tokens"))
    if budget is None or budget >= 1024:
        return None
    return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"


@book.rule(
    "The ceiling includes the thinking, so it lies above the budget; not so with interleaved thinking.",
    f"{BIG_THREE}A1.3, A2",
)
def budget_not_below_max_tokens(asked: RuleInput) -> Said:
    budget = number(thinking_of(asked).get("budget_tokens"))
    ceiling = number(asked.body.get("max_tokens"))
    if budget is None or ceiling is None or budget < ceiling:
        return None
    if has_beta(asked, _INTERLEAVED_BETA) and asked.body.get("tools"):
        return None
    return f"`max_tokens` must be greater than `thinking.budget_tokens`. {_BUDGET_ADVICE}"


@book.model_rule("Newer models take no sampling but the default.", f"{BIG_THREE}A1.6; public issue threads")
def sampling_refused(asked: RuleInput, facts: Facts) -> Said:
    if "sampling" not in facts.refuses:
        return None
    for field in _SAMPLING:
        value = asked.body.get(field)
        if value is not None and not (field != "top_k" and value == 1):
            return f"`{field}` is deprecated for this model."
    return None


@book.model_rule("Older models take no sampling while they think.", f"{BIG_THREE}A1.6, A2")
def sampling_with_thinking(asked: RuleInput, facts: Facts) -> Said:
    if "sampling_when_thinking" not in facts.refuses or not thinks(asked, facts):
        return None
    temperature, top_p = number(asked.body.get("temperature")), number(asked.body.get("top_p"))
    if temperature is not None and temperature != 1:
        return f"`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. {_MANUAL}"
    if asked.body.get("top_k") is not None:
        return f"`top_k` must be unset when thinking is enabled. {_MANUAL}"
    if top_p is not None and not 0.95 <= top_p <= 1:
        return f"`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled. {_MANUAL}"
    return None


@book.rule(
    "A forced call leaves no room for thinking by budget. With adaptive thinking it is taken.",
    f"{BIG_THREE}A1.6, A2; recordings of a forced call with adaptive thinking",
)
def forced_tools_with_thinking(asked: RuleInput) -> Said:
    choice = as_object(asked.body.get("tool_choice")).get("type")
    if choice not in _FORCED or thinking_of(asked).get("type") != "enabled":
        return None
    return "Thinking may not be enabled when tool_choice forces tool use."


@book.model_rule("The newest models cannot be forced to call.", f"{BIG_THREE}A2")
def forced_tools_refused(asked: RuleInput, facts: Facts) -> Said:
    choice = as_object(asked.body.get("tool_choice")).get("type")
    if choice not in _FORCED or not refused(facts, "forced_tools", thinking=False):
        return None
    return 'tool_choice: type "tool" and "any" are not supported for this model.'
