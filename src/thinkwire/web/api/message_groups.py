"""Stored messages as people see them: an answer is one, however many requests and tools it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from thinkwire.messages import ToolResult
from thinkwire.store.rows import Branch, MessageRow


class MessageGroup(msgspec.Struct, frozen=True):
    """What is shown as one message: one thing a person said, or one whole answer. Its id is the first's."""

    role: str
    kept: tuple[MessageRow, ...]

    @property
    def id(self) -> str:
        return self.kept[0].id

    @property
    def last(self) -> MessageRow:
        return self.kept[-1]

    @property
    def answers(self) -> tuple[MessageRow, ...]:
        """The messages that a model wrote."""
        return tuple(kept for kept in self.kept if kept.role == "assistant")

    @property
    def finished(self) -> bool:
        """Whether an answer came to its end: no call waits for a result, and no result for an answer."""
        return (
            self.last.role == "assistant" and self.last.status == "complete" and not self.last.turn.tool_calls
        )


def groups(path: Iterable[MessageRow]) -> list[MessageGroup]:
    """A path as it is shown. Summaries are for models and are left out."""
    found: list[MessageGroup] = []
    for kept in path:
        if kept.kind != "turn":
            continue
        if kept.role == "assistant" or has_results(kept):
            _extend(found, kept)
        if kept.role != "assistant" and not is_results(kept):
            found.append(MessageGroup("user", (kept,)))
    return found


def has_results(kept: MessageRow) -> bool:
    return any(isinstance(block, ToolResult) for block in kept.turn.blocks)


def is_results(kept: MessageRow) -> bool:
    """Whether tools said this, and no person."""
    return bool(kept.turn.blocks) and all(isinstance(block, ToolResult) for block in kept.turn.blocks)


def _extend(found: list[MessageGroup], kept: MessageRow) -> None:
    if found and found[-1].role == "assistant":
        found[-1] = msgspec.structs.replace(found[-1], kept=(*found[-1].kept, kept))
    else:
        found.append(MessageGroup("assistant", (kept,)))


class MessageTree:
    """Where every message of a conversation stands."""

    def __init__(self, branches: Sequence[Branch]) -> None:
        self._by_id = {branch.id: branch for branch in branches}
        self._children: dict[str | None, list[Branch]] = {}
        for branch in branches:
            if branch.kind == "turn":
                self._children.setdefault(self._parent(branch), []).append(branch)

    def siblings(self, id: str) -> list[str]:
        """The message and its alternatives, in the order in which they came."""
        branch = self._by_id[id]
        beside = self._children.get(self._parent(branch), [])
        return [other.id for other in beside if other.role == branch.role]

    def newest_under(self, id: str) -> str:
        """The end of the newest branch that goes on from a message."""
        at = self._by_id[id]
        while children := self._children.get(at.id):
            at = max(children, key=lambda child: child.seq)
        return at.id

    def _parent(self, branch: Branch) -> str | None:
        """The message before it, summaries aside."""
        parent = self._by_id.get(branch.parent_id or "")
        while parent is not None and parent.kind != "turn":
            parent = self._by_id.get(parent.parent_id or "")
        return parent.id if parent else None
