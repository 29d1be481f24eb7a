"""Whether JSON that arrives in pieces is whole."""

from __future__ import annotations

import re

from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import parse

_MARK = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')
_LONGEST_WORD = 1_000
"""Characters of a value that is no object, array or string."""


class JsonEnd:
    """Follows the nesting of a JSON text, so that it is parsed only where it may have ended.

    Each piece is looked at once: parsing all of them anew with each one would be quadratic.
    """

    __slots__ = ("_dead", "_depth", "_escaped", "_in_string", "_length", "_read")

    def __init__(self) -> None:
        self._read = 0
        self._length = 0
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._dead = False

    def is_reached(self, pieces: list[str]) -> bool:
        """Whether the pieces, of which there may be more at every call, are JSON together."""
        for piece in pieces[self._read :]:
            self._follow(piece)
        self._read = len(pieces)
        if self._dead or self._in_string or self._depth:
            return False
        text = "".join(pieces)
        try:
            parse(text)
        except MalformedInput:
            # What was nested has ended and is no JSON, or it is too long to become a number or a word.
            self._dead = text.lstrip()[:1] in ('"', "{", "[") or self._length > _LONGEST_WORD
            return False
        return True

    def _follow(self, piece: str) -> None:
        self._length += len(piece)
        at = 0
        while at < len(piece) and not self._dead:
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            found = (_IN_STRING if self._in_string else _MARK).search(piece, at)
            if found is None:
                return
            at = found.end()
            match found[0]:
                case "\\":
                    self._escaped = True
                case '"':
                    self._in_string = not self._in_string
                case "{" | "[":
                    self._depth += 1
                case _:
                    self._depth -= 1
                    self._dead = self._depth < 0
