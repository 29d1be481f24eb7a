"""What the Responses API keeps: answers that were stored, so that a later request may only name them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from thinkwire.sim.error_bodies import Complaint, Refused

Item = dict[str, Any]


class ResponseStore:
    """The newest stored answers, each with everything that was asked before it."""

    def __init__(self, size: int = 500) -> None:
        self._size = size
        self._responses: OrderedDict[str, list[Item]] = OrderedDict()
        self._items: OrderedDict[str, Item] = OrderedDict()

    def put(self, response_id: str, asked: list[Item], output: list[Item]) -> None:
        self._responses[response_id] = [*asked, *output]
        for item in output:
            self._items[item["id"]] = item
        while len(self._responses) > self._size:
            self._responses.popitem(last=False)
        while len(self._items) > 8 * self._size:
            self._items.popitem(last=False)

    def expand(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body with everything in it that it only names; refused when it is not there."""
        items = [self._whole(item) for item in items_of(body)]
        previous = body.get("previous_response_id")
        if isinstance(previous, str):
            if previous not in self._responses:
                words = f"Previous response with id '{previous}' not found."
                raise Refused(
                    Complaint(400, words, code="previous_response_not_found", param="previous_response_id")
                )
            items = [*self._responses[previous], *items]
        elif items == items_of(body):
            return body
        return body | {"input": items}

    def _whole(self, item: Any) -> Any:
        if not isinstance(item, dict):
            return item
        kind, given = item.get("type"), item.get("id")
        bare = kind == "item_reference" or (kind == "reasoning" and not item.get("encrypted_content"))
        if not bare or not isinstance(given, str):
            return item
        if given in self._items:
            return self._items[given]
        if kind == "reasoning" and item.get("content"):
            return item
        words = (
            f"Item with id '{given}' not found. Items are not persisted when `store` is set to false. Try "
            "again with `store` set to true, or remove this item from your input."
        )
        raise Refused(Complaint(404, words, param="input"))


def items_of(body: dict[str, Any]) -> list[Any]:
    """The input as items; a string is a message of the user."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given if isinstance(given, list) else []
