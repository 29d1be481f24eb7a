"""One request of a session, decided: what is sent, what is known about it, what there is to say."""

from __future__ import annotations

import msgspec

from thinkwire.client.prepare import CallSpec, PreparedRequest
from thinkwire.context import Effective
from thinkwire.notes import Note

FIRST_ROOM = 16_384
"""Tokens of output to ask for when nobody said how many and thinking has used up the provider's limit."""


class RetryHint(msgspec.Struct, frozen=True):
    """How a request differs from the one before it, which brought no answer."""

    nudge: str | None = None
    max_tokens: int | None = None
    least_thinking: bool = False


class NextRequest(msgspec.Struct, frozen=True):
    """A request that is about to be sent."""

    asking: CallSpec
    prepared: PreparedRequest
    effective: Effective
    notes: tuple[Note, ...] = ()
    """What the session has to say about it; the Notes of plan and replay come with the answer."""

    def more_room(self) -> int | None:
        """A higher ceiling for the answer; None when this one is the model's highest."""
        facts = self.prepared.plan.facts
        highest = facts.max_output if facts else None
        asked = self.prepared.request.max_tokens
        if asked is None:
            return min(FIRST_ROOM, highest) if highest else FIRST_ROOM
        if highest is not None and asked >= highest:
            return None
        return min(asked * 2, highest) if highest else asked * 2
