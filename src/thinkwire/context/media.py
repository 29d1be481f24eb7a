"""Pictures and documents in tokens: sizes read from the first bytes, rules from the table."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator

from thinkwire.context.families import ImageRule
from thinkwire.context.text import weigh
from thinkwire.messages import Document, Image

_HEAD = 64 * 1024
"""Characters of base64 in which a picture's size is looked for."""
_PAGE = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")
_BYTES_PER_PAGE = 50_000
"""A PDF whose pages are packed away is taken to have one for each of these."""


def image_tokens(image: Image, rule: ImageRule) -> int:
    """By the vendor's rule where the size is known; the rule's default where it is not."""
    size = picture_size(_bytes(image.data[:_HEAD])) if image.data else None
    if size is None:
        return rule.default
    width, height = _fitted(size, rule)
    if rule.tile:
        tokens = rule.base + rule.per_tile * math.ceil(width / rule.tile) * math.ceil(height / rule.tile)
    else:
        tokens = rule.base + math.ceil(width * height * rule.per_pixel)
    return min(tokens, rule.most) if rule.most else tokens


def document_tokens(document: Document, rule: ImageRule) -> float:
    """Plain text by its words, a PDF by its pages; an address counts as one page."""
    if document.text is not None:
        return weigh(document.text)
    if not document.data:
        return rule.page
    data = _bytes(document.data)
    if not data.startswith(b"%PDF"):
        return weigh(data.decode("utf-8", "replace"))
    pages = sum(1 for _ in _PAGE.finditer(data)) or math.ceil(len(data) / _BYTES_PER_PAGE)
    return rule.page * pages


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, GIF, JPEG or WebP; None when the bytes do not tell."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        size = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    elif data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        size = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    elif data.startswith(b"\xff\xd8"):
        size = next(_jpeg_frames(data), (0, 0))
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        size = _webp(data)
    else:
        return None
    return size if all(size) else None


def _jpeg_frames(data: bytes) -> Iterator[tuple[int, int]]:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            yield int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
            return
        at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4]))


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF


def _fitted(size: tuple[int, int], rule: ImageRule) -> tuple[float, float]:
    width, height = size
    scale = min(1.0, rule.edge / max(size)) if rule.edge else 1.0
    if rule.short_edge:
        scale = min(scale, rule.short_edge / min(size))
    return width * scale, height * scale


def _bytes(data: str) -> bytes:
    """What base64 holds, as far as it can be read."""
    try:
        return base64.b64decode(data[: len(data) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""
