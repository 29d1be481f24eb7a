"""What the doctor can find: what is wrong, how bad it is, where it stands, and what mends it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeVar, get_args

import msgspec

from thinkwire.messages import ToolCall, Turn
from thinkwire.providers import Provider, find_provider
from thinkwire.replay.planner import Destination
from thinkwire.replay.policy import ReplaySettings
from thinkwire.request import Request

Severity = Literal["refused", "lost", "odd"]
"""The provider refuses it as it stands; something cannot go back any more; or it is only worth knowing."""

FindingCode = Literal[
    "call.unanswered",  # a call without a result
    "call.repeated_id",  # two calls of one id
    "call.illegal_id",  # an id that the provider does not take
    "call.broken_arguments",  # arguments that are not a JSON object
    "result.orphan",  # a result without a call
    "result.repeated",  # a second result for one call
    "result.late",  # a result that does not stand right after its call
    "result.not_first",  # a result after other words of the same turn
    "text.empty",  # text without a visible character
    "turn.empty",  # a turn without content
    "turn.first",  # a conversation that the model begins
    "turn.repeated",  # two turns of one side in a row
    "turn.prefill",  # a request that ends with the model's own words
    "block.wrong_side",  # a block in a turn of the side that cannot have said it
    "block.interrupted",  # half a thought or half a call
    "system.refused",  # system text inside the conversation, where the model takes none
    "system.misplaced",  # system text at a place where the provider takes none
    "seal.altered",  # a seal that cannot be whole
    "seal.foreign",  # a seal of another origin, which this provider would try to read
    "seal.misplaced",  # a signature on another call than the first of its step
    "seal.missing",  # a call of the current exchange without the signature that is asked for
    "seal.unstored",  # thinking that is only named by an id which the provider has not kept
    "thinking.unsigned",  # thinking without the signature that is asked for
    "thinking.unwanted",  # thinking that the provider does not take back
    "thinking.missing",  # a tool turn without the thinking that the provider asks for
    "thinking.not_first",  # a tool turn that does not start with its thinking
    "thinking.without_follower",  # a reasoning item without what it led to
    "thinking.dormant",  # another origin's thinking, which sleeps here
    "item.bad_id",  # an item's id that is not of its kind, or that another item has
    "item.without_thinking",  # an item that names the reasoning it came from, which is gone
    "prefix.broken",  # thinking that is bound to what stood before it, and that changes
    "settings.refusable",  # the settings leave out what the provider asks for
]

FINDING_CODES: tuple[str, ...] = get_args(FindingCode)


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong with a stored conversation. `turn` and `block` count from 0."""

    code: FindingCode
    severity: Severity
    turn: int
    block: int | None
    message: str
    mend: str


B = TypeVar("B")


class Waiting(NamedTuple):
    """A call that waits for its result, and where it stands."""

    turn: int
    block: int
    call: ToolCall


class OpenCalls:
    """The calls that wait. A result answers the first call of its id in the latest turn that has one."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[deque[Waiting]]] = {}
        """The waiting calls of each id, one queue for each turn that has any."""

    def add(self, waiting: Waiting) -> None:
        queues = self._waiting.setdefault(waiting.call.id, [])
        if queues and queues[-1][0].turn == waiting.turn:
            queues[-1].append(waiting)
        else:
            queues.append(deque([waiting]))

    def answered(self, call_id: str) -> Waiting | None:
        """The call that a result of this id answers, which waits no longer; None when there is none."""
        queues = self._waiting.get(call_id)
        if not queues:
            return None
        found = queues[-1].popleft()
        if not queues[-1]:
            queues.pop()
        return found

    def __iter__(self) -> Iterator[Waiting]:
        return (entry for queues in self._waiting.values() for queue in queues for entry in queue)


class Case(msgspec.Struct, frozen=True):
    """A conversation, where it goes, and by which settings. `request` is set for one that is to be sent."""

    turns: tuple[Turn, ...]
    destination: Destination
    settings: ReplaySettings
    request: Request | None = None

    @property
    def dialect(self) -> str:
        return self.destination.dialect

    @property
    def provider(self) -> Provider | None:
        return find_provider(self.destination.provider)

    def blocks(self, kind: type[B]) -> Iterator[tuple[int, int, B]]:
        """Every block of a kind, with its turn and its place there."""
        for index, turn in enumerate(self.turns):
            for place, block in enumerate(turn.blocks):
                if isinstance(block, kind):
                    yield index, place, block

    @property
    def signs(self) -> bool:
        """Whether the model's maker signs its thinking and takes none that is unsigned."""
        facts = self.destination.facts
        return self.dialect == "anthropic" and (facts is None or facts.maker == "Anthropic")

    @property
    def thinks_by_budget(self) -> bool:
        """Whether every step of a tool loop must start with thinking."""
        return self.signs and self.destination.thinks_by_budget

    @property
    def checks_signatures(self) -> bool:
        """Whether the first call of each step of the current exchange must be signed."""
        facts = self.destination.facts
        return self.dialect == "gemini" and (facts is None or facts.replay == "tool_loop")

    @property
    def fills_thinking(self) -> bool:
        """Whether tool turns must carry the reasoning field, empty if need be."""
        facts, provider = self.destination.facts, self.provider
        wants = facts is not None and facts.replay in ("tool_loop", "always")
        return wants and self.dialect == "openai-chat" and provider is not None and _fills(provider)

    @property
    def wants_no_thinking(self) -> bool:
        """Whether messages of this provider have no place for thinking."""
        facts, provider = self.destination.facts, self.provider
        if self.dialect != "openai-chat" or facts is None:
            return False
        omits = provider is not None and provider.quirks.reasoning_field == "omit"
        return facts.replay == "never" or not facts.can_think or omits


def _fills(provider: Provider) -> bool:
    return provider.quirks.fill_reasoning
