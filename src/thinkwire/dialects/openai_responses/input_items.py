"""The `input` of a request: items and turns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from thinkwire.dialects.openai_responses.constants import NAME, minted
from thinkwire.dialects.openai_responses.items import call_item, grouped, message_item, read_item
from thinkwire.dialects.openai_responses.parse_context import Reading
from thinkwire.dialects.openai_responses.parts import (
    Content,
    is_part,
    read_parts,
    seal_dropped,
    write_content,
)
from thinkwire.dialects.openai_responses.reasoning import id_in, is_own, reasoning_item
from thinkwire.dialects.openai_responses.validate_items import check_item
from thinkwire.dialects.shared import as_extras, dropped_opaque, own, plain_words
from thinkwire.jsonvalue import JsonObject, Path, objects, unknown_fields
from thinkwire.messages import Block, Opaque, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note

_INPUT_ONLY = frozenset(
    {
        "additional_tools",
        "compaction_trigger",
        "configuration_update",
        "item_reference",
        "mcp_approval_response",
    }
)
_OUTPUT_FIELDS = frozenset({"type", "call_id", "output"})
_MESSAGE_FIELDS = frozenset({"role", "content"})
_NULLABLE = frozenset({"type", "id", "status", "phase", "name", "namespace", "caller"})
_MARKS = frozenset({"input"})
_CALL_ID = re.compile(r"[A-Za-z0-9_.:\-]{1,64}")


def read_input(items: list[Any], path: Path) -> tuple[Turn, ...]:
    """Items as turns: what the model said is one turn, results join the message after them."""
    turns: list[Turn] = []
    run: list[Turn] = []
    whole_items = False
    reading = Reading()
    for position, (item, at) in enumerate(objects(items, path)):
        check_item(item, at)
        turn = _read_turn(item, position, reading)
        if run and _joins(run[-1], turn, whole_items=whole_items):
            run.append(turn)
            whole_items = whole_items and all(map(_is_item, turn.blocks))
            continue
        if run:
            turns.append(_as_one(run))
        run = [turn]
        whole_items = turn.role == "user" and bool(turn.blocks) and all(map(_is_item, turn.blocks))
    if run:
        turns.append(_as_one(run))
    return tuple(turns)


def _as_one(run: list[Turn]) -> Turn:
    """Join a run of turns into one, all at once: joining them pair by pair would be quadratic."""
    if len(run) == 1:
        return run[0]
    blocks = tuple([block for turn in run for block in turn.blocks])
    return Turn(run[-1].role, blocks, extras=run[-1].extras)


def _read_turn(item: JsonObject, position: int, reading: Reading) -> Turn:
    kind, role = item.get("type"), item.get("role")
    if kind == "message" or (kind is None and role is not None):
        if role == "assistant":
            return Turn("assistant", tuple(read_item(item, position, reading)))
        return _read_message(item)
    if kind == "function_call_output" and isinstance(item.get("call_id"), str):
        return Turn("user", (_read_result(item),))
    if kind is None or kind in _INPUT_ONLY or (kind.endswith("_output") and kind != "program_output"):
        return Turn("user", (Opaque(NAME, item),))
    return Turn("assistant", tuple(read_item(item, position, reading)))


def _joins(last: Turn, turn: Turn, *, whole_items: bool) -> bool:
    """Whether a turn goes on with the run that ends with `last`. `whole_items` says that the run is the
    user's and holds nothing but items of their own.
    """
    if last.role != turn.role:
        return False
    if turn.role == "assistant":
        return True
    return whole_items and bool(turn.blocks) and not last.extras


def _is_item(block: Block) -> bool:
    """Whether a block of a user's turn is an item of its own and no part of a message."""
    return isinstance(block, ToolResult) or (isinstance(block, Opaque) and not is_part(block.data))


def _read_message(item: JsonObject) -> Turn:
    role = item["role"]
    blocks = read_parts(item["content"])
    if any(isinstance(block, Opaque) and not is_part(block.data) for block in blocks):
        return Turn("user", (Opaque(NAME, item),))
    fields = _said(unknown_fields(item, _MESSAGE_FIELDS))
    if role == "developer":
        fields["role"] = role
    return Turn("user" if role == "user" else "system", blocks, extras=as_extras(NAME, fields))


def _read_result(item: JsonObject) -> ToolResult:
    fields = _said(unknown_fields(item, _OUTPUT_FIELDS))
    content = read_parts(item["output"]) if item["output"] else ()
    return ToolResult(item["call_id"], content, name=fields.get("name"), extras=as_extras(NAME, fields))


