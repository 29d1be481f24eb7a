"""Thinking that a client brings along, as far as somebody vouches for it.

All thinking leaves this gateway sealed, but for chat clients, whose wire has no place for seals. What comes
back with a vendor's own seal was not given out here: only that vendor may see it. What comes back with no
seal at all was altered or made elsewhere.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import msgspec

from thinkwire.gateway.seals.payload import is_ours
from thinkwire.messages import Block, Image, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.replay import Destination
from thinkwire.replay.planner import PLACEHOLDER
from thinkwire.request import Request

_SEALED = (Text, Thinking, ToolCall, Image)
_MAKERS = {"anthropic": "anthropic", "openai": "openai", "gemini": "google", "openrouter": "openrouter"}
"""The first word of a seal's scheme → the service that makes such seals."""


def without_unvouched(request: Request, dialect: str, to: Destination | None, notes: list[Note]) -> Request:
    """The request without thinking and seals that the destination did not make, or would not believe."""
    if not _bring_thoughts(request.turns):
        return request
    sieve = _Sieve(dialect, to)
    turns = tuple(
        [sieve.turn(at, turn) if turn.role == "assistant" else turn for at, turn in enumerate(request.turns)]
    )
    if sieve.foreign:
        message = f"{sieve.foreign} thoughts of another vendor stay with the client and are not sent"
        notes.append(Note("thinking.dormant", message, detail={"count": sieve.foreign}))
    if sieve.unsealed:
        notes.append(_unsealed(sieve.unsealed))
    if sieve.seals:
        message = f"{sieve.seals} signatures of another vendor are not sent"
        notes.append(Note("seal.dropped", message, detail={"count": sieve.seals}))
    return request if turns == request.turns else msgspec.structs.replace(request, turns=turns)


def _unsealed(at: list[int]) -> Note:
    """The note on thoughts without a seal; `at` has the turn of each."""
    message = f"{len(at)} thoughts came back without the seal that they left with; not sent"
    return Note("thinking.dropped", message, detail={"count": len(at), "at": at})


def still_true(notes: Iterable[Note], restored: Container[int]) -> list[Note]:
    """The notes without what is said about thinking that was put back into these turns afterwards."""
    result = []
    for note in notes:
        if note.code == "thinking.dropped" and "at" in note.detail:
            left = [at for at in note.detail["at"] if at not in restored]
            result += [_unsealed(left)] if left else []
        else:
            result.append(note)
    return result


class _Sieve:
    def __init__(self, dialect: str, to: Destination | None) -> None:
        self._provider = to.provider if to is not None else None
        self._unsealed_goes = dialect == "openai-chat" and not _wants_seals(to)
        self.foreign = self.seals = 0
        self.unsealed: list[int] = []

    def turn(self, at: int, turn: Turn) -> Turn:
        """A model's turn. One that holds a carrier of ours is opened as a whole, later; the others are looked
        at here.
        """
        seals = [seal for block in turn.blocks if (seal := _seal(block)) is not None]
        if not seals and Thinking not in map(type, turn.blocks):
            return turn
        if any(is_ours(seal.data) for seal in seals):
            return turn
        blocks = tuple([kept for block in turn.blocks if (kept := self._kept(at, block)) is not None])
        return turn if blocks == turn.blocks else msgspec.structs.replace(turn, blocks=blocks)

    def _kept(self, at: int, block: Block) -> Block | None:
        seal = _seal(block)
        if isinstance(block, Thinking):
            if seal is None:
                self.unsealed += [] if self._unsealed_goes else [at]
                return block if self._unsealed_goes else None
            self.foreign += not self._is_home(seal)
            return block if self._is_home(seal) else None
        if seal is None or self._is_home(seal) or not isinstance(block, _SEALED):
            return block
        self.seals += seal != PLACEHOLDER
        return msgspec.structs.replace(block, seal=None)

    def _is_home(self, seal: Seal) -> bool:
        return _MAKERS.get(seal.scheme.partition(".")[0], "") == self._provider


def _bring_thoughts(turns: tuple[Turn, ...]) -> bool:
    """Whether any turn of a model's has thinking or a seal in it."""
    block: Any
    for turn in turns:
        if turn.role == "assistant":
            for block in turn.blocks:
                if type(block) is Thinking or (type(block) in _SEALED and block.seal is not None):
                    return True
    return False


def _seal(block: Block) -> Seal | None:
    return block.seal if isinstance(block, _SEALED) else None


def _wants_seals(to: Destination | None) -> bool:
    """Whether the destination takes no thinking that is not sealed."""
    if to is None or to.dialect == "openai-chat":
        return False
    return to.dialect != "anthropic" or to.facts is None or to.facts.maker == "Anthropic"
