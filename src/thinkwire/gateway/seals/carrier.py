"""Carriers: vendors' seals, locked and given to clients in their own opaque fields, and opened on return.

A carrier is bound to its tenant and made so that only this gateway opens it; it never travels upstream. What
comes back altered, forged or from another tenant is no seal: what it stood on sleeps, and that is said.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

import msgspec

from thinkwire.events import merge_extras
from thinkwire.gateway.common.digest import digest
from thinkwire.gateway.common.secret_box import SecretBox, load_secrets
from thinkwire.gateway.ledger.matching import prefixes_of
from thinkwire.gateway.seals.payload import CarrierPayload, SealedBlock, is_ours, read
from thinkwire.gateway.seals.sealer import Sealer
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.notes import Note
from thinkwire.replay.origin import UNKNOWN_ORIGIN
from thinkwire.request import Request

__all__ = ["Carrier", "Sealer"]

_STAND_INS = (b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go")
_NO_SEAL = frozenset(
    spelling.decode().rstrip("=")
    for stand_in in _STAND_INS
    for spelling in (stand_in, b64encode(stand_in), urlsafe_b64encode(stand_in))
)
"""What Google documents for calls without a signature, as it stands and as its Python SDK sends it."""
_UNMARKED = (ToolResult, Document)
"""Blocks that can hold neither a seal nor native fields."""


class Carrier:
    """Makes and opens carriers. With several keys the newest, which comes first, seals; all of them open."""

    def __init__(self, key: bytes | Sequence[bytes] | None = None) -> None:
        """Without a key, the gateway's own: from the environment or the state folder."""
        self._box = SecretBox(load_secrets() if key is None else key, "carrier")

    def sealer(
        self,
        tenant: str,
        dialect: str,
        origin: Origin,
        *,
        whole: bool | None = None,
        after: Request | None = None,
    ) -> Sealer:
        """For one answer. With `whole`, carriers hold the text of thinking also where clients return it.

        `after` is what is answered, if the model takes its thinking back only behind the very same.
        """
        return Sealer(self._box, tenant, dialect, origin, whole=whole, after=after)

    def open_request(
        self, request: Request, tenant: str, dialect: str, *, bound: bool = False
    ) -> tuple[Request, tuple[Note, ...]]:
        """The request with the originals in place of our carriers, each opened turn with its origin.

        `dialect` is the client's. Seals that do not claim to be ours stay as they are. With `bound`, thinking
        comes back only where nothing has changed before it: the vendor would refuse it elsewhere.
        """
        if not _holds_marks(request.turns):
            return request, ()
        opening = _Opening(self._box, tenant)
        prefixes = prefixes_of(request) if bound else repeat(b"")
        turns = tuple(map(opening.turn, request.turns, prefixes))
        if all(map(_is, turns, request.turns)):
            return request, ()
        return msgspec.structs.replace(request, turns=turns), opening.notes(dialect)


def _is(first: object, second: object) -> bool:
    return first is second


