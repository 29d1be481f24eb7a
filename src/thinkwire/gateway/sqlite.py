"""SQLite files that several processes share, opened by all of them at once."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

_PAUSE = 0.01


def open_shared(path: Path, script: str, *, patience: float = 5.0) -> sqlite3.Connection:
    """A connection in WAL mode on which `script` has run; whoever gets it closes it.

    Of several who turn a new file's journal to WAL at once, SQLite refuses all but one without waiting,
    whatever its time-out: they try again here.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    deadline = time.monotonic() + patience
    while True:
        db = sqlite3.connect(path, timeout=patience, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(script)
            return db
        except sqlite3.Error as error:
            db.close()
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE)
