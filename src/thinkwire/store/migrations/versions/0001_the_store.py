"""The store: agents, profiles, conversations, messages, and their search."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

BUCKETS = (
    "input_uncached",
    "cache_read",
    "cache_write",
    "input_total",
    "output_visible",
    "output_reasoning",
    "output_total",
)

SQLITE_SEARCH = (
    # What is being written is not searched yet: each revision would be indexed anew.
    """
    CREATE VIEW message_words AS
    SELECT number, coalesce(text_words, text) AS text, coalesce(thinking_words, thinking) AS thinking
    FROM messages WHERE status <> 'streaming'
    """,
    """
    CREATE VIRTUAL TABLE message_search USING fts5(
        text, thinking, content='message_words', content_rowid='number',
        tokenize='porter unicode61 remove_diacritics 2'
    )
    """,
    """
    CREATE TRIGGER message_search_added AFTER INSERT ON messages WHEN new.status <> 'streaming' BEGIN
        INSERT INTO message_search(rowid, text, thinking) VALUES
        (new.number, coalesce(new.text_words, new.text), coalesce(new.thinking_words, new.thinking));
    END
    """,
    """
    CREATE TRIGGER message_search_removed AFTER DELETE ON messages WHEN old.status <> 'streaming' BEGIN
        INSERT INTO message_search(message_search, rowid, text, thinking) VALUES
        ('delete', old.number,
        coalesce(old.text_words, old.text), coalesce(old.thinking_words, old.thinking));
    END
    """,
    """
    CREATE TRIGGER message_search_changing
    BEFORE UPDATE OF status, text, thinking, text_words, thinking_words ON messages
    WHEN old.status <> 'streaming' BEGIN
        INSERT INTO message_search(message_search, rowid, text, thinking) VALUES
        ('delete', old.number,
        coalesce(old.text_words, old.text), coalesce(old.thinking_words, old.thinking));
    END
    """,
    """
    CREATE TRIGGER message_search_changed
    AFTER UPDATE OF status, text, thinking, text_words, thinking_words ON messages
    WHEN new.status <> 'streaming' BEGIN
        INSERT INTO message_search(rowid, text, thinking) VALUES
        (new.number, coalesce(new.text_words, new.text), coalesce(new.thinking_words, new.thinking));
    END
    """,
)

# A tsvector may not exceed 1 MB; this much of a text never does.
INDEXED_CHARACTERS = 150_000
PUNCTUATION = r"""!"#$%&()*+,-./:;<=>?@[\]^_`{|}~"""

POSTGRESQL_SEARCH = (
    # English stems without stop words, so that every word can be found.
    "CREATE TEXT SEARCH DICTIONARY thinkwire_stem (TEMPLATE = snowball, LANGUAGE = english)",
    "CREATE TEXT SEARCH CONFIGURATION thinkwire (COPY = pg_catalog.simple)",
    """
    ALTER TEXT SEARCH CONFIGURATION thinkwire
    ALTER MAPPING FOR asciiword, word, asciihword, hword, hword_asciipart, hword_part WITH thinkwire_stem
    """,
    *(
        f"""
        ALTER TABLE messages ADD COLUMN {name}_search tsvector GENERATED ALWAYS AS (
            CASE WHEN status = 'streaming' THEN NULL ELSE to_tsvector('thinkwire', translate(
                left(coalesce({name}_words, {name}), {INDEXED_CHARACTERS}), '{PUNCTUATION}''',
                '{" " * (len(PUNCTUATION) + 1)}'
            )) END
        ) STORED
        """
        for name in ("text", "thinking")
    ),
    "CREATE INDEX ix_messages_text_search ON messages USING gin (text_search)",
    "CREATE INDEX ix_messages_thinking_search ON messages USING gin (thinking_search)",
)


def upgrade() -> None:
    _agents()
    _profiles()
    _conversations()
    _messages()
    sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in SQLITE_SEARCH if sqlite else POSTGRESQL_SEARCH:
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE message_search")
        op.execute("DROP VIEW message_words")
    op.drop_table("messages")
    op.drop_table("conversations")
    op.drop_table("profiles")
    op.drop_table("agents")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TEXT SEARCH CONFIGURATION thinkwire")
        op.execute("DROP TEXT SEARCH DICTIONARY thinkwire_stem")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _maybe(name: str) -> sa.Column[str | None]:
    return sa.Column(name, sa.Text)


def _json(name: str, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON, nullable=nullable)


def _time(name: str, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


def _agents() -> None:
    op.create_table(
        "agents",
        _text("id"),
        _text("owner"),
        _text("name"),
        _text("instructions"),
        _maybe("model"),
        _json("thinking"),
        _json("tools"),
        _time("created"),
        _time("updated"),
        _time("deleted", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
    )
    op.create_index("ix_agents_owner_name", "agents", ["owner", "name"])


def _profiles() -> None:
    op.create_table(
        "profiles",
        _text("owner"),
        _text("name"),
        _json("values"),
        _time("updated"),
        sa.PrimaryKeyConstraint("owner", "name", name="pk_profiles"),
    )


def _conversations() -> None:
    op.create_table(
        "conversations",
        _text("id"),
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
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index("ix_conversations_owner_updated_id", "conversations", ["owner", "updated", "id"])


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        _text("id"),
        _text("conversation_id"),
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
        sa.PrimaryKeyConstraint("number", name="pk_messages"),
        sa.UniqueConstraint("id", name="uq_messages_id"),
        sa.UniqueConstraint("conversation_id", "seq", name="uq_messages_conversation_id_seq"),
        sa.UniqueConstraint("conversation_id", "id", name="uq_messages_conversation_id_id"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_messages_conversation_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id", "parent_id"],
            ["messages.conversation_id", "messages.id"],
            name="fk_messages_parent",
        ),
    )
    op.create_index("ix_messages_conversation_id_parent_id", "messages", ["conversation_id", "parent_id"])
    op.create_index("ix_messages_created", "messages", ["created"])
    streaming = sa.text("status = 'streaming'")
    op.create_index(
        "ix_messages_streaming", "messages", ["status"], sqlite_where=streaming, postgresql_where=streaming
    )
