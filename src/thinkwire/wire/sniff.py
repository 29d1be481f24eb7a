"""Frames from a stream whose framing is only known once its first bytes are here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from thinkwire.wire.framing import BOM, DEFAULT_LIMIT, Parser
from thinkwire.wire.json_array import JSONArrayParser
from thinkwire.wire.ndjson import NDJSONParser
from thinkwire.wire.sse import Frame, SSEParser

Framing = Literal["sse", "ndjson", "array"]

_BLANK = BOM + b" \t\r\n"
_EVENT = (b"data:", b"event:")


def sniff(head: bytes) -> Framing | None:
    """The framing of a stream that begins like this; None while it could still be any.

    An object that goes on in the next line is `array` too: it is one JSON text, not a line of NDJSON.
    """
    head = head.lstrip(_BLANK)
    if not head or head == b"{":
        return None
    if head.startswith((b"[", b"{\n", b"{\r")):
        return "array"
    return "ndjson" if head.startswith(b"{") else "sse"


def reader_for(head: bytes) -> FrameReader | SSEParser:
    """What reads a stream that begins like this: its parser at once, if these bytes tell which that is."""
    return SSEParser(bare=True) if head.startswith(_EVENT) else FrameReader()


class FrameReader:
    """Reads SSE, NDJSON or a JSON array, whichever arrives; `framing` tells which it was.

    Blank bytes and a BOM before the first other byte are dropped. Once the framing is known, `feed` and
    `close` are the parser's own.
    """

    feed: Callable[[bytes], list[Frame]]
    """The frames that a chunk completes."""
    close: Callable[[], list[Frame]]
    """What is left at the end of the stream."""

    framing: Framing | None = None
    _head = b""
    _sse: SSEParser | None = None

    def __init__(self, *, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self.feed = self._sniff
        self.close = self._end

    @property
    def between(self) -> bool:
        """Whether the next byte begins a server-sent event."""
        return self._sse is not None and self._sse.between

    def _sniff(self, chunk: bytes) -> list[Frame]:
        if self.framing is None:
            chunk = (self._head + chunk).lstrip(_BLANK)
            framing = sniff(chunk)
            if framing is None:
                self._head = chunk
                return []
            self._become(framing)
        return self.feed(chunk)

    def _end(self) -> list[Frame]:
        if self.framing is not None:
            return self.close()
        if not self._head:
            return []
        self._become("ndjson")
        return self.feed(self._head) + self.close()

    def _become(self, framing: Framing) -> None:
        self.framing = framing
        if framing == "sse":
            self._sse = sse = SSEParser(limit=self._limit, bare=True)
            self.feed, self.close = sse.feed, sse.close
            return
        parser: Parser[bytes] = (NDJSONParser if framing == "ndjson" else JSONArrayParser)(limit=self._limit)
        self.feed = lambda chunk: [Frame(None, item) for item in parser.feed(chunk)]
        self.close = lambda: [Frame(None, item) for item in parser.close()]