def _said(fields: JsonObject) -> JsonObject:
    """The fields without known ones that are null."""
    return {key: value for key, value in fields.items() if value is not None or key not in _NULLABLE}


class InputWriter:
    """Turns as items. `items` and `notes` grow with each turn."""

    def __init__(self) -> None:
        self.items: list[JsonObject] = []
        self.notes: list[Note] = []
        self._renamed: set[str] = set()

    def write(self, turn: Turn) -> None:
        if turn.role == "assistant":
            for group in grouped(turn.blocks):
                self._write_output(group)
        elif NAME not in turn.extras and (words := plain_words(turn.blocks, NAME)) is not None:
            self.items.append({"role": turn.role, "content": words})
        else:
            self._write_input(turn)

    @property
    def _path(self) -> str:
        return f"input[{len(self.items)}]"

    def _write_input(self, turn: Turn) -> None:
        fields = unknown_fields(own(turn.extras, NAME), _MARKS)
        message: list[Content] = []
        for block in turn.blocks:
            if isinstance(block, (Thinking, ToolCall)):
                self._write_output(block)
            elif isinstance(block, ToolResult) or (_is_item(block) and isinstance(block, Opaque)):
                self._write_message(turn, fields, message)
                message = []
                self._write_result(block) if isinstance(block, ToolResult) else self._write_opaque(block)
            else:
                message.append(block)
        if message or not turn.blocks:
            self._write_message(turn, fields, message, empty=not turn.blocks)

    def _write_message(
        self, turn: Turn, fields: JsonObject, blocks: list[Content], *, empty: bool = False
    ) -> None:
        content = write_content(blocks, self._path, self.notes)
        if content or empty or any(isinstance(block, Text) for block in blocks):
            self.items.append({"role": turn.role, **fields, "content": content})

    def _write_output(self, group: Block | list[Text]) -> None:
        """Something that the model said."""
        if isinstance(group, list):
            self._note_seals(group)
            self.items.append(_nameless(message_item(group), group))
        elif isinstance(group, ToolCall):
            self._note_seals([group])
            self.items.append(_nameless(call_item(group, call_id=self._call_id(group.id)), [group]))
        elif isinstance(group, Thinking):
            self._write_thinking(group)
        elif isinstance(group, Opaque):
            self._write_opaque(group)
        elif isinstance(group, ToolResult):
            self._write_result(group)
        else:
            message = f"a model's turn has no place for a {type(group).__name__.lower()} here"
            self.notes.append(Note("block.dropped", message, path=self._path))

    def _write_thinking(self, block: Thinking) -> None:
        if is_own(block) and not block.interrupted:
            self.items.append(reasoning_item(block, id_in(block), raw=block.form == "full"))
            return
        if block.interrupted:
            why = "thinking that was interrupted"
        elif block.seal is None:
            why = "thinking without a seal"
        else:
            why = f"thinking sealed by another maker ({block.seal.scheme})"
        self.notes.append(Note("thinking.dropped", f"{why} is not sent to {NAME}", path=self._path))

    def _write_opaque(self, block: Opaque) -> None:
        if block.dialect == NAME and isinstance(block.data, dict):
            self.items.append(block.data)
        else:
            self.notes.append(dropped_opaque(block, NAME, self._path))

    def _write_result(self, block: ToolResult) -> None:
        path = self._path
        if block.failed:
            message = "this wire cannot mark a tool result as failed; its content went through"
            self.notes.append(Note("block.degraded", message, path=path))
        self.items.append(
            {
                "type": "function_call_output",
                "call_id": self._call_id(block.call_id),
                "output": write_content(block.content, path, self.notes) if block.content else "",
                **own(block.extras, NAME),
            }
        )

    def _call_id(self, call_id: str) -> str:
        """The id as the wire accepts it; the same one for a call and its result."""
        if _CALL_ID.fullmatch(call_id):
            return call_id
        changed = minted("call", call_id)
        if call_id not in self._renamed:
            self._renamed.add(call_id)
            message = (
                f"call id {call_id[:80]!r} is longer or odder than the wire allows; it went as {changed}"
            )
            self.notes.append(Note("field.changed", message, path=self._path, detail={"call_id": call_id}))
        return changed

    def _note_seals(self, blocks: Iterable[Text | ToolCall]) -> None:
        for block in blocks:
            if block.seal is not None:
                self.notes.append(seal_dropped(block.seal.scheme, self._path))


def _nameless(item: JsonObject, blocks: Iterable[Text | ToolCall]) -> JsonObject:
    """The item, without its id if it was interrupted: the server never stored it under that id."""
    for block in blocks:
        if block.interrupted:
            return unknown_fields(item, frozenset({"id"}))
    return item
