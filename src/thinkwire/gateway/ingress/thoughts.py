"""Thinking that a client brings along, as far as somebody vouches for it.

All thinking leaves this gateway sealed, but for chat clients, whose wire has no place for seals. What comes
back with a vendor's own seal was not given out here: only that vendor may see it. What comes back with no
seal at all was altered or made elsewhere.
"""

from __future__ import annotations

import msgspec

from thinkwire.gateway.carried import is_ours
from thinkwire.messages import Block, Image, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.replay import Destination
from thinkwire.replay.planner import PLACEHOLDER
from thinkwire.request import Request

_MAKERS = {"anthropic": "anthropic", "openai": "openai", "gemini": "google", "openrouter": "openrouter"}
"""The first word of a seal's scheme → the service that makes such seals."""


def without_unvouched(request: Request, dialect: str, to: Destination | None, notes: list[Note]) -> Request:
    """The request without thinking and seals that the destination did not make, or would not believe."""
    sieve = _Sieve(dialect, to)
    turns = tuple(map(sieve.turn, request.turns))
    if sieve.foreign:
        message = f"{sieve.foreign} thoughts of another vendor stay with the client and are not sent"
        notes.append(Note("thinking.dormant", message, detail={"count": sieve.foreign}))
    if sieve.unsealed:
        message = f"{sieve.unsealed} thoughts came back without the seal that they left with; not sent"
        notes.append(Note("thinking.dropped", message, detail={"count": sieve.unsealed}))
    if sieve.seals:
        message = f"{sieve.seals} signatures of another vendor are not sent"
        notes.append(Note("seal.dropped", message, detail={"count": sieve.seals}))
    return request if turns == request.turns else msgspec.structs.replace(request, turns=turns)


class _Sieve:
    def __init__(self, dialect: str, to: Destination | None) -> None:
        self._provider = to.provider if to is not None else None
        self._unsealed_goes = dialect == "openai-chat" and not _wants_seals(to)
        self.foreign = self.unsealed = self.seals = 0

    def turn(self, turn: Turn) -> Turn:
        """A turn that holds a carrier of ours is opened as a whole, later; the others are looked at here."""
        seals = [seal for block in turn.blocks if (seal := _seal(block)) is not None]
        if turn.role != "assistant" or any(is_ours(seal.data) for seal in seals):
            return turn
        blocks = tuple(kept for block in turn.blocks if (kept := self._kept(block)) is not None)
        return turn if blocks == turn.blocks else msgspec.structs.replace(turn, blocks=blocks)

    def _kept(self, block: Block) -> Block | None:
        seal = _seal(block)
        if isinstance(block, Thinking):
            if seal is None:
                self.unsealed += not self._unsealed_goes
                return block if self._unsealed_goes else None
            self.foreign += not self._is_home(seal)
            return block if self._is_home(seal) else None
        if seal is None or self._is_home(seal) or not isinstance(block, Text | ToolCall | Image):
            return block
        self.seals += seal != PLACEHOLDER
        return msgspec.structs.replace(block, seal=None)

    def _is_home(self, seal: Seal) -> bool:
        return _MAKERS.get(seal.scheme.partition(".")[0], "") == self._provider


def _seal(block: Block) -> Seal | None:
    return block.seal if isinstance(block, Thinking | Text | ToolCall | Image) else None


def _wants_seals(to: Destination | None) -> bool:
    """Whether the destination takes no thinking that is not sealed."""
    if to is None or to.dialect == "openai-chat":
        return False
    return to.dialect != "anthropic" or to.facts is None or to.facts.maker == "Anthropic"
