"""Messages: a tree in each conversation, which only grows; a message is revised while it is being written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.store.database import Database
from thinkwire.store.errors import RowNotFound
from thinkwire.store.ids import new_id
from thinkwire.store.mapping import KEPT, read_message
from thinkwire.store.message_writer import (
    AFTER_REVISION,
    Columns,
    MessageWriter,
    after_insert,
    after_revision,
    placed,
)
from thinkwire.store.rows import Branch, MessageRow, Status
from thinkwire.store.stale_messages import StaleMessages
from thinkwire.store.tables import conversations, messages

MESSAGE = [messages.c[name] for name in KEPT]
"""The columns that `read_message` needs."""
_TOLD = ("finish", "usage", "notes", "failure", "elapsed_thinking", "cost", "extra")


class Messages(MessageWriter, StaleMessages):
    """The operations on messages."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._safe = database.safe

    async def adopt(self, conversation_id: str, kept: Sequence[MessageRow]) -> dict[str, str]:
        """Keeps copies of messages from elsewhere, with their tree, in one transaction; old ids to new."""
        ids = {each.id: new_id() for each in kept}
        rows = []
        for each in kept:
            told = {name: getattr(each, name) for name in _TOLD}
            status: Status = "interrupted" if each.status == "streaming" else each.status
            rows.append(
                self._message_columns(ids[each.id], each.turn, status, told)
                | {"conversation_id": conversation_id, "kind": each.kind, "created": each.created}
                | {"parent_id": ids.get(each.parent_id or ""), "covers": ids.get(each.covers or "")}
            )

        async def work(connection: AsyncConnection) -> None:
            for row in rows:
                await _insert(connection, row)

        await self.database.write(work, conversation_id)
        return ids

    async def message(self, id: str) -> MessageRow:
        """One message."""
        query = sa.select(*MESSAGE).where(messages.c.id == id)
        rows = await self.database.rows(query)
        if not rows:
            raise RowNotFound("message", id)
        return read_message(dict(rows[0]._mapping), self._safe)

    async def path(self, conversation_id: str, head: str | None = None) -> list[MessageRow]:
        """From the root to a message, or to the conversation's head."""

        async def work(connection: AsyncConnection) -> tuple[str | None, Sequence[sa.Row[Any]]]:
            last = head if head is not None else await _head(connection, conversation_id)
            if not last:
                return last, ()
            return last, (await connection.execute(path_query(conversation_id, last))).all()

        head, rows = await self.database.read(work)
        if head and not rows:
            raise RowNotFound("message", head)
        found = [read_message(dict(row._mapping), self._safe) for row in rows]
        if not any(kept.status == "streaming" for kept in found):
            return found
        return await self._settled(conversation_id, found)

    async def tree(self, conversation_id: str) -> list[Branch]:
        """Every message's place, in the order in which they came: what branches there are."""
        columns = [messages.c[field.name] for field in msgspec.structs.fields(Branch)]
        query = sa.select(*columns).where(messages.c.conversation_id == conversation_id)
        rows = await self.database.rows(query.order_by(messages.c.seq))
        return [Branch(**row._mapping) for row in rows]

    async def messages(self, conversation_id: str) -> list[MessageRow]:
        """Every message of every branch, in the order in which they came."""
        query = sa.select(*MESSAGE).where(messages.c.conversation_id == conversation_id)
        rows = await self.database.rows(query.order_by(messages.c.seq))
        return [read_message(dict(row._mapping), self._safe) for row in rows]

    async def _insert_row(self, columns: Columns) -> Columns:
        about = columns["conversation_id"]
        row = await self.database.write(lambda connection: _insert(connection, columns), about)
        return dict(row._mapping)

    async def _revise_row(self, id: str, columns: Columns) -> None:
        await self.database.write(lambda connection: _revise(connection, id, columns), id)

    async def _settled(self, conversation_id: str, found: list[MessageRow]) -> list[MessageRow]:
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
        raise RowNotFound("conversation", conversation_id)
    return str(row.head) if row.head else None


async def _insert(connection: AsyncConnection, columns: Columns) -> sa.Row[Any]:
    conversation_id = columns["conversation_id"]
    talk = sa.select(conversations.c.head, conversations.c.count)
    talk = talk.where(conversations.c.id == conversation_id).with_for_update()
    found = (await connection.execute(talk)).first()
    if found is None:
        raise RowNotFound("conversation", conversation_id)
    values = placed(columns, found.head, found[1])
    parent = values["parent_id"]
    if parent not in (None, found.head):
        there = sa.select(messages.c.id).where(messages.c.id == parent)
        if await connection.scalar(there.where(messages.c.conversation_id == conversation_id)) is None:
            raise RowNotFound("message", parent)
    row = (await connection.execute(messages.insert().values(values).returning(*MESSAGE))).one()
    change = conversations.update().where(conversations.c.id == conversation_id)
    await connection.execute(change.values(after_insert(values)))
    return row


async def _revise(connection: AsyncConnection, id: str, columns: Columns) -> None:
    change = messages.update().where(messages.c.id == id)
    looked_at = [messages.c[name] for name in AFTER_REVISION]
    row = (await connection.execute(change.values(columns).returning(*looked_at))).first()
    if row is None:
        raise RowNotFound("message", id)
    words, moved = after_revision(columns, dict(row._mapping))
    if words:
        await connection.execute(change.values(words))
    if moved:
        talk = (conversations.c.id == row.conversation_id) & (conversations.c.head == id)
        await connection.execute(conversations.update().where(talk).values(moved))
