"""Items of a stream in the making, and the blocks that they become."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from thinkwire.dialects.frame_decoder import FrameDecoder
from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.openai_responses.items import bare, content_of, read_item
from thinkwire.dialects.openai_responses.parse_context import Reading
from thinkwire.dialects.openai_responses.reasoning import read_reasoning
from thinkwire.dialects.shared import own
from thinkwire.events import BlockGrew, BlockStarted, FinishReason, Noted
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Extras, Opaque, Text, Thinking, ToolCall


class Growing:
    """A block that grows. It has no index until it has been started."""

    __slots__ = ("annotations", "block", "head", "index", "mark", "noted", "place", "texts")

    def __init__(self, place: int = 0) -> None:
        self.index = -1
        self.block: Block = Text()
        self.texts: list[str] = []
        self.head = ""  # text that came with the part itself, until a delta shows whether it is repeated
        self.place = place  # which part of the item grows now
        self.mark = 0  # where in `texts` that part began
        self.noted = False
        self.annotations: list[Any] = []


class Slot:
    """An item by its place in the output. Its first block has an index from the moment the item is known."""

    __slots__ = ("announced", "begun", "done", "growing", "index", "item", "item_id", "position")

    def __init__(self, item: JsonObject, position: int, index: int) -> None:
        self.item = item
        self.item_id = item.get("id")
        self.position = position
        self.index = index
        self.growing: dict[int, Growing] = {}
        self.announced = False
        self.begun = False  # whether one of its blocks has taken `index`
        self.done = False


def kind_of(item: JsonObject) -> str:
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if "content" in item else ""


class SlotDecoder(FrameDecoder):
    """Keeps the items of a stream, and turns what is known of them into events. Nothing is said twice."""

    def __init__(self) -> None:
        super().__init__()
        self._reading = Reading(response=True)
        self._slots: defaultdict[str, dict[int, Slot]] = defaultdict(dict)
        self._by_id: dict[str, tuple[str, Slot]] = {}
        self._all: list[tuple[str, Slot]] = []
        self._usual: FinishReason = "stop"

    def _find(self, kind: str, position: Any, item_id: Any) -> Slot | None:
        """The item at this place, unless its id says that another one is meant.

        Some servers change an item's id with every event, and some give all items the same place.
        """
        slot = self._slots[kind].get(position) if type(position) is int else None
        if type(item_id) is not str or (slot is not None and slot.item_id == item_id):
            return slot
        named = self._by_id.get(item_id)
        if named is not None and named[0] == kind:
            return named[1]
        return None if slot is not None and slot.done else slot

    def _add(self, kind: str, position: Any, item: JsonObject) -> Slot:
        if type(position) is not int:
            position = len(self._all)
        slot = Slot(item, position, self._blocks)
        self._blocks += 1
        self._slots[kind][position] = slot
        self._all.append((kind, slot))
        if isinstance(slot.item_id, str):
            self._by_id[slot.item_id] = (kind, slot)
        return slot

    def _start_block(self, slot: Slot, place: int, block: Block) -> Growing:
        growing = slot.growing.setdefault(place, Growing(place))
        growing.block = block
        if slot.begun:
            growing.index = self._blocks
            self._blocks += 1
        else:
            growing.index = slot.index
            slot.begun = True
        if isinstance(block, ToolCall):
            self._usual = "tool_calls"
        elif isinstance(block, Text) and block.refusal and self._usual == "stop":
            self._usual = "refusal"
        self._events.append(BlockStarted(growing.index, block))
        return growing

    def _more(self, growing: Growing, text: str) -> None:
        if growing.head:
            head, growing.head = growing.head, ""
            if not head.startswith(text):
                self._more(growing, head)
        growing.texts.append(text)
        if growing.index >= 0:
            self._events.append(BlockGrew(growing.index, text))

    def _catch_up(self, growing: Growing, text: Any) -> None:
        """The part is known in full: what the deltas left out is said now, what they said stays."""
        if not isinstance(text, str) or not text:
            return
        growing.head = ""
        grown = "".join(growing.texts[growing.mark :])
        if text.startswith(grown):
            if len(text) > len(grown):
                self._more(growing, text[len(grown) :])
        elif not growing.noted:
            growing.noted = True
            self._note(
                "stream.irregular", "an item's final text differs from its deltas; the deltas were kept"
            )

    def _finalize(self, slot: Slot, item: JsonObject, kind: str) -> None:
        """The item is complete: every block of it ends."""
        slot.done = True
        blocks = self._final_blocks(slot, item, kind)
        self._events += map(Noted, self._reading.notes)
        self._reading.notes.clear()
        open_ones = {growing for growing in slot.growing.values() if growing.index >= 0}
        if open_ones and isinstance(blocks[0], Opaque):
            blocks = []
            if item.get("content"):
                self._note("block.dropped", "a message has parts of an unknown kind beside its text")
        for place, block in enumerate(blocks):
            self._settle(slot, place, block)
        for place, growing in slot.growing.items():
            if growing in open_ones and not 0 <= place < len(blocks):
                self._end(growing.index)

    def _final_blocks(self, slot: Slot, item: JsonObject, kind: str) -> list[Block]:
        if kind != "reasoning":
            return read_item(item, slot.position, self._reading)
        growing = slot.growing.get(0)
        shown = growing.block.form if growing is not None and isinstance(growing.block, Thinking) else None
        return [read_reasoning(item, shown)]

    def _settle(self, slot: Slot, place: int, block: Block) -> None:
        growing = slot.growing.get(place)
        if not isinstance(block, (Text, Thinking, ToolCall)):
            self._end(self._start_block(slot, place, block).index)
            return
        if growing is None or growing.index < 0:
            text = content_of(block) or ("".join(growing.texts) if growing is not None else "")
            slot.growing.pop(place, None)
            growing = self._start_block(slot, place, bare(block))
            if text:
                self._more(growing, text)
            extras: Extras = {}
        else:
            growing.mark = 0
            self._catch_up(growing, content_of(block))
            extras = _with_annotations(block, growing)
        if block.seal is not None:
            self._seal(growing.index, block.seal)
        self._end(growing.index, extras)

    def _fill_in(self, output: list[Any]) -> None:
        """Items that the end of the stream tells and its middle did not."""
        items = [(position, item) for position, item in enumerate(output) if isinstance(item, dict)]
        missing = Counter(kind_of(item) for _, item in items)
        missing.subtract(kind for kind, _ in self._all)
        for position, item in items:
            kind = kind_of(item)
            slot = self._slots[kind].get(position) or self._find(kind, None, item.get("id"))
            if slot is None and missing[kind] > 0:
                missing[kind] -= 1
                slot = self._add(kind, position, item)
            if slot is not None and not slot.done:
                self._finalize(slot, item, kind)

    def _end_stragglers(self) -> None:
        """Items that were never said to be done, in an answer that is."""
        for kind, slot in self._all:
            if slot.done:
                continue
            self._note("stream.irregular", f"the stream ended without the end of an item ({kind})")
            for growing in list(slot.growing.values()):
                self._catch_up(growing, growing.head)
                if growing.index >= 0:
                    self._end(growing.index)
                else:
                    self._finalize(slot, slot.item, kind)


def _with_annotations(block: Block, growing: Growing) -> Extras:
    """The block's late fields; annotations that only had events of their own are among them."""
    extras: Extras = getattr(block, "extras", {})
    if not growing.annotations or "annotations" in own(extras, NAME):
        return extras
    return {**extras, NAME: {**own(extras, NAME), "annotations": growing.annotations}}
