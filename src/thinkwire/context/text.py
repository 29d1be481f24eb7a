"""How many tokens a text is, without a tokenizer: cut as tokenizers cut, then weigh the pieces by their kind.

The weights were fitted to a vocabulary of 200,000 tokens (o200k) on prose in twelve languages, code in four,
JSON, logs and numbers. What another maker counts differently is a factor of its family (data/tokens.toml).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter

_PIECE = re.compile(
    r" ?[A-Z]?[a-z\u00c0-\u024f\u1e00-\u1eff]+"  # words, and the parts of camelCase
    r"| ?[A-Z]+"
    r"|[0-9]{1,3}"
    r"| ?[!-/:-@\[-`{-~]+"
    r"|\s+"
    r"| ?[\u0370-\u03ff]+| ?[\u0400-\u052f]+| ?[\u0590-\u06ff]+| ?[\u0900-\u0dff]+"
    r"| ?[\u1100-\u11ff\uac00-\ud7af]+|[\u0e00-\u0fff]+|[\u3040-\u30ff]+|[\u3400-\u9fff\uf900-\ufaff]+"
    r"|[\s\S]"
)
"""No alternative can give back what it took, so the time is linear in the text."""

_SCRIPTS: tuple[tuple[int, float, float], ...] = (
    # from this code point, tokens for a run, tokens for each of its characters
    (0x0080, 0.55, 0.0),  # Latin letters are words and never come here; signs do
    (0x0370, 0.0, 0.3),  # Greek
    (0x0400, 0.0, 0.21),  # Cyrillic
    (0x0530, 0.0, 0.5),
    (0x0590, 0.0, 0.26),  # Hebrew, Arabic
    (0x0700, 0.0, 0.5),
    (0x0900, 0.0, 0.115),  # Indic
    (0x0E00, 0.0, 0.48),  # Thai, Lao, Tibetan
    (0x1000, 0.0, 0.6),
    (0x2000, 1.05, 0.0),  # typographic punctuation
    (0x2070, 0.6, 0.0),  # signs, arrows, boxes
    (0x2600, 1.0, 0.0),  # older emoji
    (0x2E80, 1.05, 0.0),  # CJK punctuation
    (0x3040, 0.0, 0.65),  # kana
    (0x3100, 0.0, 0.72),  # Han
    (0xA000, 0.0, 0.7),
    (0xAC00, 0.18, 0.38),  # Hangul
    (0xD7B0, 0.0, 0.7),
    (0xFE00, 0.6, 0.0),  # what joins and varies emoji
    (0xFF00, 1.05, 0.0),  # wide punctuation
    (0x10000, 2.0, 0.0),  # emoji
)
_STARTS = [start for start, _, _ in _SCRIPTS]


def weigh(text: str) -> float:
    """Tokens as a fraction, so that many small texts do not add up their rounding."""
    return sum(count * _weight(piece) for piece, count in Counter(_PIECE.findall(text)).items())


def estimate_text(text: str) -> int:
    """About how many tokens a text is; 0 only for the empty one."""
    return math.ceil(weigh(text))


def _weight(piece: str) -> float:
    first = piece[0]
    if first.isspace():
        if len(piece) == 1 or piece[1].isspace():
            return 0.85 + len(piece) / 64
        return _word(piece[1:], after_space=True)
    return _word(piece, after_space=False)


def _word(piece: str, *, after_space: bool) -> float:
    length = len(piece)
    beyond = max(0, length - 4)
    last = piece[-1]
    if "a" <= last <= "z" or "\u00c0" <= last <= "\u024f" or "\u1e00" <= last <= "\u1eff":
        if not piece.isascii():
            return 1.18 + 0.29 * beyond
        return 0.80 + 0.136 * beyond if after_space else 0.71 + 0.117 * beyond
    if "A" <= last <= "Z":
        return (0.88 if after_space else 1.65) + 0.3 * beyond
    if last.isdigit() and last.isascii():
        return 1.04
    if last < "\x80":
        return 0.93 + 0.24 * min(max(0, length - 2), 6) + length / 64
    _, run, each = _SCRIPTS[bisect_right(_STARTS, ord(piece[0])) - 1]
    return run + each * length
