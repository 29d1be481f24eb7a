"""Ids of items on the Responses wire: whose they are, and what becomes of an item whose id is not its own."""

from __future__ import annotations

import re

import msgspec

from thinkwire.dialects.shared import own
from thinkwire.messages import Block, Opaque, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.providers import find_provider

RESPONSES = "openai_responses"
_PREFIXES: dict[type[Block], str] = {Thinking: "rs", Text: "msg", ToolCall: "fc"}
_ID = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_ID = 64


def checks_items(provider: str) -> bool:
    """Whether this service looks at the ids of items."""
    found = find_provider(provider)
    return found is not None and found.checks_items


def item_id(block: Block) -> str | None:
    """The id of the item that a block came from."""
    if isinstance(block, Opaque):
        found = block.data.get("id") if block.dialect == RESPONSES and isinstance(block.data, dict) else None
        return found if isinstance(found, str) and found else None
    if not isinstance(block, (Text, Thinking, ToolCall)):
        return None
    if block.seal is not None and block.seal.scheme == "openai.item":
        return block.seal.data
    found = own(block.extras, RESPONSES).get("id")
    return found if isinstance(found, str) and found else None


def without_id(block: Block) -> Block:
    """The block as an item without an id; reasoning and native items cannot be one."""
    extras = getattr(block, "extras", {})
    mine = own(extras, RESPONSES)
    if isinstance(block, Thinking) or "id" not in mine:
        return block
    rest = {key: value for key, value in mine.items() if key != "id"}
    return msgspec.structs.replace(block, extras=extras | {RESPONSES: rest})


def bad_item_ids(turns: tuple[Turn, ...], *, strict: bool) -> dict[tuple[int, int], bool]:
    """Places of blocks whose item id the provider does not take; True where another item has it.

    A strict provider knows its own ids and takes no others.
    """
    found: dict[tuple[int, int], bool] = {}
    seen: set[str] = set()
    for index, turn in enumerate(turns):
        message = None
        for place, block in enumerate(turn.blocks):
            name = item_id(block)
            same_message = isinstance(block, Text) and name == message
            message = name if isinstance(block, Text) else None
            if name is None or same_message:
                continue
            if name in seen and not isinstance(block, Opaque):
                found[index, place] = True
            elif strict and not _is_item_id(block, name):
                found[index, place] = False
            seen.add(name)
    return found


def _is_item_id(block: Block, name: str) -> bool:
    prefix = _PREFIXES.get(type(block), "")
    return name.startswith(prefix) and len(name) <= _LONGEST_ID and _ID.fullmatch(name) is not None


def without_bad_item_ids(turns: tuple[Turn, ...], notes: list[Note], *, strict: bool) -> tuple[Turn, ...]:
    """Items with a foreign id go without it; reasoning and native items, which cannot, do not go at all."""
    bad = bad_item_ids(turns, strict=strict)
    if not bad:
        return turns
    left_out = sum(isinstance(turns[index].blocks[place], (Thinking, Opaque)) for index, place in bad)
    message = f"{len(bad)} items had ids that the provider does not take"
    ending = f"; {left_out} of them cannot go without" if left_out else ""
    notes.append(Note("field.changed", message + ending, detail={"count": len(bad), "left_out": left_out}))
    result = []
    for index, turn in enumerate(turns):
        blocks: list[Block] = []
        orphaned = False
        for place, block in enumerate(turn.blocks):
            if isinstance(block, Thinking):
                orphaned = bad.get((index, place)) is False
            if not isinstance(block, (Thinking, Opaque)) or (index, place) not in bad:
                blocks.append(without_id(block) if orphaned or (index, place) in bad else block)
        same = tuple(blocks) == turn.blocks
        result.append(turn if same else msgspec.structs.replace(turn, blocks=tuple(blocks)))
    return tuple(result)
