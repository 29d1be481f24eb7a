"""Messages in the making: signs of life for our own, and an end for those whose process is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.store.database import Database, Part
from thinkwire.store.failures import StoreFailed
from thinkwire.store.process import BEAT, is_gone
from thinkwire.store.shape import word_columns
from thinkwire.store.tables import messages


class Settling(Part):
    """Knows which messages this store is writing."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._ours: set[str] = set()
        self._heart: asyncio.Task[None] | None = None

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
                columns = word_columns(row.text, row.thinking)
                change = messages.update().where(messages.c.id == row.id, same)
                change = change.values(status="interrupted", owner_process=None, **columns)
                done += (await connection.execute(change)).rowcount
            return done

        return await self.database.write(work)

    def _being_written(self, id: str) -> None:
        self._ours.add(id)
        if self._heart is None or self._heart.done():
            self._heart = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        """A provider may be silent for minutes; other machines must see that we are not."""
        while self._ours:
            await asyncio.sleep(BEAT)
            with suppress(StoreFailed):
                await self._touch(sorted(self._ours))

    async def _touch(self, ids: list[str]) -> None:
        ours = messages.c.id.in_(ids) & (messages.c.status == "streaming")
        change = messages.update().where(ours).values(updated=time.time())
        await self.database.write(lambda connection: connection.execute(change))

    async def _let_go(self) -> None:
        """What this store was still writing when it is closed is interrupted."""
        if self._heart is not None:
            self._heart.cancel()
            with suppress(asyncio.CancelledError):
                await self._heart
        m = messages.c
        if self._ours:
            query = sa.select(m.id, m.updated, m.text, m.thinking)
            query = query.where(m.id.in_(sorted(self._ours)), m.status == "streaming")
            await self._interrupt(await self.database.rows(query))
            self._ours.clear()
