"""What was made for one request, kept for the next that is asked in the same way."""

from __future__ import annotations

from typing import Generic, TypeVar

Made = TypeVar("Made")

LONGEST = 2_000
"""Bytes of a way. One that says more is not worth remembering."""
_MOST = 512


class Ways(Generic[Made]):
    """What was made for a way of asking, from its second time on: most that is asked once is not asked again.

    It holds as long as its owner is the same object, whose facts went into it; ways of different owners are
    told apart by what they say.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[object, Made | None] | None] = {}

    def find(self, owner: object, way: bytes) -> Made | None:
        """What was made; None for nothing."""
        known = self._known.get(way)
        return known[1] if known is not None and known[0] is owner else None

    def is_worth_making(self, owner: object, way: bytes) -> bool:
        """Whether something should be made now: this was asked before, and it was not tried yet."""
        if len(way) > LONGEST:
            return False
        if way not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[way] = None
            return False
        known = self._known[way]
        return known is None or known[0] is not owner

    def keep(self, owner: object, way: bytes, made: Made | None) -> None:
        """Keeps what was made; None if nothing can be."""
        self._known[way] = (owner, made)
