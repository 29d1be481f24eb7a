"""A plan in words: the lines that every face shows when a model or its thinking is changed."""

from __future__ import annotations

from thinkwire.catalog import Facts
from thinkwire.providers import find_provider
from thinkwire.reasoning.levels import native_word, parse_level
from thinkwire.reasoning.plan import Plan

_SHARE = {"minimal": 10, "low": 20, "med": 50, "high": 80, "xhigh": 95, "max": 95}
"""How much of its output a model spends on thinking, roughly, in percent."""
OUTPUT_BUFFER = 25_000


def feedback(plan: Plan) -> list[str]:
    """The lines, first the model, then warnings, then what its thinking will be."""
    facts = plan.facts
    if facts is None:
        return [f"✓ Switched to {plan.model}", *_warnings(plan), "  Thinking: unknown (nothing is sent)"]
    api = f" ({facts.api})" if facts.api else ""
    provider = find_provider(facts.provider)
    label = provider.label if provider else facts.provider
    return [f"✓ Switched to {label} {facts.id}{api}", *_warnings(plan), *_thinking(plan, facts)]


def _warnings(plan: Plan) -> list[str]:
    lines = []
    for note in plan.notes:
        if note.code == "reasoning.minimum":
            lines.append("  ⚠ This model does not support disabling thinking")
        elif note.code not in ("reasoning.adjusted", "max_tokens.raised") or _is_news(plan, note.code):
            lines.append(f"  ⚠ {note.message}")
    return lines


def _is_news(plan: Plan, code: str) -> bool:
    """A changed budget is news; a level that went to its nearest word is shown by the word itself."""
    return code == "reasoning.adjusted" and plan.requested.level is None


def _thinking(plan: Plan, facts: Facts) -> list[str]:
    setting = plan.effective
    if not facts.can_think:
        return ["  Thinking: none (this model does not think)"]
    if setting.on is False:
        return ["  Thinking: off"]
    if setting.between_tools:
        return ["  Thinking: only between tool calls (minimum)"]
    if setting.on is None:
        return [f"  Thinking: {_default(facts)} (default)"]
    if setting.budget is not None:
        return [f"  Thinking: {_budget(plan, setting.budget)}"]
    if setting.effort is not None:
        return _effort(plan, facts, setting.effort)
    return [f"  Thinking: {'always on' if facts.mechanism == 'always' else 'on'}"]


def _default(facts: Facts) -> str:
    return facts.default or "as the provider decides"


def _budget(plan: Plan, budget: int) -> str:
    tokens = "dynamic" if budget < 0 else f"{budget:,} tokens"
    level = plan.requested.level
    if level == "none":
        return f"{tokens} (minimum)"
    if level is None or level == "auto" or plan.requested.budget is not None:
        return tokens
    return f"{native_word(level)} ({tokens})"


def _effort(plan: Plan, facts: Facts, word: str) -> list[str]:
    kind = "level" if facts.mechanism == "level" else "effort"
    if plan.requested.level == "none":
        weakest = facts.efforts and word == facts.efforts[0]
        return [f"  Thinking: {word} {kind} ({'minimum' if weakest else 'default'})"]
    if facts.mechanism == "adaptive":
        return [f"  Thinking: adaptive, {word} effort"]
    if kind == "level":
        return [f"  Thinking: {word} level"]
    share = _SHARE.get(parse_level(word) or "")
    lines = [f"  Thinking: {word} effort" + (f" (~{share}% of output budget)" if share else "")]
    if facts.api:
        lines.append(f"  Recommended output buffer: {OUTPUT_BUFFER:,} tokens")
    return lines
