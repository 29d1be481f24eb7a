"""What is wrong with the order of things: calls and results, sides, empty and broken blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from thinkwire.dialects.shared import arguments_object
from thinkwire.messages import Block, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.replay import pairing
from thinkwire.replay.findings import Case, Finding, OpenCalls, Severity, Waiting
from thinkwire.replay.first_turn import begins_refusably
from thinkwire.replay.policy import has_results

_CHARSET = re.compile(r"[a-zA-Z0-9_-]+")
_LONGEST = 64
_ADJACENT = ("anthropic", "openai-chat", "gemini")
"""Wires on which a result stands right after its call."""
_RESULTS_FIRST = ("anthropic", "openai-chat")


def _if_here(case: Case, *dialects: str) -> Severity:
    return "refused" if case.dialect in dialects else "odd"


def calls_and_results(case: Case) -> Iterator[Finding]:
    """Every call has its result in the turn right after it, and every result its call."""
    open_calls = OpenCalls()
    called: set[str] = set()
    for index, turn in enumerate(case.turns):
        first = True
        for place, block in enumerate(turn.blocks):
            if isinstance(block, ToolCall) and not block.interrupted:
                called.add(block.id)
                open_calls.add(Waiting(index, place, block))
            elif isinstance(block, ToolResult):
                answered = open_calls.answered(block.call_id)
                finding = _result(case, (index, place), answered, called, first=first)
                if finding is not None:
                    yield finding
            first = first and isinstance(block, ToolResult)
    for waiting in open_calls:
        message = f"the call of {waiting.call.name} has no result"
        yield Finding(
            *("call.unanswered", "refused", waiting.turn, waiting.block, message), "it gets one that says so"
        )


def _result(
    case: Case, at: tuple[int, int], answered: Waiting | None, called: set[str], *, first: bool
) -> Finding | None:
    """What is wrong with a result; `first` says that only results stand before it in its turn."""
    index, place = at
    block = case.turns[index].blocks[place]
    call_id = block.call_id if isinstance(block, ToolResult) else ""
    if answered is None and call_id in called:
        message = f"a second result for {call_id}"
        return Finding("result.repeated", "refused", index, place, message, "the first one is kept")
    if answered is None:
        message = f"a result for {call_id}, which nobody called"
        return Finding("result.orphan", "refused", index, place, message, "it is left out")
    if index != answered.turn + 1:
        name = answered.call.name
        message = f"the result of {name} does not stand right after its call in turn {answered.turn}"
        severity = _if_here(case, *_ADJACENT)
        return Finding("result.late", severity, index, place, message, "it goes to its place")
    if not first:
        severity = _if_here(case, *_RESULTS_FIRST)
        message = "other words of the turn stand before a result"
        return Finding("result.not_first", severity, index, place, message, "results go first")
    return None


def ids(case: Case) -> Iterator[Finding]:
    """Ids are there, unique, and such as the provider takes."""
    seen: Counter[str] = Counter()
    for index, turn in enumerate(case.turns):
        for place, block in enumerate(turn.blocks):
            if is_nameless(case, block):
                message = "a call or result without an id"
                yield Finding("call.illegal_id", "refused", index, place, message, "it gets one")
    for index, place, call in case.blocks(ToolCall):
        seen[call.id] += 1
        if seen[call.id] > 1:
            severity: Severity = "refused" if case.dialect == "anthropic" else "odd"
            message = f"the id {call.id[:40]} is that of an earlier call too"
            yield Finding("call.repeated_id", severity, index, place, message, "the later call is renamed")
        why = flaw_of_id(case, call.id)
        if why is not None:
            message = f"the id {call.id[:40]!r} {why}"
            yield Finding("call.illegal_id", "refused", index, place, message, "call and result are renamed")


def is_nameless(case: Case, block: Block) -> bool:
    """Whether a Chat Completions call or result came without an id, and would go without one again."""
    return case.dialect == "openai-chat" and pairing.is_nameless(block)


def flaw_of_id(case: Case, call_id: str) -> str | None:
    """Why the provider does not take an id; None when it does."""
    quirks = case.provider.quirks if case.provider else None
    size = quirks.tool_id_length if quirks and case.dialect == "openai-chat" else None
    if not call_id:
        return "is empty"
    if size is not None and not (len(call_id) == size and call_id.isascii() and call_id.isalnum()):
        return f"is not of {size} letters and digits"
    if case.dialect == "anthropic" and not _CHARSET.fullmatch(call_id):
        return "has other characters than letters, digits, _ and -"
    if len(call_id) > _LONGEST and case.dialect.startswith("openai"):
        return f"is longer than {_LONGEST} characters"
    return None


def arguments(case: Case) -> Iterator[Finding]:
    for index, place, call in case.blocks(ToolCall):
        if call.interrupted or arguments_object(call.arguments)[1] is None:
            continue
        message = f"the arguments of {call.name} are not a JSON object"
        severity: Severity = "odd" if call.seal is None else "refused"
        mend = "they go as text inside an object"
        yield Finding("call.broken_arguments", severity, index, place, message, mend)


def empty(case: Case) -> Iterator[Finding]:
    """Text and turns that say nothing."""
    for index, turn in enumerate(case.turns):
        if not turn.blocks and turn.role != "system":
            severity = _if_here(case, "anthropic", "gemini")
            yield Finding("turn.empty", severity, index, None, "a turn without content", "it is left out")
        alone: bool | None = None
        for place, block in enumerate(turn.blocks):
            if isinstance(block, Text) and not block.text.strip() and block.seal is None:
                if alone is None:
                    alone = all(isinstance(other, Text) and not other.text for other in turn.blocks)
                yield _empty_text(case, index, place, alone=alone)
    system = case.request.system if case.request else ()
    if any(not text.text.strip() for text in system):
        severity = _if_here(case, "anthropic")
        yield Finding("text.empty", severity, 0, None, "system text that says nothing", "it is left out")


def _empty_text(case: Case, index: int, place: int, *, alone: bool) -> Finding:
    refused = case.dialect == "anthropic" or (case.dialect == "gemini" and alone)
    severity: Severity = "refused" if refused else "odd"
    return Finding("text.empty", severity, index, place, "text that says nothing", "it is left out")


def interrupted(case: Case) -> Iterator[Finding]:
    for index, turn in enumerate(case.turns):
        for place, block in enumerate(turn.blocks):
            if isinstance(block, (Thinking, ToolCall)) and block.interrupted:
                what = "a thought" if isinstance(block, Thinking) else f"the call of {block.name}"
                yield Finding(
                    "block.interrupted", "refused", index, place, f"{what} broke off", "it is not sent"
                )


def sides(case: Case) -> Iterator[Finding]:
    """Who says what, in which order."""
    for index, turn in enumerate(case.turns):
        for place, block in enumerate(turn.blocks):
            if rightful_role(turn, block) != turn.role:
                message = f"{turn.role}'s turn holds {_named(block)}"
                mend = "it goes into a turn of its own side"
                yield Finding("block.wrong_side", "refused", index, place, message, mend)
        if index and turn.role == case.turns[index - 1].role and turn.role != "system":
            yield from _repeated(case, index)
    yield from _first(case)
    yield from _last(case)


def rightful_role(turn: Turn, block: Block) -> str:
    """The side that a block can only come from; its turn's own where either may say it."""
    if isinstance(block, ToolResult):
        return "user"
    return "assistant" if isinstance(block, (Thinking, ToolCall)) else turn.role


