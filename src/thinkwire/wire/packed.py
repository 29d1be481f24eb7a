"""Bodies that come packed: gzip and deflate, piece by piece."""

from __future__ import annotations

import zlib
from typing import Any


def unpacker(encoding: str) -> Any:
    """How a body is unpacked; None when it is not packed."""
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress
        case "deflate":
            return _Deflated().feed
    raise zlib.error(f"a body packed as {encoding[:20]!r}")


class _Deflated:
    """`deflate` with its envelope, as the standard has it, or without, as some servers do."""

    def __init__(self) -> None:
        self._unpack = zlib.decompressobj()
        self._begun = False

    def feed(self, data: bytes) -> bytes:
        if not self._begun:
            self._begun = True
            try:
                return self._unpack.decompress(data)
            except zlib.error:
                self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unpack.decompress(data)
