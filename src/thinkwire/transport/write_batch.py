"""Writes that wait for the end of a turn of the loop, and are made together.

A write to a peer that sleeps wakes it, which costs several times the write itself. Under load many requests
are served in one turn: written one by one, each would find its peer asleep again; together, only the first.
"""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

MOST_WAITING = 256 * 1024
"""Bytes that may wait; with more they are written at once."""
MOST_TOGETHER = 8
"""Writes; none waits for more of the others than that."""


class WriteBatch:
    """What one loop's turn has to write. Whoever closes a transport flushes first."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, bytes]] = []
        self._size = 0

    def put(self, transport: Any, data: bytes) -> None:
        """Writes `data` before the next turn is over."""
        if not self._waiting:
            # Not kept: the one of a loop that is over would keep that loop for ever.
            asyncio.get_running_loop().call_soon(self.flush)
        self._waiting.append((transport, data))
        self._size += len(data)
        if self._size > MOST_WAITING or len(self._waiting) >= MOST_TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Writes all that waits, now. A transport that cannot take its part ends; the others get theirs."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        for transport, data in waiting:
            if not transport.is_closing():
                try:
                    transport.write(data)
                except Exception:
                    transport.abort()


_outboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, WriteBatch] = WeakKeyDictionary()


def write_batch_of(loop: asyncio.AbstractEventLoop) -> WriteBatch:
    """The one of a loop; its connections share it."""
    found = _outboxes.get(loop)
    if found is None:
        found = _outboxes[loop] = WriteBatch()
    return found
