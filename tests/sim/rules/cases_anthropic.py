"""What Anthropic refuses of the parameters, and what it just so takes."""

from __future__ import annotations

from tests.sim.rules.ask import Case, Json, messages_api, of

BUDGET, EFFORTLESS, ADAPTIVE = "claude-opus-4-5", "claude-sonnet-4-5", "claude-opus-5"
ALWAYS, BETWEEN, BOUND = "claude-fable-5", "claude-sonnet-5-5", "claude-opus-5-5"

ON = {"type": "enabled", "budget_tokens": 1024}
LOOK = {"name": "look", "input_schema": {"type": "object"}}
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
BINDING_BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
INTERLEAVED_BETA = {"anthropic-beta": "interleaved-thinking-2025-05-14"}


def effort(word: str) -> Json:
    return {"output_config": {"effort": word}}


m = messages_api
PARAMETERS = [
    Case(
        "unknown_field",
        m(BUDGET, reasoning_effort="high"),
        m(BUDGET, service_tier="auto"),
        "reasoning_effort: Extra inputs are not permitted",
    ),
    Case(
        "unknown_field",
        m(BUDGET, temperature=1, headers={"anthropic-version": "2026-10-21"}),
        m(BUDGET, temperature=1, headers={"anthropic-version": "2023-06-01"}),
        "temperature: Extra inputs are not permitted",
    ),
    Case(
        "unknown_thinking_field",
        m(BOUND, thinking=DROP),
        m(BOUND, thinking=DROP, headers=BINDING_BETA),
        "block_binding: Extra inputs are not permitted",
    ),
    Case(
        "unknown_thinking_field",
        m(BUDGET, thinking={"type": "disabled", "budget_tokens": 1024}),
        m(BUDGET, thinking={"type": "disabled"}),
        "thinking.disabled.budget_tokens: Extra inputs are not permitted",
    ),
    Case(
        "unknown_thinking_type",
        m(BUDGET, thinking={"type": "auto"}),
        m(BUDGET, thinking=ON),
        "Input tag 'auto' found using 'type'",
    ),
    Case(
        "max_tokens_missing",
        m(BUDGET, max_tokens=None),
        m(BUDGET, max_tokens=1),
        "max_tokens: Field required",
    ),
    Case(
        "max_tokens_above_output",
        m(BUDGET, max_tokens=64_001),
        m(BUDGET, max_tokens=64_000),
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-",
    ),
    Case(
        "budget_on_adaptive_model",
        m(ADAPTIVE, thinking=ON),
        m("claude-opus-4-6", thinking=ON),
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"',
    ),
    Case(
        "adaptive_on_budget_model",
        m(BUDGET, thinking={"type": "adaptive"}),
        m(ADAPTIVE, thinking={"type": "adaptive"}),
        "adaptive thinking is not supported on this model",
    ),
    Case(
        "disabled_impossible",
        m(ALWAYS, thinking={"type": "disabled"}),
        m(ADAPTIVE, thinking={"type": "disabled"}),
        '"thinking.type.disabled" is not supported for this model.',
    ),
    Case(
        "disabled_not_between_tools",
        m(BETWEEN, thinking={"type": "disabled"}),
        m(BETWEEN, thinking={"type": "between_tools"}),
        'send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}',
    ),
    Case(
        "between_tools_unsupported",
        m(ADAPTIVE, thinking={"type": "between_tools"}),
        m(BETWEEN, thinking={"type": "between_tools"}),
        '"thinking.type.between_tools" is not supported',
    ),
    Case(
        "effort_unknown",
        m(ADAPTIVE, **effort("minimal")),
        m(ADAPTIVE, **effort("low")),
        "output_config.effort: Input should be",
        also=("effort_not_offered",),
    ),
    Case(
        "effort_not_offered",
        m(BUDGET, **effort("max")),
        m(BUDGET, **effort("high")),
        "Supported values are: 'low', 'medium', 'high'.",
    ),
    Case(
        "effort_not_offered",
        m(EFFORTLESS, **effort("high")),
        m(EFFORTLESS),
        "This model does not support the effort parameter.",
    ),
    Case(
        "effort_without_thinking",
        m(ADAPTIVE, thinking={"type": "disabled"}, **effort("xhigh")),
        m(ADAPTIVE, thinking={"type": "disabled"}, **effort("high")),
        "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. "
        "Use effort 'high' or below, or enable thinking.",
    ),
    Case(
        "effort_without_thinking",
        m(BETWEEN, thinking={"type": "between_tools"}, **effort("max")),
        m(BETWEEN, **effort("max")),
        "Use effort 'high' or below",
    ),
    Case(
        "budget_missing",
        m(BUDGET, thinking={"type": "enabled"}),
        m(BUDGET, thinking=ON),
        "thinking.enabled.budget_tokens: Field required",
    ),
    Case(
        "budget_below_minimum",
        m(BUDGET, thinking={"type": "enabled", "budget_tokens": 1023}),
        m(BUDGET, thinking=ON),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    Case(
        "budget_not_below_max_tokens",
        m(BUDGET, max_tokens=1024, thinking=ON),
        m(BUDGET, max_tokens=1025, thinking=ON),
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    Case(
        "budget_not_below_max_tokens",
        m(BUDGET, max_tokens=1000, thinking=ON, tools=[LOOK]),
        m(BUDGET, max_tokens=1000, thinking=ON, tools=[LOOK], headers=INTERLEAVED_BETA),
        "`max_tokens` must be greater",
    ),
    Case(
        "sampling_refused",
        m(ADAPTIVE, temperature=0.5),
        m(ADAPTIVE, temperature=1),
        "`temperature` is deprecated for this model.",
    ),
    Case(
        "sampling_with_thinking",
        m(BUDGET, thinking=ON, temperature=0.5),
        m(BUDGET, temperature=0.5),
        "`temperature` may only be set to 1 when thinking is enabled",
    ),
    Case(
        "sampling_with_thinking",
        m(BUDGET, thinking=ON, top_k=5),
        m(BUDGET, thinking=ON, top_p=0.95),
        "`top_k` must be unset when thinking is enabled.",
    ),
    Case(
        "sampling_with_thinking",
        m(BUDGET, thinking=ON, top_p=0.9),
        m(BUDGET, top_p=0.9),
        "`top_p` must be greater than or equal to 0.95",
    ),
    Case(
        "forced_tools_with_thinking",
        m("claude-opus-4-6", thinking=ON, tools=[LOOK], tool_choice={"type": "any"}),
        m("claude-opus-4-6", thinking={"type": "adaptive"}, tools=[LOOK], tool_choice={"type": "any"}),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    Case(
        "forced_tools_refused",
        m(BOUND, tools=[LOOK], tool_choice={"type": "tool", "name": "look"}),
        m(BOUND, tools=[LOOK], tool_choice={"type": "auto"}),
        'tool_choice: type "tool" and "any" are not supported for this model.',
    ),
]

CASES = of("anthropic", PARAMETERS)
