"""Intents out of requests: every vendor's way to ask for thinking, read into one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.levels import parse_level
from thinkwire.reasoning.native import WORDS
from thinkwire.request import Request

Fields = dict[str, Any]
_Reader = Callable[[Fields], Fields]
"""Takes the controls out of native fields and gives what they say, as fields of Intent."""


def read_intent(request: Request) -> tuple[Intent, Request]:
    """What a native request asks for, and the request without the words that asked."""
    said: Fields = {}
    words: list[str] = []
    extras = dict(request.extras)
    for dialect, reader in _READERS.items():
        if dialect not in extras or _LOOKED_FOR[dialect].isdisjoint(extras[dialect]):
            continue
        fields = _copy(extras[dialect])
        said |= reader(fields)
        words += _changed(extras[dialect], fields)
        if fields:
            extras[dialect] = fields
        else:
            del extras[dialect]
    if not words:
        return Intent(), request
    return Intent(**said, said=", ".join(words)), msgspec.structs.replace(request, extras=extras)


def _copy(fields: Fields) -> Fields:
    return {key: _copy(value) if isinstance(value, dict) else value for key, value in fields.items()}


def _changed(before: Fields, after: Fields) -> list[str]:
    return [key for key in before if key not in after or before[key] != after[key]]


def _take(fields: Fields, key: str) -> Any:
    return fields.pop(key, None)


def _take_inner(fields: Fields, key: str, *names: str) -> Fields:
    """The named fields of an inner object, which is left out when nothing else is in it."""
    inner = fields.get(key)
    if not isinstance(inner, dict):
        return {}
    taken = {name: inner.pop(name) for name in names if name in inner}
    if not inner:
        del fields[key]
    return {name: value for name, value in taken.items() if value is not None}


def _effort(value: Any) -> Fields:
    """An effort in any form that some server takes: a word, a number of tokens, a boolean."""
    if isinstance(value, bool):
        return {"on": value}
    if isinstance(value, int):
        return {"budget": value}
    if isinstance(value, dict):
        return _effort(value.get("effort"))
    if isinstance(value, str):
        level = parse_level("max" if value.lower() == "ultra" else value)
        return {"level": level} if level else {}
    return {}


def _budget(value: Any) -> Fields:
    return {"budget": value} if isinstance(value, int) and not isinstance(value, bool) else {}


def _switch(kind: Any, budget: Any = None) -> Fields:
    match kind:
        case "enabled" | "adaptive" | "auto" | True:
            return _budget(budget) or {"on": True}
        case "disabled" | False:
            return {"on": False}
        case "between_tools":
            return {"between_tools": True}
    return {}


def _shown(value: Any, *, hidden: Any) -> Fields:
    return {} if value is None else {"show": value != hidden}


def _anthropic(fields: Fields) -> Fields:
    thinking = _take_inner(fields, "thinking", "type", "budget_tokens", "display")
    config = _take_inner(fields, "output_config", "effort")
    said = _switch(thinking.get("type"), thinking.get("budget_tokens"))
    said |= _shown(thinking.get("display"), hidden="omitted")
    return said | _effort(config.get("effort"))


def _responses(fields: Fields) -> Fields:
    reasoning = _take_inner(fields, "reasoning", "effort", "summary", "generate_summary")
    said = _effort(reasoning.get("effort"))
    summary = reasoning.get("summary") or reasoning.get("generate_summary")
    return said | ({"summary": summary, "show": True} if isinstance(summary, str) else {})


def _gemini(fields: Fields) -> Fields:
    said: Fields = {}
    for outer in ("generationConfig", "generation_config"):
        for inner in ("thinkingConfig", "thinking_config"):
            config = _take_inner(fields.get(outer) or {}, inner, *_GEMINI)
            said |= _gemini_config(config)
        if fields.get(outer) == {}:
            del fields[outer]
    return said


_GEMINI = (
    *("thinkingLevel", "thinking_level", "thinkingBudget", "thinking_budget"),
    *("includeThoughts", "include_thoughts"),
)


def _gemini_config(config: Fields) -> Fields:
    level = config.get("thinkingLevel", config.get("thinking_level"))
    budget = config.get("thinkingBudget", config.get("thinking_budget"))
    show = config.get("includeThoughts", config.get("include_thoughts"))
    return _effort(level) | _budget(budget) | _shown(show, hidden=False)


def _chat(fields: Fields) -> Fields:
    """The most spoken wire: a request has one of these, and the later ones win where it has several."""
    said: Fields = {}
    for name in ("chat_template_args", "chat_template_kwargs"):
        for value in _take_inner(fields, name, *WORDS["chat_template_kwargs"]).values():
            said |= _switch(value)
    if _take(fields, "disable_reasoning") is True:
        said["on"] = False
    said |= _switch(_take(fields, "enable_thinking"))
    for name in (
        "thinking_budget",
        "thinking_token_budget",
        "reasoning_budget_tokens",
        "thinking_budget_tokens",
    ):
        said |= _budget(_take(fields, name))
    thinking = _take_inner(fields, "thinking", *WORDS["thinking"])
    said |= _switch(thinking.get("type"), thinking.get("budget_tokens", thinking.get("token_budget")))
    said |= _shown(thinking.get("display"), hidden="omitted")
    said |= _effort(_take(fields, "think"))
    said |= _openrouter(_take_inner(fields, "reasoning", *WORDS["reasoning"]))
    said |= _shown(_take(fields, "include_reasoning"), hidden=False)
    return said | _effort(_take(fields, "reasoning_effort"))


def _openrouter(reasoning: Fields) -> Fields:
    said = _switch(reasoning.get("enabled")) | _budget(reasoning.get("max_tokens"))
    said |= _effort(reasoning.get("effort"))
    if isinstance(reasoning.get("summary"), str):
        said["summary"] = reasoning["summary"]
    return said | _shown(reasoning.get("exclude"), hidden=True)


_READERS: dict[str, _Reader] = {
    "anthropic": _anthropic,
    "openai_chat": _chat,
    "openai_responses": _responses,
    "gemini": _gemini,
}


class _Blank(Fields):
    """Native fields that say nothing, and that remember what was looked for in them."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_for: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.looked_for.add(key)
        return default

    def pop(self, key: str, default: Any = None) -> Any:
        return self.get(key, default)


def _looked_for(reader: _Reader) -> frozenset[str]:
    """The fields that may be controls; without any of them there is nothing to read."""
    blank = _Blank()
    reader(blank)
    return frozenset(blank.looked_for)


_LOOKED_FOR = {dialect: _looked_for(reader) for dialect, reader in _READERS.items()}
