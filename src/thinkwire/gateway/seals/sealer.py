"""An answer on its way to a client: every seal wrapped into a field that the client gives back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

from thinkwire.dialects.openai_responses.constants import NAME as RESPONSES
from thinkwire.dialects.openai_responses.constants import minted
from thinkwire.events import (
    Answer,
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Noted,
    Started,
    collect,
    events_of,
)
from thinkwire.gateway.common.digest import digest
from thinkwire.gateway.common.secret_box import SecretBox
from thinkwire.gateway.ledger.matching import prefix_of
from thinkwire.gateway.seals.payload import CarrierPayload, SealedBlock, has_room, new_turn, write
from thinkwire.messages import Block, Image, Origin, Seal, Text, Thinking, ToolCall
from thinkwire.request import Request

SCHEMES = {
    "anthropic": "anthropic.signature",
    "openai-responses": "openai.encrypted",
    "gemini": "gemini.thought",
}
"""The field of each dialect that its clients give back unread. Chat has none: the ledger serves it alone."""

WHOLE = frozenset({"openai-responses", "gemini"})
"""Dialects whose clients may leave out or rearrange the text of thinking: the carrier holds it too."""

_GROWTH = {BlockGrew}
_TELLING = {BlockStarted, BlockSealed}


class _Making(msgspec.Struct):
    """A block that is not over yet, with the seal that its maker gave it, and the text of thinking."""

    block: Thinking | Text | ToolCall
    seal: Seal | None
    calls: int = 0
    leads: bool = False
    parts: Sequence[str] = ()


class Sealer:
    """One answer's events, batch by batch, as they go to the client.

    All thinking leaves sealed by us. A call's seal goes along with the thinking before it when it is known by
    then; for that the end of a thinking block waits for the event that follows it. Growth passes untouched.
    """

    def __init__(
        self,
        box: SecretBox,
        tenant: str,
        dialect: str,
        origin: Origin,
        *,
        whole: bool | None = None,
        after: Request | None = None,
    ) -> None:
        self.items: dict[str, int] = {}
        """Ids of reasoning items that the client may refer to, and the blocks that they stand for."""
        self._box = box
        self._tenant = tenant
        self._dialect = dialect
        self._scheme = SCHEMES.get(dialect)
        self._origin = origin
        self._after = after
        self._whole = dialect in WHOLE if whole is None else whole
        self._making: dict[int, _Making] = {}
        self._growing: dict[int, list[str]] = {}
        self._unshown: dict[int, BlockStarted] = {}
        self._held: tuple[tuple[BlockEnded, _Making], ...] = ()
        self._waiting: list[SealedBlock] | None = None
        self._thoughts: list[SealedBlock] | None = None
        self._calls = 0
        self._said = False
        self._bundled = False

    @cached_property
    def _turn(self) -> bytes:
        return new_turn()

    @cached_property
    def _prefix(self) -> bytes:
        return prefix_of(self._after) if self._after is not None else b""

    def feed(self, events: Sequence[Event]) -> list[Event]:
        """The same batch for the client."""
        kinds = set(map(type, events))
        if kinds == _GROWTH and not self._held and not self._unshown:
            self._grow(events)
            return list(events)
        if self._scheme is not None and not kinds.isdisjoint(_TELLING):
            self._look_ahead(events)
        out: list[Event] = []
        for event in events:
            if self._held and type(event) is not Noted:
                self._release(out)
            if type(event) is BlockGrew:
                if event.index in self._unshown:
                    out.append(self._unshown.pop(event.index))
                if event.index in self._growing:
                    self._growing[event.index].append(event.text)
                out.append(event)
            elif type(event) is BlockStarted:
                self._start(event, out)
            elif type(event) is BlockEnded:
                self._end(event, out)
            else:
                self._take(event, out)
        return out

    def _take(self, event: Event, out: list[Event]) -> None:
        """What is neither start, growth nor end of a block."""
        if type(event) is BlockSealed:
            if event.index in self._making:
                self._making[event.index].seal = event.seal
            return
        if type(event) is Started:
            self._origin = event.origin or self._origin
        out.append(event)

    def _grow(self, events: Sequence[Event]) -> None:
        growing = self._growing
        if growing:
            for event in events:
                if type(event) is BlockGrew and event.index in growing:
                    growing[event.index].append(event.text)

    def grown(self, index: int) -> list[list[str]] | None:
        """What takes the texts by which a block grows; None while something else goes before them."""
        if self._held or self._unshown:
            return None
        return [self._growing[index]] if index in self._growing else []

    def answer(self, answer: Answer) -> Answer:
        """A whole answer for the client."""
        self._origin = answer.turn.origin or self._origin
        if self._is_plain(answer):
            return answer
        if self._dialect != "gemini" and answer.finish is not None:
            shown = self._whole_turn(answer.turn.blocks)
        else:
            shown = collect(self.feed(list(events_of(answer)))).turn.blocks
        return msgspec.structs.replace(answer, turn=msgspec.structs.replace(answer.turn, blocks=shown))

    def _is_plain(self, answer: Answer) -> bool:
        """Whether there is nothing to seal; at Google's clients the first call brings a seal of ours."""
        calls = self._dialect != "gemini"
        for block in answer.turn.blocks:
            if type(block) is not Text and not (calls and type(block) is ToolCall):
                return False
            if block.seal is not None:
                return False
        return True

    def _whole_turn(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        """What all events of an answer that is over amount to at the client, without making them."""
        shown: list[Block] = []
        for index, block in enumerate(blocks):
            if type(block) is ToolCall and block.seal is not None:
                self._wait(index, block, block.seal)
        for index, block in enumerate(blocks):
            if type(block) is Thinking:
                shown.append(self._whole_thought(index, block))
                continue
            if type(block) is Text:
                self._said = True
                if not block.text and (block.seal is not None or block.interrupted):
                    continue
            elif type(block) is ToolCall:
                self._said = False
                self._calls += 1
            if getattr(block, "seal", None) is not None:
                block = msgspec.structs.replace(block, seal=None)
            shown.append(block)
        return tuple(shown)

    def _whole_thought(self, index: int, block: Thinking) -> Thinking:
        shown = self._shown(index, block)
        if self._scheme is None or block.interrupted:
            return shown
        making = _Making(block, block.seal, self._calls, not self._said, (block.text,))
        return msgspec.structs.replace(shown, seal=self._seal(self._kept_thinking(BlockEnded(index), making)))

    def _look_ahead(self, events: Sequence[Event]) -> None:
        """Seals of calls that this batch tells: they may go along with thinking that ends before them."""
        if self._dialect == "gemini":
            return
        begun: dict[int, Block] = {}
        for event in events:
            if type(event) is BlockStarted:
                begun[event.index] = event.block
                seal = getattr(event.block, "seal", None)
            elif type(event) is BlockSealed:
                seal = event.seal
            else:
                continue
            if seal is None:
                continue
            made = self._making.get(event.index)
            call = begun.get(event.index) or (made.block if made is not None else None)
            if type(call) is ToolCall:
                self._wait(event.index, call, seal)

    def _wait(self, index: int, call: ToolCall, seal: Seal) -> None:
        self._waiting = self._waiting or []
        self._waiting.append(_kept_call(index, call, seal))

    def _start(self, event: BlockStarted, out: list[Event]) -> None:
        index, block = event.index, event.block
        if type(block) is Thinking:
            parts = [block.text]
            self._making[index] = _Making(block, block.seal, self._calls, not self._said, parts)
            if self._scheme is not None:
                self._growing[index] = parts
            out.append(BlockStarted(index, self._shown(index, block)))
        elif type(block) is Text or type(block) is ToolCall:
            self._making[index] = _Making(block, block.seal)
            self._said = type(block) is Text
            self._calls += not self._said
            if block.seal is not None:
                event = BlockStarted(index, msgspec.structs.replace(block, seal=None))
            if type(block) is Text and not block.text and self._dialect != "gemini":
                self._unshown[index] = event
            else:
                out.append(event)
        elif type(block) is Image:
            out.append(BlockStarted(index, self._sealed_image(index, block)))
        else:
            out.append(event)

    def _shown(self, index: int, block: Thinking) -> Thinking:
        """The block as the client's encoder is given it: not yet sealed, in a form that the dialect shows."""
        form = "hidden" if block.form == "redacted" else block.form
        if self._dialect != "openai-responses":
            return msgspec.structs.replace(block, form=form, seal=None)
        native = block.extras.get(RESPONSES, {})
        if form == "full" and not native:
            form = "summary"
        given = native.get("id") or minted("rs", self._turn.hex(), index)
        self.items[given] = index
        extras = block.extras | {RESPONSES: native | {"id": given}}
        return msgspec.structs.replace(block, form=form, seal=None, extras=extras)

    def _end(self, event: BlockEnded, out: list[Event]) -> None:
        making = self._making.get(event.index)
        unshown = self._unshown.pop(event.index, None)
        if unshown is not None:
            if making is not None and making.seal is not None:
                return
            out.append(unshown)
        if making is None or self._scheme is None:
            out.append(event)
        elif isinstance(making.block, Thinking):
            del self._growing[event.index]
            self._held += ((event, making),)
            if self._dialect == "gemini":
                self._release(out)
        else:
            if self._dialect == "gemini":
                self._seal_part(event.index, making, out)
            out.append(event)

    def _release(self, out: list[Event]) -> None:
        """Lets ended thinking go, sealed."""
        for event, making in self._held:
            kept = self._kept_thinking(event, making)
            self._thoughts = self._thoughts or []
            self._thoughts.append(kept)
            out.append(BlockSealed(event.index, self._seal(kept)))
            out.append(event)
        self._held = ()

    def _seal(self, kept: SealedBlock) -> Seal:
        """The seal for thinking, with the seals of calls that wait for something to ride on."""
        riding, self._waiting = self._waiting, None
        return self._carrier((kept, *(riding or ())))

    def _kept_thinking(self, event: BlockEnded, making: _Making) -> SealedBlock:
        assert isinstance(making.block, Thinking)
        text = "".join(making.parts)
        extras = {**making.block.extras}
        for name, fields in event.extras.items():
            extras[name] = extras.get(name, {}) | fields
        block = msgspec.structs.replace(
            making.block,
            text=text if self._whole and has_room(text) else "",
            seal=making.seal,
            extras=extras,
        )
        return SealedBlock(event.index, block, digest(text), making.calls, making.leads)

    def _seal_part(self, index: int, making: _Making, out: list[Event]) -> None:
        """A part with a seal of its own, or the turn's first call, which brings the thinking along."""
        block = making.block
        first = isinstance(block, ToolCall) and not self._bundled
        if making.seal is None and not first:
            return
        riding: tuple[SealedBlock, ...] = ()
        if isinstance(block, ToolCall):
            kept = _kept_call(index, block, making.seal)
            riding = self._bundle() if first else ()
            self._bundled = True
        else:
            kept = SealedBlock(index, Text(seal=making.seal))
        out.append(BlockSealed(index, self._carrier((kept, *riding))))

    def _bundle(self) -> tuple[SealedBlock, ...]:
        """The thinking so far, up to what a carrier has room for."""
        thoughts = tuple(self._thoughts or ())
        room = "".join(kept.block.text for kept in thoughts if isinstance(kept.block, Thinking))
        return thoughts if has_room(room) else ()

    def _sealed_image(self, index: int, block: Image) -> Image:
        if block.seal is None:
            return block
        seal = (
            self._carrier((SealedBlock(index, Image(seal=block.seal)),))
            if self._dialect == "gemini"
            else None
        )
        return msgspec.structs.replace(block, seal=seal)

    def _carrier(self, kept: tuple[SealedBlock, ...]) -> Seal:
        assert self._scheme is not None
        carried = CarrierPayload(self._turn, self._origin, kept, self._prefix)
        return Seal(self._scheme, write(self._box, carried, self._tenant))


def _kept_call(index: int, call: ToolCall, seal: Seal | None) -> SealedBlock:
    return SealedBlock(index, ToolCall(call.id, call.name, seal=seal, extras=call.extras))
