"""Lines that somebody types or pipes in, read aside: answers go on meanwhile, and leaving is quick."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading

_CHUNK = 65_536


class StdinLines:
    """The lines of a file that is open."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._rest = b""
        self._reading: asyncio.Future[bytes] | None = None
        self._ended = False

    async def next(self) -> str | None:
        """The next line; None at the end. A line that ends with a backslash goes on."""
        line = await self._line()
        if line is None:
            return None
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.endswith("\\"):
            return text[:-1] + "\n" + (await self.next() or "")
        return text

    async def _line(self) -> bytes | None:
        while b"\n" not in self._rest and not self._ended:
            if self._reading is None:
                self._reading = _read_aside(self._file)
            data = await asyncio.shield(self._reading)
            self._reading = None
            self._rest += data
            self._ended = not data
        line, newline, self._rest = self._rest.partition(b"\n")
        return line + newline or None


def _read_aside(file: int) -> asyncio.Future[bytes]:
    """What comes next; nothing at the end. The thread may wait for ever and keeps nobody from leaving."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[bytes] = loop.create_future()

    def tell(data: bytes) -> None:
        if not told.done():
            told.set_result(data)

    def read() -> None:
        try:
            data = os.read(file, _CHUNK)
        except OSError:
            data = b""
        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it whoever waited
            loop.call_soon_threadsafe(tell, data)

    threading.Thread(target=read, name="lines", daemon=True).start()
    return told
