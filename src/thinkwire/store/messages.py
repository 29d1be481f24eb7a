"""Messages: a tree in each conversation, which only grows; a message is revised while it is being written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import UNSET, UnsetType
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.errors import Failure
from thinkwire.messages import Turn
from thinkwire.notes import Note
from thinkwire.store.failures import NotKept
from thinkwire.store.ids import new_id
from thinkwire.store.process import this_process
from thinkwire.store.rows import HEAD, Branch, Kept, Kind, Status
from thinkwire.store.settling import Settling
from thinkwire.store.shape import MESSAGE, preview, read_message, told_columns, turn_columns, word_columns
from thinkwire.store.tables import conversations, messages
from thinkwire.usage import Usage

_TOLD = ("finish", "usage", "notes", "failure", "elapsed_thinking", "cost", "extra")


class Messages(Settling):
    """The operations on messages."""

    async def append(
        self,
        conversation_id: str,
        turn: Turn,
        *,
        parent: str | None = HEAD,
        kind: Kind = "turn",
        status: Status = "complete",
        covers: str | None = None,
        finish: str | None = None,
        usage: Usage | None = None,
        notes: tuple[Note, ...] = (),
        failure: Failure | None = None,
        elapsed_thinking: float | None = None,
        cost: float | None = None,
        extra: dict[str, Any] | None = None,
        created: float | None = None,
        id: str | None = None,
    ) -> Kept:
        """Keeps a turn under its parent (None begins a new root) and makes it the conversation's head."""
        id = id or new_id()
        told = {
            "finish": finish,
            "usage": usage,
            "notes": notes,
            "failure": failure,
            "elapsed_thinking": elapsed_thinking,
            "cost": cost,
            "extra": extra or {},
        }
        place = {"conversation_id": conversation_id, "parent_id": parent, "kind": kind, "covers": covers}
        columns = place | self._columns(id, turn, status, told)
        if created is not None:
            columns["created"] = created
        row = await self.database.write(lambda connection: _insert(connection, columns), conversation_id)
        if status == "streaming":
            self._being_written(id)
        return read_message(row, self.database.safe)

    async def revise(
        self,
        message_id: str,
        *,
        turn: Turn | UnsetType = UNSET,
        status: Status | UnsetType = UNSET,
        usage: Usage | UnsetType | None = UNSET,
        notes: tuple[Note, ...] | UnsetType = UNSET,
        finish: str | UnsetType | None = UNSET,
        failure: Failure | UnsetType | None = UNSET,
        elapsed_thinking: float | UnsetType | None = UNSET,
        cost: float | UnsetType | None = UNSET,
        extra: dict[str, Any] | UnsetType = UNSET,
    ) -> None:
        """Changes what is given of a message, in one transaction, and gives a sign of life."""
        told = {
            "usage": usage,
            "notes": notes,
            "finish": finish,
            "failure": failure,
            "elapsed_thinking": elapsed_thinking,
            "cost": cost,
            "extra": extra,
        }
        columns = told_columns({name: value for name, value in told.items() if value is not UNSET})
        columns["updated"] = time.time()
        if turn is not UNSET:
            columns |= turn_columns(turn, message_id, self.database.safe)
            if status not in (UNSET, "streaming"):
                columns |= word_columns(columns["text"], columns["thinking"])
        if status is not UNSET:
            columns["status"] = status
            columns["owner_process"] = this_process() if status == "streaming" else None
        await self.database.write(lambda connection: _revise(connection, message_id, columns), message_id)
        if status == "streaming":
            self._being_written(message_id)
        elif status is not UNSET:
            self._ours.discard(message_id)

    async def adopt(self, conversation_id: str, kept: Sequence[Kept]) -> dict[str, str]:
        """Keeps copies of messages from elsewhere, with their tree, in one transaction; old ids to new."""
        ids = {each.id: new_id() for each in kept}
        rows = []
        for each in kept:
            told = {name: getattr(each, name) for name in _TOLD}
            status: Status = "interrupted" if each.status == "streaming" else each.status
            rows.append(
                self._columns(ids[each.id], each.turn, status, told)
                | {"conversation_id": conversation_id, "kind": each.kind, "created": each.created}
                | {"parent_id": ids.get(each.parent_id or ""), "covers": ids.get(each.covers or "")}
            )

        async def work(connection: AsyncConnection) -> None:
            for row in rows:
                await _insert(connection, row)

        await self.database.write(work, conversation_id)
        return ids

    async def message(self, id: str) -> Kept:
        """One message."""
        query = sa.select(*MESSAGE).where(messages.c.id == id)
        rows = await self.database.rows(query)
        if not rows:
            raise NotKept("message", id)
        return read_message(rows[0], self.database.safe)

    async def path(self, conversation_id: str, head: str | None = None) -> list[Kept]:
        """From the root to a message, or to the conversation's head."""

        async def work(connection: AsyncConnection) -> tuple[str | None, Sequence[sa.Row[Any]]]:
            last = head if head is not None else await _head(connection, conversation_id)
            if not last:
                return last, ()
            return last, (await connection.execute(path_query(conversation_id, last))).all()

        head, rows = await self.database.read(work)
        if head and not rows:
            raise NotKept("message", head)
        found = [read_message(row, self.database.safe) for row in rows]
        if not any(kept.status == "streaming" for kept in found):
            return found
        return await self._settled(conversation_id, found)

    async def tree(self, conversation_id: str) -> list[Branch]:
        """Every message's place, in the order in which they came: what branches there are."""
        columns = [messages.c[field.name] for field in msgspec.structs.fields(Branch)]
        query = sa.select(*columns).where(messages.c.conversation_id == conversation_id)
        rows = await self.database.rows(query.order_by(messages.c.seq))
        return [Branch(**row._mapping) for row in rows]

    async def messages(self, conversation_id: str) -> list[Kept]:
        """Every message of every branch, in the order in which they came."""
        query = sa.select(*MESSAGE).where(messages.c.conversation_id == conversation_id)
        rows = await self.database.rows(query.order_by(messages.c.seq))
        return [read_message(row, self.database.safe) for row in rows]

    def _columns(self, id: str, turn: Turn, status: Status, told: dict[str, Any]) -> dict[str, Any]:
        now = time.time()
        columns = turn_columns(turn, id, self.database.safe) | told_columns(told)
        columns |= {"id": id, "status": status, "created": now, "updated": now}
        if status == "streaming":
            return columns | {"owner_process": this_process()}
        return columns | word_columns(columns["text"], columns["thinking"])

    async def _settled(self, conversation_id: str, found: list[Kept]) -> list[Kept]:
        """The same messages after `settle`, read anew only if that changed any."""
        if not await self.settle(conversation_id):
            return found
        return await self.path(conversation_id, found[-1].id)


