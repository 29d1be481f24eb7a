"""What can go wrong in a store that was opened.

ThinkwireError
├── NotKept        there is no such conversation, message, agent or profile
├── Taken          what was asked for is no longer to be had: a name, an invitation, the last administrator
└── StoreFailed    the database cannot do it now: a full disk, a lost connection, a damaged file
"""

from __future__ import annotations

from thinkwire.errors import ThinkwireError

_DAMAGED = ("file is not a database", "disk image is malformed")
"""What SQLite says of such files."""


class RowNotFound(ThinkwireError):
    """The store has nothing under this id."""

    advice = "fix_request"

    def __init__(self, what: str, id: str) -> None:
        super().__init__(f"there is no {what} {id!r}")
        self.what = what
        self.id = id


class NameTaken(ThinkwireError):
    """It cannot be done because of what is there already; the message says what can."""

    advice = "fix_request"


class StoreFailed(ThinkwireError):
    """The database did not do what it was asked; what was acknowledged before is safe."""

    advice = "retry"


def database_failed(shown: str, error: Exception) -> StoreFailed:
    """A database's own trouble, as an error that names the database and quotes no row."""
    cause = getattr(error, "orig", None) or error
    reason = (str(cause).splitlines() or [type(cause).__name__])[0]
    if any(words in reason for words in _DAMAGED):
        reason += " (it is damaged: restore a copy; `sqlite3 FILE .recover` may save what is left)"
    return StoreFailed(f"the database {shown}: {reason}")
