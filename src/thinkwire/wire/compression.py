"""Compressed bodies, gzip and deflate, decompressed in steps of bounded size."""

from __future__ import annotations

import zlib
from typing import Any

LARGEST_STEP = 256 * 1024
"""Decompressed bytes that one step gives at most."""
_MOST_MEMBERS = 64
"""Members of a gzip file that one step reads at most."""
_GZIP = 16 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS


class Decompressor:
    """Decompresses one body step by step: `push` takes what came, `read` gives what comes of it.

    A body that grows a thousandfold is never held whole: as long as `pending` is true, another `read` gives
    more without another `push`. A gzip body may have several members, one after another.
    """

    __slots__ = ("_input", "_started", "_stream", "_wbits", "pending")

    def __init__(self, wbits: int | None) -> None:
        """`wbits` as zlib has it; None finds out from the first bytes whether deflate has its header."""
        self._wbits = wbits
        self._stream: Any = None
        """The current member; None between two."""
        self._input: list[bytes] = []
        self._started = False
        self.pending = False
        """Whether `read` has more to give."""

    @property
    def complete(self) -> bool:
        """Whether the body may end here: after a whole member, or before the first byte."""
        return self._stream is None and not self._input

    def push(self, data: bytes) -> None:
        """Takes compressed bytes; they are decompressed by `read`."""
        if data:
            self._input.append(data)
            self.pending = True

    def read(self) -> bytes:
        """The next step of the body. Raises `zlib.error` where it is broken."""
        data = b"".join(self._input)
        self._input.clear()
        self.pending = False
        pieces: list[bytes] = []
        room = LARGEST_STEP
        for _ in range(_MOST_MEMBERS):
            if self._stream is None and not (data := self._opened(data)):
                break
            piece = self._stream.decompress(data, room)
            pieces.append(piece)
            room -= len(piece)
            if not self._stream.eof:
                data = self._stream.unconsumed_tail
                # A full step may have left more inside zlib, even where all input is taken.
                self.pending = room == 0
                break
            data, self._stream = self._stream.unused_data, None
            if room == 0:
                break
        if data:
            self._input.append(data)
            self.pending = True
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _opened(self, data: bytes) -> bytes:
        """Opens the member that begins with `data`; gives its bytes, or none where it is too early."""
        if self._started and self._wbits == _GZIP:
            # Members may be padded with zeros.
            data = data.lstrip(b"\0")
        if not data:
            return data
        wbits = self._wbits
        if wbits is None and self._started:
            raise zlib.error("bytes after the end of a deflate body")
        if wbits is None:
            if len(data) < 2:
                self._input.append(data)
                return b""
            wbits = zlib.MAX_WBITS if _has_zlib_header(data) else _RAW
        self._started = True
        self._stream = zlib.decompressobj(wbits)
        return data


def _has_zlib_header(data: bytes) -> bool:
    """Whether a deflate body has the header that the standard wants; some servers leave it out."""
    return data[0] & 0x0F == 8 and data[0] >> 4 <= 7 and (data[0] << 8 | data[1]) % 31 == 0


def decompressor(encoding: str) -> Decompressor | None:
    """What decompresses a body; None when it is not compressed."""
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return Decompressor(_GZIP)
        case "deflate":
            return Decompressor(None)
    raise zlib.error(f"a body with the encoding {encoding[:20]!r}, which was not asked for")
