"""What happens in a session beyond the events of an answer: turns kept, tools run, context compacted."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from thinkwire.errors import Failure
from thinkwire.events import Event
from thinkwire.messages import ToolCall, ToolResult
from thinkwire.notes import Note
from thinkwire.usage import Usage

Ending = Literal["complete", "interrupted", "failed", "lost"]
"""How a turn ended: with an answer, by the user, by a failure, or with thinking and no answer."""


class TurnSaved(msgspec.Struct, frozen=True, tag_field="event", tag="turn_kept"):
    """A turn is durable: it survives whatever comes next."""

    id: str
    role: str
    status: str


class ToolStarted(msgspec.Struct, frozen=True, tag_field="event", tag="tool_started"):
    """A call the model asked for is about to be approved and run."""

    call: ToolCall


class ToolEnded(msgspec.Struct, frozen=True, tag_field="event", tag="tool_ended"):
    """A call has its result, and the model will get it."""

    call_id: str
    result: ToolResult
    elapsed: float


class Compacted(msgspec.Struct, frozen=True, tag_field="event", tag="compacted"):
    """Earlier turns are given as a summary from now on; they stay in the store."""

    summary: str
    turns: int
    """How many turns the summary stands for."""
    before: int
    after: int
    """Effective tokens."""


class TurnEnded(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="turn_ended"):
    """Nothing more comes. `usage` adds up all requests of the turn; unknown stays unknown."""

    ending: Ending
    failure: Failure | None = None
    usage: Usage | None = None
    requests: int = 0
    cost: float | None = None


class SessionNote(msgspec.Struct, frozen=True, tag_field="event", tag="remark"):
    """A Note of the session itself, outside an answer."""

    note: Note


SessionEvent: TypeAlias = Event | TurnSaved | ToolStarted | ToolEnded | Compacted | SessionNote | TurnEnded
"""Everything that a face may show."""
