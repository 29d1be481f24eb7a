"""Thinking as an agent's card has it: what a model can do, what is asked of it, and what that will send."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from thinkwire.catalog import Facts
from thinkwire.errors import ConfigError
from thinkwire.reasoning.levels import DEFAULT_BUDGET, LADDER, Level, native_word, parse_level
from thinkwire.reasoning.plan import Plan

Kind = Literal["none", "always", "toggle", "budget", "effort"]

_KINDS: dict[str, Kind] = {
    "effort": "effort",
    "level": "effort",
    "adaptive": "effort",
    "budget": "budget",
    "toggle+budget": "budget",
    "toggle": "toggle",
    "always": "always",
    "none": "none",
}
_SHOWN = {
    "full": "thinking shown in full",
    "summary": "thinking summarised",
    "omitted": "thinking summarised",
    "none": "thinking not shown",
}


class ThinkingChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent asks for; `enabled: null` leaves it to the provider."""

    enabled: bool | None = None
    level: str | None = None
    budget: int | None = None


class BudgetRange(msgspec.Struct, frozen=True):
    min: int
    max: int
    default: int


class ThinkingAbility(msgspec.Struct, frozen=True, kw_only=True):
    """How a model can be told to think, for a form to show."""

    kind: Kind
    levels: list[str]
    budget: BudgetRange | None
    default: str | None
    can_be_off: bool
    sentence: str


def ability(facts: Facts) -> ThinkingAbility:
    kind = _kind(facts)
    return ThinkingAbility(
        kind=kind,
        levels=levels(facts) if kind == "effort" else [],
        budget=_range(facts) if kind == "budget" else None,
        default=facts.default.lower() if facts.default else None,
        can_be_off=facts.can_be_off,
        sentence=_ability(facts, kind),
    )


def _kind(facts: Facts) -> Kind:
    """A single level is no choice."""
    kind = _KINDS[facts.mechanism]
    if kind == "effort" and len(levels(facts)) < 2:
        return "toggle" if facts.can_be_off else "always"
    return kind


def levels(facts: Facts) -> list[str]:
    """The levels that a model tells apart, weakest first."""
    words = {parse_level(word) for word in facts.efforts}
    return [native_word(level) for level in LADDER if level in words]


def _range(facts: Facts) -> BudgetRange | None:
    if facts.budget is None:
        return None
    low, high = max(facts.budget.min, 1), facts.budget_limit or facts.budget.max
    return BudgetRange(low, high, min(max(DEFAULT_BUDGET, low), high))


def _ability(facts: Facts, kind: Kind) -> str:
    """One sentence for people."""
    off = "" if facts.can_be_off else " It cannot be turned off."
    match kind:
        case "none":
            return "This model does not think."
        case "always":
            return "This model always thinks; how much cannot be set."
        case "toggle":
            return f"Thinking can be turned on; how much cannot be set.{off}"
        case "budget":
            found = _range(facts)
            span = f" from {found.min:,} to {found.max:,} tokens" if found else ""
            return f"Thinks within a budget{span}.{off}"
    return f"Thinks at a level: {', '.join(levels(facts))}.{off}"


def checked(wanted: ThinkingChoice, facts: Facts | None) -> None:
    """ConfigError when a model cannot be asked for this."""
    if wanted.level is not None:
        level_of(wanted.level)
    if wanted.budget is not None and wanted.budget < -1:
        raise ConfigError("a budget is a number of tokens; 0 is off, -1 lets the model decide")
    if facts is None or not wanted.enabled:
        return
    found = ability(facts)
    if found.kind == "none":
        raise ConfigError(f"{facts.id} does not think; choose another model, or leave thinking off")
    low_high = found.budget
    if low_high is not None and wanted.budget is not None and wanted.budget > 0:
        if low_high.min <= wanted.budget <= low_high.max:
            return
        raise ConfigError(
            f"{facts.id} takes {low_high.min:,} to {low_high.max:,} tokens of thinking, not {wanted.budget:,}"
        )


def settings_of(wanted: ThinkingChoice, facts: Facts | None) -> dict[str, Any]:
    """The same as settings; of level and budget, the one that the model goes by."""
    if wanted.enabled is None:
        return {}
    if not wanted.enabled:
        return {"reasoning.enabled": False}
    by_budget = facts is not None and _KINDS[facts.mechanism] == "budget"
    values: dict[str, Any] = {"reasoning.enabled": True}
    if wanted.budget is not None and (by_budget or wanted.level is None):
        values["reasoning.maxTokens"] = wanted.budget
    elif wanted.level is not None:
        values["reasoning.effort"] = level_of(wanted.level)
    return values


def level_of(word: str) -> Level:
    """A level by any of its names, `medium` for `med`; ConfigError when there is none."""
    level = parse_level(word)
    if level is None:
        raise ConfigError(f"there is no level {word!r}; there are {', '.join(LADDER)}")
    return level


def sentence(plan: Plan) -> str:
    """`will send adaptive, effort high; thinking summarised`."""
    facts, setting = plan.facts, plan.effective
    if facts is None:
        return "nothing is known about this model; nothing will be sent about thinking"
    if not facts.can_think:
        return "this model does not think"
    if setting.on is False:
        return "will turn thinking off"
    return f"{_will(facts, plan)}; {_SHOWN[facts.visible]}"


def _will(facts: Facts, plan: Plan) -> str:
    setting = plan.effective
    if setting.between_tools:
        return "will think only between tool calls"
    if facts.mechanism == "always":
        return "always thinks; nothing will be sent about it"
    if not plan.patch or setting.on is None:
        return f"will leave it to the provider ({(facts.default or 'its default').lower()})"
    words = ["adaptive"] if facts.mechanism == "adaptive" else []
    if setting.effort is not None:
        words.append(f"{'level' if facts.mechanism == 'level' else 'effort'} {setting.effort.lower()}")
    elif setting.budget is not None:
        words.append(
            "a budget that the model decides" if setting.budget < 0 else f"{setting.budget:,} tokens"
        )
    return f"will send {', '.join(words or ['thinking on'])}"
