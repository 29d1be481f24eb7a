"""The session engine: the turn loop with its settings, tools, compaction and keeping, for every face."""

from thinkwire.session.asked import Asked
from thinkwire.session.happenings import (
    Compacted,
    Happening,
    Remark,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnKept,
)
from thinkwire.session.run import Run
from thinkwire.session.session import Busy, Session

__all__ = [
    "Asked",
    "Busy",
    "Compacted",
    "Happening",
    "Remark",
    "Run",
    "Session",
    "ToolEnded",
    "ToolStarted",
    "TurnEnded",
    "TurnKept",
]
