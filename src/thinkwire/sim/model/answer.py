"""The scripted model's answer as events: cut to max_tokens, counted, with the faults that were scripted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from thinkwire.events import BlockEnded, BlockGrew, BlockSealed, BlockStarted, Event, Finished, FinishReason
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Block, Text, Thinking, ToolCall
from thinkwire.request import Request
from thinkwire.sim.model.actions import Call, Cut, Fail, Move, Say, Stall, Think
from thinkwire.sim.model.text import pieces
from thinkwire.sim.vendors.thinking_format import SimulatedModel, blocks_of
from thinkwire.usage import Usage, measure

Fault: TypeAlias = Fail | Cut | Stall
Part: TypeAlias = Event | Fault
"""A piece of an answer: an event, or what goes wrong at this place."""

_CHARACTERS = 4
"""To a token, roughly."""


def tokens_in(text: str) -> int:
    return (len(text) + _CHARACTERS - 1) // _CHARACTERS


def input_tokens(request: Request) -> int:
    """What a request costs before it is answered."""
    said: list[Any] = [request.system, request.tools, request.turns]
    return max(1, tokens_in(dump_text(said)))


class Fitted(NamedTuple):
    """Moves as far as max_tokens lets them go."""

    moves: list[Move]
    finish: FinishReason
    thought: int
    spoken: int
    """Tokens of thinking, and of everything else."""
    stopped_by: str | None = None
    """The stop sequence that ended the answer."""


def fit(moves: Sequence[Move], limit: int | None, stops: Sequence[str] = ()) -> Fitted:
    """Spends the tokens in order; thinking may eat them all."""
    left = limit if limit is not None else 1 << 40
    kept: list[Move] = []
    thought = spoken = 0
    finish: FinishReason = "stop"
    for given in moves:
        if isinstance(given, Fail | Cut | Stall):
            kept.append(given)
            continue
        said, stopped = _stopped(given, stops)
        cost, finish = tokens_in(_words(said)), _finish(said, finish)
        move: Move | None = said
        if cost > left:
            move, cost, finish = _shortened(said, left), left, "length"
        if move is not None:
            kept.append(move)
            thought += cost if isinstance(move, Think) else 0
            spoken += cost if not isinstance(move, Think) else 0
        left -= cost
        if stopped is not None or finish == "length":
            return Fitted(kept, finish, thought, spoken, stopped)
    return Fitted(kept, finish, thought, spoken)


def _words(move: Think | Say | Call) -> str:
    return move.arguments if isinstance(move, Call) else move.text


def _shortened(move: Think | Say | Call, left: int) -> Think | Say | None:
    """As much of a move as there are tokens for; a call goes whole or not at all."""
    if isinstance(move, Call) or not left:
        return None
    return move._replace(text=move.text[: left * _CHARACTERS])


def _stopped(move: Think | Say | Call, stops: Sequence[str]) -> tuple[Think | Say | Call, str | None]:
    if not isinstance(move, Say):
        return move, None
    found = [(move.text.find(stop), stop) for stop in stops if stop and stop in move.text]
    if not found:
        return move, None
    place, stop = min(found)
    return move._replace(text=move.text[:place]), stop


def _finish(move: Think | Say | Call, before: FinishReason) -> FinishReason:
    if isinstance(move, Call):
        return "tool_calls"
    return "refusal" if isinstance(move, Say) and move.refusal else before


def usage_of(speaker: SimulatedModel, fitted: Fitted) -> Usage:
    """Disjoint counts that add up. Nothing is ever cached; Google does not say what is zero."""
    spent = input_tokens(speaker.request)
    asked: dict[str, Any] = {"input_uncached": spent, "cache_read": 0, "cache_write": 0}
    if speaker.dialect == "gemini":
        asked = {"input_total": spent}
    usage, _ = measure(**asked, output_visible=fitted.spoken, output_reasoning=fitted.thought)
    return usage


def parts_of(speaker: SimulatedModel, fitted: Fitted) -> Iterator[Part]:
    """The answer between its start and its end."""
    words = [move for move in fitted.moves if isinstance(move, Think | Say | Call)]
    blocks = iter(blocks_of(speaker, words))
    index = 0
    for move in fitted.moves:
        if isinstance(move, Fail | Cut | Stall):
            yield move
            continue
        block = next(blocks)
        if block is not None:
            yield from _grown(index, block)
            index += 1


def finished(speaker: SimulatedModel, fitted: Fitted) -> Finished:
    extras: dict[str, dict[str, Any]] = {}
    if speaker.dialect == "anthropic" and fitted.stopped_by is not None:
        extras = {"anthropic": {"stop_reason": "stop_sequence", "stop_sequence": fitted.stopped_by}}
    if speaker.dialect == "anthropic" and fitted.finish == "refusal":
        details = {"type": "refusal", "category": "general_harms", "explanation": None}
        extras = {"anthropic": {"stop_details": details}}
    return Finished(fitted.finish, usage_of(speaker, fitted), extras=extras)


def _grown(index: int, block: Block) -> Iterator[Event]:
    """A block as a stream brings it, piece by piece."""
    if not isinstance(block, Text | Thinking | ToolCall):
        yield BlockStarted(index, block)
        yield BlockEnded(index)
        return
    if isinstance(block, ToolCall):
        text = block.arguments
        yield BlockStarted(index, msgspec.structs.replace(block, arguments="", seal=None))
    else:
        text = block.text
        yield BlockStarted(index, msgspec.structs.replace(block, text="", seal=None))
    for piece in pieces(text):
        yield BlockGrew(index, piece)
    if block.seal is not None:
        yield BlockSealed(index, block.seal)
    yield BlockEnded(index)
