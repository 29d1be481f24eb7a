"""Words as they are searched: folded alike when text is kept and when it is looked for."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from thinkwire.jsonvalue import repaired

_UNSPACED = (
    "(["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7ff"  # Korean, whose words carry their particles
    "\u2e80-\u9fff\ua000-\ua4cf\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese, Japanese, Yi
    "])"
)
_ACCENTS = re.compile("[\u0300-\u036f]")
_WORD = re.compile(r"[^\W_]+")
_SNIPPET_BEFORE = 40
_SNIPPET = 160


def folded(text: str) -> str | None:
    """Words in lower case without accents, scripts without spaces cut into characters; None if text is ASCII.

    The database's own tokenizer does the rest, and does it for ASCII alone.
    """
    if text.isascii():
        return None
    plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text))).casefold()
    return " ".join(_unspaced().sub(r" \1 ", " ".join(_WORD.findall(plain))).split())


def phrases(query: str) -> list[str]:
    """What the user typed, as phrases that all must be found; nothing in it is an operator."""
    found = (" ".join(_WORD.findall(folded(word) or word.lower())) for word in query.split())
    return [phrase for phrase in found if phrase]


def readable(text: str) -> str:
    """Text as every database can keep it: NUL and lone surrogates become U+FFFD."""
    return repaired(text).replace("\0", "\ufffd") if not text.isascii() or "\0" in text else text


@cache
def _unspaced() -> re.Pattern[str]:
    """Compiled when it is first needed: that takes longer than most texts do."""
    return re.compile(_UNSPACED)


def snippet(text: str, query: str) -> str:
    """The neighbourhood of the first word that is found, on one line."""
    line = " ".join(text.split())
    start = max(_place(line.lower(), query.lower().split()) - _SNIPPET_BEFORE, 0)
    cut = line[start : start + _SNIPPET]
    return f"{'…' if start else ''}{cut}{'…' if start + _SNIPPET < len(line) else ''}"


def _place(line: str, words: list[str]) -> int:
    """Endings differ from what was typed, so shorter beginnings of the words are tried as well."""
    for cut in (0, 1, 2, 3):
        for word in words:
            stem = word[: len(word) - cut]
            if len(stem) >= min(3, len(word)) and (place := line.find(stem)) >= 0:
                return place
    return 0
