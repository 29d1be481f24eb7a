"""What a store gives back: rows as values."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from thinkwire.errors import Failure
from thinkwire.messages import Turn
from thinkwire.notes import Note
from thinkwire.usage import Usage

Kind = Literal["turn", "summary"]
Status = Literal["streaming", "complete", "interrupted", "failed"]

HEAD: Final = "<head>"
"""As a parent: whatever is the conversation's newest message at that moment."""

BUCKETS: Final = (
    "input_uncached",
    "cache_read",
    "cache_write",
    "input_total",
    "output_visible",
    "output_reasoning",
    "output_total",
)
"""The counts of a `Usage` that have columns of their own."""


class MessageRow(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a conversation's tree, as it is kept."""

    id: str
    conversation_id: str
    parent_id: str | None
    seq: int
    """Its place in the order in which the conversation's messages came, from 1."""
    role: str
    kind: Kind
    turn: Turn
    thinking: str
    text: str
    status: Status
    finish: str | None = None
    usage: Usage | None = None
    notes: tuple[Note, ...] = ()
    failure: Failure | None = None
    covers: str | None = None
    """For a summary: the last message that it stands for."""
    created: float
    updated: float
    elapsed_thinking: float | None = None
    cost: float | None = None
    extra: dict[str, Any] = {}
    unopened: int = 0
    """How many seals were left out, because the key that encrypted them is not here."""
    damaged: bool = False
    """The turn could not be read; what is here was made from its readable text."""


class Branch(msgspec.Struct, frozen=True):
    """A message as a place in the tree, without what it says."""

    id: str
    parent_id: str | None
    seq: int
    role: str
    kind: Kind
    status: Status


class ConversationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as a list shows it."""

    id: str
    title: str | None
    model: str | None
    settings: dict[str, Any]
    agent_id: str | None
    owner: str
    head: str | None
    created: float
    updated: float
    """When something was last said in it."""
    deleted: float | None
    preview: str
    """The first words of the newest message that has any."""
    count: int

    @property
    def cursor(self) -> tuple[float, str]:
        """For `conversations(before=…)`: the page after this row."""
        return self.updated, self.id


class SearchHit(msgspec.Struct, frozen=True):
    """A place where words were found; without a message it is the title."""

    conversation_id: str
    message_id: str | None
    snippet: str
    title: str | None


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and cost of a day, a model and an agent. A sum is None when none of its answers told."""

    day: str
    provider: str | None
    model: str | None
    agent_id: str | None
    answers: int
    input_uncached: int | None
    cache_read: int | None
    cache_write: int | None
    input_total: int | None
    output_visible: int | None
    output_reasoning: int | None
    output_total: int | None
    cost: float | None
    unknown: dict[str, int]
    """For each sum that is not complete: how many of the answers did not tell."""


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """An agent: a name, instructions, a model, how it thinks, and its tools."""

    id: str
    name: str
    instructions: str
    model: str | None
    thinking: dict[str, Any]
    tools: list[str]
    owner: str
    created: float
    updated: float
    deleted: float | None


class ProfileRow(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under a name, shared by everyone who uses the same store."""

    name: str
    owner: str
    values: dict[str, Any]
    updated: float


class UserRow(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody with an account. What belongs to them has their id as its owner."""

    id: str
    name: str
    admin: bool
    created: float
    removed: float | None = None


class UploadRow(msgspec.Struct, frozen=True, kw_only=True):
    """A file on its way into a conversation."""

    id: str
    name: str
    media_type: str
    size: int
    owner: str
    created: float
