"""Repairs of a stored conversation that keep everybody's thinking: sides, ids, places, and broken seals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from thinkwire.dialects.shared import arguments_object, made_up_id
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Block, Role, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.replay.checks import flaw_of_id, is_misplaced, rightful_role
from thinkwire.replay.findings import Case, OpenCalls, Waiting
from thinkwire.replay.item_ids import without_id
from thinkwire.replay.pairing import named
from thinkwire.replay.planner import PLACEHOLDER
from thinkwire.replay.policy import exchange_start, without_thinking
from thinkwire.replay.seal_checks import (
    is_altered,
    is_unstored,
    torn_items,
    torn_thoughts,
)

Turns: TypeAlias = tuple[Turn, ...]

CONTINUE = "Continue."


def _with(turn: Turn, blocks: list[Block]) -> Turn:
    return turn if tuple(blocks) == turn.blocks else msgspec.structs.replace(turn, blocks=tuple(blocks))


def by_side(turns: Turns, notes: list[Note]) -> Turns:
    """Every block in a turn of the side that can have said it."""
    result: list[Turn] = []
    for turn in turns:
        parts: list[tuple[str, list[Block]]] = []
        for block in turn.blocks:
            role = rightful_role(turn, block)
            if not parts or parts[-1][0] != role:
                parts.append((role, []))
            parts[-1][1].append(block)
        if all(role == turn.role for role, _ in parts):
            result.append(turn)
            continue
        notes.append(Note("field.changed", f"a turn of the {turn.role} was split by who said what"))
        result += [_part(turn, role, blocks) for role, blocks in parts]
    return tuple(result)


def _part(turn: Turn, name: str, blocks: list[Block]) -> Turn:
    role: Role = "user" if name == "user" else "assistant" if name == "assistant" else "system"
    return Turn(role, tuple(blocks), origin=turn.origin if role == turn.role == "assistant" else None)


def with_good_ids(case: Case, turns: Turns, notes: list[Note]) -> Turns:
    """No id twice, and none that the provider does not take; a result is renamed with its call."""
    taken: set[str] = set()
    tried: dict[str, int] = {}
    open_calls = OpenCalls()
    names: dict[tuple[int, int], str] = {}
    for index, turn in enumerate(turns):
        for place, block in enumerate(turn.blocks):
            if isinstance(block, ToolCall):
                names[index, place] = _good_id(case, block.id, taken, tried)
                taken.add(names[index, place])
                open_calls.add(Waiting(index, place, block))
            elif isinstance(block, ToolResult):
                call = open_calls.answered(block.call_id)
                names[index, place] = block.call_id if call is None else names[call.turn, call.block]
    result = tuple(
        _with(
            turn, [_named(case, block, names.get((index, place))) for place, block in enumerate(turn.blocks)]
        )
        for index, turn in enumerate(turns)
    )
    if result != turns:
        notes.append(Note("field.changed", "ids of calls were replaced, with those of their results"))
    return result


def _named(case: Case, block: Block, name: str | None) -> Block:
    if not isinstance(block, (ToolCall, ToolResult)) or name is None:
        return block
    kept = named(block) if case.dialect == "openai-chat" else block
    if isinstance(kept, ToolCall):
        return kept if name == kept.id else msgspec.structs.replace(kept, id=name)
    assert isinstance(kept, ToolResult)
    return kept if name == kept.call_id else msgspec.structs.replace(kept, call_id=name)


def _good_id(case: Case, call_id: str, taken: set[str], tried: dict[str, int]) -> str:
    """The id itself, or the first made from it that is free. `tried` counts those made from each id."""
    name, number = call_id, tried.get(call_id, 0)
    while name in taken or flaw_of_id(case, name) is not None:
        number += 1
        made = made_up_id("call", call_id, number)
        quirks = case.provider.quirks if case.provider else None
        size = quirks.tool_id_length if quirks and case.dialect == "openai-chat" else None
        name = f"call_{made}" if size is None else made.replace("-", "a").replace("_", "b")[:size]
    tried[call_id] = number
    return name


def with_arguments(turns: Turns, notes: list[Note]) -> Turns:
    """Arguments that are a JSON object; others are kept as text inside one, which no seal can vouch for."""

    def mended(block: Block) -> Block:
        if not isinstance(block, ToolCall) or block.interrupted:
            return block
        value, note = arguments_object(block.arguments)
        if note is None:
            return block
        notes.append(note)
        return msgspec.structs.replace(block, arguments=dump_text(value), seal=None)

    return _each(turns, mended)


def without_altered_seals(case: Case, turns: Turns, notes: list[Note]) -> Turns:
    """No seal that cannot be whole; thinking that was nothing but its seal goes with it."""
    result = []
    for turn in turns:
        blocks: list[Block] = []
        for block in turn.blocks:
            seal = getattr(block, "seal", None)
            if seal is None or not is_altered(case, turn, seal):
                blocks.append(block)
                continue
            notes.append(Note("seal.dropped", f"a {seal.scheme} seal is cut or changed and is not sent"))
            if not isinstance(block, Thinking):
                blocks.append(msgspec.structs.replace(block, seal=None))
        result.append(_with(turn, blocks))
    return tuple(result)


def without_torn_items(turns: Turns, notes: list[Note]) -> Turns:
    """Reasoning items keep their company; an item whose reasoning is gone loses its id."""
    result = []
    for turn in turns:
        torn, nameless = set(torn_thoughts(turn)), set(torn_items(turn))
        if torn:
            notes.append(Note("thinking.dropped", "a reasoning item without what it led to is not sent"))
        blocks = [
            without_id(block) if place in nameless or torn else block
            for place, block in enumerate(turn.blocks)
            if place not in torn
        ]
        result.append(_with(turn, blocks))
    return tuple(result)


def thinking_first(turns: Turns, notes: list[Note]) -> Turns:
    """Tool turns start with the thinking that stands before their first call."""
    result = []
    for turn in turns:
        calls = [place for place, block in enumerate(turn.blocks) if isinstance(block, ToolCall)]
        head = turn.blocks[: calls[0]] if turn.role == "assistant" and calls else ()
        ordered = sorted(head, key=lambda block: not isinstance(block, Thinking))
        mended = _with(turn, [*ordered, *turn.blocks[len(head) :]])
        if mended is not turn:
            notes.append(Note("field.changed", "thinking was moved to the start of its tool turn"))
        result.append(mended)
    return tuple(result)


def without_moved_signatures(turns: Turns) -> Turns:
    """A step whose first call has no signature has none on its others."""
    result = []
    for turn in turns:
        calls = turn.tool_calls
        bare = bool(calls) and calls[0].seal is None
        blocks = [
            msgspec.structs.replace(block, seal=None)
            if bare and isinstance(block, ToolCall) and block.seal is not None
            else block
            for block in turn.blocks
        ]
        result.append(_with(turn, blocks))
    return tuple(result)


def signed(turns: Turns, notes: list[Note]) -> Turns:
    """In the current exchange, the first call of each step carries a signature or the placeholder."""
    start = exchange_start(turns)
    result = []
    for index, turn in enumerate(turns):
        first = turn.tool_calls[0] if turn.tool_calls else None
        if index > start and first is not None and first.seal is None:
            notes.append(Note("seal.placeholder", f"the call of {first.name} was not made by this model"))
            sealed = msgspec.structs.replace(first, seal=PLACEHOLDER)
            turn = _with(turn, [sealed if block is first else block for block in turn.blocks])
        result.append(turn)
    return tuple(result)


def without_unstored(case: Case, turns: Turns, notes: list[Note]) -> Turns:
    """The turns without thinking that is only the name of an item which the provider has not kept."""
    result = tuple(without_thinking(turn, lambda block: is_unstored(case, block)) for turn in turns)
    if result == turns:
        return turns
    notes.append(Note("thinking.dropped", "thinking that is only named by an id is not sent"))
    return tuple(
        turn if turn is before else _each((turn,), without_id)[0]
        for before, turn in zip(turns, result, strict=True)
    )


def without_system_turns(case: Case, turns: Turns, notes: list[Note]) -> tuple[Turns, tuple[Text, ...]]:
    """The turns, and the system text of those among them that the provider would not take there."""
    facts, roles = case.destination.facts, [turn.role for turn in turns]
    refuses = case.dialect == "gemini" or (facts is not None and "system_turns" in facts.refuses)
    moved = [
        index
        for index, role in enumerate(roles)
        if role == "system" and (refuses or (case.dialect == "anthropic" and is_misplaced(roles, index)))
    ]
    if not moved:
        return turns, ()
    notes.append(Note("system.moved", f"the system text of {len(moved)} turns goes to the top"))
    texts = tuple(block for index in moved for block in turns[index].blocks if isinstance(block, Text))
    gone = set(moved)
    return tuple(turn for index, turn in enumerate(turns) if index not in gone), texts


def _each(turns: Turns, change: Callable[[Block], Block]) -> Turns:
    return tuple(_with(turn, [change(block) for block in turn.blocks]) for turn in turns)