class _Opening:
    """One request's carriers, and what was wrong with them."""

    def __init__(self, box: SecretBox, tenant: str) -> None:
        self._box = box
        self._tenant = tenant
        self._read: dict[str, CarrierPayload | None] = {}
        self._forged = 0
        self.changed = 0
        self.refilled = 0
        self.mixed = 0
        self.moved: set[tuple[bytes, int]] = set()
        self._fits: dict[bytes, bool] = {}

    def turn(self, turn: Turn, prefix: bytes = b"") -> Turn:
        """The turn with its originals; with a prefix, those that were said after the same one."""
        if not any(map(_is_marked, turn.blocks)):
            return turn
        opened = [self._open(block) for block in turn.blocks]
        good = [carried for carried in opened if carried is not None]
        for carried in good:
            self._fits.setdefault(carried.turn, not prefix or carried.prefix in (b"", prefix))
        if turn.role == "assistant" and good:
            return _Rebuilding(self, turn, opened, good[0].origin).turn()
        blocks = tuple(map(_bare, turn.blocks))
        forged = turn.role == "assistant" and any(map(_claims, turn.blocks))
        return msgspec.structs.replace(turn, blocks=blocks, origin=UNKNOWN_ORIGIN if forged else turn.origin)

    def _open(self, block: Block) -> CarrierPayload | None:
        seal = getattr(block, "seal", None)
        if seal is None or not is_ours(seal.data):
            return None
        if seal.data not in self._read:
            self._read[seal.data] = read(self._box, seal.data, self._tenant)
        carried = self._read[seal.data]
        self._forged += carried is None
        return carried

    def fits(self, carried: CarrierPayload) -> bool:
        """Whether an answer's thinking stands where it was said. A client may have cut the answer in pieces:
        the first of them tells for all."""
        return self._fits[carried.turn]

    def notes(self, dialect: str) -> tuple[Note, ...]:
        return tuple(self._notes(dialect))

    def _notes(self, dialect: str) -> Iterator[Note]:
        if self._forged:
            message = f"{self._forged} seals are not ours or were altered; what they stood on is not sent"
            yield Note("seal.forged", message, detail={"count": self._forged, "dialect": dialect})
        if self.changed:
            message = f"the client changed {self.changed} thoughts beside their seals; they are not sent"
            yield Note("thinking.dropped", message, detail={"count": self.changed})
        if self.refilled:
            message = f"the client left out or changed {self.refilled} thoughts; the originals are used"
            yield Note("thinking.restored", message, detail={"count": self.refilled})
        if self.mixed:
            message = f"{self.mixed} thoughts in a turn that another model began are not sent"
            yield Note("thinking.dropped", message, detail={"count": self.mixed})
        if self.moved:
            count = len(self.moved)
            message = f"{count} thoughts were said after something else than what stands before them now"
            yield Note("prefix.broken", f"{message}; they are not sent", detail={"count": count})


class _Rebuilding:
    """One turn with at least one true carrier. The first one's origin is the turn's.

    Thinking without a true carrier of that origin is left out: it would be shown to a vendor as its own.
    """

    def __init__(
        self, opening: _Opening, turn: Turn, opened: list[CarrierPayload | None], origin: Origin
    ) -> None:
        self._opening = opening
        self._turn = turn
        self._origin = origin
        self._opened = opened
        own = [carried for carried in opened if carried is not None and _same(carried.origin, origin)]
        self._calls = {
            kept.block.id: kept.block
            for carried in own
            for kept in carried.kept
            if isinstance(kept.block, ToolCall)
        }
        self._riders = {(carried.turn, kept.at): kept for carried in own for kept in carried.kept[1:]}
        self._moved = {carried.turn for carried in own if not opening.fits(carried)}
        self._blocks: list[Block] = []
        self._pieces: list[str] = []
        self._shown: set[tuple[bytes, int]] = set()
        self._restored: list[str] = []

    def turn(self) -> Turn:
        for block, carried in zip(self._turn.blocks, self._opened, strict=True):
            if isinstance(block, Thinking):
                self._thinking(block, carried)
            else:
                self._blocks.append(self._other(block, carried))
                self._leave_pieces()
        self._leave_pieces()
        self._insert_riders()
        return msgspec.structs.replace(self._turn, blocks=tuple(self._blocks), origin=self._origin)

    def _thinking(self, block: Thinking, carried: CarrierPayload | None) -> None:
        if carried is None:
            if block.seal is not None and not is_ours(block.seal.data):
                self._blocks.append(block)
            else:
                self._pieces.append(block.text)
            return
        kept = carried.kept[0]
        if not _same(carried.origin, self._origin):
            self._opening.mixed += 1
            return
        if not self._opening.fits(carried):
            self._opening.moved.add((carried.turn, kept.at))
            self._pieces.clear()
            return
        whole = self._whole(kept, block)
        if whole is None:
            self._opening.changed += 1
        elif (carried.turn, kept.at) not in self._shown:
            self._blocks.append(whole)
            self._restored.append(whole.text)
        self._shown.add((carried.turn, kept.at))

    def _whole(self, kept: SealedBlock, block: Thinking) -> Thinking | None:
        """The original. Its text is the client's if the digest says so, else what the carrier holds."""
        original = kept.block
        if not isinstance(original, Thinking):
            return None
        streamed = "".join((*self._pieces, block.text))
        for text in (block.text, streamed):
            if digest(text) == kept.digest:
                if text is streamed:
                    self._pieces.clear()
                return msgspec.structs.replace(original, text=text)
        if digest(original.text) != kept.digest:
            return None
        self._pieces = [piece for piece in self._pieces if piece not in original.text]
        self._opening.refilled += 1
        return original

    def _other(self, block: Block, carried: CarrierPayload | None) -> Block:
        if isinstance(block, ToolCall):
            original = self._calls.get(block.id) or self._named(block, carried)
            if original is not None:
                extras = merge_extras(original.extras, block.extras)
                return msgspec.structs.replace(block, seal=original.seal, extras=extras)
        if carried is None or not _same(carried.origin, self._origin):
            return _bare(block)
        kept = carried.kept[0].block
        if isinstance(block, (Text, Image)) and type(kept) is type(block):
            return msgspec.structs.replace(block, seal=kept.seal)
        return _bare(block)

    def _named(self, block: ToolCall, carried: CarrierPayload | None) -> ToolCall | None:
        """The original of a call whose id the client has lost: its carrier has it, if the name is right."""
        kept = carried.kept[0].block if carried and _same(carried.origin, self._origin) else None
        return kept if isinstance(kept, ToolCall) and kept.name == block.name else None

    def _leave_pieces(self) -> None:
        """Unsealed thinking in an opened turn is nobody's; what a stream cut into pieces is in the whole."""
        known = self._restored
        self._opening.changed += sum(
            bool(piece) and not any(piece in text for text in known) for piece in self._pieces
        )
        self._pieces.clear()

    def _insert_riders(self) -> None:
        """Thinking that the client left out and that a call brought along, where it stood."""
        missing = [
            (key, kept)
            for key, kept in sorted(self._riders.items(), key=lambda item: item[1].at)
            if key not in self._shown and isinstance(kept.block, Thinking) and _is_whole(kept)
        ]
        for key, kept in missing:
            if key[0] in self._moved:
                self._opening.moved.add(key)
                continue
            assert isinstance(kept.block, Thinking)
            self._blocks.insert(self._place(kept), kept.block)
            self._opening.refilled += 1

    def _place(self, kept: SealedBlock) -> int:
        """Where the thinking stood: after so many calls, and before or after the text that follows them."""
        calls = [at for at, block in enumerate(self._blocks) if isinstance(block, ToolCall)]
        start = calls[kept.calls - 1] + 1 if 0 < kept.calls <= len(calls) else 0
        end = calls[kept.calls] if kept.calls < len(calls) else len(self._blocks)
        if not kept.leads:
            return end
        while start < end and isinstance(self._blocks[start], Thinking):
            start += 1
        return start


