"""What a reader of items takes for granted, in requests and in responses."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_responses.constants import is_minted
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note


class Reading:
    """One pass over items. What our own encoder writes by itself in that direction is no extra.

    In a request nothing is written by itself. In a response every item but reasoning has a status and every
    text its (empty) lists. Ids that we made up are nobody's in either.
    """

    __slots__ = ("notes", "response", "response_id")

    def __init__(self, *, response: bool = False, response_id: str | None = None) -> None:
        self.response = response
        self.response_id = response_id
        self.notes: list[Note] = []

    def status_of(self, item: JsonObject) -> Any:
        """The item's status where it says something."""
        status = item.get("status")
        return None if self.response and status == "completed" else status


def id_of(item: JsonObject) -> str | None:
    """The item's own id, None if it has none or only one that we made up."""
    value = item.get("id")
    return value if isinstance(value, str) and value and not is_minted(value) else None
