"""The tables, the same on both databases. Search indexes are in the migrations only.

JSON is kept as text, not as PostgreSQL's binary form: that one refuses NUL characters and forgets the order
of keys. Rows carry it as `str`; reading and writing it is msgspec's work.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from thinkwire.store.rows import BUCKETS

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, **options)


def _maybe(name: str) -> sa.Column[str | None]:
    return sa.Column(name, sa.Text)


def _json(name: str, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=nullable)


def _time(name: str, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


agents = sa.Table(
    "agents",
    metadata,
    _text("id", primary_key=True),
    _text("owner"),
    _text("name"),
    _text("instructions"),
    _maybe("model"),
    _json("thinking"),
    _json("tools"),
    _time("created"),
    _time("updated"),
    _time("deleted", nullable=True),
    sa.Index(None, "owner", "name"),
)

profiles = sa.Table(
    "profiles",
    metadata,
    _text("owner", primary_key=True),
    _text("name", primary_key=True),
    _json("values"),
    _time("updated"),
)

conversations = sa.Table(
    "conversations",
    metadata,
    _text("id", primary_key=True),
    _text("owner"),
    _maybe("agent_id"),
    _maybe("title"),
    _text("title_words"),
    _maybe("model"),
    _json("settings"),
    _maybe("head"),
    _text("preview"),
    sa.Column("count", sa.Integer, nullable=False),
    _time("created"),
    _time("updated"),
    _time("deleted", nullable=True),
    sa.Index(None, "owner", "updated", "id"),
)

messages = sa.Table(
    "messages",
    metadata,
    # A number of its own, because SQLite may renumber hidden ones and the search index points at it.
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    _text("id", unique=True),
    sa.Column(
        "conversation_id", sa.Text, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False
    ),
    _maybe("parent_id"),
    sa.Column("seq", sa.Integer, nullable=False),
    _text("role"),
    _text("kind"),
    _text("status"),
    _json("turn"),
    _text("text"),
    _text("thinking"),
    _maybe("text_words"),
    _maybe("thinking_words"),
    _maybe("provider"),
    _maybe("endpoint"),
    _maybe("model"),
    _maybe("response_id"),
    _maybe("finish"),
    _json("usage", nullable=True),
    *(sa.Column(name, sa.BigInteger) for name in BUCKETS),
    sa.Column("cost", sa.Double),
    sa.Column("elapsed_thinking", sa.Double),
    _json("notes"),
    _json("failure", nullable=True),
    _maybe("covers"),
    _json("extra"),
    _maybe("owner_process"),
    _time("created"),
    _time("updated"),
    sa.UniqueConstraint("conversation_id", "seq"),
    sa.UniqueConstraint("conversation_id", "id"),
    sa.ForeignKeyConstraint(
        ["conversation_id", "parent_id"],
        ["messages.conversation_id", "messages.id"],
        name="fk_messages_parent",
    ),
    sa.Index(None, "conversation_id", "parent_id"),
    sa.Index(None, "created"),
    sa.Index(
        "ix_messages_streaming",
        "status",
        sqlite_where=sa.text("status = 'streaming'"),
        postgresql_where=sa.text("status = 'streaming'"),
    ),
)

users = sa.Table(
    "users",
    metadata,
    _text("id", primary_key=True),
    _text("name"),
    _text("name_key", unique=True),
    _text("password"),
    sa.Column("admin", sa.Boolean, nullable=False),
    _time("created"),
    _time("removed", nullable=True),
)

sign_ins = sa.Table(
    "sign_ins",
    metadata,
    _text("digest", primary_key=True),
    sa.Column("user_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    _time("created"),
    _time("expires"),
    sa.Index(None, "user_id"),
)

invitations = sa.Table(
    "invitations",
    metadata,
    _text("digest", primary_key=True),
    _maybe("invited_by"),
    sa.Column("admin", sa.Boolean, nullable=False),
    _time("created"),
    _time("expires"),
)

uploads = sa.Table(
    "uploads",
    metadata,
    _text("id", primary_key=True),
    _text("owner"),
    _text("name"),
    _text("media_type"),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    _time("created"),
    sa.Index(None, "owner"),
    sa.Index(None, "created"),
)
