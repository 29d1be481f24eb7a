"""Conversations: made, listed, renamed, put into the bin and taken out again."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.jsonvalue import dump_text
from thinkwire.store.database import Repository
from thinkwire.store.errors import RowNotFound
from thinkwire.store.mapping import conversation_columns, title_columns
from thinkwire.store.rows import ConversationRow
from thinkwire.store.tables import conversations, messages

_object = msgspec.json.Decoder(dict[str, Any]).decode
_COLUMNS = [column for column in conversations.c if column.name != "title_words"]


class Conversations(Repository):
    """The operations on conversations as wholes."""

    async def create_conversation(
        self,
        title: str | None = None,
        model: str | None = None,
        settings: dict[str, Any] | None = None,
        agent_id: str | None = None,
        *,
        owner: str = "",
        id: str | None = None,
    ) -> ConversationRow:
        """A new, empty conversation."""
        row = conversation_columns(title, model, settings, agent_id, owner=owner, id=id)
        await self.database.write(lambda connection: connection.execute(conversations.insert(), row))
        return await self.conversation(row["id"])

    async def conversation(self, id: str) -> ConversationRow:
        """One conversation, in the bin or not."""
        rows = await self.database.rows(sa.select(*_COLUMNS).where(conversations.c.id == id))
        if not rows:
            raise RowNotFound("conversation", id)
        return _conversation(rows[0])

    async def conversations(
        self,
        owner: str = "",
        limit: int = 50,
        before: tuple[float, str] | None = None,
        *,
        deleted: bool = False,
    ) -> list[ConversationRow]:
        """An owner's conversations, the newest first. `before` is the `cursor` of the last row of a page."""
        query = list_query(owner, limit, before, deleted=deleted)
        return [_conversation(row) for row in await self.database.rows(query)]

    async def rename(self, id: str, title: str | None) -> None:
        await self._change(id, title_columns(title))

    async def update(self, id: str, **changes: Any) -> None:
        """Changes `settings`, `model`, `agent_id`, or `head`, which must be a message of the conversation."""
        unknown = changes.keys() - {"settings", "model", "agent_id", "head"}
        if unknown:
            raise TypeError(f"a conversation has no {', '.join(sorted(unknown))} to update")
        if "settings" in changes:
            changes["settings"] = dump_text(changes["settings"])
        await self._change(id, changes)

    async def delete(self, id: str) -> None:
        """Into the bin; `restore` takes it out, `purge` removes it for good."""
        await self._change(id, {"deleted": time.time()})

    async def restore(self, id: str) -> None:
        await self._change(id, {"deleted": None})

    async def purge(self, id: str) -> None:
        """Removes a conversation and its messages for good."""
        gone = await self._remove(conversations.c.id == id)
        if not gone:
            raise RowNotFound("conversation", id)

    async def empty_bin(self, before: float) -> int:
        """Removes for good what was deleted before a time; how many conversations that were."""
        return await self._remove(conversations.c.deleted < before)

    async def _remove(self, which: sa.ColumnElement[bool]) -> int:
        async def work(connection: AsyncConnection) -> int:
            return (await connection.execute(conversations.delete().where(which))).rowcount

        return await self.database.write(work)

    async def _change(self, id: str, values: dict[str, Any]) -> None:
        async def work(connection: AsyncConnection) -> None:
            if values.get("head") is not None:
                await _check_message(connection, id, values["head"])
            change = conversations.update().where(conversations.c.id == id).values({"id": id} | values)
            changed = await connection.execute(change)
            if not changed.rowcount:
                raise RowNotFound("conversation", id)

        await self.database.write(work, id)


def list_query(
    owner: str, limit: int, before: tuple[float, str] | None, *, deleted: bool = False
) -> sa.Select[Any]:
    """A page of conversations, by the index on owner and time."""
    c = conversations.c
    query = sa.select(*_COLUMNS).where(c.owner == owner)
    query = query.where(c.deleted.is_not(None) if deleted else c.deleted.is_(None))
    if before is not None:
        query = query.where(sa.tuple_(c.updated, c.id) < sa.tuple_(*before))
    return query.order_by(c.updated.desc(), c.id.desc()).limit(limit)


async def _check_message(connection: AsyncConnection, conversation_id: str, id: str) -> None:
    found = sa.select(messages.c.id).where(messages.c.id == id, messages.c.conversation_id == conversation_id)
    if await connection.scalar(found) is None:
        raise RowNotFound("message", id)


def _conversation(row: sa.Row[Any]) -> ConversationRow:
    values = dict(row._mapping)
    values["settings"] = _object(values["settings"])
    return ConversationRow(**values)
