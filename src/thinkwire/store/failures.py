"""What can go wrong in a store that was opened.

ThinkwireError
├── NotKept        there is no such conversation, message, agent or profile
└── StoreFailed    the database cannot do it now: a full disk, a lost connection, a damaged file
"""

from __future__ import annotations

from thinkwire.errors import ThinkwireError


class NotKept(ThinkwireError):
    """The store has nothing under this id."""

    advice = "fix_request"

    def __init__(self, what: str, id: str) -> None:
        super().__init__(f"there is no {what} {id!r}")
        self.what = what
        self.id = id


class StoreFailed(ThinkwireError):
    """The database did not do what it was asked; what was acknowledged before is safe."""

    advice = "retry"
