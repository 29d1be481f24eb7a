"""Tokens and cost by day, model and agent."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from thinkwire.store.database import Repository
from thinkwire.store.rows import BUCKETS, UsageRow
from thinkwire.store.tables import conversations, messages

_DAY = 86_400
_SUMS = (*BUCKETS, "cost")


class UsageReport(Repository):
    """The operation that adds up."""

    async def usage(
        self, owner: str = "", since: float = 0.0, until: float | None = None, *, utc_offset: float = 0.0
    ) -> list[UsageRow]:
        """What an owner's answers took between two times; days are of UTC plus an offset in seconds.

        Conversations in the bin count, since they were paid for; purged ones are gone from here too.
        """
        m, c = messages.c, conversations.c
        day = (m.created + utc_offset) / _DAY
        # SQLite's cast drops the fraction, PostgreSQL's rounds.
        day_number = sa.cast(day if self.database.sqlite else sa.func.floor(day), sa.Integer).label("day")
        query = (
            sa.select(day_number, m.provider, m.model, c.agent_id, sa.func.count().label("answers"), *_sums())
            .join_from(messages, conversations, c.id == m.conversation_id)
            .where(c.owner == owner, m.role == "assistant", m.status != "streaming")
            .where(m.created >= since, m.created < (time.time() + 1 if until is None else until))
            .group_by("day", m.provider, m.model, c.agent_id)
            .order_by("day", m.provider, m.model, c.agent_id)
        )
        return [_row(dict(row._mapping)) for row in await self.database.rows(query)]


def _sums() -> list[sa.ColumnElement[Any]]:
    sums: list[sa.ColumnElement[Any]] = [sa.func.sum(messages.c[name]).label(name) for name in _SUMS]
    return sums + [sa.func.count(messages.c[name]).label(f"known_{name}") for name in _SUMS]


def _row(values: dict[str, Any]) -> UsageRow:
    known = {name: values.pop(f"known_{name}") for name in _SUMS}
    day = datetime.fromtimestamp(values.pop("day") * _DAY, UTC).strftime("%Y-%m-%d")
    # PostgreSQL adds big integers up to decimals.
    counts = {name: None if values[name] is None else int(values[name]) for name in BUCKETS}
    unknown = {name: values["answers"] - count for name, count in known.items() if count < values["answers"]}
    return UsageRow(**values | counts, day=day, unknown=unknown)
