"""A request's turns, mended from what the ledger knows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from thinkwire.gateway.ledger.matching import restored
from thinkwire.messages import Block, Opaque, Origin, Seal, Thinking, Turn
from thinkwire.replay.origin import UNKNOWN_ORIGIN

_RESPONSES = "openai_responses"


class Remembered(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A turn as the model said it, who was asked, and the ids under which clients know its thinking."""

    turn: Turn
    upstream: str
    items: dict[str, int] = {}
    prefix: bytes = b""
    """Of what stood before it, where that was said."""


def native_items(turn: Turn) -> dict[str, int]:
    """The ids that OpenAI itself gave to this turn's thinking."""
    found: dict[str, int] = {}
    for at, block in enumerate(turn.blocks):
        if isinstance(block, Thinking):
            item = block.extras.get(_RESPONSES, {}).get("id")
            if block.seal is not None and block.seal.scheme == "openai.item":
                item = block.seal.data
            if isinstance(item, str):
                found[item] = at
    return found


def lacking(turns: Sequence[Turn]) -> list[int]:
    """Where turns stand that may have lost something: not those that came back whole in their carriers."""
    lost = []
    for index, turn in enumerate(turns):
        if turn.role == "assistant" and (turn.origin is None or not _is_whole(turn)):
            lost.append(index)
    return lost


def _is_whole(turn: Turn) -> bool:
    """Whether a turn whose origin is known has all its thinking."""
    thoughts = [block for block in turn.blocks if isinstance(block, Thinking)]
    if not thoughts:
        return False
    return all(thought.seal for thought in thoughts) or any(call.seal for call in turn.tool_calls)


def references(turns: Sequence[Turn]) -> set[str]:
    """The reasoning items that a request refers to instead of bringing them."""
    found: set[str] = set()
    for turn in turns:
        for block in turn.blocks:
            if type(block) is Opaque and (item := _reference(block)) is not None:
                found.add(item)
    return found


def _reference(block: Block) -> str | None:
    if not isinstance(block, Opaque) or not isinstance(block.data, dict):
        return None
    item = block.data.get("id")
    return item if block.data.get("type") == "item_reference" and isinstance(item, str) else None


class RestorePass:
    """One request's turns, restored from what is known."""

    def __init__(self, upstream: str, known: Mapping[bytes, Remembered]) -> None:
        self._upstream = upstream
        self._known = known
        self._used: dict[int, set[int]] = {}
        self._placed: set[str] = set()
        """Items that were put in the place of a reference; further references to them stay as they are."""
        self.referred = 0
        """How many references became the thinking itself."""

    def turn(self, turn: Turn, names: Sequence[Sequence[bytes]], prefix: bytes = b"") -> Turn:
        """The turn as the first that fits remembers it; of equally sure ones, the same upstream's first.

        With a prefix, only what was said after the same one fits.
        """
        for group in names:
            found = [self._known[name] for name in group if name in self._known]
            for remembered in sorted(found, key=lambda known: known.upstream != self._upstream):
                if turn.origin is not None and not _may_be(turn.origin, remembered.turn.origin):
                    continue
                if prefix and prefix != remembered.prefix:
                    continue
                used = self._used.setdefault(id(remembered), set())
                taken = len(used)
                mended = restored(turn, remembered.turn, used)
                if mended is not turn or len(used) > taken:
                    return mended
        return turn

    def references(self, turns: tuple[Turn, ...], items: Mapping[str, Sequence[bytes]]) -> tuple[Turn, ...]:
        """References to reasoning items become the thinking itself, unless the turn behind them has it."""
        if not items:
            return turns
        found = {
            item: self._known[name] for item, names in items.items() for name in names if name in self._known
        }
        result: list[Turn] = []
        for at, turn in enumerate(turns):
            following = turns[at + 1] if at + 1 < len(turns) else None
            result += self._resolved(turn, following, found)
        return tuple(_joined(result))

    def _resolved(self, turn: Turn, following: Turn | None, found: Mapping[str, Remembered]) -> list[Turn]:
        if not any(_reference(block) in found for block in turn.blocks):
            return [turn]
        pieces: list[Turn] = []
        rest: list[Block] = []
        there = _thoughts_in(following) if following is not None else {}
        for block in turn.blocks:
            item = _reference(block)
            if item not in found or item is None or item in self._placed:
                rest.append(block)
                continue
            self._placed.add(item)
            if rest:
                pieces.append(msgspec.structs.replace(turn, blocks=tuple(rest)))
                rest = []
            thought = _thought(found[item], item)
            if thought is not None and thought not in there.get((thought.text, thought.seal), ()):
                pieces.append(Turn("assistant", (thought,), origin=found[item].turn.origin))
                self.referred += 1
        if rest:
            pieces.append(msgspec.structs.replace(turn, blocks=tuple(rest)))
        return pieces


def gained(mended: Turn, turn: Turn) -> bool:
    """Whether there is thinking or a seal now that was not there before."""
    return mended is not turn and not set(_substance(mended)) <= set(_substance(turn))


def _substance(turn: Turn) -> Iterator[tuple[str, str, str]]:
    for block in turn.blocks:
        seal = getattr(block, "seal", None)
        if isinstance(block, Thinking) or seal is not None:
            yield type(block).__name__, getattr(block, "text", ""), seal.data if seal else ""


def _thought(remembered: Remembered, item: str) -> Thinking | None:
    at = remembered.items.get(item, -1)
    block = remembered.turn.blocks[at] if 0 <= at < len(remembered.turn.blocks) else None
    return block if isinstance(block, Thinking) else None


def _thoughts_in(turn: Turn) -> dict[tuple[str, Seal | None], list[Thinking]]:
    """The thinking of a turn, by text and seal."""
    found: dict[tuple[str, Seal | None], list[Thinking]] = {}
    for block in turn.blocks:
        if isinstance(block, Thinking):
            found.setdefault((block.text, block.seal), []).append(block)
    return found


def _joined(turns: Sequence[Turn]) -> Iterator[Turn]:
    """Thinking that was referred to, and the rest of its turn behind it, are one turn."""
    run: list[Turn] = []
    origin: Origin | None = None
    for turn in turns:
        mine = turn.role == "assistant"
        if run and mine and (turn.origin is None or _same_author(turn.origin, origin)):
            run.append(turn)
            origin = turn.origin or origin
        else:
            if run:
                yield _as_one(run, origin)
            run, origin = [turn], turn.origin
        if not (mine and all(isinstance(block, Thinking) for block in turn.blocks)):
            yield _as_one(run, origin)
            run = []
    if run:
        yield _as_one(run, origin)


def _as_one(run: list[Turn], origin: Origin | None) -> Turn:
    """Join a run of turns into one; the last one's extras are kept."""
    if len(run) == 1:
        return run[0]
    blocks = tuple([block for turn in run for block in turn.blocks])
    return msgspec.structs.replace(run[-1], blocks=blocks, origin=origin)


def _may_be(origin: Origin, author: Origin | None) -> bool:
    return origin == UNKNOWN_ORIGIN or _same_author(origin, author)


def _same_author(first: Origin, second: Origin | None) -> bool:
    return second is not None and (first.provider, first.model) == (second.provider, second.model)
