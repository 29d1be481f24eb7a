"""Newline-delimited JSON, as Ollama streams it: bytes to lines."""

from __future__ import annotations

from thinkwire.wire.framing import BOM, DEFAULT_LIMIT, Parser


class NDJSONParser(Parser[bytes]):
    """Splits a stream into its non-empty lines, without the white space and BOM around them."""

    def __init__(self, *, limit: int = DEFAULT_LIMIT) -> None:
        super().__init__(limit=limit)
        self._line = bytearray()

    def _take(self, chunk: bytes, items: list[bytes]) -> None:
        lines = chunk.split(b"\n")
        last = lines.pop()
        if lines and self._line:
            self._hold(lines[0])
            lines[0] = bytes(self._line)
            self._line.clear()
        for line in lines:
            if len(line) > self._limit:
                self._too_large("a line", line)
            self._deliver(line, items)
        if last:
            self._hold(last)

    def _finish(self, items: list[bytes]) -> None:
        line = bytes(self._line)
        self._line.clear()
        self._deliver(line, items)

    def _hold(self, piece: bytes) -> None:
        if len(self._line) + len(piece) > self._limit:
            self._too_large("a line", self._line or piece)
        self._line += piece

    def _deliver(self, line: bytes, items: list[bytes]) -> None:
        line = line.strip().removeprefix(BOM).lstrip()
        if line:
            items.append(line)
