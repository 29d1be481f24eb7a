"""A stream of an answer, as eight events, and the one fold that makes a turn of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from thinkwire.errors import Failure
from thinkwire.messages import Block, Extras, Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.usage import Usage

FinishReason = Literal["stop", "tool_calls", "length", "continue", "refusal", "error", "cancelled"]


class Started(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="started"):
    """The answer began. Comes once and first."""

    id: str | None = None
    model: str | None = None
    extras: Extras = {}
    origin: Origin | None = None
    """Who is answering, where somebody knows more than the wire says."""


class BlockStarted(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="block_started"):
    """A block opened. It may carry content already (redacted thinking and opaque blocks arrive whole)."""

    index: int
    block: Block


class BlockGrew(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag="block_grew"):
    """More text for an open block: visible text, thinking, or tool arguments, whatever the block is."""

    index: int
    text: str


class BlockSealed(msgspec.Struct, frozen=True, tag_field="event", tag="block_sealed"):
    """The provider sealed an open block."""

    index: int
    seal: Seal


class BlockEnded(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="block_ended"):
    """The block is complete and committed. `extras` holds native fields that came after its start."""

    index: int
    extras: Extras = {}


class Finished(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="finished"):
    """The answer is complete. Nothing but `Noted` follows."""

    reason: FinishReason
    usage: Usage | None = None
    extras: Extras = {}
    """Native fields of the answer."""
    turn: Extras = {}
    """Native fields of the message in it."""


class Failed(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="failed"):
    """The answer broke off. What arrived is kept; open blocks are interrupted. Nothing follows."""

    failure: Failure
    usage: Usage | None = None


class Noted(msgspec.Struct, frozen=True, tag_field="event", tag="noted"):
    """Something was changed or guessed on the way."""

    note: Note


Event: TypeAlias = Started | BlockStarted | BlockGrew | BlockSealed | BlockEnded | Finished | Failed | Noted


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A whole answer: the turn and how it ended. `failure` is set when it broke off."""

    turn: Turn
    finish: FinishReason | None = None
    usage: Usage | None = None
    notes: tuple[Note, ...] = ()
    failure: Failure | None = None
    extras: Extras = {}


class _Open(msgspec.Struct):
    """A block in the making."""

    block: Block
    parts: list[str] = []
    seal: Seal | None = None
    ended: bool = False
    extras: Extras = {}

    def value(self) -> Block:
        block = self.block
        if type(block) is Text and self.ended and self.seal is None and not self.extras:
            text = block.text + "".join(self.parts)
            return Text(text, block.refusal, block.seal, block.interrupted, block.extras)
        if type(block) is not Text and type(block) is not Thinking and type(block) is not ToolCall:
            return block
        changes: dict[str, object] = {}
        if self.parts:
            grown = "".join(self.parts)
            if isinstance(block, ToolCall):
                changes["arguments"] = block.arguments + grown
            else:
                changes["text"] = block.text + grown
        if not self.ended:
            return msgspec.structs.replace(block, **changes, seal=None, interrupted=True)
        if self.seal is not None:
            changes["seal"] = self.seal
        if self.extras:
            changes["extras"] = merge_extras(block.extras, self.extras)
        return msgspec.structs.replace(block, **changes) if changes else block


_UNNAMED = Started()


class Collector:
    """The fold, batch by batch. `answer()` may be asked at any moment."""

    __slots__ = ("_blocks", "_failed", "_finished", "_notes", "_started")

    def __init__(self) -> None:
        self._started = _UNNAMED
        self._finished: Finished | None = None
        self._failed: Failed | None = None
        self._blocks: dict[int, _Open] = {}
        self._notes: list[Note] = []

    def add(self, event: Event) -> None:
        self.take((event,))

    def take(self, events: Iterable[Event]) -> None:
        """Adds a batch; most of it is growth."""
        blocks = self._blocks
        for event in events:
            if type(event) is BlockGrew:
                blocks[event.index].parts.append(event.text)
            elif type(event) is BlockStarted:
                blocks[event.index] = _Open(event.block)
            elif type(event) is BlockEnded:
                opened = blocks[event.index]
                opened.ended, opened.extras = True, event.extras
            elif type(event) is BlockSealed:
                blocks[event.index].seal = event.seal
            elif type(event) is Started:
                self._started = event
            elif type(event) is Finished:
                self._finished = event
            elif type(event) is Failed:
                self._failed = event
            elif type(event) is Noted:
                self._notes.append(event.note)

    def parts_of(self, index: int) -> list[str]:
        """The texts by which a block has grown; more may be added."""
        return self._blocks[index].parts

    def only_words(self) -> bool:
        """Whether there is nothing but text and calls so far, none of them sealed."""
        for opened in self._blocks.values():
            block = opened.block
            if (type(block) is not Text and type(block) is not ToolCall) or block.seal or opened.seal:
                return False
        return True

    def answer(self) -> Answer:
        started, finished, failed = self._started, self._finished, self._failed
        known = started.model is not None or started.id is not None
        origin = started.origin
        if origin is None and known:
            origin = Origin(model=started.model, response_id=started.id)
        blocks = tuple([self._blocks[index].value() for index in sorted(self._blocks)])
        end = finished or failed
        return Answer(
            turn=Turn("assistant", blocks, origin=origin, extras=finished.turn if finished else {}),
            finish=finished.reason if finished else None,
            usage=end.usage if end else None,
            notes=tuple(self._notes),
            failure=failed.failure if failed else None,
            extras=merge_extras(started.extras, finished.extras if finished else {}),
        )


def collect(events: Iterable[Event]) -> Answer:
    """What a stream of events amounts to."""
    collector = Collector()
    collector.take(events)
    return collector.answer()


def events_of(answer: Answer) -> Iterator[Event]:
    """The shortest stream that `collect` turns into this answer."""
    origin = answer.turn.origin or Origin()
    yield Started(id=origin.response_id, model=origin.model, extras=answer.extras)
    for note in answer.notes:
        yield Noted(note)
    for index, block in enumerate(answer.turn.blocks):
        yield from _block_events(index, block)
    if answer.failure is not None:
        yield Failed(answer.failure, usage=answer.usage)
    elif answer.finish is not None:
        yield Finished(answer.finish, usage=answer.usage, turn=answer.turn.extras)


def _block_events(index: int, block: Block) -> Iterator[Event]:
    if not isinstance(block, (Text, Thinking, ToolCall)):
        yield BlockStarted(index, block)
        yield BlockEnded(index)
        return
    if isinstance(block, ToolCall):
        grown = block.arguments
        yield BlockStarted(index, msgspec.structs.replace(block, arguments="", seal=None, interrupted=False))
    else:
        grown = block.text
        yield BlockStarted(index, msgspec.structs.replace(block, text="", seal=None, interrupted=False))
    if grown:
        yield BlockGrew(index, grown)
    if block.seal is not None:
        yield BlockSealed(index, block.seal)
    if not block.interrupted:
        yield BlockEnded(index)


def merge_extras(first: Extras, second: Extras) -> Extras:
    """Both, the second winning; neither is changed."""
    if not second:
        return first
    if not first:
        return second
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in first | second}
