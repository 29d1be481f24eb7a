"""Accounts of the web app, and files on their way into a conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _users()
    _sign_ins()
    _invitations()
    _uploads()


def downgrade() -> None:
    for table in ("uploads", "invitations", "sign_ins", "users"):
        op.drop_table(table)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _time(name: str, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


def _users() -> None:
    op.create_table(
        "users",
        _text("id"),
        _text("name"),
        _text("name_key"),
        _text("password"),
        sa.Column("admin", sa.Boolean, nullable=False),
        _time("created"),
        _time("removed", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name_key", name="uq_users_name_key"),
    )


def _sign_ins() -> None:
    op.create_table(
        "sign_ins",
        _text("digest"),
        _text("user_id"),
        _time("created"),
        _time("expires"),
        sa.PrimaryKeyConstraint("digest", name="pk_sign_ins"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sign_ins_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_sign_ins_user_id", "sign_ins", ["user_id"])


def _invitations() -> None:
    op.create_table(
        "invitations",
        _text("digest"),
        sa.Column("invited_by", sa.Text),
        sa.Column("admin", sa.Boolean, nullable=False),
        _time("created"),
        _time("expires"),
        sa.PrimaryKeyConstraint("digest", name="pk_invitations"),
    )


def _uploads() -> None:
    op.create_table(
        "uploads",
        _text("id"),
        _text("owner"),
        _text("name"),
        _text("media_type"),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        _time("created"),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
    )
    op.create_index("ix_uploads_owner", "uploads", ["owner"])
    op.create_index("ix_uploads_created", "uploads", ["created"])
