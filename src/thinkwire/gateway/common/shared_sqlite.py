"""SQLite files that several processes share, opened by all of them at once."""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from thinkwire.config.paths import make_folder

_PAUSE = 0.01
_LOOK_EVERY = 1.0
"""Seconds between two looks whether the file at a path is still the one that was opened."""
_MOST_DAMAGED = 5
"""Damaged copies beside a file, after which the disk is to blame and no new file is begun."""
_ENDINGS = (".db", ".sqlite", ".sqlite3")
"""Names of files that may be moved aside although nothing in them looks like a database."""

_log = logging.getLogger("thinkwire.gateway")


def open_shared(path: Path, script: str, *, patience: float = 5.0) -> sqlite3.Connection:
    """Open a connection in WAL mode and run `script` on it; the caller closes it.

    Of several who turn a new file's journal to WAL at once, SQLite refuses all but one without waiting,
    whatever its time-out: they try again here.
    """
    make_folder(path.parent)
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


class ReplaceableFile:
    """A connection to a file whose content may be lost: a damaged one is moved aside and a new one begun.

    For one thread. Processes that share the file follow each other: one that finds another file at the path
    opens that. Without `repair` a damaged file stays where it is, and using it is an error.
    """

    def __init__(self, path: Path, script: str, *, repair: bool) -> None:
        self._path = path
        self._script = script
        self._repair = repair
        self._db: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._look_at = 0.0

    def connection(self) -> sqlite3.Connection:
        """The connection, opened when there is none or when the file was replaced."""
        now = time.monotonic()
        if self._db is not None and now >= self._look_at:
            self._look_at = now + _LOOK_EVERY
            if _identity_of(self._path) != self._identity:
                self.close()
        if self._db is None:
            self._look_at = now + _LOOK_EVERY
            self._open()
        assert self._db is not None
        return self._db

    def repairs(self, error: Exception) -> bool:
        """Whether `replace_damaged` may help against this error."""
        return self._repair and is_damage(error)

    def replace_damaged(self, error: sqlite3.Error) -> bool:
        """Move a file that this error calls damaged aside; the next connection begins a new one."""
        if not self.repairs(error):
            return False
        self.close()
        with _folder_lock(self._path.parent):
            # Another process may have done it already.
            if _identity_of(self._path) == self._identity:
                _check_replaceable(self._path, error)
                aside = _move_aside(self._path)
                _log.error(
                    "%s was damaged (%s): it is now %s, and a new one is begun", self._path, error, aside
                )
        return True

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _open(self) -> None:
        make_folder(self._path.parent)
        # A new file must not meet the write-ahead log of one that is being moved aside.
        with _folder_lock(self._path.parent):
            self._identity = _identity_of(self._path)
            self._db = open_shared(self._path, self._script)
            self._identity = _identity_of(self._path)


def is_damage(error: Exception) -> bool:
    """Whether an error says that a file is no (whole) database; not that it is locked, or the disk full."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _check_replaceable(path: Path, error: sqlite3.Error) -> None:
    """Raise OSError when moving the file aside would not help, or might take away something else."""
    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_NOTADB and path.suffix not in _ENDINGS:
        raise OSError(f"{error}; move it away, or name another file")
    copies = _damaged_copies(path)
    if len(copies) >= _MOST_DAMAGED:
        raise OSError(
            f"{error}, as {len(copies)} files before it; check the disk, then delete {path}.damaged-*"
        )


def _damaged_copies(path: Path) -> list[str]:
    found = glob.glob(f"{glob.escape(str(path))}.damaged-*")
    return [name for name in found if not name.endswith(("-wal", "-shm"))]


def _move_aside(path: Path) -> Path:
    """Rename a file together with its write-ahead log, which must not be taken for the next file's."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}.{number}")
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{path}{suffix}", f"{aside}{suffix}")
    os.rename(path, aside)
    return aside


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder where the system has one."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
