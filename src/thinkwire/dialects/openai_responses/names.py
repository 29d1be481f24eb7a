"""The dialect's name, its seals, and the ids that it makes up."""

from __future__ import annotations

import hashlib
from typing import Final

NAME: Final = "openai_responses"

ENCRYPTED: Final = "openai.encrypted"
ITEM: Final = "openai.item"


def minted(prefix: str, *facts: object) -> str:
    """An id in the vendor's style, `prefix_` and 32 hex digits; the same for the same facts."""
    text = "\x1f".join(map(str, facts)).encode("utf-8", "replace")
    return f"{prefix}_{hashlib.sha256(text).hexdigest()[:32]}"


def item_id(prefix: str, response_id: str | None, position: int) -> str:
    """The id of an output item to which nobody gave one. Readers know it again, so it is nothing to keep."""
    return minted(prefix, response_id or "", position)
