"""Who speaks first: some wires take no conversation that the model begins."""

from __future__ import annotations

from thinkwire.messages import Text, Turn
from thinkwire.notes import Note

BEGINNING = "(What was said before is not part of this conversation any more.)"
"""Always the same words, so that thinking which is bound to what stood before it stays valid."""


def begins_refusably(turns: tuple[Turn, ...], dialect: str) -> bool:
    """Whether the model begins where the wire asks for the user: always, or before the model's calls."""
    first = _first(turns)
    if first is None or first.role == "user":
        return False
    return dialect == "anthropic" or (dialect == "gemini" and bool(first.tool_calls))


def beginning_with_user(turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """A conversation that the model would begin gets a turn of the user that says why."""
    first = _first(turns)
    if first is None or first.role == "user":
        return turns
    notes.append(Note("field.changed", "a turn of the user was put before the model's first"))
    return (Turn("user", (Text(BEGINNING),)), *turns)


def _first(turns: tuple[Turn, ...]) -> Turn | None:
    """The first turn that says anything, system text aside."""
    return next((turn for turn in turns if turn.role != "system" and turn.blocks), None)
