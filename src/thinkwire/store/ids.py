"""Ids: 26 lower-case letters and digits, ordered by time, hard to guess."""

from __future__ import annotations

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 75
_last = 0


def new_id() -> str:
    """A new id; within a process each is greater than all before it."""
    global _last
    _last = max(time.time_ns() // 1000, _last + 1)
    chance = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
    number = _last << _RANDOM_BITS | chance
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -5, -5))
