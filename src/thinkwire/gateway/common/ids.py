"""Ids that nobody can guess."""

from __future__ import annotations

import os

_LETTERS = 24
_AT_ONCE = 64

_drawn: list[str] = []
"""Ids that nobody has yet: one look at the system's source of chance gives many."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)


def new_id() -> str:
    """Twenty-four hexadecimal digits."""
    try:
        return _drawn.pop()
    except IndexError:
        chance = os.urandom(_LETTERS // 2 * _AT_ONCE).hex()
        _drawn.extend([chance[at : at + _LETTERS] for at in range(_LETTERS, len(chance), _LETTERS)])
        return chance[:_LETTERS]
