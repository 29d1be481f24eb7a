"""A JSON array of objects that arrives piece by piece, as Gemini streams without `alt=sse`."""

from __future__ import annotations

import re
from typing import Literal

from thinkwire.errors import Failure
from thinkwire.wire.framing import DEFAULT_LIMIT, Parser

_LEAD = re.compile(rb"[ \t\r\n\xef\xbb\xbf]*")
_GAP = re.compile(rb"[ \t\r\n,]*")
_MARK = re.compile(rb'["{}\[\]]')


class JSONArrayParser(Parser[bytes]):
    """Splits a top-level array into the raw bytes of its objects, each as soon as it is complete.

    A body that is an object, or several one after another, is taken as the elements themselves. Only the
    nesting is followed; whether an element is good JSON is for its decoder to say. An array that was cut
    between two elements closes quietly, one that was cut inside an element is a lost connection.
    """

    def __init__(self, *, limit: int = DEFAULT_LIMIT) -> None:
        super().__init__(limit=limit)
        self._place: Literal["start", "array", "bare", "end"] = "start"
        self._element = bytearray()
        self._depth = 0
        self._in_string = False
        self._escaped = False  # the next byte follows a backslash

    def _take(self, chunk: bytes, items: list[bytes]) -> None:
        at = 0
        while at < len(chunk):
            at = self._inside(chunk, at, items) if self._depth else self._between(chunk, at)

    def _finish(self, items: list[bytes]) -> None:
        if self._depth:
            message = f"the stream ended {len(self._element)} bytes into a JSON object"
            self._failure = Failure("connection_lost", message)
            raise self._failure.as_error()

    def _between(self, chunk: bytes, at: int) -> int:
        gap = (_LEAD if self._place == "start" else _GAP).match(chunk, at)
        at = gap.end() if gap else at
        mark = chunk[at : at + 1]
        if mark == b"{" and self._place != "end":
            self._place = "bare" if self._place == "start" else self._place
            self._depth = 1
            self._element += mark
        elif mark == b"[" and self._place == "start":
            self._place = "array"
        elif mark == b"]" and self._place == "array":
            self._place = "end"
        elif mark:
            expected = "the end of the stream" if self._place == "end" else "a JSON object"
            self._fail(f"expected {expected}, got {mark!r}", chunk, at)
        return at + 1

    def _inside(self, chunk: bytes, start: int, items: list[bytes]) -> int:
        at = start
        while self._depth:
            if self._in_string:
                at = self._string(chunk, at)
            mark = _MARK.search(chunk, at)
            if mark is None:
                self._hold(chunk[start:])
                return len(chunk)
            at = mark.end()
            match mark[0]:
                case b'"':
                    self._in_string = True
                case b"{" | b"[":
                    self._depth += 1
                case _:
                    self._depth -= 1
        self._hold(chunk[start:at])
        items.append(bytes(self._element))
        self._element.clear()
        return at

    def _string(self, chunk: bytes, at: int) -> int:
        """Past the closing quote, or the end of the chunk when the string goes on in the next one."""
        if self._escaped:
            at += 1
            self._escaped = False
        while True:
            quote = chunk.find(b'"', at)
            run = chunk[at:quote] if quote >= 0 else chunk[at:]
            escapes = (len(run) - len(run.rstrip(b"\\"))) % 2 == 1
            if quote < 0:
                self._escaped = escapes
                return len(chunk)
            at = quote + 1
            if not escapes:
                self._in_string = False
                return at

    def _hold(self, piece: bytes) -> None:
        if len(self._element) + len(piece) > self._limit:
            self._too_large("an element of the JSON array", self._element)
        self._element += piece
