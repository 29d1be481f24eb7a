"""How every connection to an SQLite file is set up, whoever opens it."""

from __future__ import annotations

from typing import Any

_BUSY_MS = 30_000

_PRAGMAS = (
    f"PRAGMA busy_timeout = {_BUSY_MS}",
    # Readers and a writer do not wait for each other; the file remembers it.
    "PRAGMA journal_mode = WAL",
    "PRAGMA foreign_keys = ON",
    # An answer that was shown as done survives a power failure; NORMAL promises that for crashes only.
    "PRAGMA synchronous = FULL",
)

BEGIN_WRITING = "BEGIN IMMEDIATE"
"""A writer takes the lock at once: taking it later can fail when another was quicker."""


def set_up(connection: Any) -> None:
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
