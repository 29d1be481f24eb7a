"""Bounds on a request body that arrives in more than one read: its pace, its framing and its memory."""

from __future__ import annotations

from thinkwire.errors import BodyRejected

MIN_RATE = 16 * 1024
"""Bytes per second that a body must bring once it takes longer than the time for a whole body."""
MAX_TRAILERS = 8 * 1024
"""Bytes of trailers after a body."""
MAX_FRAMING = 16 * 1024
"""Bytes of trailers, chunk sizes and chunk extensions in a row, with no byte of the body between them."""


class BodyMemory:
    """The bytes of unfinished request bodies that one process holds, and how many it may hold."""

    __slots__ = ("held", "limit")

    def __init__(self, limit: int) -> None:
        self.held = 0
        self.limit = limit


class IncomingBody:
    """Follows one body from its second read on; a body that comes with its head needs none of this."""

    __slots__ = ("_framing", "_held", "_mark", "_memory", "_received", "seconds")

    def __init__(self, memory: BodyMemory, seconds: float) -> None:
        self.seconds = seconds
        self._memory = memory
        self._received = self._mark = self._held = self._framing = 0

    def add(self, size: int, received: int, *, kept: bool) -> BodyRejected | None:
        """Counts a read of `size` bytes, after which `received` bytes of the body are here.

        `kept` says whether the application gets them; otherwise they take no memory.
        """
        grown, self._received = received - self._received, received
        self._framing = 0 if grown else self._framing + size
        if self._framing > MAX_FRAMING:
            return too_much_framing()
        if not kept:
            self.release()
            return None
        self._held += grown
        self._memory.held += grown
        if self._memory.held > self._memory.limit:
            message = "the server holds as many unfinished requests as it may (max_buffered_mb); try again"
            return BodyRejected(503, message, retry_after=1)
        return None

    def check_pace(self, *, kept: bool) -> BodyRejected | None:
        """Rejects a body that is not whole after `seconds` and brought less than `MIN_RATE` in them."""
        if kept and self._received - self._mark >= MIN_RATE * self.seconds:
            self._mark = self._received
            return None
        seconds = f"{self.seconds:g} seconds (body_seconds)"
        message = f"the request body was not whole after {seconds}; send it faster"
        return BodyRejected(408, message)

    def restart(self) -> None:
        """Begins the time anew: it was the server that did not read."""
        self._mark = self._received

    def release(self) -> None:
        """Gives the memory back to the budget."""
        self._memory.held -= self._held
        self._held = 0


def too_much_framing() -> BodyRejected:
    return BodyRejected(431, "the trailers or chunk extensions of the request are too long; leave them out")
