"""Which remembered turn a client's turn is, and the client's turn with what it lost. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from thinkwire.errors import MalformedInput
from thinkwire.events import merge_extras
from thinkwire.gateway.common.digest import digest
from thinkwire.jsonvalue import parse
from thinkwire.messages import Block, Opaque, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.replay.origin import UNKNOWN_ORIGIN
from thinkwire.request import Request, Tool

Fact: TypeAlias = tuple[str, ...]
"""What a turn can be known by."""

_sorted = msgspec.json.Encoder(order="sorted").encode


def facts_of(turn: Turn) -> list[Fact]:
    """The turn's calls by id, then its visible content: words, and calls by name and arguments."""
    facts: list[Fact] = []
    content = ["turn", normal(turn.text)]
    for call in turn.tool_calls:
        facts.append(("call", call.id, call.name))
        content += (call.name, canonical(call.arguments))
    if facts or content[1]:
        facts.append(tuple(content))
    return facts


def place_of(turns: Sequence[Turn], index: int) -> bytes | None:
    """A digest of what the user's side said last before this place; None when it said nothing."""
    for at in range(index - 1, -1, -1):
        if turns[at].role == "user":
            return _digest_of(turns[at])
    return None


def places_of(turns: Sequence[Turn], indexes: Iterable[int]) -> Iterator[bytes | None]:
    """`place_of` for several places, in ascending order. Each of the user's turns is hashed at most once."""
    at = 0
    last: Turn | None = None
    place: bytes | None = None
    for index in indexes:
        before = last
        while at < index:
            last = turns[at] if turns[at].role == "user" else last
            at += 1
        if last is not before and last is not None:
            place = _digest_of(last)
        yield place


def _digest_of(turn: Turn) -> bytes:
    """A digest of what a turn of the user says."""
    return digest("\x1f".join(_told(turn.blocks)))


def prefixes_of(request: Request) -> Iterator[bytes]:
    """For each place between turns, a digest of all that stands before it but thinking: what a vendor may
    bind a seal to. The last is that of the whole request.
    """
    summed = hashlib.sha256()
    for said in _said_in(request):
        summed.update(said)
        yield summed.digest()


def prefix_of(request: Request) -> bytes:
    """The digest of a whole request: of what stands before its answer."""
    return hashlib.sha256(b"".join(_said_in(request))).digest()


def _said_in(request: Request) -> Iterator[bytes]:
    """All of a request but thinking: what stands before its turns, then each turn."""
    said = [text.text for text in request.system]
    for tool in request.tools:
        said += [tool.name, _sorted(tool.schema).decode()] if isinstance(tool, Tool) else [str(tool.data)]
    yield _spelled(said)
    for turn in request.turns:
        # What is put back may stand in other pieces than the client has it.
        said = ["\x1e", turn.role, "".join("".join(_words(turn.blocks)).split())]
        for block in turn.blocks:
            if type(block) is ToolCall:
                said += (block.id, canonical(block.arguments))
        yield _spelled(said)


def _spelled(said: list[str]) -> bytes:
    return "\x1f".join([*said, ""]).encode("utf-8", "surrogatepass")


def _words(blocks: Sequence[Block]) -> list[str]:
    """As `_told`, spaced as it came."""
    words: list[str] = []
    for block in blocks:
        if type(block) is Text:
            words.append(block.text)
        elif type(block) is ToolResult:
            words.append(f"result {block.call_id}")
            words += _words(block.content)
    return words


def _told(blocks: Sequence[Block]) -> list[str]:
    told: list[str] = []
    for block in blocks:
        if type(block) is ToolResult:
            told.append(f"result {block.call_id}")
            told += _told(block.content)
        elif type(block) is Text:
            told.append(normal(block.text))
    return told


def normal(text: str) -> str:
    return " ".join(text.split())


def canonical(arguments: str) -> str:
    """Arguments in one spelling, for comparing."""
    try:
        return _sorted(parse(arguments)).decode()
    except (MalformedInput, UnicodeEncodeError, RecursionError, OverflowError):
        return normal(arguments)


def worth_keeping(turn: Turn) -> Turn | None:
    """What of an answer a client may lose, with all that it stands among; None when there is nothing."""
    for block in turn.blocks:
        if (type(block) is not Text and type(block) is not ToolCall) or block.seal is not None:
            break
    else:
        return None
    blocks = [block for block in turn.blocks if not getattr(block, "interrupted", False)]
    for block in blocks:
        if type(block) is Thinking or getattr(block, "seal", None) is not None:
            return Turn("assistant", tuple(blocks), origin=turn.origin)
    return None


