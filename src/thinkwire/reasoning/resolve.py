"""One resolver: intent, facts and request in, plan out. Pure; code knows mechanisms, never models."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import msgspec

from thinkwire.catalog import CatalogMatch, Facts
from thinkwire.notes import Note, NoteCode
from thinkwire.reasoning import native_params as native
from thinkwire.reasoning.constraints import Companions
from thinkwire.reasoning.foreign_controls import without_foreign
from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.levels import (
    Level,
    budget_for,
    level_for,
    native_word,
    parse_level,
    snap,
)
from thinkwire.reasoning.plan import Outcome, Plan, Setting
from thinkwire.request import Request

LONG_CONTEXT = 150_000
LONG_CONTEXT_BUDGET = 10_000


class ConversationState(msgspec.Struct, frozen=True):
    """What the plan may depend on beyond the request."""

    context_tokens: int | None = None
    """Effective tokens of the conversation, where somebody counted."""
    dynamic_budget: bool = True
    """Smaller budgets for long conversations."""

    @property
    def asks_for_less(self) -> bool:
        return self.dynamic_budget and (self.context_tokens or 0) > LONG_CONTEXT


class _Decision:
    """A setting in the making: what it is, and what had to be said about it."""

    def __init__(self, facts: Facts, intent: Intent) -> None:
        self.facts = facts
        self.intent = intent
        self.notes: list[Note] = []
        self.outcome: Outcome = "sent"

    def note(self, code: NoteCode, message: str, **detail: Any) -> None:
        self.notes.append(Note(code, message, detail=detail))

    def adjusted(self, code: NoteCode, message: str, **detail: Any) -> None:
        self.outcome = "adjusted"
        self.note(code, message, **detail)

    def setting(self, *, long: bool) -> Setting:
        """What the model will be told; `long` where the conversation asks for a smaller budget."""
        facts, intent = self.facts, self.intent
        if not intent.says_anything:
            self.outcome = "implied"
            return Setting()
        if not facts.can_think:
            return self._cannot_think()
        if facts.mechanism == "always":
            return self._no_control()
        if intent.between_tools and facts.off == "between_tools":
            return Setting(on=True, between_tools=True)
        if _wants_off(intent):
            return self._off()
        if facts.budget is not None and (intent.budget is not None or facts.mechanism in _BY_BUDGET):
            return self._budget(long=long)
        if facts.mechanism == "toggle":
            return self._switch()
        return self._effort()

    def _cannot_think(self) -> Setting:
        if _wants_off(self.intent):
            self.outcome = "implied"
        else:
            self.outcome = "unsupported"
            self.note("reasoning.unsupported", f"{self.facts.id} does not think; nothing was sent")
        return Setting()

    def _no_control(self) -> Setting:
        """A model that always thinks as it likes."""
        if _wants_off(self.intent):
            self.outcome = "unsupported"
            self.note("reasoning.minimum", f"{self.facts.id} does not support disabling thinking")
        elif self.intent.on or self.intent.level == "auto":
            self.outcome = "implied"
        else:
            self.outcome = "unsupported"
            self.note("reasoning.unsupported", f"{self.facts.id} always thinks; how much cannot be set")
        return Setting(on=True)

    def _off(self) -> Setting:
        facts = self.facts
        if self.intent.on is False and self.intent.level not in (None, "none"):
            self.note("reasoning.adjusted", f"thinking is off; the effort {self.intent.level!r} is left out")
        if facts.off is not None:
            if facts.off == "between_tools":
                self.adjusted("reasoning.minimum", f"{facts.id} still thinks between tool calls")
                return Setting(on=True, between_tools=True)
            return Setting(on=False)
        self.adjusted("reasoning.minimum", f"{facts.id} does not support disabling thinking")
        if facts.mechanism in _BY_BUDGET and facts.budget is not None:
            return Setting(on=True, budget=budget_for(facts, "minimal"))
        if facts.efforts:
            return Setting(on=True, effort=facts.names.get("none", facts.efforts[0]))
        return Setting(on=True)

    def _switch(self) -> Setting:
        asked = self.intent
        if asked.budget is not None or asked.level not in (None, "auto"):
            self.adjusted("reasoning.adjusted", f"{self.facts.id} knows only on and off; thinking is on")
        return Setting(on=True)

    def _effort(self) -> Setting:
        facts = self.facts
        level = self._level()
        if level == "none":
            return self._off()
        if level == "auto":
            return self._by_default()
        word = facts.names.get(level) or snap(level, facts.efforts)
        if parse_level(word) != level:
            self.adjusted(
                "reasoning.adjusted",
                f"{facts.id} has no {native_word(level)!r}; {word!r} is the nearest that it accepts",
                requested=level,
                accepted=list(facts.efforts),
            )
        return Setting(on=True, effort=word)

    def _level(self) -> Level:
        intent = self.intent
        if intent.level is not None:
            if intent.budget is not None:
                self.adjusted("reasoning.adjusted", f"{self.facts.id} takes no budget; the level counts")
            return intent.level
        if intent.budget is None:
            return "auto"
        level = level_for(intent.budget, self.facts)
        if level not in ("none", "auto"):
            self.adjusted(
                "reasoning.adjusted",
                f"{self.facts.id} takes no budget; {intent.budget:,} tokens count as {native_word(level)!r}",
                requested=intent.budget,
            )
        return level

    def _by_default(self) -> Setting:
        """On, and the model decides how much."""
        facts = self.facts
        if facts.mechanism == "adaptive":
            return Setting(on=True)
        if facts.default == "off":
            word = snap("med", facts.efforts)
            if self.intent.level == "auto":
                self.outcome = "implied"
                return Setting()
            return Setting(on=True, effort=word)
        self.outcome = "implied"
        return Setting(on=True) if facts.shape in ("responses", "gemini") else Setting()

    def _budget(self, *, long: bool) -> Setting:
        facts, intent = self.facts, self.intent
        assert facts.budget is not None
        if intent.budget is not None:
            asked = intent.budget
            if asked < 0 and not facts.budget.dynamic:
                asked = budget_for(facts, "auto")
        elif intent.level == "auto" and facts.default == "off":
            self.outcome = "implied"
            return Setting()
        else:
            asked = budget_for(facts, intent.level or "auto")
        return Setting(on=True, budget=self._legal(asked, long=long))

    def _legal(self, asked: int, *, long: bool) -> int:
        facts = self.facts
        assert facts.budget is not None
        if asked < 0:
            return asked
        legal = min(max(asked, facts.budget.min), facts.budget_limit or asked)
        if legal != asked:
            self.adjusted(
                "reasoning.adjusted",
                f"{facts.id} takes budgets from {facts.budget.min:,} to {facts.budget_limit:,} tokens; "
                f"{asked:,} became {legal:,}",
                requested=asked,
            )
        if long and legal > LONG_CONTEXT_BUDGET:
            legal = max(LONG_CONTEXT_BUDGET, facts.budget.min)
            self.adjusted(
                "reasoning.dynamic_budget",
                f"the conversation is longer than {LONG_CONTEXT:,} tokens; the budget became {legal:,}",
            )
        return legal


_BY_BUDGET = ("budget", "toggle+budget")


def _wants_off(intent: Intent) -> bool:
    return intent.level == "none" or intent.budget == 0 or intent.on is False


def resolve(
    intent: Intent,
    found: CatalogMatch | None,
    request: Request,
    circumstances: ConversationState | None = None,
) -> tuple[Plan, Request]:
    """The plan for a request, and the request without what the model would refuse beside it."""
    if found is None:
        return _unknown(intent, request), request
    facts = found.facts
    foreign: tuple[Note, ...] = ()
    if request.extras:
        by_hand = _set_by_hand(facts, request)
        if by_hand:
            return _hands_off(intent, facts, by_hand), request
        request, foreign = without_foreign(request, facts)
    long = circumstances is not None and circumstances.asks_for_less
    decide = _decided if intent.summary in _SUMMARIES else _decided.__wrapped__
    plan = decide(found, intent, long)
    companions = Companions(facts)
    setting, request = companions.fit(plan.effective, request)
    headers = _headers(facts, setting, request) if facts.betas else {}
    if companions.notes or foreign or headers or setting is not plan.effective:
        plan = _beside(plan, setting, companions, headers=headers, notes=foreign)
    return plan, request


_SUMMARIES = (None, "auto", "concise", "detailed")
"""Whatever else a client may write for a kind of summary is not remembered."""


@lru_cache(maxsize=1024)
def _decided(found: CatalogMatch, intent: Intent, long: bool) -> Plan:
    """The plan for any request that has nothing beside its thinking which the model refuses."""
    facts = found.facts
    decision = _Decision(facts, intent)
    setting = decision.setting(long=long)
    if found.by == "family":
        decision.note(
            "reasoning.unknown_model", f"no facts for {facts.id}; it is treated like its newest kin"
        )
    return Plan(
        provider=facts.provider,
        model=facts.id,
        dialect=facts.dialect,
        facts=facts,
        requested=intent,
        effective=setting,
        outcome=decision.outcome,
        patch=native.write(setting, facts, intent),
        notes=tuple(decision.notes),
    )


def _beside(
    plan: Plan, setting: Setting, companions: Companions, *, headers: dict[str, str], notes: tuple[Note, ...]
) -> Plan:
    """The plan for a request that had to be fitted to it, or it to the request."""
    same = setting == plan.effective
    return msgspec.structs.replace(
        plan,
        effective=setting,
        outcome=plan.outcome if same else "adjusted",
        patch=plan.patch if same else native.write(setting, companions.facts, plan.requested),
        headers=headers,
        controls=companions.controls,
        notes=(*plan.notes, *companions.notes, *notes),
    )


def _unknown(intent: Intent, request: Request) -> Plan:
    message = f"nobody knows how {request.model} is told to think; nothing was sent"
    notes = (Note("reasoning.unknown_host", message),) if intent.says_anything else ()
    return Plan(
        provider="",
        model=request.model,
        dialect="",
        facts=None,
        requested=intent,
        effective=Setting(),
        outcome="unsupported" if intent.says_anything else "implied",
        notes=notes,
    )


def _set_by_hand(facts: Facts, request: Request) -> list[str]:
    """The native fields of this model's shape that the request itself carries."""
    extras = request.extras.get(facts.dialect.replace("-", "_"))
    if not extras:
        return []
    paths = native.CHAT_FIELDS if facts.dialect == "openai-chat" else native.FIELDS[facts.shape]
    if _roots(paths).isdisjoint(extras):
        return []
    return [path for path in paths if _says(extras, path)]


