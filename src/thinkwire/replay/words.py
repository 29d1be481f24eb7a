"""Requests that are words alone: what they say taken out, and put where it stood in a body.

All that is said besides decides how such a request is written, so that one of them shows the place of the
words in the next.
"""

from __future__ import annotations

import os
import re

import msgspec

from thinkwire.messages import Block, Role, Text, Turn
from thinkwire.request import Request

_encode = msgspec.json.Encoder().encode
_MARK = os.urandom(16).hex()
_HOLES = re.compile(f'"{_MARK}-([0-9]+)"'.encode())
_MOST = 64
"""Texts of a request; more of them are not worth a form of their own."""


def words_of(request: Request) -> list[str] | None:
    """What system and turns say if it is one bare text each: the two sides in turn, the user first and last.

    None for any other request, and for one with tools.
    """
    turns = request.turns
    if request.tools or not len(turns) % 2 or len(turns) + len(request.system) > _MOST:
        return None
    texts: list[Block] = [*request.system]
    speaks: Role = "user"
    for turn in turns:
        if turn.role != speaks or turn.extras or turn.origin is not None or len(turn.blocks) != 1:
            return None
        texts.append(turn.blocks[0])
        speaks = "assistant" if speaks == "user" else "user"
    words = []
    for text in texts:
        if type(text) is not Text or text.seal is not None or text.extras or text.refusal or text.interrupted:
            return None
        if not text.text or text.text.isspace():
            return None
        words.append(text.text)
    return words


def with_holes(request: Request) -> tuple[Request, list[str]]:
    """The request with marks in the place of its words, and the marks."""
    count = len(request.system)
    holes = [f"{_MARK}-{index}" for index in range(count + len(request.turns))]
    texts = [Text(hole) for hole in holes]
    turns = [Turn(turn.role, (text,)) for turn, text in zip(request.turns, texts[count:], strict=True)]
    return msgspec.structs.replace(request, system=tuple(texts[:count]), turns=tuple(turns)), holes


class Form(msgspec.Struct, frozen=True):
    """A body without its words: what stands before, between and behind them, and in which order they come."""

    pieces: tuple[bytes, ...]
    order: tuple[int, ...]

    def filled(self, words: list[str]) -> bytes:
        """The body with these words in it. UnicodeEncodeError for what UTF-8 cannot carry."""
        pieces = self.pieces
        if len(words) == 1:
            return pieces[0] + _encode(words[0]) + pieces[1]
        told = [pieces[0]]
        for at, piece in zip(self.order, pieces[1:], strict=True):
            told.append(_encode(words[at]))
            told.append(piece)
        return b"".join(told)


def form_of(data: bytes, holes: list[str]) -> Form | None:
    """The form of a body that has marks for words; None unless each stands there once, as a string."""
    parts = _HOLES.split(data)
    pieces, order = tuple(parts[::2]), tuple(map(int, parts[1::2]))
    if sorted(order) != list(range(len(holes))) or any(_MARK.encode() in piece for piece in pieces):
        return None
    return Form(pieces, order)
