"""A conversation as the model will be given it: what is kept, with a summary in place of what it covers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from thinkwire.messages import Text, ToolCall, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.replay.policy import thinks, without_thinking
from thinkwire.store.rows import MessageRow


class HistoryEntry(msgspec.Struct, frozen=True):
    """One turn of what will be sent, and the message that it comes from."""

    id: str
    turn: Turn
    before_summary: bool = False
    """It was said before the summary that now stands in front of it."""


class HistoryView(msgspec.Struct, frozen=True):
    """What stands for a conversation: at most one summary, and the turns that it does not cover."""

    lines: tuple[HistoryEntry, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(line.turn for line in self.lines)

    def unbound(self) -> tuple[tuple[Turn, ...], tuple[Note, ...]]:
        """The turns for a model whose thinking is bound to what stood before it: after a summary the older
        thinking cannot go back, because what stood before it is no longer sent.
        """
        lost = sum(line.before_summary and thinks(line.turn) for line in self.lines)
        if not lost:
            return self.turns, ()
        note = Note(
            "prefix.broken", f"the thinking of {lost} turns was bound to turns that are now a summary"
        )
        turns = (without_thinking(line.turn) if line.before_summary else line.turn for line in self.lines)
        return tuple(turns), (note,)


def view(path: Sequence[MessageRow]) -> HistoryView:
    """What of a path is sent: the last summary, then every turn after the one that it covers."""
    at = max((index for index, kept in enumerate(path) if kept.kind == "summary"), default=None)
    if at is None:
        return HistoryView(tuple(_line(kept) for kept in path if _says_something(kept.turn)))
    summary = path[at]
    covered = next((index for index, kept in enumerate(path) if kept.id == summary.covers), -1)
    rest = [
        _line(kept, before_summary=index < at)
        for index, kept in enumerate(path)
        if index > covered and kept.kind == "turn" and _says_something(kept.turn)
    ]
    return HistoryView((_line(summary), *rest))


def _line(kept: MessageRow, *, before_summary: bool = False) -> HistoryEntry:
    return HistoryEntry(kept.id, kept.turn, before_summary)


def _says_something(turn: Turn) -> bool:
    """A turn of thinking alone is kept but not sent: providers want an answer with it."""
    if turn.role != "assistant":
        return bool(turn.blocks)
    return any(isinstance(block, Text | ToolCall) and not _is_blank(block) for block in turn.blocks)


def _is_blank(block: Text | ToolCall) -> bool:
    return isinstance(block, Text) and not block.text.strip() and block.seal is None


def exchanges(lines: Sequence[HistoryEntry]) -> list[int]:
    """Where exchanges begin: each with something that a person said, tool results aside."""
    return [
        index
        for index, line in enumerate(lines)
        if line.turn.role == "user" and any(not isinstance(block, ToolResult) for block in line.turn.blocks)
    ]
