"""When a conversation grows past its window: earlier turns become a summary, and stay in the store."""

from __future__ import annotations

import msgspec

from thinkwire.context import effective_tokens
from thinkwire.messages import Conversation, Text, Turn
from thinkwire.replay import Destination, ReplaySettings
from thinkwire.session.history import HistoryEntry, HistoryView, exchanges
from thinkwire.session.summary import PREFACE

KEEP_SHARE = 0.3
"""How much of the window the turns that stay whole may fill."""
SUMMARY_SHARE = 0.5
"""How much of the window one request for a summary may fill."""


class Cut(msgspec.Struct, frozen=True):
    """What a summary would cover, and what stays as it is."""

    covered: tuple[HistoryEntry, ...]
    kept: tuple[HistoryEntry, ...]


def find_cut(view: HistoryView, limit: int, destination: Destination, replay: ReplaySettings) -> Cut | None:
    """The newest exchanges that fit, and always the current one with its open tool loop, stay whole.

    None when there is nothing before them.
    """
    starts = exchanges(view.lines)
    if len(starts) < 2:
        return None
    at = starts[-1]
    for start in reversed(starts[1:]):
        turns = tuple(line.turn for line in view.lines[start:])
        size = effective_tokens(Conversation(turns=turns), replay, destination, limit=limit).total
        if size > limit * KEEP_SHARE:
            break
        at = start
    covered = view.lines[:at]
    if len(covered) == 1 and is_summary(covered[0].turn):
        return None
    return Cut(covered, view.lines[at:])


def summary_turn(text: str) -> Turn:
    return Turn("user", (Text(PREFACE + text),))


def is_summary(turn: Turn) -> bool:
    return turn.role == "user" and turn.text.startswith(PREFACE)