def _holds_marks(turns: tuple[Turn, ...]) -> bool:
    """Whether any block is marked. Nearly all are of a kind that cannot be, or have no seal."""
    block: Any
    for turn in turns:
        for block in turn.blocks:
            kind = type(block)
            if kind in _UNMARKED or (kind is not Opaque and block.seal is None):
                continue
            if _is_marked(block):
                return True
    return False


def _is_marked(block: Block) -> bool:
    """Whether a block carries something that must not go upstream."""
    if isinstance(block, Opaque):
        return isinstance(block.data, dict) and any(map(_is_carrier, block.data.values()))
    seal = getattr(block, "seal", None)
    return seal is not None and (is_ours(seal.data) or seal.data.rstrip("=") in _NO_SEAL)


def _claims(block: Block) -> bool:
    seal = getattr(block, "seal", None)
    return seal is not None and is_ours(seal.data)


def _is_carrier(value: object) -> bool:
    return isinstance(value, str) and is_ours(value) and len(value) > 64


def _bare(block: Block) -> Block:
    """The block without what is no vendor's seal."""
    if not _is_marked(block):
        return block
    if isinstance(block, Opaque):
        rest = {key: value for key, value in block.data.items() if not _is_carrier(value)}
        return Opaque(block.dialect, rest)
    return msgspec.structs.replace(block, seal=None) if _sealable(block) else block


def _sealable(block: Block) -> bool:
    return isinstance(block, (Thinking, Text, ToolCall, Image))


def _is_whole(kept: SealedBlock) -> bool:
    return isinstance(kept.block, Thinking) and digest(kept.block.text) == kept.digest


def _same(first: Origin, second: Origin) -> bool:
    """Whether the same model of the same service wrote both."""
    return (first.provider, first.endpoint, first.model) == (second.provider, second.endpoint, second.model)
