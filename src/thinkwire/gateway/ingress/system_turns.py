"""System text inside a conversation, for the wire that takes it at few places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from thinkwire.messages import Text, Turn
from thinkwire.notes import Note
from thinkwire.request import Request


def with_placed_system(request: Request, notes: list[Note]) -> Request:
    """System turns where the Messages wire takes them: one after the user's turns, before the model's.

    Those before the conversation are the system prompt. Those with no user's turn beside them join it.
    """
    for turn in request.turns:
        if turn.role == "system":
            break
    else:
        return request
    top: list[Turn] = []
    turns: list[Turn] = []
    for number, stretch in enumerate(_stretches(request.turns)):
        said = [turn for turn in stretch if turn.role != "system"]
        system = [turn for turn in stretch if turn.role == "system"]
        if number == 0:
            leading = _leading(stretch)
            top += stretch[:leading]
            system = [turn for turn in stretch[leading:] if turn.role == "system"]
        if said and said[-1].role == "user" and system:
            turns += [*said, Turn("system", _texts(system))]
        else:
            top += system
            turns += said
    if tuple(turns) == request.turns:
        return request
    message = "system text inside the conversation went to where this wire takes it"
    notes.append(Note("system.moved", message, detail={"to_top": len(top)}))
    return msgspec.structs.replace(request, system=(*request.system, *_texts(top)), turns=tuple(turns))


def _stretches(turns: Iterable[Turn]) -> Iterator[list[Turn]]:
    """The turns up to and without each of the model's; each of those is a stretch of its own."""
    stretch: list[Turn] = []
    for turn in turns:
        if turn.role == "assistant":
            yield from ([stretch] if stretch else [])
            yield [turn]
            stretch = []
        else:
            stretch.append(turn)
    if stretch:
        yield stretch


def _leading(stretch: list[Turn]) -> int:
    """How many system turns stand before anything else."""
    return next((at for at, turn in enumerate(stretch) if turn.role != "system"), len(stretch))


def _texts(turns: Iterable[Turn]) -> tuple[Text, ...]:
    return tuple(block for turn in turns for block in turn.blocks if isinstance(block, Text) and block.text)
