"""What the settings know better than the facts: how a server is told to think, and in which words."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

import msgspec

from thinkwire.catalog import Facts
from thinkwire.catalog.facts import Budget, Mechanism, Off, Shape
from thinkwire.notes import Note
from thinkwire.reasoning.levels import LADDER, Level


class _Spelling(NamedTuple):
    """What a shape can say, and on which wire."""

    dialect: str
    off: Off | None
    words: tuple[str, ...] = ()
    """The words of a server that nobody knows; a shape without any says on and off."""
    budgets: bool = False


_WORDS = ("low", "medium", "high")
_CHAT = "openai-chat"

_SPELLINGS: dict[Shape, _Spelling] = {
    "anthropic": _Spelling("anthropic", "disabled", budgets=True),
    "reasoning_effort": _Spelling(_CHAT, "none", _WORDS),
    "responses": _Spelling("openai-responses", "none", _WORDS),
    "gemini": _Spelling("gemini", None, ("LOW", "MEDIUM", "HIGH"), budgets=True),
    "openrouter": _Spelling(_CHAT, "false", _WORDS, budgets=True),
    "thinking_type": _Spelling(_CHAT, "disabled"),
    "enable_thinking": _Spelling(_CHAT, "false", budgets=True),
    "template_kwargs": _Spelling(_CHAT, "false"),
    "reasoning_enabled": _Spelling(_CHAT, "false"),
    "think": _Spelling(_CHAT, "false"),
}

_BY_BUDGET = ("budget", "toggle+budget")
_UNCONTROLLED = ("always", "none")
_USUAL_BUDGET = Budget(min=1_024, max=32_000)


class ModelOverrides(msgspec.Struct, frozen=True):
    """`reasoning.wireFormat`, `reasoning.effortMap` and `reasoning.fieldName`, as one value."""

    shape: Shape | None = None
    names: dict[str, str] = {}
    """Level → the server's word, for as many levels as somebody named."""
    field: str | None = None

    def applied(self, facts: Facts) -> Facts:
        """The facts as the settings have them; what makes no sense for this model changes nothing."""
        if facts.mechanism in _UNCONTROLLED:
            return facts
        if self._reshapes(facts):
            assert self.shape is not None
            facts = _reshaped(facts, self.shape)
        return self._worded(facts) if self._rewords(facts) else facts

    def ignored(self, facts: Facts) -> tuple[Note, ...]:
        """The settings that mean nothing for this model, each with the reason."""
        found = []
        controlled = facts.mechanism not in _UNCONTROLLED
        if self.shape is not None and not (controlled and self._fits(facts.dialect)):
            reason = "has no control to spell" if not controlled else f"speaks {facts.dialect}"
            found.append(_ignored("reasoning.wireFormat", f"{facts.id} {reason}"))
        if self.names and not (controlled and self._rewords(facts)):
            reason = "has no control to name" if not controlled else "is told in tokens, not in words"
            found.append(_ignored("reasoning.effortMap", f"{facts.id} {reason}"))
        if self.field is not None and facts.dialect != _CHAT:
            found.append(_ignored("reasoning.fieldName", f"{facts.dialect} has its own place for thinking"))
        return tuple(found)

    def unknown(self, *, provider: str, model: str, dialect: str, day: datetime.date) -> Facts | None:
        """Facts for a model that nobody knows, as far as the settings tell; None when they do not."""
        if self.shape is None or not self._fits(dialect):
            return None
        spelling = _SPELLINGS[self.shape]
        mechanism: Mechanism = "effort" if spelling.words else "toggle"
        facts = Facts(
            provider=provider,
            maker=provider,
            id=model,
            dialect=dialect,
            shape=self.shape,
            mechanism="budget" if self.shape == "anthropic" else mechanism,
            efforts=spelling.words,
            budget=_USUAL_BUDGET if self.shape == "anthropic" else None,
            off=spelling.off,
            visible="full",
            source="reasoning.wireFormat",
            checked=day,
        )
        return self._worded(facts) if self.names else facts

    def _fits(self, dialect: str) -> bool:
        return self.shape is not None and _SPELLINGS[self.shape].dialect == dialect

    def _reshapes(self, facts: Facts) -> bool:
        return self._fits(facts.dialect) and self.shape != facts.shape

    def _rewords(self, facts: Facts) -> bool:
        """A model that is told in tokens takes words only where its spelling was set too."""
        return bool(self.names) and (facts.mechanism not in _BY_BUDGET or self._fits(facts.dialect))

    def _worded(self, facts: Facts) -> Facts:
        names = _completed(self.names)
        changes: dict[str, Any] = {"names": names, "efforts": tuple(dict.fromkeys(names.values()))}
        if facts.mechanism in ("toggle", *_BY_BUDGET):
            changes |= {"mechanism": "adaptive" if facts.shape == "anthropic" else "effort", "budget": None}
        return msgspec.structs.replace(facts, **changes)


def _reshaped(facts: Facts, shape: Shape) -> Facts:
    """The same abilities in another spelling; what that spelling cannot say is said in its words."""
    spelling = _SPELLINGS[shape]
    changes: dict[str, Any] = {"shape": shape, "off": spelling.off if facts.off is not None else None}
    efforts = facts.efforts or spelling.words
    if not spelling.budgets:
        changes["budget"] = None
    wordless = facts.mechanism == "toggle" and shape == "reasoning_effort"
    if wordless or (facts.mechanism in _BY_BUDGET and not spelling.budgets):
        changes |= {"mechanism": "effort" if efforts else "toggle", "efforts": efforts}
    return msgspec.structs.replace(facts, **changes)


def _completed(names: dict[str, str]) -> dict[str, str]:
    """A word for every level: its own, else that of the nearest level that has one, the stronger of two."""
    ranks = {LADDER.index(level): word for level, word in names.items() if level in LADDER}
    return {level: ranks[_nearest(level, list(ranks))] for level in LADDER}


def _nearest(level: Level, ranks: list[int]) -> int:
    asked = LADDER.index(level)
    return min(ranks, key=lambda rank: (abs(rank - asked), -rank))


def _ignored(key: str, reason: str) -> Note:
    return Note("setting.ignored", f"{key} means nothing here: {reason}", detail={"setting": key})
