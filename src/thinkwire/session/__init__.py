"""The session engine: the turn loop with its settings, tools, compaction and keeping, for every face."""

from thinkwire.session.events import (
    Compacted,
    SessionEvent,
    SessionNote,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnSaved,
)
from thinkwire.session.next_request import NextRequest
from thinkwire.session.run import Run
from thinkwire.session.session import Busy, Session

__all__ = [
    "Busy",
    "Compacted",
    "NextRequest",
    "Run",
    "Session",
    "SessionEvent",
    "SessionNote",
    "ToolEnded",
    "ToolStarted",
    "TurnEnded",
    "TurnSaved",
]
