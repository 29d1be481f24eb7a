"""Corrections of the facts about a model, as refusals teach them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec

from thinkwire.catalog import Budget, Facts
from thinkwire.reasoning.levels import LADDER, native_word, parse_level
from thinkwire.reasoning.refusal import Refusal, bare_path

Change = dict[str, Any]
"""Fields of Facts and their new values."""

About = Literal["effort", "budget", "switch", "field"]


def changed_facts(facts: Facts, change: Change) -> Facts:
    """The facts with other values; `msgspec.ValidationError` where these do not fit."""
    if not change:
        return facts
    fields = msgspec.to_builtins(facts, builtin_types=(type(facts.checked),))
    return msgspec.convert({**fields, **change}, Facts)


def find_change(refusal: Refusal) -> Change:
    """The correction of the facts that a refusal teaches; empty where it teaches none."""
    if refusal.plan.facts is None or not refusal.controls:
        return {}
    if refusal.param is not None and bare_path(refusal.param) not in refusal.own_names:
        return {}
    if not any(rule.pattern.search(refusal.text) for rule in _RULES):
        return {}
    for rule in _RULES:
        for found in rule.pattern.finditer(refusal.own_text):
            change = rule.apply(found, refusal)
            if change:
                return change
    return {}


class _Rule(NamedTuple):
    """A wording, the control that it is about, and the correction that it teaches."""

    pattern: re.Pattern[str]
    about: About
    read: Callable[[re.Match[str], Refusal, Facts], Change]
    needs_param: bool
    """Whether the wording fits other fields too, so that the provider must name the effort's beside it."""

    def apply(self, found: re.Match[str], refusal: Refusal) -> Change:
        groups, facts = found.groupdict(), refusal.plan.facts
        path = groups.get("path")
        if facts is None or (path is not None and bare_path(path) not in refusal.own_names):
            return {}
        if self.needs_param and not refusal.names_effort:
            return {}
        return self.read(found, refusal, facts) if self._was_sent(groups.get("value"), refusal) else {}

    def _was_sent(self, value: str | None, refusal: Refusal) -> bool:
        """Whether the plan wrote this kind of control, and the very value where one is named."""
        match self.about:
            case "effort":
                sent = refusal.effort
                return sent is not None and (value is None or value.lower() == sent.lower())
            case "budget":
                return refusal.budget is not None and (value is None or _number(value) == refusal.budget)
            case "switch":
                return refusal.has_switch
        return True


def _number(text: str) -> int:
    return int(text.replace(",", ""))


_LISTED = re.compile(r"[\s'\"`\[(|,]*(?:(?:or|and)\s+)?[\s'\"`\[]*(\w+)", re.ASCII)


