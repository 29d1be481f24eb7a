"""Search over titles, answers and, when asked, thinking. What the user types is words, never operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.store.database import Repository
from thinkwire.store.rows import SearchHit
from thinkwire.store.search_text import phrases, snippet
from thinkwire.store.tables import conversations, messages


class Search(Repository):
    """The operation that finds."""

    async def search(
        self, query: str, owner: str = "", limit: int = 20, *, thinking: bool = False
    ) -> list[SearchHit]:
        """Where all the words are, the last perhaps unfinished: titles first, then messages, best first."""
        wanted = phrases(query)
        if not wanted:
            return []
        find = sqlite_query if self.database.sqlite else postgresql_query

        async def work(connection: AsyncConnection) -> list[Sequence[sa.Row[Any]]]:
            queries = (_title_query(wanted, owner), find(wanted, thinking).where(_open(owner)))
            return [(await connection.execute(query.limit(limit))).all() for query in queries]

        titles, found = await self.database.read(work)
        hits = [SearchHit(row.id, None, row.title, row.title) for row in titles]
        hits += [SearchHit(row.conversation_id, row.id, _snippet(row, query), row.title) for row in found]
        return hits[:limit]


def _open(owner: str) -> sa.ColumnElement[bool]:
    return (conversations.c.owner == owner) & conversations.c.deleted.is_(None)


def _title_query(wanted: list[str], owner: str) -> sa.Select[Any]:
    c = conversations.c
    query = sa.select(c.id, c.title).where(_open(owner), c.title.is_not(None))
    for phrase in wanted:
        query = query.where(c.title_words.contains(phrase, autoescape=True))
    return query.order_by(c.updated.desc())


def _messages() -> sa.Select[Any]:
    m = messages.c
    query = sa.select(m.id, m.conversation_id, m.text, m.thinking, conversations.c.title)
    return query.join_from(messages, conversations, conversations.c.id == m.conversation_id)


def sqlite_query(wanted: list[str], thinking: bool) -> sa.Select[Any]:
    index = sa.table("message_search", sa.column("rowid"), sa.column("rank"), sa.column("message_search"))
    match = " ".join(f'"{phrase}"' for phrase in wanted) + "*"
    match = match if thinking else f"{{text}} : ({match})"
    query = _messages().join(index, index.c.rowid == messages.c.number)
    return query.where(index.c.message_search.op("MATCH")(match)).order_by(
        index.c.rank, messages.c.number.desc()
    )


def postgresql_query(wanted: list[str], thinking: bool) -> sa.Select[Any]:
    told = sa.func.websearch_to_tsquery(
        sa.literal_column("'thinkwire'"), " ".join(f'"{phrase}"' for phrase in wanted)
    )
    # Only as text can a query be given the mark of an unfinished last word.
    asked = sa.cast(sa.func.nullif(sa.cast(told, sa.Text), "") + ":*", TSQUERY)
    text: sa.ColumnElement[Any] = sa.column("text_search")
    thought: sa.ColumnElement[Any] = sa.column("thinking_search")
    where: sa.ColumnElement[bool] = text.op("@@")(asked)
    if thinking:
        where = sa.or_(where, thought.op("@@")(asked))
    rank = sa.func.ts_rank(sa.func.coalesce(text, thought), asked)
    return _messages().where(where).order_by(rank.desc(), messages.c.number.desc())


def _snippet(row: sa.Row[Any], query: str) -> str:
    """From the answer, unless only the thinking has the words."""
    low = row.text.lower()
    in_text = any(word.lower()[:3] in low for word in query.split())
    return snippet(row.text if in_text or not row.thinking else row.thinking, query)
