"""Agents, and profiles that are shared through the store."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.jsonvalue import dump_text
from thinkwire.store.database import Repository
from thinkwire.store.errors import RowNotFound
from thinkwire.store.ids import new_id
from thinkwire.store.rows import AgentRow, ProfileRow
from thinkwire.store.search_text import readable
from thinkwire.store.tables import agents, profiles

_object = msgspec.json.Decoder(dict[str, Any]).decode
_names = msgspec.json.Decoder(list[str]).decode
_CHANGEABLE = {"name", "instructions", "model", "thinking", "tools"}


class Agents(Repository):
    """The operations on agents and profiles."""

    async def create_agent(
        self,
        name: str,
        instructions: str = "",
        model: str | None = None,
        *,
        thinking: dict[str, Any] | None = None,
        tools: list[str] | None = None,
        owner: str = "",
    ) -> AgentRow:
        now = time.time()
        row = {
            "id": new_id(),
            "owner": owner,
            "created": now,
            "updated": now,
            "deleted": None,
            **_agent_columns(
                {
                    "name": name,
                    "instructions": instructions,
                    "model": model,
                    "thinking": thinking or {},
                    "tools": tools or [],
                }
            ),
        }
        await self.database.write(lambda connection: connection.execute(agents.insert(), row))
        return await self.agent(row["id"])

    async def agent(self, id: str) -> AgentRow:
        """One agent, deleted or not: old conversations still name it."""
        rows = await self.database.rows(sa.select(agents).where(agents.c.id == id))
        if not rows:
            raise RowNotFound("agent", id)
        return _agent(rows[0])

    async def agents(self, owner: str = "") -> list[AgentRow]:
        """An owner's agents by name."""
        query = sa.select(agents).where(agents.c.owner == owner, agents.c.deleted.is_(None))
        rows = await self.database.rows(query.order_by(agents.c.name, agents.c.id))
        return [_agent(row) for row in rows]

    async def update_agent(self, id: str, **changes: Any) -> AgentRow:
        """Changes `name`, `instructions`, `model`, `thinking` or `tools`."""
        if unknown := changes.keys() - _CHANGEABLE:
            raise TypeError(f"an agent has no {', '.join(sorted(unknown))} to update")
        await self._change_agent(id, _agent_columns(changes))
        return await self.agent(id)

    async def delete_agent(self, id: str) -> None:
        """Out of the list; its conversations stay."""
        await self._change_agent(id, {"deleted": time.time()})

    async def restore_agent(self, id: str) -> None:
        await self._change_agent(id, {"deleted": None})

    async def save_profile(self, name: str, values: dict[str, Any], owner: str = "") -> None:
        """Keeps settings under a name, in place of what was there."""
        name = readable(name)
        row = {"name": name, "owner": owner, "values": dump_text(values), "updated": time.time()}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(profiles.delete().where(_profile_is(name, owner)))
            await connection.execute(profiles.insert(), row)

        await self.database.write(work)

    async def profile(self, name: str, owner: str = "") -> ProfileRow:
        rows = await self.database.rows(sa.select(profiles).where(_profile_is(name, owner)))
        if not rows:
            raise RowNotFound("profile", name)
        return _profile(rows[0])

    async def profiles(self, owner: str = "") -> list[ProfileRow]:
        """An owner's profiles by name."""
        query = sa.select(profiles).where(profiles.c.owner == owner).order_by(profiles.c.name)
        return [_profile(row) for row in await self.database.rows(query)]

    async def delete_profile(self, name: str, owner: str = "") -> None:
        async def work(connection: AsyncConnection) -> None:
            if not (await connection.execute(profiles.delete().where(_profile_is(name, owner)))).rowcount:
                raise RowNotFound("profile", name)

        await self.database.write(work)

    async def _change_agent(self, id: str, columns: dict[str, Any]) -> None:
        async def work(connection: AsyncConnection) -> None:
            values = {"updated": time.time()} | columns
            change = agents.update().where(agents.c.id == id).values(values)
            if not (await connection.execute(change)).rowcount:
                raise RowNotFound("agent", id)

        await self.database.write(work, id)


def _agent_columns(values: dict[str, Any]) -> dict[str, Any]:
    columns = dict(values)
    for name in ("thinking", "tools"):
        if name in columns:
            columns[name] = dump_text(columns[name])
    for name in ("name", "instructions"):
        if name in columns:
            columns[name] = readable(columns[name])
    return columns


def _agent(row: sa.Row[Any]) -> AgentRow:
    values = dict(row._mapping)
    return AgentRow(**values | {"thinking": _object(row.thinking), "tools": _names(row.tools)})


def _profile_is(name: str, owner: str) -> sa.ColumnElement[bool]:
    return (profiles.c.name == name) & (profiles.c.owner == owner)


def _profile(row: sa.Row[Any]) -> ProfileRow:
    values = dict(row._mapping)
    return ProfileRow(**values | {"values": _object(values["values"])})
