"""Tool calls that wait for their results while a request is read."""

from __future__ import annotations

from collections import deque

from thinkwire.messages import ToolCall


class PendingCalls:
    """Finds the call that a result answers by its id, by the tool's name, or by order.

    Each question takes constant time on average, however many calls wait.
    """

    def __init__(self) -> None:
        self._calls: list[ToolCall | None] = []
        self._by_id: dict[str, deque[int]] = {}
        self._by_name: dict[str, deque[int]] = {}
        self._in_order: deque[int] = deque()

    def add(self, call: ToolCall) -> None:
        place = len(self._calls)
        self._calls.append(call)
        self._in_order.append(place)
        self._by_id.setdefault(call.id, deque()).append(place)
        self._by_name.setdefault(call.name, deque()).append(place)

    def take_id(self, call_id: str) -> ToolCall | None:
        """Take the first call of this id; None when no call of it waits."""
        return self._first_of(self._by_id.get(call_id))

    def take_every_id(self, call_id: str) -> None:
        """Take all calls of this id."""
        while self.take_id(call_id) is not None:
            pass

    def take_name(self, name: str | None) -> ToolCall | None:
        """Take the first call of this tool; None when no call of it waits."""
        return self._first_of(self._by_name.get(name)) if name is not None else None

    def take_next(self) -> ToolCall | None:
        """Take the call that has waited longest; None when no call waits."""
        return self._first_of(self._in_order)

    def _first_of(self, places: deque[int] | None) -> ToolCall | None:
        while places:
            place = places.popleft()
            call = self._calls[place]
            if call is not None:
                self._calls[place] = None
                return call
        return None
