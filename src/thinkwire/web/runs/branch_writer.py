"""The branch of a conversation on which an answer is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thinkwire.messages import Turn
from thinkwire.notes import Note
from thinkwire.session import NextRequest, Session
from thinkwire.session.next_request import RetryHint
from thinkwire.store import Store
from thinkwire.store.rows import MessageRow
from thinkwire.web.api.explain_record import asked_record


class BranchWriter:
    """A keeper that goes its own way: what other tabs do to the conversation's head does not turn it.

    The first answer on it gets the id that was promised to whoever watches.
    """

    def __init__(self, store: Store, head: str | None, answer_id: str | None) -> None:
        self._store = store
        self._answer_id = answer_id
        self._notes: tuple[Note, ...] = ()
        self.head = head
        self.asked: NextRequest | None = None
        self.last_answer: str | None = None

    async def append(self, conversation_id: str, turn: Turn, **fields: Any) -> MessageRow:
        if turn.role == "assistant":
            fields["id"], self._answer_id = self._answer_id, None
            if self.asked is not None:
                fields["extra"] = {**fields.get("extra", {}), "asked": asked_record(self.asked)}
            self._notes = ()
        kept = await self._store.append(conversation_id, turn, parent=self.head, **fields)
        self.head = kept.id
        if turn.role == "assistant":
            self.last_answer = kept.id
        return kept

    async def revise(self, message_id: str, **fields: Any) -> None:
        if "notes" in fields:
            self._notes = fields["notes"]
        await self._store.revise(message_id, **fields)

    async def path(self, conversation_id: str) -> list[MessageRow]:
        return await self._store.path(conversation_id, self.head) if self.head else []

    async def remark(self, notes: Iterable[Note]) -> None:
        """Keeps what the session had to say beside the answer."""
        more = tuple(note for note in notes if note not in self._notes)
        if more and self.last_answer is not None:
            self._notes += more
            await self._store.revise(self.last_answer, notes=self._notes)


class ExplainingSession(Session):
    """A session that remembers what it asked, for whoever wants it explained."""

    async def asked(self, again: RetryHint | None = None) -> NextRequest:
        asked = await super().asked(again)
        if isinstance(self.keeper, BranchWriter):
            self.keeper.asked = asked
        return asked