def _accepted_words(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    """The provider lists what it takes; a list with the word that was sent is about something else."""
    listed: list[str] = []
    at = found.end()
    while (item := _LISTED.match(refusal.own_text, at)) and item[1].lower() in (*_RANKS, "true", "false"):
        listed.append(item[1].lower())
        at = item.end()
    efforts = sorted((word for word in set(listed) if _RANKS.get(word, 0) > 0), key=_RANKS.__getitem__)
    if not efforts or (refusal.effort or "").lower() in listed:
        return {}
    spelt = _spelt_like(facts, efforts)
    return {"efforts": spelt, "names": _downwards(spelt), "off": "none" if "none" in listed else None}


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


def _refused_word(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    """One word is refused: it and the stronger ones go; the weakest goes alone."""
    word = found["value"].lower()
    if parse_level(word) == "none":
        return {"off": None}
    lowered = [effort.lower() for effort in facts.efforts]
    if word not in lowered:
        return {}
    at = lowered.index(word)
    left = facts.efforts[:at] or facts.efforts[1:]
    return {"efforts": list(left), "names": {}} if left else _no_control(found, refusal, facts)


def _no_off(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    return {"off": None} if refusal.plan.effective.on is False else {}


def _between_tools(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    return {"off": "between_tools"} if refusal.plan.effective.on is False else {}


def _no_control(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    path = found.groupdict().get("path")
    if path is not None and bare_path(path) == "reasoning.summary":
        return _no_summary(found, refusal, facts)
    return {"mechanism": "always", "efforts": [], "names": {}, "budget": None, "off": None}


def _no_summary(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    return {"visible": "none"} if "reasoning.summary" in refusal.controls else {}


def _does_not_think(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    return _no_control(found, refusal, facts) | {"mechanism": "none"}


def _budget_range(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    low, high = _number(found["low"]), _number(found["high"])
    asked = refusal.budget
    if asked is None or low > high or low <= asked <= high:
        return {}
    return {"budget": _budget(facts, low, high)}


def _least_budget(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    low = _number(found["low"])
    if facts.budget is None or refusal.budget is None or refusal.budget >= low:
        return {}
    return {"budget": _budget(facts, low, max(low, facts.budget.max))}


_SMALLER_BUDGETS = (24_576, 8_192, 2_048, 1_024)
"""Where no range is named, the largest of these below the refused number is tried."""


def _smaller_budget(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    high = next((size for size in _SMALLER_BUDGETS if size < _number(found["value"])), None)
    if high is None or facts.budget is None or high < facts.budget.min:
        return {}
    return {"budget": _budget(facts, facts.budget.min, high)}


def _budget(facts: Facts, low: int, high: int) -> Any:
    dynamic = facts.budget is not None and facts.budget.dynamic
    return msgspec.to_builtins(Budget(low, high, dynamic=dynamic))


def _adaptive(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    efforts = list(facts.efforts) or ["low", "medium", "high"]
    return {"mechanism": "adaptive", "efforts": efforts, "budget": None}


def _manual(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    limit = (facts.max_output or 32_000) - 1
    return {"mechanism": "budget", "budget": {"min": 1_024, "max": limit}, "efforts": []}


def _other_api(found: re.Match[str], refusal: Refusal, facts: Facts) -> Change:
    return {"dialect": "openai-responses", "shape": "responses", "api": "Responses API"}


_FREE = r"(?<![\w.\[\]/-])"
"""Where a path begins: what stands behind a dot or a bracket is part of a longer one."""
_EFFORT = (
    rf"{_FREE}(?P<path>(?:body\.)?(?:reasoning[._]?effort|output_config\.effort|thinking_?level))"
    r"(?![\w\[-]|\.\w)"
)
_ANY_PATH = rf"{_FREE}(?P<path>\w[\w.]*)"
_BUDGET = rf"{_FREE}(?P<path>\w[\w.]*budget\w*)"
_VALUE = r"['\"]?(?P<value>\w+)['\"]?"
_LIST = r"(?:supported|valid|allowed|accepted) (?:values|levels)(?: are)?:? ?"
_RANGE = r"(?P<low>\d[\d,]*) (?:and|to) (?P<high>\d[\d,]*)"
_SENTENCE = r"(?:^|[.:;>]\s)"

_WORDINGS: list[tuple[str, About, Callable[[re.Match[str], Refusal, Facts], Change]]] = [
    (r"tools with (?P<path>reasoning_effort) are not.{0,200}use /v1/responses", "effort", _other_api),
    (r"turn thinking off on this model.{0,60}between_tools", "switch", _between_tools),
    (r"thinking\.type\.enabled\W+is not supported", "switch", _adaptive),
    (r"thinking\.type\.disabled\W+is not supported", "switch", _no_off),
    (rf"{_SENTENCE}adaptive thinking is not supported", "switch", _manual),
    (rf"{_EFFORT}.{{0,120}}?{_LIST}", "effort", _accepted_words),
    (rf"thinking level {_VALUE} is not supported.{{0,80}}?{_LIST}", "effort", _accepted_words),
    (rf"{_SENTENCE}level {_VALUE} (?:is )?not supported,? {_LIST}", "effort", _accepted_words),
    (rf"invalid (?P<path>think) value: {_VALUE} \(must be ", "effort", _accepted_words),
    (rf"{_EFFORT}: input should be ", "effort", _accepted_words),
    (rf"'loc': \('body', '{_EFFORT}',?\), 'msg': .input should be ", "effort", _accepted_words),
    (rf"{_EFFORT} {_VALUE} is not supported", "effort", _refused_word),
    (r"thinking level (?P<value>(?!is\b)\w+) is not supported", "effort", _refused_word),
    (rf"does not support {_EFFORT} value {_VALUE}", "effort", _refused_word),
    (rf"invalid reasoning[ _](?:effort|value):? *{_VALUE}", "effort", _refused_word),
    (rf"unsupported value: '{_EFFORT}' does not support {_VALUE}", "effort", _refused_word),
    (rf"thinking budget \(?(?P<value>-?\d+)\)?.{{0,60}}between {_RANGE}", "budget", _budget_range),
    (rf"{_BUDGET} is out of range.{{0,60}}from {_RANGE}", "budget", _budget_range),
    (rf"{_BUDGET}\b.{{0,60}}between {_RANGE}", "budget", _budget_range),
    (r"thinking budget \(?(?P<value>\d+)\)? is invalid", "budget", _smaller_budget),
    (rf"{_BUDGET}: input should be greater than or equal to (?P<low>\d+)", "budget", _least_budget),
    (r"only works in thinking mode|reasoning is mandatory|use low, high or max", "switch", _no_off),
    (rf"{_SENTENCE}thinking is not enabled for this model", "switch", _does_not_think),
    (r"does not support thinking(?=['\".}\s]*$)", "switch", _does_not_think),
    (rf"{_SENTENCE}thinking is not supported by this model", "switch", _does_not_think),
    (rf"{_SENTENCE}thinking level is not supported", "effort", _no_control),
    (r"must be verified to generate reasoning summaries", "field", _no_summary),
    (rf"does not support parameter {_EFFORT}", "effort", _no_control),
    (r"(?:unsupported|unknown) parameter: '?(?P<path>\w[\w.]*)(?![\w\[-])", "field", _no_control),
    (r"unrecognized request argument supplied: (?P<path>\w+)(?![\w.\[-])", "field", _no_control),
    (rf"{_ANY_PATH}: extra inputs are not permitted", "field", _no_control),
    (r"'loc': \('body', '(?P<path>\w+)',?\), 'msg': 'extra inputs are not permitted", "field", _no_control),
]
"""Wordings that name the control themselves."""

_WORDINGS_BESIDE_PARAM: list[tuple[str, About, Callable[[re.Match[str], Refusal, Facts], Change]]] = [
    (rf"unsupported value: {_VALUE} is not supported.{{0,80}}?{_LIST}", "effort", _accepted_words),
    (r"(?:^|: )input should be (?=['\"])", "effort", _accepted_words),
    (rf"unsupported value: {_VALUE} is not supported(?!.{{0,80}}?{_LIST})", "effort", _refused_word),
]
"""Wordings that fit any field."""

_RULES = [
    _Rule(re.compile(pattern, re.IGNORECASE | re.ASCII), about, read, needs_param)
    for wordings, needs_param in ((_WORDINGS, False), (_WORDINGS_BESIDE_PARAM, True))
    for pattern, about, read in wordings
]
