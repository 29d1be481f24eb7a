"""Small functions on the head of a request: its target, its size, and its wish for another protocol."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import httptools

LARGEST_HEAD = 64 * 1024
MAX_HEADERS = 256
_USUAL_LENGTH = 256


def is_too_large(url: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a head has more bytes or more headers than it may."""
    if len(headers) > MAX_HEADERS:
        return True
    return len(url) + sum(len(name) + len(value) + 4 for name, value in headers) > LARGEST_HEAD


def parse_target(url: bytes) -> tuple[str, bytes, bytes]:
    """The decoded path, the path as it came, and the query. Short targets are remembered."""
    return (_cached_target if len(url) <= _USUAL_LENGTH else _parse_target)(url)


def _parse_target(url: bytes) -> tuple[str, bytes, bytes]:
    parsed = httptools.parse_url(url)
    raw_path = parsed.path or b"/"
    path = raw_path.decode("ascii")
    return unquote(path) if "%" in path else path, raw_path, parsed.query or b""


_cached_target = lru_cache(maxsize=256)(_parse_target)


def without_upgrade(method: bytes, url: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """The head once more, with nothing in its Connection header that asks for another protocol.

    The `Upgrade` header stays: applications look at it.
    """
    lines = [b"%b %b HTTP/%b\r\n" % (method, url, version.encode())]
    for name, value in headers:
        if name == b"connection" and b"upgrade" in value.lower():
            if b"close" not in value.lower():
                continue
            value = b"close"
        lines.append(b"%b: %b\r\n" % (name, value))
    return b"".join((*lines, b"\r\n"))


def address_of(name: Any) -> tuple[str, int] | None:
    """Host and port of a socket's name, if it has them."""
    return (name[0], name[1]) if type(name) is tuple and len(name) >= 2 else None
