"""What the settings mean for a request: how to think, what goes back, what is shown."""

from __future__ import annotations

import msgspec

from thinkwire.catalog import Facts
from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.model_names import parse_name
from thinkwire.reasoning.resolve import ConversationState
from thinkwire.replay import ReplaySettings
from thinkwire.settings.layers import DEFAULT, Layer, Settings
from thinkwire.settings.overrides import ModelOverrides
from thinkwire.settings.values import spelled

_SWITCH = "reasoning.enabled"
_EFFORT = "reasoning.effort"
_BUDGET = "reasoning.maxTokens"


class _Said(msgspec.Struct, frozen=True):
    """Something said about thinking, and how strong the layer is that said it."""

    rank: int
    intent: Intent


def intent_of(settings: Settings) -> Intent | None:
    """How hard to think; None when no layer says anything about it.

    Effort, budget and a level in the model's name answer one question, so the strongest layer that says any
    of them decides; what one layer says in two ways goes to the resolver in both. The switch counts by the
    same rule where it contradicts them.
    """
    said, switch = _amount(settings), _switch(settings)
    intent = said.intent if said else Intent()
    if switch is not None:
        intent = switch.intent if said is None else _switched(said, switch)
    summary = settings.get("reasoning.summary")
    if not intent.says_anything and summary is None:
        return None
    return msgspec.structs.replace(intent, summary=summary)


def replay_of(settings: Settings) -> ReplaySettings:
    """What of the earlier thinking goes back, and where on the wire."""
    include = settings.get("reasoning.includeInContext")
    return ReplaySettings(
        strip=settings.get("reasoning.stripFromContext"),
        include=None if include == "auto" else include,
        carry=settings.get("reasoning.carry"),
        format=settings.get("reasoning.format"),
        field=settings.get("reasoning.fieldName"),
    )


def overrides_of(settings: Settings) -> ModelOverrides:
    """What the settings know better than the facts."""
    return ModelOverrides(
        shape=settings.get("reasoning.wireFormat"),
        names=settings.get("reasoning.effortMap") or {},
        field=settings.get("reasoning.fieldName"),
    )


def conversation_state_of(settings: Settings, context_tokens: int | None = None) -> ConversationState:
    """What the plan may depend on beyond the request."""
    return ConversationState(context_tokens, settings.get("reasoning.dynamicBudget"))


def thinking_shown(settings: Settings) -> bool:
    """Whether a face shows thinking: not when it is hidden, nor when it is switched off."""
    intent = intent_of(settings)
    off = intent is not None and intent.on is False
    return bool(settings.get("reasoning.includeInResponse")) and not off


def model_layer(facts: Facts | None) -> Layer:
    """What the model's facts say, for those settings that leave it to the model."""
    known = facts is not None and facts.context is not None
    return Layer("model", {"context.limit": facts.context} if facts and known else {})


def _amount(settings: Settings) -> _Said | None:
    """What the strongest layer says about how much; a key counts before the model's name beside it."""
    ranks = {key: settings.rank(key) for key in (_EFFORT, _BUDGET) if settings.origin(key) != DEFAULT}
    named = parse_name(settings.get("model") or "").intent
    by_name = settings.rank("model")
    if named is not None and all(by_name < rank for rank in ranks.values()):
        return _Said(by_name, named)
    if not ranks:
        return None
    strongest = min(ranks.values())
    values = {key: settings.get(key) for key, rank in ranks.items() if rank == strongest}
    words = ", ".join(f"{key}={spelled(value)}" for key, value in values.items())
    return _Said(strongest, Intent(level=values.get(_EFFORT), budget=values.get(_BUDGET), said=words))


def _switch(settings: Settings) -> _Said | None:
    """The switch, if somebody touched it."""
    if settings.origin(_SWITCH) == DEFAULT:
        return None
    on = settings.get(_SWITCH)
    return _Said(settings.rank(_SWITCH), Intent(on=on, said=f"{_SWITCH}={spelled(on)}"))


def _switched(amount: _Said, switch: _Said) -> Intent:
    """Both said: they agree, or the stronger layer counts, or one layer contradicts itself."""
    off = amount.intent.level == "none" or amount.intent.budget == 0
    if off is not switch.intent.on or amount.rank < switch.rank:
        return amount.intent
    if switch.rank < amount.rank:
        return switch.intent
    said = f"{amount.intent.said}, {switch.intent.said}"
    return msgspec.structs.replace(amount.intent, on=switch.intent.on, said=said)
