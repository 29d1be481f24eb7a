"""Level words and token budgets, and how one becomes the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from thinkwire.catalog import Facts

Level = Literal["none", "minimal", "low", "med", "high", "xhigh", "max", "auto"]
LEVELS: tuple[Level, ...] = get_args(Level)
LADDER: tuple[Level, ...] = ("minimal", "low", "med", "high", "xhigh", "max")
"""Levels at which a model thinks, weakest first."""

SYNONYMS: dict[str, Level] = {
    "medium": "med",
    "off": "none",
    "min": "minimal",
    "default": "auto",
    "disabled": "none",
}

_THIRDS = {"none": 0, "minimal": 0, "low": 1, "med": 2, "high": 3, "xhigh": 3, "max": 3}
_SMALLEST_THOUGHT = 128
"""The budget of `minimal` where a range begins at 0, which is off."""

DEFAULT_BUDGET = 10_000
"""For "on" without a number, on models that need one."""

DEFAULT_THRESHOLDS: tuple[tuple[int, Level], ...] = ((4_000, "minimal"), (16_000, "low"), (32_000, "med"))
STRONGEST_BY_BUDGET: Level = "high"


def parse_level(word: str) -> Level | None:
    """The level that a word names in any spelling; None when it names none."""
    word = word.strip().lower()
    if word in LEVELS:
        return word
    return SYNONYMS.get(word)


def native_word(level: Level) -> str:
    """The word that most vendors use for a level."""
    return "medium" if level == "med" else level


def budget_for(facts: Facts, level: Level) -> int:
    """Tokens for a level on a budget model: the range in thirds, rounded down."""
    budget = facts.budget
    if budget is None:
        raise ValueError(f"{facts.id} takes no budget")
    if level == "auto":
        return -1 if budget.dynamic else min(max(DEFAULT_BUDGET, budget.min), budget.max)
    if level == "minimal" and budget.min == 0:
        return _SMALLEST_THOUGHT
    return budget.min + _THIRDS[level] * (budget.max - budget.min) // 3


def level_for(budget: int, facts: Facts) -> Level:
    """The level that a budget amounts to on a model that takes words."""
    if budget == 0:
        return "none"
    if budget < 0:
        return "auto"
    for below, word in facts.thresholds or DEFAULT_THRESHOLDS:
        if budget < below:
            return parse_level(word) or STRONGEST_BY_BUDGET
    return STRONGEST_BY_BUDGET


def snap(level: Level, words: Sequence[str]) -> str:
    """The accepted word nearest to a level; of two equally near, the stronger."""
    asked = LADDER.index(level)
    ranks = {word: LADDER.index(known) for word in words if (known := parse_level(word)) in LADDER}
    if not ranks:
        return words[-1]
    return min(ranks, key=lambda word: (abs(ranks[word] - asked), -ranks[word]))
