"""Calls and results that belong together, and turns that a provider can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter

import msgspec

from thinkwire.messages import Block, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note

CHAT, NO_ID = "openai_chat", "_no_id"
"""Where the chat wire remembers that a call or a result came without an id."""

NO_RESULT = "The call was interrupted; there is no result."


_blocks = attrgetter("blocks")


def blocks_of(turns: Iterable[Turn]) -> Iterator[Block]:
    """All that is said, one after the other."""
    return chain.from_iterable(map(_blocks, turns))


def gathered(turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """Every result in the turn right after its call, before anything else there."""
    homes = _homes(turns)
    if all(home == index - 1 for (index, _), home in homes.items()):
        return turns
    coming: dict[int, list[Block]] = {}
    for (index, place), home in homes.items():
        coming.setdefault(home, []).append(turns[index].blocks[place])
    result: list[Turn] = []
    arriving: list[Block] = []
    for index, turn in enumerate(turns):
        stay: list[Block] = [b for place, b in enumerate(turn.blocks) if (index, place) not in homes]
        if turn.role == "user":
            stay, arriving = [*arriving, *stay], []
        elif arriving:
            result.append(Turn("user", tuple(arriving)))
            arriving = []
        if stay or not turn.blocks:
            result.append(msgspec.structs.replace(turn, blocks=tuple(stay)))
        arriving += coming.get(index, [])
    if arriving:
        result.append(Turn("user", tuple(arriving)))
    notes.append(Note("field.changed", "results were moved to where their calls wait for them"))
    return tuple(result)


def _homes(turns: tuple[Turn, ...]) -> dict[tuple[int, int], int]:
    """Where each result stands → the turn of its call."""
    open_calls: dict[str, int] = {}
    homes: dict[tuple[int, int], int] = {}
    for index, turn in enumerate(turns):
        for place, block in enumerate(turn.blocks):
            if isinstance(block, ToolCall):
                open_calls[block.id] = index
            elif isinstance(block, ToolResult) and block.call_id in open_calls:
                homes[index, place] = open_calls.pop(block.call_id)
    return homes


def paired(turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """Every call has its result in the next turn, every result its call in the turn before."""
    result: list[Turn] = []
    waiting: dict[str, ToolCall] = {}
    for turn in turns:
        if turn.role == "user":
            if waiting or ToolResult in map(type, turn.blocks):
                turn = _answering(turn, waiting, notes)
                waiting = {}
        elif turn.role == "assistant":
            if waiting:
                result.append(_closing(waiting, notes))
            waiting = (
                {call.id: call for call in turn.tool_calls} if ToolCall in map(type, turn.blocks) else {}
            )
        if turn.blocks:
            result.append(turn)
    if waiting:
        result.append(_closing(waiting, notes))
    return tuple(result)


def _answering(turn: Turn, waiting: dict[str, ToolCall], notes: list[Note]) -> Turn:
    """A user's turn with exactly the results that are waited for, first of all."""
    results: list[Block] = []
    rest: list[Block] = []
    answered: set[str] = set()
    for block in turn.blocks:
        if not isinstance(block, ToolResult):
            rest.append(block)
        elif block.call_id in waiting and block.call_id not in answered:
            answered.add(block.call_id)
            results.append(block)
        else:
            notes.append(Note("tool_result.dropped", f"a result for {block.call_id}, which nobody called"))
    missing = [call for call_id, call in waiting.items() if call_id not in answered]
    results += [_no_result(call, notes) for call in missing]
    blocks = (*results, *rest)
    return turn if blocks == turn.blocks else msgspec.structs.replace(turn, blocks=blocks)


def _closing(waiting: dict[str, ToolCall], notes: list[Note]) -> Turn:
    return Turn("user", tuple(_no_result(call, notes) for call in waiting.values()))


def _no_result(call: ToolCall, notes: list[Note]) -> ToolResult:
    notes.append(Note("tool_result.added", f"the call of {call.name} has no result; it is told so"))
    return ToolResult(call.id, (Text(NO_RESULT),), name=call.name, failed=True)


def merged(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Neighbours of the same side and origin are one turn; the results of the user's side come first."""
    result: list[Turn] = []
    run: list[Turn] = []
    for turn in turns:
        last = result[-1] if result else None
        if last is None or last.role != turn.role or turn.role == "system" or not _joins(last, turn):
            if run:
                result[-1] = _as_one(run)
                run = []
            result.append(turn)
        else:
            run = run or [last]
            run.append(turn)
    if run:
        result[-1] = _as_one(run)
    return tuple(result)


def _as_one(run: list[Turn]) -> Turn:
    """Join a run of turns into one, all at once: joining them pair by pair would be quadratic."""
    blocks: Iterable[Block] = blocks_of(run)
    if run[0].role == "user":
        blocks = sorted(blocks, key=lambda block: not isinstance(block, ToolResult))
    return msgspec.structs.replace(run[0], blocks=tuple(blocks))


def _joins(first: Turn, second: Turn) -> bool:
    return first.origin == second.origin and first.extras == second.extras


def is_nameless(block: Block) -> bool:
    """Whether a call or result of the chat wire came without an id, and would go without one again."""
    return isinstance(block, (ToolCall, ToolResult)) and NO_ID in block.extras.get(CHAT, {})


def named(block: Block) -> Block:
    """The block as it goes with the id that it was given here: a result has that of its call."""
    if not isinstance(block, (ToolCall, ToolResult)) or not is_nameless(block):
        return block
    rest = {key: value for key, value in block.extras[CHAT].items() if key != NO_ID}
    return msgspec.structs.replace(block, extras=block.extras | {CHAT: rest})


def with_ids(turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """Every call and result with its id."""
    count = sum(map(is_nameless, blocks_of(turns)))
    if not count:
        return turns
    message = f"{count} calls and results that came without an id go with one"
    notes.append(Note("field.changed", message, detail={"count": count}))
    return tuple(msgspec.structs.replace(turn, blocks=tuple(map(named, turn.blocks))) for turn in turns)


def without_empty(turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """No empty text without a seal, and no turn in which nothing is left."""
    if not any(map(_is_empty, blocks_of(turns))):
        return turns
    result = []
    for index, turn in enumerate(turns):
        if not any(map(_is_empty, turn.blocks)):
            result.append(turn)
        elif blocks := tuple(block for block in turn.blocks if not _is_empty(block)):
            result.append(msgspec.structs.replace(turn, blocks=blocks))
        else:
            notes.append(Note("turn.dropped", f"nothing that can be sent is left of turn {index}"))
    return tuple(result)


def _is_empty(block: Block) -> bool:
    return type(block) is Text and block.seal is None and (not block.text or block.text.isspace())


def without_broken(turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """An interrupted answer keeps its words; its half thought and half call are not sent."""
    if not any(map(_is_broken, blocks_of(turns))):
        return turns
    return tuple([_unbroken(turn, notes) for turn in turns])


def _is_broken(block: Block) -> bool:
    return isinstance(block, (Thinking, ToolCall)) and block.interrupted


def _unbroken(turn: Turn, notes: list[Note]) -> Turn:
    if not any(map(_is_broken, turn.blocks)):
        return turn
    blocks = tuple(block for block in turn.blocks if not _is_broken(block))
    notes.append(Note("block.dropped", "what an interrupted answer had not finished is not sent"))
    return msgspec.structs.replace(turn, blocks=blocks)