def _repeated(case: Case, index: int) -> Iterator[Finding]:
    if case.dialect == "openai-responses":
        return  # items, not turns: there it is usual
    turn, before = case.turns[index], case.turns[index - 1]
    if turn.role == "user" and (has_results(before) or has_results(turn)):
        return  # results and the user's next words are two messages on some wires
    yield Finding(
        *("turn.repeated", "odd", index, None, f"a second turn of the {turn.role} in a row"),
        "turns of one origin are joined",
    )


def _first(case: Case) -> Iterator[Finding]:
    index = next((i for i, turn in enumerate(case.turns) if turn.role != "system" and turn.blocks), None)
    if index is None or case.turns[index].role == "user":
        return
    severity: Severity = "refused" if begins_refusably(case.turns, case.dialect) else "odd"
    message = "the model begins; what the user said before is not here"
    yield Finding("turn.first", severity, index, None, message, "a turn of the user that says so is added")


def _last(case: Case) -> Iterator[Finding]:
    """A request that ends with the model; a stored conversation may."""
    turns, facts = case.turns, case.destination.facts
    if case.request is None or not turns or turns[-1].role != "assistant" or facts is None:
        return
    when_thinking = case.destination.thinking and "prefill_when_thinking" in facts.refuses
    if not turns[-1].tool_calls and ("prefill" in facts.refuses or when_thinking):
        message = f"the request ends with the model's own words, which {case.destination.model} refuses"
        mend = "the user asks it to continue"
        yield Finding("turn.prefill", "refused", len(turns) - 1, None, message, mend)


def system_turns(case: Case) -> Iterator[Finding]:
    facts, roles = case.destination.facts, [turn.role for turn in case.turns]
    mend = "it goes to the top"
    for index, role in enumerate(roles):
        if role != "system":
            continue
        if facts is not None and "system_turns" in facts.refuses:
            message = f"{case.destination.model} takes system text only at the top"
            yield Finding("system.refused", "refused", index, None, message, mend)
        elif case.dialect == "gemini":
            message = "this wire has system text only at the top"
            yield Finding("system.misplaced", "odd", index, None, message, mend)
        elif case.dialect == "anthropic" and is_misplaced(roles, index):
            message = "system text must follow the user and come before the model"
            yield Finding("system.misplaced", "refused", index, None, message, mend)


def is_misplaced(roles: Sequence[str], index: int) -> bool:
    """Whether system text stands where the Messages wire takes none."""
    return (
        not index
        or roles[index - 1] != "user"
        or "assistant" not in (*roles[index + 1 : index + 2], "assistant")[:1]
    )


def _named(block: Block) -> str:
    kinds = {ToolResult: "a tool result", ToolCall: "a tool call", Thinking: "thinking"}
    return kinds.get(type(block), "a block of the other side")
