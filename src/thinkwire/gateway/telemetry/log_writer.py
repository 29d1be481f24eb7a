"""Where log lines go: to a stream, each at once, or gathered for a moment while a gateway runs."""

from __future__ import annotations

import asyncio
import logging
import select
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, TypeVar

T = TypeVar("T")

_log = logging.getLogger("thinkwire.gateway")

DELAY = 0.05
"""Seconds in which lines are gathered."""
MOST = 100
"""Lines that wait; more are written at once."""
WHOLE = getattr(select, "PIPE_BUF", 512)
"""Bytes that no other process on the same pipe can write into."""


class LineWriter(logging.StreamHandler[TextIO]):
    """Writes records as every handler does, and what can wait (`put`) many lines at a time; all in order.

    A line that waits is made when it is written: many in a row cost half of what each costs amid other work.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._waiting: list[tuple[Callable[[Any, float], str], Any, float]] = []
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

    def put(self, make: Callable[[T, float], str], it: T, now: float) -> None:
        """A line of something that happened now; `make` gives it, without its end."""
        self._waiting.append((make, it, now))
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
            waiting = self._waiting[:]
            del self._waiting[: len(waiting)]
            lines = []
            for make, it, now in waiting:
                try:
                    lines.append(make(it, now))
                except Exception:
                    _log.exception("a line could not be made")
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
        size += length
        if size > WHOLE and group:
            group.append("")
            yield "\n".join(group)
            group, size = [], length
        group.append(line)
    if group:
        group.append("")
        yield "\n".join(group)
