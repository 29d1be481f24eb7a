"""Messages in the making: an end for those whose process is gone, and for ours when a store is closed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.store.database import Database, Repository
from thinkwire.store.heartbeat import Heartbeat
from thinkwire.store.message_writer import interrupted
from thinkwire.store.process import is_gone
from thinkwire.store.tables import messages


class StaleMessages(Repository):
    """Knows which messages this store is writing."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._heart = Heartbeat(self._touch)

    async def settle(self, conversation_id: str | None = None) -> int:
        """Marks as interrupted what a dead process was writing; how many messages that were."""
        m = messages.c
        query = sa.select(m.id, m.owner_process, m.updated, m.text, m.thinking).where(m.status == "streaming")
        if conversation_id is not None:
            query = query.where(m.conversation_id == conversation_id)
        rows = await self.database.rows(query)
        now = time.time()
        gone = [row for row in rows if is_gone(row.owner_process, row.updated, now)]
        return await self._interrupt(gone) if gone else 0

    async def _interrupt(self, rows: Sequence[Any]) -> int:
        async def work(connection: AsyncConnection) -> int:
            done = 0
            for row in rows:
                # Whoever revised it since we looked is alive.
                same = (messages.c.status == "streaming") & (messages.c.updated == row.updated)
                change = messages.update().where(messages.c.id == row.id, same)
                change = change.values(interrupted(row.text, row.thinking))
                done += (await connection.execute(change)).rowcount
            return done

        return await self.database.write(work)

    async def _touch(self, ids: list[str]) -> None:
        ours = messages.c.id.in_(ids) & (messages.c.status == "streaming")
        change = messages.update().where(ours).values(updated=time.time())
        await self.database.write(lambda connection: connection.execute(change))

    async def _let_go(self) -> None:
        """What this store was still writing when it is closed is interrupted."""
        left = await self._heart.stop()
        if left:
            m = messages.c
            query = sa.select(m.id, m.updated, m.text, m.thinking)
            query = query.where(m.id.in_(left), m.status == "streaming")
            await self._interrupt(await self.database.rows(query))
