"""Intents out of requests: every vendor's way to ask for thinking, read into one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.levels import parse_level
from thinkwire.reasoning.native_params import WORDS
from thinkwire.request import Request

Fields = dict[str, Any]
_Reader = Callable[[Fields], Fields]
"""Takes the controls out of native fields and gives what they say, as fields of Intent."""


_SILENT = Intent()


def read_intent(request: Request) -> tuple[Intent, Request]:
    """What a native request asks for, and the request without the words that asked."""
    spoken = request.extras
    for dialect in spoken:
        if dialect in _LOOKED_FOR and not _LOOKED_FOR[dialect].isdisjoint(spoken[dialect]):
            return _read(request)
    return _SILENT, request


def _read(request: Request) -> tuple[Intent, Request]:
    """As `read_intent`, where something may be asked."""
    said: Fields = {}
    words: list[str] = []
    extras = dict(request.extras)
    for dialect, reader in _READERS.items():
        if dialect not in extras:
            continue
        before, looked_for = extras[dialect], _LOOKED_FOR[dialect]
        fields = {key: _copy(value) if key in looked_for else value for key, value in before.items()}
        said |= reader(fields)
        words += [key for key in before if key in looked_for and _changed(key, before, fields)]
        if fields:
            extras[dialect] = fields
        else:
            del extras[dialect]
    if not words:
        return _SILENT, request
    return Intent(**said, said=", ".join(words)), msgspec.structs.replace(request, extras=extras)


def _copy(value: Any) -> Any:
    """A control to take things out of, on all its levels."""
    return {key: _copy(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _changed(key: str, before: Fields, after: Fields) -> bool:
    return key not in after or before[key] != after[key]


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
    for name, read in _CHAT:
        if name in fields:
            said |= read(fields, name)
    return said


def _templated(fields: Fields, name: str) -> Fields:
    said: Fields = {}
    for value in _take_inner(fields, name, *WORDS["chat_template_kwargs"]).values():
        said |= _switch(value)
    return said


def _disabled(fields: Fields, name: str) -> Fields:
    return {"on": False} if fields.pop(name) is True else {}


def _switched(fields: Fields, name: str) -> Fields:
    return _switch(fields.pop(name))


def _budgeted(fields: Fields, name: str) -> Fields:
    return _budget(fields.pop(name))


def _typed(fields: Fields, name: str) -> Fields:
    thinking = _take_inner(fields, name, *WORDS["thinking"])
    said = _switch(thinking.get("type"), thinking.get("budget_tokens", thinking.get("token_budget")))
    return said | _shown(thinking.get("display"), hidden="omitted")


def _included(fields: Fields, name: str) -> Fields:
    return _shown(fields.pop(name), hidden=False)


def _graded(fields: Fields, name: str) -> Fields:
    return _effort(fields.pop(name))


def _openrouter(fields: Fields, name: str) -> Fields:
    reasoning = _take_inner(fields, name, *WORDS["reasoning"])
    said = _switch(reasoning.get("enabled")) | _budget(reasoning.get("max_tokens"))
    said |= _effort(reasoning.get("effort"))
    if isinstance(reasoning.get("summary"), str):
        said["summary"] = reasoning["summary"]
    return said | _shown(reasoning.get("exclude"), hidden=True)


_CHAT: tuple[tuple[str, Callable[[Fields, str], Fields]], ...] = (
    ("chat_template_args", _templated),
    ("chat_template_kwargs", _templated),
    ("disable_reasoning", _disabled),
    ("enable_thinking", _switched),
    ("thinking_budget", _budgeted),
    ("thinking_token_budget", _budgeted),
    ("reasoning_budget_tokens", _budgeted),
    ("thinking_budget_tokens", _budgeted),
    ("thinking", _typed),
    ("think", _graded),
    ("reasoning", _openrouter),
    ("include_reasoning", _included),
    ("reasoning_effort", _graded),
)
"""The controls of this wire, the weakest word first, and how each is taken out."""

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

    def __contains__(self, key: object) -> bool:
        self.looked_for.add(str(key))
        return False


def _looked_for(reader: _Reader) -> frozenset[str]:
    """The fields that may be controls; without any of them there is nothing to read."""
    blank = _Blank()
    reader(blank)
    return frozenset(blank.looked_for)


_LOOKED_FOR = {dialect: _looked_for(reader) for dialect, reader in _READERS.items()}
