"""The doctor: finds what a provider would refuse of a stored conversation as it stands, and mends it.

Nothing stored is changed. `mended` is for one destination and holds what that one may be given; `healed` is
for keeping: it repairs what nobody would take and keeps everybody's thinking, so that it can go home later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec

from thinkwire.messages import Block, Text, Thinking, Turn
from thinkwire.notes import Note
from thinkwire.replay import checks, seal_checks
from thinkwire.replay import repairs as mending
from thinkwire.replay.findings import Case, Finding
from thinkwire.replay.first_turn import beginning_with_user
from thinkwire.replay.item_ids import checks_items, without_bad_item_ids
from thinkwire.replay.pairing import gathered, merged, paired, without_broken, without_empty
from thinkwire.replay.planner import Destination, plan_replay
from thinkwire.replay.policy import ReplaySettings, exchange_start, has_results, thinks, without_thinking
from thinkwire.request import Request

_USUAL = ReplaySettings()
_CHECKS: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    checks.calls_and_results,
    checks.ids,
    checks.arguments,
    checks.empty,
    checks.interrupted,
    checks.sides,
    checks.system_turns,
    seal_checks.seals,
    seal_checks.thoughts,
    seal_checks.signatures,
    seal_checks.loops,
    seal_checks.items,
)


class Mended(msgspec.Struct, frozen=True):
    """What a destination may be given. `system` is text that must go to the top, after what is there.

    `thinking_off` is set when the model must not think until the tool loop is over.
    """

    turns: tuple[Turn, ...]
    notes: tuple[Note, ...] = ()
    system: tuple[Text, ...] = ()
    thinking_off: bool = False


def examine(
    given: Request | tuple[Turn, ...], destination: Destination, settings: ReplaySettings = _USUAL
) -> tuple[Finding, ...]:
    """What is wrong, in the order of the conversation. A request is judged as one that is sent now."""
    case = _case(given, destination, settings)
    found = [finding for check in _CHECKS for finding in check(case)]
    found += _about_settings(case)
    found += _about_prefix(case)
    return tuple(
        sorted(found, key=lambda finding: (finding.turn, -1 if finding.block is None else finding.block))
    )


def mend(
    given: Request | tuple[Turn, ...], destination: Destination, settings: ReplaySettings = _USUAL
) -> Mended:
    """The conversation as this destination takes it."""
    case = _case(given, destination, settings)
    notes: list[Note] = []
    turns = _sound(case, case.turns, notes)
    turns = _for_destination(case, turns, notes)
    turns, system = mending.without_system_turns(case, turns, notes)
    replay = plan_replay(_closed(turns), destination, settings)
    turns = beginning_with_user(replay.turns, notes)
    if case.checks_signatures:
        turns = mending.signed(turns, notes)
    turns = _without_unbound(case, turns, notes, moved=bool(system))
    if case.request is not None:
        turns = _answerable(case, turns, notes)
    off = replay.thinking_off or _loop_lacks_thinking(case, turns)
    return Mended(turns, (*notes, *replay.notes), system, off)


def healed(turns: tuple[Turn, ...], destination: Destination, settings: ReplaySettings = _USUAL) -> Mended:
    """The conversation for keeping: sound for everybody, with all its thinking."""
    case = Case(turns, destination, settings)
    notes: list[Note] = []
    whole = merged(paired(_closed(_sound(case, turns, notes)), notes))
    whole = _without_unbound(case, beginning_with_user(whole, notes), notes)
    return Mended(whole, tuple(notes))


def mend_request(
    request: Request, destination: Destination, settings: ReplaySettings = _USUAL
) -> tuple[Request, Mended]:
    """The request with its conversation mended; its parameters are left as they are."""
    mended = mend(request, destination, settings)
    system = (*(text for text in request.system if text.text.strip()), *mended.system)
    return msgspec.structs.replace(request, turns=mended.turns, system=system), mended


def _case(given: Request | tuple[Turn, ...], destination: Destination, settings: ReplaySettings) -> Case:
    if isinstance(given, Request):
        return Case(given.turns, destination, settings, given)
    return Case(tuple(given), destination, settings)


def _sound(case: Case, turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """What every provider needs, with nobody's thinking left out."""
    turns = mending.by_side(turns, notes)
    turns = mending.with_good_ids(case, turns, notes)
    turns = gathered(turns, notes)
    turns = mending.with_arguments(turns, notes)
    turns = mending.without_altered_seals(case, turns, notes)
    if case.dialect == "openai-responses":
        turns = without_bad_item_ids(turns, notes, strict=checks_items(case.destination.provider))
    turns = mending.without_torn_items(turns, notes)
    return without_empty(without_broken(turns, notes), notes)