@cache
def _roots(paths: tuple[str, ...]) -> frozenset[str]:
    return frozenset(path.partition(".")[0] for path in paths)


def _says(extras: dict[str, Any], path: str) -> bool:
    """Whether a field tells how to think; an object does only by its words for that."""
    if path not in native.WORDS:
        return _has(extras, path)
    return any(_has(extras, f"{path}.{word}") for word in native.WORDS[path])


def _has(value: Any, path: str) -> bool:
    """Whether the path is taken: by a value, or by something on the way that is no object."""
    for step in path.split("."):
        if not isinstance(value, dict):
            return True
        if step not in value:
            return False
        value = value[step]
    return True


def _hands_off(intent: Intent, facts: Facts, fields: list[str]) -> Plan:
    message = f"{', '.join(fields)} was set by hand and is sent as it is"
    notes = (Note("reasoning.native_wins", message, detail={"fields": fields}),)
    return Plan(
        provider=facts.provider,
        model=facts.id,
        dialect=facts.dialect,
        facts=facts,
        requested=intent,
        effective=Setting(),
        outcome="suppressed" if intent.says_anything else "implied",
        notes=notes if intent.says_anything else (),
    )


def _headers(facts: Facts, setting: Setting, request: Request) -> dict[str, str]:
    """Thinking between tool calls is a beta on some models."""
    if facts.betas and setting.on and setting.budget is not None and request.tools:
        return {"anthropic-beta": ",".join(facts.betas)}
    return {}
