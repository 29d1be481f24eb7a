"""Where log lines go: to a stream, each at once, or gathered for a moment while a gateway runs."""

from __future__ import annotations

import asyncio
import logging
import select
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

DELAY = 0.05
"""Seconds in which lines are gathered."""
MOST = 500
"""Lines that wait; more are written at once."""
WHOLE = getattr(select, "PIPE_BUF", 512)
"""Bytes that no other process on the same pipe can write into."""


class LineWriter(logging.StreamHandler[TextIO]):
    """Writes records as every handler does, and ready lines (`put`) many at a time; all in their order."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._waiting: list[str] = []
        self._gatherers = 0
        self._due = False

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Lines may wait while the block runs; after it they are all written."""
        self._gatherers += 1
        try:
            yield
        finally:
            self._gatherers -= 1
            self.write_out()

    def put(self, line: str) -> None:
        """A line that is ready, without its end."""
        self._waiting.append(line)
        if self._due and len(self._waiting) < MOST:
            return
        if self._gatherers == 0 or self._due:
            self.write_out()
            return
        try:
            asyncio.get_running_loop().call_later(DELAY, self.write_out)
            self._due = True
        except RuntimeError:
            self.write_out()

    def write_out(self) -> None:
        """Writes all that waits. What cannot be written is lost, as it would be one by one."""
        self._due = False
        self.acquire()
        try:
            lines = self._waiting[:]
            del self._waiting[: len(lines)]
            with suppress(OSError, ValueError):
                for text in together(lines):
                    self.stream.write(text)
                    self.stream.flush()
        finally:
            self.release()

    def emit(self, record: logging.LogRecord) -> None:
        self.write_out()
        super().emit(record)

    def flush(self) -> None:
        """`logging` calls it when the process ends, too."""
        self.write_out()
        super().flush()


def together(lines: Iterable[str]) -> Iterator[str]:
    """Lines in texts that are short enough to stay whole where several processes write to one pipe."""
    group: list[str] = []
    size = 0
    for line in lines:
        length = (len(line) if line.isascii() else len(line.encode("utf-8", "replace"))) + 1
        if group and size + length > WHOLE:
            yield "".join(group)
            group, size = [], 0
        group.append(f"{line}\n")
        size += length
    if group:
        yield "".join(group)
