"""How many connections a transport may have open at once."""

from __future__ import annotations

import asyncio
from collections import deque


class ConnectionLimit:
    """Places for so many at once. Who finds none waits, and gets one in the order of coming."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: deque[asyncio.Future[None]] = deque()

    def enter(self) -> bool:
        """Takes a place; whether there was one."""
        if self._free == 0:
            return False
        self._free -= 1
        return True

    async def wait(self) -> None:
        """Waits for a place that somebody leaves, and takes it."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._free += 1
