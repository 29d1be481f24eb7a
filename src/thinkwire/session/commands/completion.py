"""Completion: what could stand where the cursor is, found by the letters that are there already."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from thinkwire.session.commands.result import Candidate

MOST = 50


class Completion(msgspec.Struct, frozen=True):
    """Candidates for the text from `start` to the cursor."""

    start: int
    candidates: tuple[Candidate, ...]


def fuzzy(typed: str, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that have these letters in this order, the nearest first."""
    if not typed:
        return tuple(candidates)[:MOST]
    scored = [
        (score, at, found) for at, found in enumerate(candidates) if (score := _score(typed, found.text))
    ]
    scored.sort(key=lambda entry: (-(entry[0] or 0), entry[1]))
    return tuple(found for _, _, found in scored[:MOST])


def _score(typed: str, text: str) -> float | None:
    """Higher is nearer; None is no match. A beginning beats a piece, a piece beats scattered letters."""
    low, wanted = text.lower(), typed.lower()
    if low == wanted:
        return 5.0
    if low.startswith(wanted):
        return 4.0
    at = low.find(wanted)
    if at >= 0:
        starts_word = low[at - 1] in "/-._ "
        return (3.0 if starts_word else 2.0) - at / 1000
    return _scattered(wanted, low)


def _scattered(wanted: str, low: str) -> float | None:
    at, gaps = -1, 0
    for letter in wanted:
        found = low.find(letter, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1
        at = found
    return 1.0 / (1 + gaps / 10)
