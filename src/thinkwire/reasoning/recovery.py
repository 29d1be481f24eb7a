"""What a refusal teaches: a 400 that names a reasoning control becomes a corrected fact, and one more try.

The second try is the same resolver over the corrected facts. It never asks for more than the first: a refused
word takes the stronger ones with it. A refusal about anything else teaches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from thinkwire.catalog import Budget, Facts
from thinkwire.errors import Failure
from thinkwire.reasoning.levels import LADDER, native_word, parse_level
from thinkwire.reasoning.plan import Plan

Change = dict[str, Any]
_Rule = Callable[[re.Match[str], Facts, Plan], Change]

LESSON_DAYS = 30
"""How long a lesson is believed; vendors change their models."""


class Lesson(msgspec.Struct, frozen=True, omit_defaults=True):
    """A corrected fact about a model, with the words that taught it."""

    provider: str
    model: str
    change: Change
    """Fields of Facts and their new values."""
    evidence: str
    learned: float
    """Seconds since the epoch."""

    @property
    def expires(self) -> float:
        return self.learned + LESSON_DAYS * 86_400

    def applied(self, facts: Facts) -> Facts:
        fields = msgspec.to_builtins(facts, builtin_types=(type(facts.checked),))
        return msgspec.convert({**fields, **self.change}, Facts)


def learn(failure: Failure, plan: Plan, now: float) -> Lesson | None:
    """The lesson of a refusal; None when it is not about the reasoning that was sent."""
    facts = plan.facts
    said = plan.patch.keys() - {"include"}
    if facts is None or failure.kind not in ("bad_request", "not_found") or not said:
        return None
    for pattern, rule in _RULES:
        found = pattern.search(failure.message)
        if found is None:
            continue
        change = rule(found, facts, plan)
        if change:
            return Lesson(facts.provider, facts.id, change, failure.message[:500], now)
    return None


def _accepted_words(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    """The vendor lists what it takes."""
    words = re.findall(r"'(\w+)'|\b(none|minimal|low|medium|high|xhigh|max)\b", found["values"])
    listed = [first or second for first, second in words]
    known = {word: rank for word, rank in _RANKS.items() if word in listed}
    efforts = sorted((word for word in known if word != "none"), key=known.__getitem__)
    off = "none" if "none" in listed else None
    if not efforts:
        return {}
    spelt = _spelt_like(facts, efforts)
    return {"efforts": spelt, "names": _downwards(spelt), "off": off}


def _downwards(words: list[str]) -> dict[str, str]:
    """For each level that is not among the words the strongest word below it, so that nothing grows."""
    ranks = {word: _RANKS[word.lower()] for word in words}
    names: dict[str, str] = {}
    for level in LADDER:
        rank = _RANKS[native_word(level)]
        if rank not in ranks.values():
            names[level] = max((w for w in words if ranks[w] < rank), key=ranks.__getitem__, default=words[0])
    return names


_RANKS = {"none": 0, "minimal": 1, "low": 2, "medium": 3, "high": 4, "xhigh": 5, "max": 6}


def _spelt_like(facts: Facts, words: list[str]) -> list[str]:
    upper = any(word.isupper() for word in facts.efforts)
    return [word.upper() if upper else word for word in words]


def _refused_word(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    """One word is refused: it and the stronger ones go; the weakest goes alone."""
    word = found["value"].strip("'\"").lower()
    if parse_level(word) == "none":
        return {"off": None}
    lowered = [effort.lower() for effort in facts.efforts]
    if word not in lowered:
        return {}
    at = lowered.index(word)
    left = facts.efforts[:at] or facts.efforts[1:]
    return {"efforts": list(left), "names": {}} if left else _no_control(found, facts, plan)


def _no_off(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    return {"off": None} if plan.effective.on is False else {}


def _no_control(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    return {"mechanism": "always", "efforts": [], "names": {}, "budget": None, "off": None}


def _does_not_think(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    return _no_control(found, facts, plan) | {"mechanism": "none"}


def _budget_range(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    low, high = (int(found[name].replace(",", "")) for name in ("low", "high"))
    return {"budget": msgspec.to_builtins(Budget(low, high))} if low <= high else {}


def _adaptive(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    efforts = list(facts.efforts) or ["low", "medium", "high"]
    return {"mechanism": "adaptive", "efforts": efforts, "budget": None}


def _manual(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    limit = (facts.max_output or 32_000) - 1
    return {"mechanism": "budget", "budget": {"min": 1_024, "max": limit}, "efforts": []}


def _between_tools(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    return {"off": "between_tools"}


def _other_api(found: re.Match[str], facts: Facts, plan: Plan) -> Change:
    return {"dialect": "openai-responses", "shape": "responses", "api": "Responses API"}


_RULES: list[tuple[re.Pattern[str], _Rule]] = [
    (re.compile(pattern, re.IGNORECASE), rule)
    for pattern, rule in (
        (r"use /v1/responses", _other_api),
        (r"between_tools", _between_tools),
        (r"thinking\.type\.enabled\W+is not supported", _adaptive),
        (r"thinking\.type\.disabled\W+is not supported", _no_off),
        (r"adaptive thinking is not supported", _manual),
        (r"(effort|thinking).{0,120}supported values are:?(?P<values>.+)", _accepted_words),
        (r"effort (?P<value>'\w+') is not supported", _refused_word),
        (r"thinking level (?P<value>(?!is\b)\w+) is not supported", _refused_word),
        (r"does not support reasoning_?effort value (?P<value>\w+)", _refused_word),
        (r"invalid reasoning (?:effort|value):? *(?P<value>['\"]?\w+)", _refused_word),
        (r"unsupported value: '\S*effort' does not support (?P<value>'\w+')", _refused_word),
        (r"budget.{0,60}between (?P<low>[\d,]+) and (?P<high>[\d,]+)", _budget_range),
        (r"only works in thinking mode|reasoning is mandatory|use low, high or max", _no_off),
        (r"thinking is not enabled for this model|does not support thinking\b", _does_not_think),
        (r"thinking is not supported by this model", _does_not_think),
        (r"thinking level is not supported", _no_control),
        (r"does not support parameter reasoning_?effort", _no_control),
        (r"unsupported parameter: '(reasoning|reasoning\.effort|reasoning_effort)'", _no_control),
        (r"(thinking|reasoning\w*|enable_thinking): extra inputs are not permitted", _no_control),
    )
]
