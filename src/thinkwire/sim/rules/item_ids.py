"""Ids of Responses items that tell which reasoning an item came from.

A vendor knows from its records that an item followed a reasoning item. The simulated one keeps no record of
answers that it did not store, so it writes it into the ids: an item and its reasoning share a stem, and a
check in the stem tells such ids from anybody else's.
"""

from __future__ import annotations

from thinkwire.sim.seals import digest

_STEM = 40
_CHECK = 4
_PLACE = 4


def reasoning_id(*seed: object) -> str:
    """The id of a reasoning item; the same for the same seed."""
    core = (digest(*seed) + digest("more", *seed))[: _STEM - _CHECK]
    return f"rs_{core}{_check(core)}{'0' * _PLACE}"


def follower_id(prefix: str, reasoning: str, place: int) -> str:
    """The id of the item that is number `place`, from 1, after a reasoning item: `msg`, `fc`, …"""
    return f"{prefix}_{_body(reasoning)[:_STEM]}{place:0{_PLACE}x}"


def reasoning_of(item: str) -> str | None:
    """The id of the reasoning that an item came from; None where the id does not tell."""
    body = _body(item)
    core, check, place = body[: _STEM - _CHECK], body[_STEM - _CHECK : _STEM], body[_STEM:]
    if len(place) != _PLACE or place == "0" * _PLACE or check != _check(core):
        return None
    return f"rs_{body[:_STEM]}{'0' * _PLACE}"


def _body(item: str) -> str:
    return item.partition("_")[2]


def _check(core: str) -> str:
    return digest("item", core)[:_CHECK]
