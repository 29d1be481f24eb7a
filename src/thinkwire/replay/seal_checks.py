"""What is wrong with thinking and its seals: missing, foreign, altered, moved, or torn from its company."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkwire.dialects.shared import own
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import parse
from thinkwire.messages import Block, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.providers import find_provider
from thinkwire.replay.findings import Case, Finding, Severity
from thinkwire.replay.item_ids import RESPONSES, bad_item_ids, checks_items, item_id
from thinkwire.replay.origin import READERS, readable, same_service
from thinkwire.replay.policy import exchange_start, has_results, thinks

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_PADDED = ("anthropic.signature", "anthropic.redacted", "gemini.thought")
"""Seals that are whole groups of four characters, in every recorded answer."""
_FERNET = "gAAAA"


def is_altered(case: Case, turn: Turn, seal: Seal) -> bool:
    """Whether a seal cannot be what its vendor gave: cut, wrapped, or of other characters."""
    data = seal.data
    if seal.scheme == "openrouter.details":
        return not _is_list(data)
    if seal.scheme not in (*_PADDED, "openai.encrypted"):
        return False
    name = turn.origin.provider if turn.origin else case.destination.provider
    maker = find_provider(name) if name else None
    pads = maker is not None and maker.pads_seals
    whole = seal.scheme in _PADDED or pads or data.startswith(_FERNET)
    return _BASE64.fullmatch(data) is None or (whole and len(data) % 4 != 0)


def _is_list(data: str) -> bool:
    try:
        return isinstance(parse(data), list)
    except MalformedInput:
        return False


def is_own(case: Case, turn: Turn, seal: Seal | None) -> bool:
    """Whether what this turn's model sealed, or thought without a seal, is this destination's own."""
    to = case.destination
    if turn.origin is not None and not same_service(turn.origin, to.provider, to.endpoint):
        return False
    return seal is None or readable(seal, turn.origin, to.dialect, to.model)


def seals(case: Case) -> Iterator[Finding]:
    """Each seal by itself: whole, at home, and kept."""
    start = exchange_start(case.turns)
    for index, turn in enumerate(case.turns):
        for place, block in enumerate(turn.blocks):
            seal: Seal | None = getattr(block, "seal", None)
            if isinstance(block, Thinking) and is_unstored(case, block):
                message = "thinking that is only named by an id; nothing was stored under it"
                yield Finding("seal.unstored", "refused", index, place, message, "it is not sent")
            elif seal is None:
                continue
            elif is_altered(case, turn, seal):
                message = "the seal is cut or changed; the provider cannot read it"
                yield Finding("seal.altered", "refused", index, place, message, "it is not sent")
            elif seal.scheme in READERS.get(case.dialect, ()) and not is_own(case, turn, seal):
                severity = _foreign(case, block, index >= start)
                message = f"sealed by {_author(turn)}; {case.destination.model} cannot read it"
                yield Finding("seal.foreign", severity, index, place, message, _asleep(turn))


def _foreign(case: Case, block: Block, current: bool) -> Severity:
    if case.dialect == "gemini":
        return "refused" if isinstance(block, ToolCall) and current and case.checks_signatures else "odd"
    return "refused"


def is_unstored(case: Case, block: Thinking) -> bool:
    """Whether thinking is nothing but the name of an item, and the provider is told to keep none."""
    if case.dialect != "openai-responses" or item_id(block) is None:
        return False
    if block.seal is not None and block.seal.scheme != "openai.item":
        return False
    stored = case.request is not None and own(case.request.extras, RESPONSES).get("store") is not False
    return not stored


def _author(turn: Turn) -> str:
    origin = turn.origin
    return (origin.model or origin.provider if origin else None) or "another model"


def _asleep(turn: Turn) -> str:
    return f"lost: no, dormant; it is not sent here and goes back to {_author(turn)}"


def thoughts(case: Case) -> Iterator[Finding]:
    """Thinking without a seal, or with one that no field of this wire has a place for."""
    for index, turn in enumerate(case.turns):
        for place, block in enumerate(turn.blocks):
            if not isinstance(block, Thinking) or block.interrupted:
                continue
            finding = _thought(case, turn, block, (index, place))
            if finding is not None:
                yield finding


def _thought(case: Case, turn: Turn, block: Thinking, at: tuple[int, int]) -> Finding | None:
    readers = READERS.get(case.dialect, ())
    if block.seal is not None and block.seal.scheme in readers:
        return None
    if block.seal is not None or not is_own(case, turn, None):
        message = f"thinking of {_author(turn)}"
        return Finding("thinking.dormant", "odd", *at, message, _asleep(turn))
    if case.signs:
        message = "thinking without a signature"
        return Finding("thinking.unsigned", "refused", *at, message, "it is not sent")
    if case.wants_no_thinking:
        message = f"{case.destination.model} takes no thinking back"
        return Finding("thinking.unwanted", "refused", *at, message, "it is not sent")
    if case.dialect == "openai-responses" and RESPONSES not in block.extras:
        message = "thinking without a seal cannot go back here"
        return Finding("thinking.unsigned", "lost", *at, message, "it is not sent")
    return None


def signatures(case: Case) -> Iterator[Finding]:
    """On Gemini, the first call of every step of the current exchange is signed, and only the first."""
    if not case.checks_signatures:
        return
    for index in range(exchange_start(case.turns), len(case.turns)):
        turn = case.turns[index]
        calls = [(p, b) for p, b in enumerate(turn.blocks) if isinstance(b, ToolCall) and not b.interrupted]
        if not calls or calls[0][1].seal is not None:
            continue
        message = f"the call of {calls[0][1].name} has no signature"
        mend = "it gets the vendor's placeholder"
        yield Finding("seal.missing", "refused", index, calls[0][0], message, mend)
        for place, call in calls[1:]:
            if call.seal is not None and call.seal.scheme == "gemini.thought":
                message = f"the signature stands on the call of {call.name}, which is not the first"
                yield Finding("seal.misplaced", "refused", index, place, message, "it is not sent")


def loops(case: Case) -> Iterator[Finding]:
    """Tool turns that must have, or start with, their thinking."""
    if case.thinks_by_budget:
        yield from _budget_loop(case)
    if not case.fills_thinking:
        return
    used = any(turn.tool_calls for turn in case.turns)
    facts = case.destination.facts
    every = facts is not None and facts.replay == "always"
    for index, turn in enumerate(case.turns):
        lacks = not any(isinstance(block, Thinking) and not block.interrupted for block in turn.blocks)
        if turn.role == "assistant" and lacks and (turn.tool_calls or (every and used)):
            message = f"{case.destination.model} asks for its thinking beside tool calls, and there is none"
            mend = "the field goes along empty"
            yield Finding("thinking.missing", "refused", index, None, message, mend)


def _budget_loop(case: Case) -> Iterator[Finding]:
    start = exchange_start(case.turns)
    for index, turn in enumerate(case.turns):
        if turn.role != "assistant" or not turn.tool_calls or isinstance(turn.blocks[0], Thinking):
            continue
        current: Severity = "refused" if index > start and has_results(case.turns[-1]) else "odd"
        if any(isinstance(block, Thinking) for block in turn.blocks):
            message = "a tool turn does not start with its thinking"
            yield Finding("thinking.not_first", current, index, 0, message, "the thinking goes first")
        elif current == "refused":
            message = f"this tool loop has a step without {case.destination.model}'s thinking"
            mend = "the loop goes on without thinking until it is over"
            yield Finding("thinking.missing", current, index, None, message, mend)


def items(case: Case) -> Iterator[Finding]:
    """On Responses, reasoning and what it led to come together, each with its id."""
    if case.dialect != "openai-responses":
        return
    bad = bad_item_ids(case.turns, strict=checks_items(case.destination.provider))
    for (index, place), repeated in bad.items():
        message = "the id of an item is another's too" if repeated else "the id of an item is not of its kind"
        yield Finding("item.bad_id", "refused", index, place, message, "it goes without, or not at all")
    thinking = {_author(turn) for turn in case.turns if thinks(turn)}
    for index, turn in enumerate(case.turns):
        for place in torn_thoughts(turn):
            message = "a reasoning item without what it led to"
            yield Finding("thinking.without_follower", "refused", index, place, message, "it is not sent")
        for place in torn_items(turn):
            certain = _author(turn) in thinking and not thinks(turn)
            severity: Severity = "refused" if certain else "odd"
            message = "an item with an id, whose reasoning may be missing"
            yield Finding("item.without_thinking", severity, index, place, message, "it goes without its id")


def torn_thoughts(turn: Turn) -> list[int]:
    """Places of reasoning items with an id after which nothing stands that they can have led to."""
    found = []
    for place, block in enumerate(turn.blocks):
        if not isinstance(block, Thinking) or not item_id(block):
            continue
        after = turn.blocks[place + 1] if place + 1 < len(turn.blocks) else None
        led = isinstance(after, (Thinking, ToolCall)) or (isinstance(after, Text) and bool(item_id(after)))
        if not led and not (after is not None and not isinstance(after, Text)):
            found.append(place)
    return found


def torn_items(turn: Turn) -> list[int]:
    """Places of items with an id before which no reasoning with an id stands."""
    found = []
    led = turn.role != "assistant"
    for place, block in enumerate(turn.blocks):
        if isinstance(block, Thinking):
            led = bool(item_id(block))
        elif not led and isinstance(block, (Text, ToolCall)) and item_id(block):
            found.append(place)
    return found
