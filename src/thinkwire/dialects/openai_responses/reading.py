"""What a reader of items takes for granted, in requests and in responses."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_responses.names import item_id
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note


class Reading:
    """One pass over items. What our own encoder writes by itself in that direction is no extra.

    In a request nothing is written by itself. In a response every item but reasoning has a status, every text
    its (empty) lists, and every item an id; ids that we made up are recognised by the id of the response.
    """

    __slots__ = ("notes", "response", "response_id")

    def __init__(self, *, response: bool = False, response_id: str | None = None) -> None:
        self.response = response
        self.response_id = response_id
        self.notes: list[Note] = []

    def id_of(self, item: JsonObject, prefix: str, position: int) -> str | None:
        """The item's own id, None if it has none or only one that we made up."""
        value = item.get("id")
        if type(value) is not str or not value:
            return None
        if self.response and value == item_id(prefix, self.response_id, position):
            return None
        return value

    def status_of(self, item: JsonObject) -> Any:
        """The item's status where it says something."""
        status = item.get("status")
        return None if self.response and status == "completed" else status