def _for_destination(case: Case, turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    if case.thinks_by_budget:
        turns = mending.thinking_first(turns, notes)
    if case.dialect == "gemini":
        turns = mending.without_moved_signatures(turns)
    turns = mending.without_unstored(case, turns, notes)
    if case.wants_no_thinking or case.signs:
        turns = tuple(_without_unsealed(case, turn) for turn in turns)
    return turns


def _without_unsealed(case: Case, turn: Turn) -> Turn:
    """The turn without thinking that would pass for the destination's own, and that nobody sealed."""
    if not seal_checks.is_own(case, turn, None):
        return turn
    return without_thinking(turn, lambda block: block.seal is None)


def _closed(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """With an empty turn of the user wherever calls wait for one; what stays empty is never sent."""
    result: list[Turn] = []
    for turn, following in pairwise((*turns, None)):
        if turn is not None:
            result.append(turn)
            if turn.tool_calls and (following is None or following.role != "user"):
                result.append(Turn("user"))
    return tuple(result)


def _answerable(case: Case, turns: tuple[Turn, ...], notes: list[Note]) -> tuple[Turn, ...]:
    """A request that ends with the user, where the model asks for that."""
    facts = case.destination.facts
    if facts is None or not turns or turns[-1].role != "assistant":
        return turns
    if "prefill" not in facts.refuses and "prefill_when_thinking" not in facts.refuses:
        return turns
    notes.append(Note("prefill.closed", "the request ended with the model's words; it is asked to continue"))
    return (*turns, Turn("user", (Text(mending.CONTINUE),)))


def _loop_lacks_thinking(case: Case, turns: tuple[Turn, ...]) -> bool:
    """Whether a model that thinks by budget is inside a tool loop that did not begin with its thinking."""
    if not case.thinks_by_budget or not turns or not has_results(turns[-1]):
        return False
    steps = [turn for turn in turns[exchange_start(turns) :] if turn.role == "assistant"]
    return bool(steps) and bool(steps[0].tool_calls) and not isinstance(steps[0].blocks[0], Thinking)


def _without_unbound(
    case: Case, turns: tuple[Turn, ...], notes: list[Note], *, moved: bool = False
) -> tuple[Turn, ...]:
    """Thinking that is bound to what stood before it goes only as long as that is unchanged."""
    facts = case.destination.facts
    if facts is None or facts.replay != "bound_prefix":
        return turns
    start = 0 if moved else _first_change(case.turns, turns)
    kept = tuple(without_thinking(turn) if index >= start else turn for index, turn in enumerate(turns))
    if kept == turns:
        return turns
    message = "thinking is bound to what stood before it, and that was mended"
    notes.append(Note("prefix.broken", message, detail={"turn": start}))
    return tuple(turn for turn in kept if turn.blocks)


def _first_change(before: tuple[Turn, ...], after: tuple[Turn, ...]) -> int:
    """The first turn in which something else stands than before, thinking aside."""
    old = (turn for turn in map(_visible, before) if turn[1])
    for index, turn in enumerate(after):
        new = _visible(turn)
        if new[1] and next(old, None) != new:
            return index
    return len(after)


def _visible(turn: Turn) -> tuple[str, tuple[Block, ...]]:
    return turn.role, tuple(_bare(block) for block in turn.blocks if not isinstance(block, Thinking))


def _bare(block: Block) -> Block:
    """A block without its seal, which is no part of what others see."""
    return msgspec.structs.replace(block, seal=None) if getattr(block, "seal", None) is not None else block


def _about_settings(case: Case) -> list[Finding]:
    notes = plan_replay(case.turns, case.destination, case.settings).notes
    refusable = next((note for note in notes if note.code == "replay.refusable"), None)
    if refusable is None:
        return []
    turn = next(index for index, turn in enumerate(case.turns) if turn.tool_calls)
    mend = "set reasoning.includeInContext to auto"
    return [Finding("settings.refusable", "refused", turn, None, refusable.message, mend)]


def _about_prefix(case: Case) -> list[Finding]:
    facts = case.destination.facts
    if facts is None or facts.replay != "bound_prefix":
        return []
    notes = mend(case.request or case.turns, case.destination, case.settings).notes
    broken = next((note for note in notes if note.code == "prefix.broken"), None)
    if broken is None:
        return []
    message = "what must be mended stands before thinking that is bound to it"
    thinking = [index for index, turn in enumerate(case.turns) if thinks(turn)]
    turn = next((index for index in thinking if index >= broken.detail["turn"]), thinking[-1])
    return [Finding("prefix.broken", "lost", turn, None, message, "that thinking is not sent")]