def restored(turn: Turn, original: Turn, used: set[int]) -> Turn:
    """The client's turn with the thinking and the seals of the original. Its words and calls stay its own.

    `used` holds the places of the original's thinking that earlier turns of the request have got already, for
    clients that make several turns of one.
    """
    pairs = _pairs(turn, original)
    same_calls = len(pairs) == len(turn.tool_calls) == len(original.tool_calls)
    if same_calls and turn.text == original.text:
        blocks = _in_order(turn, original, pairs, used)
    elif pairs:
        blocks = _by_calls(turn, original, pairs, used)
    elif normal(turn.text) == normal(original.text) and not turn.tool_calls:
        blocks = [*_thoughts(original, range(len(original.blocks)), used), *_unthinking(turn)]
    else:
        return turn
    origin = original.origin if turn.origin in (None, UNKNOWN_ORIGIN) else turn.origin
    if tuple(blocks) == turn.blocks and origin == turn.origin:
        return turn
    return msgspec.structs.replace(turn, blocks=tuple(blocks), origin=origin)


def _pairs(turn: Turn, original: Turn) -> dict[int, ToolCall]:
    """The client's calls by their place in the original: by id, or all in order if they say the same."""
    mine = {(call.id, call.name): call for call in turn.tool_calls}
    places = [(at, block) for at, block in enumerate(original.blocks) if isinstance(block, ToolCall)]
    by_id = {at: mine[call.id, call.name] for at, call in places if (call.id, call.name) in mine}
    distinct = len(mine) == len(turn.tool_calls) and len({call.id for _, call in places}) == len(places)
    if distinct and (by_id or len(places) != len(mine)):
        return by_id
    if len(places) != len(turn.tool_calls):
        return {}
    ordered = list(zip(places, turn.tool_calls, strict=True))
    if all(_says_the_same(call, theirs) for (_, call), theirs in ordered):
        return {at: theirs for (at, _), theirs in ordered}
    return {}


def _says_the_same(first: ToolCall, second: ToolCall) -> bool:
    return first.name == second.name and canonical(first.arguments) == canonical(second.arguments)


def _in_order(turn: Turn, original: Turn, pairs: dict[int, ToolCall], used: set[int]) -> list[Block]:
    """The original's blocks as they stood. What only the client has comes after them."""
    blocks: list[Block] = []
    texts = [block for block in turn.blocks if isinstance(block, Text) and block.text]
    theirs = [block.text for block in original.blocks if isinstance(block, Text) and block.text]
    aligned = iter(texts) if [text.text for text in texts] == theirs else None
    others = [block for block in turn.blocks if not isinstance(block, (Text, ToolCall, Thinking))]
    for at, block in enumerate(original.blocks):
        if isinstance(block, Thinking):
            blocks += _thoughts(original, (at,), used)
        elif isinstance(block, ToolCall):
            blocks.append(_call(pairs[at], block))
        elif isinstance(block, Text):
            shown = next(aligned) if aligned is not None and block.text else block
            blocks.append(_text(shown, block))
        elif block in others:
            others.remove(block)
            blocks.append(block)
        elif isinstance(block, Opaque) and not _asks(block):
            blocks.append(block)
    return blocks + others


def _by_calls(turn: Turn, original: Turn, pairs: dict[int, ToolCall], used: set[int]) -> list[Block]:
    """An edited turn: each known call gets its seal and what was thought right before it; the rest leads."""
    first = min(pairs)
    leading = [at for at in range(first) if not _leads_to(original, at, pairs)]
    blocks: list[Block] = [*_thoughts(original, leading, used)]
    places = {call.id: at for at, call in pairs.items()}
    for block in _unthinking(turn):
        if isinstance(block, ToolCall) and block.id in places:
            at = places[block.id]
            before = [place for place in range(at) if _leads_to(original, place, {at: block})]
            blocks += _thoughts(original, before, used)
            origin = original.blocks[at]
            blocks.append(_call(block, origin) if isinstance(origin, ToolCall) else block)
        else:
            blocks.append(block)
    return blocks


def _leads_to(original: Turn, at: int, calls: dict[int, ToolCall]) -> bool:
    """Whether nothing but thinking stands between this place and one of these calls."""
    following = at + 1
    while following < len(original.blocks) and isinstance(original.blocks[following], Thinking):
        following += 1
    return following in calls


def _thoughts(original: Turn, places: Sequence[int], used: set[int]) -> Iterator[Thinking]:
    for at in places:
        block = original.blocks[at]
        if isinstance(block, Thinking) and at not in used:
            used.add(at)
            yield block


def _unthinking(turn: Turn) -> list[Block]:
    return [block for block in turn.blocks if not isinstance(block, Thinking)]


def _call(call: ToolCall, original: ToolCall) -> ToolCall:
    same = canonical(call.arguments) == canonical(original.arguments)
    return msgspec.structs.replace(
        call,
        arguments=original.arguments if same else call.arguments,
        seal=original.seal if same else call.seal,
        extras=merge_extras(original.extras, call.extras),
    )


def _text(shown: Text, original: Text) -> Text:
    """The same words, as the model said them, with the client's marks on them."""
    return msgspec.structs.replace(original, extras=merge_extras(original.extras, shown.extras))


def _asks(block: Opaque) -> bool:
    """Whether a native block is a call that waits for its result, which only the client can bring."""
    data = block.data
    return isinstance(data, dict) and ("call_id" in data or isinstance(data.get(str(data.get("type"))), dict))
