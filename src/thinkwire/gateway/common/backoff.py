"""How long to wait between attempts to open a store that does not answer."""

from __future__ import annotations

from collections.abc import Iterator

FIRST = 0.5
LONGEST = 10.0


def retry_delays(first: float = FIRST, longest: float = LONGEST) -> Iterator[float]:
    """Yield seconds to wait before each next attempt: twice as long every time, up to `longest`."""
    delay = first
    while True:
        yield delay
        delay = min(delay * 2, longest)
