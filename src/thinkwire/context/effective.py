"""Effective tokens: what a conversation costs as it will really be sent, and when that is too much."""

from __future__ import annotations

import math

import msgspec

from thinkwire.context.calibration import Calibration
from thinkwire.context.estimate import Count, count
from thinkwire.messages import Conversation, Opaque
from thinkwire.replay import Destination, ReplaySettings, plan_replay
from thinkwire.request import Tool

COMPRESS_AT = 0.85


class Effective(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens after strip, include and replay policy; `kinds` add up to `total`."""

    total: int
    kinds: dict[str, int]
    dormant: int
    """Thinking that the conversation keeps and nobody is billed for: not sent, or not read."""
    raw_tokens: int
    """Everything that the conversation keeps, whatever becomes of it."""
    limit: int | None = None
    by: str = "estimator"

    def shown(self) -> str:
        """`123,000/212,000`; `123,000/?` where nobody knows the limit."""
        return f"{self.total:,}/{'?' if self.limit is None else format(self.limit, ',')}"


def effective_tokens(
    conversation: Conversation,
    settings: ReplaySettings,
    destination: Destination,
    *,
    tools: tuple[Tool | Opaque, ...] = (),
    calibration: Calibration | None = None,
    limit: int | None = None,
) -> Effective:
    """What this conversation will cost as the destination's input. `limit` wins over the model's own."""
    replay = plan_replay(conversation.turns, destination, settings)
    model, system = destination.model, conversation.system
    thinking = destination.thinking and not replay.thinking_off
    sent = count(replay.turns, model=model, system=system, tools=tools, thinking=thinking)
    kept = count(conversation.turns, model=model, system=system, tools=tools, everything=True)
    factor = calibration.factor(destination.provider, model) if calibration is not None else 1.0
    kinds = {kind: math.ceil(tokens * factor) for kind, tokens in sent.kinds.items()}
    facts = destination.facts
    return Effective(
        total=sum(kinds.values()),
        kinds=kinds,
        dormant=math.ceil(max(0, _thoughts(kept) - _thoughts(sent)) * factor),
        raw_tokens=sum(math.ceil(tokens * factor) for tokens in kept.kinds.values()),
        limit=limit if limit is not None or facts is None else facts.context,
        by=sent.by,
    )


def should_compress(effective: Effective, at: float = COMPRESS_AT) -> bool:
    """Whether the effective count is above that share of the limit; never when the limit is unknown."""
    return effective.limit is not None and effective.total > effective.limit * at


def _thoughts(counted: Count) -> int:
    return counted.thinking + counted.sealed