def path_query(conversation_id: str, head: str) -> sa.Select[Any]:
    """Follows the parents from a message up to its root, by the index on ids."""
    m = messages.c
    start = sa.select(m.id, m.parent_id).where(m.id == head, m.conversation_id == conversation_id)
    up = start.cte("up", recursive=True)
    up = up.union_all(sa.select(m.id, m.parent_id).where(m.id == up.c.parent_id))
    return sa.select(*MESSAGE).select_from(up).join(messages, m.id == up.c.id).order_by(m.seq)


async def _head(connection: AsyncConnection, conversation_id: str) -> str | None:
    query = sa.select(conversations.c.head).where(conversations.c.id == conversation_id)
    row = (await connection.execute(query)).first()
    if row is None:
        raise NotKept("conversation", conversation_id)
    return str(row.head) if row.head else None


async def _insert(connection: AsyncConnection, columns: dict[str, Any]) -> sa.Row[Any]:
    conversation_id = columns["conversation_id"]
    talk = sa.select(conversations.c.head, conversations.c.count)
    talk = talk.where(conversations.c.id == conversation_id).with_for_update()
    found = (await connection.execute(talk)).first()
    if found is None:
        raise NotKept("conversation", conversation_id)
    parent = found.head if columns["parent_id"] == HEAD else columns["parent_id"]
    if parent is not None and parent != found.head:
        there = sa.select(messages.c.id).where(messages.c.id == parent)
        if await connection.scalar(there.where(messages.c.conversation_id == conversation_id)) is None:
            raise NotKept("message", parent)
    values = columns | {"parent_id": parent, "seq": found[1] + 1}
    row = (await connection.execute(messages.insert().values(values).returning(*MESSAGE))).one()
    moved = {"head": values["id"], "count": values["seq"], "updated": values["updated"]}
    if words := preview(values["text"]):
        moved["preview"] = words
    await connection.execute(
        conversations.update().where(conversations.c.id == conversation_id).values(moved)
    )
    return row


async def _revise(connection: AsyncConnection, id: str, columns: dict[str, Any]) -> None:
    m = messages.c
    change = messages.update().where(m.id == id).values(columns)
    change = change.returning(m.conversation_id, m.status, m.text, m.thinking, m.text_words, m.thinking_words)
    row = (await connection.execute(change)).first()
    if row is None:
        raise NotKept("message", id)
    if row.status == "streaming" or not columns.keys() & {"status", "text"}:
        return
    words = word_columns(row.text, row.thinking)
    if words != {"text_words": row.text_words, "thinking_words": row.thinking_words}:
        await connection.execute(messages.update().where(m.id == id).values(words))
    moved = {"updated": columns["updated"]} | ({"preview": preview(row.text)} if row.text.strip() else {})
    talk = (conversations.c.id == row.conversation_id) & (conversations.c.head == id)
    await connection.execute(conversations.update().where(talk).values(moved))
