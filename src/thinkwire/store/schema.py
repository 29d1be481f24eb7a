"""Which schema a database has, and bringing it up or down. Packages are loaded only when there is work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

VERSION_TABLE = "thinkwire_version"
REVISIONS = ("0001", "0002")
"""Every step there is, oldest first."""
NEWEST = REVISIONS[-1]
_LOCK_NUMBER = 7_446_912_230
"""The number of PostgreSQL's advisory lock: two upgrades at once run one after the other."""


def version(connection: Connection) -> str | None:
    """The step at which the database is; None before the first."""
    import sqlalchemy as sa

    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.scalar(sa.text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return found


def upgrade(connection: Connection, revision: str = NEWEST) -> None:
    """Up to a step, inside the transaction that is open; nothing happens if another process was quicker."""
    _lock(connection)
    if version(connection) != revision:
        _alembic("upgrade", connection, revision)


def downgrade(connection: Connection, revision: str = "base") -> None:
    """Down to a step; `base` removes every table and everything in it."""
    _lock(connection)
    _alembic("downgrade", connection, revision)


def _lock(connection: Connection) -> None:
    """SQLite's writer has the lock already."""
    import sqlalchemy as sa

    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK_NUMBER)))


def _alembic(command: str, connection: Connection, revision: str) -> None:
    from alembic import command as commands
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    # The option's own syntax gives % a meaning.
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    getattr(commands, command)(config, revision)
