"""The planner: a conversation as one model may be given it. Pure: turns in, turns and Notes out.

In this order: what the settings strip, what they include, what the model's contract wants, whose thinking it
is, what must stand together, and who speaks first.
"""

from __future__ import annotations

import msgspec

from thinkwire.catalog import Facts
from thinkwire.messages import Block, Origin, Seal, Text, Thinking, Turn
from thinkwire.notes import Note
from thinkwire.replay.first_turn import beginning_with_user, begins_refusably
from thinkwire.replay.item_ids import checks_items, without_bad_item_ids
from thinkwire.replay.origin import readable, same_service
from thinkwire.replay.pairing import (
    blocks_of,
    gathered,
    merged,
    paired,
    with_ids,
    without_broken,
    without_empty,
)
from thinkwire.replay.policy import (
    ReplaySettings,
    current_turn,
    exchange_start,
    has_results,
    is_plain_talk,
    stripped,
    thinks,
    without_thinking,
)

PLACEHOLDER = Seal("gemini.thought", "skip_thought_signature_validator")
"""What the vendor documents for calls that another model made."""

_NEEDS_IT = ("tool_loop", "always", "bound_prefix")


class Destination(msgspec.Struct, frozen=True):
    """Where a conversation goes next."""

    provider: str
    model: str
    dialect: str
    facts: Facts | None = None
    endpoint: str | None = None
    thinking: bool = True
    """Whether the model will think about this request."""
    budgeted: bool = False
    """Whether it is asked to by a number of tokens."""

    @property
    def thinks_by_budget(self) -> bool:
        """Whether it is told a number of tokens: it knows nothing else, or it takes one and that is asked."""
        facts = self.facts
        if facts is None or not self.thinking:
            return False
        return facts.mechanism == "budget" or (self.budgeted and facts.budget is not None)


class Replay(msgspec.Struct, frozen=True):
    """The turns to send. `thinking_off` is set when this model must not think until the tool loop is over."""

    turns: tuple[Turn, ...]
    notes: tuple[Note, ...] = ()
    thinking_off: bool = False


_USUAL = ReplaySettings()


def plan_replay(
    turns: tuple[Turn, ...], destination: Destination, settings: ReplaySettings = _USUAL
) -> Replay:
    """What of these turns the destination is given."""
    return Replay(turns) if is_plain_talk(turns) else _planned(turns, destination, settings)


def _planned(turns: tuple[Turn, ...], destination: Destination, settings: ReplaySettings) -> Replay:
    notes: list[Note] = []
    unbroken = without_broken(turns, notes)
    wanted = _by_settings(unbroken, destination, settings, notes)
    if settings.include is None:
        wanted = _by_contract(wanted, destination)
    own = _by_origin(wanted, destination, settings, notes)
    if destination.dialect == "openai-chat":
        own = with_ids(own, notes)
        if settings.format == "field" and any(map(_in_tags, blocks_of(own))):
            own = tuple(map(_in_field, own))
    elif destination.dialect == "openai-responses":
        own = _with_own_ids(unbroken, own, destination, notes)
    whole = merged(paired(gathered(without_empty(own, notes), notes), notes))
    if begins_refusably(whole, destination.dialect):
        whole = beginning_with_user(whole, notes)
    whole = _with_placeholders(whole, destination, notes)
    thinking_off = _loop_without_thinking(whole, destination, notes)
    return Replay(whole, tuple(notes), thinking_off)


def _by_settings(
    turns: tuple[Turn, ...], destination: Destination, settings: ReplaySettings, notes: list[Note]
) -> tuple[Turn, ...]:
    if settings.strip == "none" and settings.include is not False:
        return turns
    kept = stripped(turns, settings.strip)
    if settings.include is False:
        kept = stripped(kept, "all")
    lost = sum(thinks(before) and not thinks(after) for before, after in zip(turns, kept, strict=True))
    if lost:
        notes.append(Note("thinking.stripped", f"the thinking of {lost} turns is left out, as set"))
        replay = destination.facts.replay if destination.facts else None
        if replay in _NEEDS_IT and any(turn.tool_calls for turn in turns):
            message = "wants its thinking back beside tool calls, and may refuse or lose the thread"
            notes.append(Note("replay.refusable", f"{destination.model} {message}"))
    return kept


def _by_contract(turns: tuple[Turn, ...], destination: Destination) -> tuple[Turn, ...]:
    """What the model itself needs: nothing, this exchange, or everything."""
    contract = destination.facts.replay if destination.facts else "optional"
    if contract == "never":
        return tuple(without_thinking(turn) for turn in turns)
    if destination.dialect == "gemini":
        return tuple(without_thinking(turn, lambda block: block.seal is None) for turn in turns)
    if contract == "optional":
        start = current_turn(turns)
        return tuple(without_thinking(turn) if index < start else turn for index, turn in enumerate(turns))
    return turns


def _by_origin(
    turns: tuple[Turn, ...], destination: Destination, settings: ReplaySettings, notes: list[Note]
) -> tuple[Turn, ...]:
    result = []
    sleeping = 0
    carried = 0
    for turn in turns:
        if turn.role != "assistant":
            result.append(turn)
            continue
        blocks, asleep = _own_blocks(turn, destination, settings)
        sleeping += asleep
        carried += asleep if settings.carry == "text" else 0
        same = tuple(blocks) == turn.blocks
        result.append(turn if same else msgspec.structs.replace(turn, blocks=tuple(blocks)))
    if carried:
        message = (
            "a thought of another model goes along as plain text"
            if carried == 1
            else f"{carried} thoughts of other models go along as plain text"
        )
        notes.append(Note("thinking.carried", message))
    elif sleeping:
        message = (
            "a thought of another model stays in the conversation and is not sent"
            if sleeping == 1
            else f"{sleeping} thoughts of other models stay in the conversation and are not sent"
        )
        notes.append(Note("thinking.dormant", message, detail={"count": sleeping}))
    return tuple(result)


