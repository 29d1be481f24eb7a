"""Digests of texts."""

from __future__ import annotations

import hashlib


def digest(text: str) -> bytes:
    """Return a digest of 16 bytes, also for text with lone surrogates."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
