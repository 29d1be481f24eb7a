"""Ids in the vendors' styles, always the same for the same facts; a vendor knows its own calls again."""

from __future__ import annotations

import hashlib
import string

from thinkwire.sim.rules.item_ids import follower_id

_LETTERS = string.ascii_letters + string.digits
_PREFIXES = {
    "anthropic": ("msg_01", "toolu_01"),
    "openai-chat": ("chatcmpl-", "call_"),
    "openai-responses": ("resp_", "call_"),
    "gemini": ("", "fc-"),
}
_SIZE, _CHECK = 16, 6


def _letters(size: int, *facts: object) -> str:
    number = int.from_bytes(hashlib.sha256(repr(facts).encode()).digest(), "big")
    made = []
    for _ in range(size):
        number, letter = divmod(number, len(_LETTERS))
        made.append(_LETTERS[letter])
    return "".join(made)


def answer_id(dialect: str, vendor: str, *facts: object) -> str:
    prefix = "gen-1790000000-" if vendor == "openrouter" else _PREFIXES[dialect][0]
    if dialect == "openai-responses" and vendor != "openrouter":
        return prefix + _hex(facts)[:50]
    return prefix + _letters(22, dialect, vendor, facts)


def item_id(prefix: str, nonce: str, place: int, thought: str | None) -> str:
    """The id of an output item, which tells the reasoning item that it came from."""
    if thought is not None:
        return follower_id(prefix, thought, place)
    return f"{prefix}_{_hex(prefix, nonce, place)[:44]}"


def _hex(*facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def call_id(dialect: str, vendor: str, length: int | None, facts: object, *, thought: bool) -> str:
    """The id of a tool call; `length` is the vendor's, where it has one. It tells whether
    thinking led to the call."""
    if length is not None:
        return _letters(length, vendor, facts)
    body = _letters(_SIZE, dialect, vendor, facts)
    return f"{_PREFIXES[dialect][1]}{body}{_letters(_CHECK, thought, vendor, body)}"


def was_thought(vendor: str, given: str) -> bool:
    """Whether this vendor's simulator gave out the id for a call that it had thought about."""
    body, check = given[-_SIZE - _CHECK : -_CHECK], given[-_CHECK:]
    return len(body) == _SIZE and _letters(_CHECK, True, vendor, body) == check
