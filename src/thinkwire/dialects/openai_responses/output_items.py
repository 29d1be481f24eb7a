"""Blocks of an answer as complete output items."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_responses.constants import ENCRYPTED, ITEM, NAME, item_id
from thinkwire.dialects.openai_responses.items import call_item, message_item
from thinkwire.dialects.openai_responses.parts import seal_dropped
from thinkwire.dialects.openai_responses.reasoning import id_in, reasoning_item
from thinkwire.dialects.shared import dropped_opaque, own
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Opaque, Text, Thinking, ToolCall
from thinkwire.notes import Note

Sayable = list[Text] | ToolCall | Thinking
"""What becomes an item of its own: the texts of one message, a call, a thought."""


def id_for(group: Sayable, response_id: str, position: int) -> str:
    """The id that the block brings along, else one made up from its place."""
    if isinstance(group, Thinking):
        return id_in(group) or item_id("rs", response_id, position)
    first, prefix = (group[0], "msg") if isinstance(group, list) else (group, "fc")
    found = own(first.extras, NAME).get("id") if first.extras else None
    return found if isinstance(found, str) and found else item_id(prefix, response_id, position)


def is_raw(block: Thinking) -> bool:
    """Whether to show the text as `reasoning_text`, as it came. Clients look for summaries."""
    return block.form == "full" and NAME in block.extras


def complete_item(group: Sayable, given: str) -> JsonObject:
    """The item as `output_item.done` and the whole response show it."""
    if isinstance(group, list):
        return message_item(group, lists=True, id=given, status=_status(*group))
    if isinstance(group, ToolCall):
        return call_item(group, id=given, status=_status(group))
    return reasoning_item(group, given, raw=is_raw(group))


def _status(*blocks: Text | ToolCall) -> Any:
    for block in blocks:
        if block.interrupted:
            return "incomplete"
    first = blocks[0].extras
    return own(first, NAME).get("status", "completed") if first else "completed"


def opaque_item(block: Block, notes: list[Note]) -> JsonObject | None:
    """A native item as it came; None, and a Note, for what this wire has no form for."""
    if not isinstance(block, Opaque):
        what = type(block).__name__.lower()
        notes.append(Note("block.dropped", f"an answer has no place for a {what} here"))
    elif block.dialect == NAME and isinstance(block.data, dict):
        return block.data
    else:
        notes.append(dropped_opaque(block, NAME))
    return None


def note_seals(group: Sayable, given: str, notes: list[Note]) -> None:
    """Seals of other makers, seals where this wire has none, and item seals that do not fit the item's id."""
    for block in group if isinstance(group, list) else (group,):
        seal = block.seal
        if seal is None or (isinstance(block, Thinking) and _fits(seal.scheme, seal.data, given)):
            continue
        notes.append(seal_dropped(seal.scheme))


def _fits(scheme: str, data: str, given: str) -> bool:
    return scheme == ENCRYPTED or (scheme == ITEM and data == given)
