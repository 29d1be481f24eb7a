"""Uploads: files that were sent before the message they belong to. A message has its own copy."""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.store.database import Repository
from thinkwire.store.errors import NameTaken, RowNotFound
from thinkwire.store.ids import new_id
from thinkwire.store.rows import UploadRow
from thinkwire.store.search_text import readable
from thinkwire.store.tables import uploads

KEPT_FOR = 24 * 3600.0
"""Seconds after which an upload is removed."""
MOST = 200 * 1024 * 1024
"""Bytes that an owner may have waiting."""

_ROW = [column for column in uploads.c if column.name != "data"]


class Uploads(Repository):
    """The operations on uploads."""

    async def add_upload(self, data: bytes, *, name: str, media_type: str, owner: str = "") -> UploadRow:
        """Keeps a file for a day; older ones go."""
        now = time.time()
        row: dict[str, Any] = {
            "id": new_id(),
            "owner": owner,
            "name": readable(name),
            "media_type": media_type,
            "size": len(data),
            "data": data,
            "created": now,
        }

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(uploads.delete().where(uploads.c.created < now - KEPT_FOR))
            held = sa.select(sa.func.sum(uploads.c.size)).where(uploads.c.owner == owner)
            if int(await connection.scalar(held) or 0) + len(data) > MOST:
                raise NameTaken(
                    f"more than {MOST // 1024 // 1024} MiB were uploaded today; send them first, or wait"
                )
            await connection.execute(uploads.insert(), row)

        await self.database.write(work, f"uploads {owner}")
        return UploadRow(**{column.name: row[column.name] for column in _ROW})

    async def upload(self, id: str, owner: str = "") -> tuple[UploadRow, bytes]:
        """A file of this owner, and what is in it."""
        query = sa.select(uploads).where(uploads.c.id == id, uploads.c.owner == owner)
        rows = await self.database.rows(query)
        if not rows:
            raise RowNotFound("file", id)
        values = dict(rows[0]._mapping)
        data: bytes = values.pop("data")
        return UploadRow(**values), data