def _own_blocks(turn: Turn, destination: Destination, settings: ReplaySettings) -> tuple[list[Block], int]:
    """The blocks as this destination may see them, and how many thoughts it may not."""
    origin = turn.origin
    home = origin is None or same_service(origin, destination.provider, destination.endpoint)
    blocks: list[Block] = []
    asleep = 0
    for block in turn.blocks:
        seal = getattr(block, "seal", None)
        mine = home and (seal is None or _may_go_back(seal, origin, destination, settings))
        if mine or (seal is None and not isinstance(block, Thinking)):
            blocks.append(block)
        elif isinstance(block, Thinking):
            asleep += 1
            if settings.carry == "text" and block.text:
                blocks.append(_as_text(block, turn))
        else:
            blocks.append(msgspec.structs.replace(block, seal=None))
    return blocks, asleep


def _as_text(block: Thinking, turn: Turn) -> Text:
    """Thinking that is plainly labelled as what it is."""
    author = turn.origin.model if turn.origin and turn.origin.model else "another model"
    return Text(f"[Earlier reasoning of {author}]\n{block.text}")


def _in_field(turn: Turn) -> Turn:
    """Thinking that came inside tags goes back in the reasoning field."""
    if not any(map(_in_tags, turn.blocks)):
        return turn
    blocks = (
        msgspec.structs.replace(block, field=None, extras={}) if _in_tags(block) else block
        for block in turn.blocks
    )
    return msgspec.structs.replace(turn, blocks=tuple(blocks))


def _in_tags(block: Block) -> bool:
    return isinstance(block, Thinking) and block.seal is None and (block.field or "").startswith("tag:")


def _may_go_back(seal: Seal, origin: Origin | None, to: Destination, settings: ReplaySettings) -> bool:
    return settings.seals and readable(seal, origin, to.dialect, to.model)


def _with_own_ids(
    before: tuple[Turn, ...], after: tuple[Turn, ...], to: Destination, notes: list[Note]
) -> tuple[Turn, ...]:
    """Items with no ids but those that the vendor can have given, and that it takes in this company."""
    if checks_items(to.provider):
        after = without_bad_item_ids(after, notes, strict=True)
    return tuple(map(_with_paired_ids, map(_without_orphaned_ids, before, after)))


def _without_orphaned_ids(before: Turn, after: Turn) -> Turn:
    """Items lose their ids together with the thinking they came from; the vendor checks that pairing."""
    if before is after or sum(map(_is_thought, before.blocks)) == sum(map(_is_thought, after.blocks)):
        return after
    return msgspec.structs.replace(after, blocks=tuple(map(_without_id, after.blocks)))


def _with_paired_ids(turn: Turn) -> Turn:
    """Items keep their ids only if the words among them kept theirs, which a foreign wire cannot carry."""
    if turn.role != "assistant" or not any(map(_is_thought, turn.blocks)):
        return turn
    if not any(isinstance(block, Text) and block.text and not _has_id(block) for block in turn.blocks):
        return turn
    return msgspec.structs.replace(turn, blocks=tuple(map(_without_id, turn.blocks)))


def _has_id(block: Text) -> bool:
    return "id" in block.extras.get("openai_responses", {})


def _is_thought(block: Block) -> bool:
    return isinstance(block, Thinking)


def _without_id(block: Block) -> Block:
    extras = getattr(block, "extras", {})
    own = extras.get("openai_responses", {})
    if "id" not in own:
        return block
    rest = {key: value for key, value in own.items() if key != "id"}
    return msgspec.structs.replace(block, extras=extras | {"openai_responses": rest})


def _with_placeholders(
    turns: tuple[Turn, ...], destination: Destination, notes: list[Note]
) -> tuple[Turn, ...]:
    """In the current exchange the first call of a step carries a signature, on models that check it."""
    facts = destination.facts
    if destination.dialect != "gemini" or facts is None or facts.replay != "tool_loop":
        return turns
    start = exchange_start(turns)
    result = [_signed(turn, notes) if index > start else turn for index, turn in enumerate(turns)]
    return tuple(result)


def _signed(turn: Turn, notes: list[Note]) -> Turn:
    calls = turn.tool_calls
    if turn.role != "assistant" or not calls or calls[0].seal is not None:
        return turn
    notes.append(Note("seal.placeholder", f"the call of {calls[0].name} was not made by this model"))
    first = calls[0]
    blocks = tuple(
        msgspec.structs.replace(block, seal=PLACEHOLDER) if block is first else block for block in turn.blocks
    )
    return msgspec.structs.replace(turn, blocks=blocks)


def _loop_without_thinking(turns: tuple[Turn, ...], destination: Destination, notes: list[Note]) -> bool:
    """A model that thinks by budget begins every step of its loop with thinking; a foreign step has none."""
    if destination.dialect != "anthropic" or not destination.thinks_by_budget:
        return False
    if not turns or turns[-1].role != "user" or not has_results(turns[-1]):
        return False
    step = next((turn for turn in turns[exchange_start(turns) :] if turn.role == "assistant"), None)
    if step is None or not step.tool_calls or isinstance(step.blocks[0], Thinking):
        return False
    message = (
        f"this tool loop began without {destination.model}'s thinking; it goes on without until it is over"
    )
    notes.append(Note("replay.thinking_off", message))
    return True
