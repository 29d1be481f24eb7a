"""Strip and include: what the settings leave of a conversation's thinking, before any vendor is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from thinkwire.messages import Role, Text, Thinking, ToolResult, Turn

Strip = Literal["none", "allButLast", "all"]


class ReplaySettings(msgspec.Struct, frozen=True):
    """The settings about earlier thinking. `include` None is `auto`: what the model's contract wants."""

    strip: Strip = "none"
    include: bool | None = None
    carry: Literal["none", "text"] = "none"
    """What becomes of another origin's thinking: it sleeps, or goes along as plain text."""
    format: Literal["native", "field"] = "field"
    """How readable thinking goes back on a wire that knows several places: where it came from, or always in
    the reasoning field, also when it came inside tags. Seals always go back as they came."""
    field: str | None = None
    """The name of that field, where the user knows better than the service's record."""
    seals: bool = True
    """False gives no seal back at all, after a provider has refused one."""


def is_plain_talk(turns: tuple[Turn, ...]) -> bool:
    """Whether the two sides just speak in turn, the user first, and nothing they say has an id of an item.

    Then there is nothing to plan.
    """
    speaks: Role = "user"
    for turn in turns:
        if turn.role != speaks or not turn.blocks:
            return False
        for block in turn.blocks:
            if type(block) is not Text or block.seal is not None or not block.text or block.text.isspace():
                return False
            if block.extras and "id" in block.extras.get("openai_responses", ()):
                return False
        speaks = "assistant" if speaks == "user" else "user"
    return True


def without_thinking(turn: Turn, unwanted: Callable[[Thinking], bool] = lambda block: True) -> Turn:
    """The turn without the thinking that is unwanted; the same turn when there is none."""
    if not thinks(turn):
        return turn
    blocks = tuple(block for block in turn.blocks if not (type(block) is Thinking and unwanted(block)))
    return turn if len(blocks) == len(turn.blocks) else msgspec.structs.replace(turn, blocks=blocks)


def thinks(turn: Turn) -> bool:
    return Thinking in map(type, turn.blocks)


def stripped(turns: tuple[Turn, ...], strip: Strip) -> tuple[Turn, ...]:
    """`all` takes the thinking out of every turn, `allButLast` out of all but the last one that has any."""
    if strip == "none":
        return turns
    keep = max((index for index, turn in enumerate(turns) if thinks(turn)), default=-1)
    return tuple(
        turn if strip == "allButLast" and index == keep else without_thinking(turn)
        for index, turn in enumerate(turns)
    )


def current_turn(turns: tuple[Turn, ...]) -> int:
    """Where the current exchange begins: after the last thing that a person said, tool results aside."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.role == "user" and any(not isinstance(block, ToolResult) for block in turn.blocks):
            return index
    return 0


def has_results(turn: Turn) -> bool:
    return ToolResult in map(type, turn.blocks)


def exchange_start(turns: tuple[Turn, ...]) -> int:
    """Where the current exchange begins: at the last turn of the user that answers no call."""
    for index in range(len(turns) - 1, -1, -1):
        if turns[index].role == "user" and not has_results(turns[index]):
            return index
    return 0
