"""The dialect's name, its seals, and the ids that it makes up."""

from __future__ import annotations

import hashlib
from typing import Any, Final

NAME: Final = "openai_responses"
AS_STRING: Final[dict[str, dict[str, Any]]] = {NAME: {"input": "string"}}
"""Marks the turn of a request whose whole input was a string."""

ENCRYPTED: Final = "openai.encrypted"
ITEM: Final = "openai.item"


def minted(prefix: str, *facts: object) -> str:
    """An id in the vendor's style, `prefix_` and 32 hex digits; the same for the same facts."""
    digits = _hex("\x1f".join(map(str, facts)))[:24]
    return f"{prefix}_{digits}{_hex(digits)[:8]}"


def is_minted(value: str) -> bool:
    """Whether we made this id up: its last eight digits follow from the others.

    Such an id means nothing to the vendor, so it is never kept when it comes back, whichever way it went.
    """
    digits, check = value[-32:-8], value[-8:]
    return value[-33:-32] == "_" and _hex(digits)[:8] == check


def item_id(prefix: str, response_id: str, position: int) -> str:
    """The id of an output item to which nobody gave one."""
    return minted(prefix, response_id, position)


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
