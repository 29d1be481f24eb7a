"""Limits and memory of the serving process: open files, and heap pages that nothing uses any more."""

from __future__ import annotations

import asyncio
import ctypes
import logging
from collections.abc import Callable
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MOST_FILES = 65_536
FILES_PER_STREAM = 2
"""One towards the client, one towards the provider."""
SPARE_FILES = 128
"""Databases, logs, listeners, and connections on which nothing is asked."""

TRIM_SECONDS = 10.0
"""Between two looks at the memory."""
TRIM_GROWTH = 128 * 1024 * 1024
"""Bytes by which the memory must have grown since it was last given back: that costs half a second per GB."""

_PAGES = Path("/proc/self/statm")
_log = logging.getLogger("thinkwire.gateway")


def raise_open_files(most: int = MOST_FILES) -> int | None:
    """Raises the soft limit of open files towards the hard one; gives the limit in force, if there is one."""
    if resource is None:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == resource.RLIM_INFINITY else min(hard, most)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError) as error:
            _log.warning("the limit of open files stays at %s: %s", soft, error)
    return None if soft == resource.RLIM_INFINITY else soft


def warn_of_few_files(files: int | None, max_streams: int) -> None:
    """Logs a warning when `max_streams` may need more open files than the process may have."""
    needed = max_streams * FILES_PER_STREAM + SPARE_FILES
    if files is not None and files < needed:
        _log.warning(
            "max_streams = %s may need %s open files, and this process may have %s: raise the hard limit "
            "(LimitNOFILE= in systemd, ulimit -Hn) or lower max_streams under [server]",
            max_streams,
            needed,
            files,
        )


class MemoryTrimmer:
    """Gives freed heap pages back to the system; glibc keeps those below the last one in use for itself."""

    def __init__(
        self,
        is_idle: Callable[[], bool],
        *,
        used: Callable[[], int],
        trim: Callable[[], object],
        growth: int = TRIM_GROWTH,
    ) -> None:
        """`used` is the resident memory in bytes. `trim` runs in a thread."""
        self._is_idle = is_idle
        self._used = used
        self._trim = trim
        self._growth = growth
        self._kept = used()
        """Bytes that were left the last time."""

    async def run(self, interval: float = TRIM_SECONDS) -> None:
        """Looks now and then, until cancelled."""
        while True:
            await asyncio.sleep(interval)
            await self.check()

    async def check(self) -> bool:
        """Trims if nothing is being served and much was used since the last time; whether it did."""
        if not self._is_idle() or self._used() - self._kept < self._growth:
            return False
        await asyncio.to_thread(self._trim)
        self._kept = self._used()
        return True


def memory_trimmer(is_idle: Callable[[], bool]) -> MemoryTrimmer | None:
    """A trimmer where the C library is glibc and `/proc` tells the memory in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if _PAGES.exists() else None
    if trim is None or resource is None:
        return None
    page = resource.getpagesize()
    return MemoryTrimmer(is_idle, used=lambda: _resident_pages() * page, trim=lambda: trim(0))


def _resident_pages() -> int:
    return int(_PAGES.read_text("ascii").split()[1])
