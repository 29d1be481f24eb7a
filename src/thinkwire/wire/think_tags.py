"""Text that carries its reasoning in tags: which of it is thinking and which is the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import groupby
from typing import NamedTuple

TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<mm:think>": "</mm:think>",  # MiniMax M3
    "[THINK]": "[/THINK]",  # Magistral
}
"""Each opening tag and the tag that closes it."""

_CLOSING = tuple(TAGS.values())
_FIRST = tuple({tag[0] for tag in (*TAGS, *_CLOSING)})
_NEWLINES = "\r\n"


def may_begin_with_tag(text: str) -> bool:
    """Whether a tag is the first thing in the text, or may come to be; white space does not count."""
    body = text.lstrip()
    return not body or body.startswith(_FIRST)


def _whole_or_cut(tags: Collection[str]) -> re.Pattern[str]:
    """Finds the first of `tags`, or the beginning of one at the very end of the text."""
    beginnings = {tag[:size] for tag in tags for size in range(1, len(tag))}
    return re.compile("|".join([*map(re.escape, tags), *(re.escape(cut) + r"\Z" for cut in beginnings)]))


_ENDS = {opening: _whole_or_cut([closing]) for opening, closing in TAGS.items()}
_ANY_END = _whole_or_cut(_CLOSING)


class Piece(NamedTuple):
    """A stretch of thinking or of answer."""

    thinking: bool
    text: str


class TagSplitter:
    """Tells thinking from answer in the deltas of one message, wherever a tag is cut.

    A tag counts only as the first thing in the message; later ones are text. Dropped are the tags
    themselves, white space before the first one, and the newlines next to one: after the opening tag,
    before and after the closing tag. All else comes out as it went in. Thinking that is never closed is
    thinking to the end.

    `starts_inside` is for models whose template has written the opening tag before they begin.
    """

    def __init__(self, *, starts_inside: bool = False) -> None:
        self._opening = tuple(TAGS)  # the opening tags that may still come
        self._end = _ANY_END
        self._thinking = starts_inside  # what held text is, should no tag follow
        self._fresh = True  # no thinking has come out yet
        self._blanks: list[str] = []  # held white space
        self._cut = ""  # held after it: the beginning of a tag, perhaps
        self._step: Callable[[TagSplitter, str], list[Piece]] = TagSplitter._begin

    def feed(self, text: str) -> list[Piece]:
        """What can be told from the text so far. Only what may belong to a tag is held back."""
        return self._step(self, text)

    def close(self) -> list[Piece]:
        """What was held back, at the end of the message: no tag came after it."""
        held = self._held_blanks() + self._cut
        if self._thinking and self._fresh:
            held = held.lstrip(_NEWLINES)
        pieces = [Piece(self._thinking, held)] if held else []
        self._cut, self._thinking, self._step = "", False, TagSplitter._answer
        return pieces

    def no_more_opening(self) -> None:
        """The reasoning comes in a field of its own: from now on an opening tag is text.

        A closing tag as the first thing is still dropped, and thinking that has begun still ends at its tag.
        """
        if self._opening:
            self._opening = ()
            self._thinking = False

    def _begin(self, text: str) -> list[Piece]:
        text = self._cut + text
        body = text.lstrip()
        if body != text:
            self._blanks.append(text[: len(text) - len(body)])
        self._cut, first = self._first_tag(body) if may_begin_with_tag(body) else ("", None)
        if not body or self._cut:
            return []
        self._opening = ()
        if first is None:
            self._step = TagSplitter._think if self._thinking else TagSplitter._answer
            return self._step(self, self._held_blanks() + body)
        self._blanks.clear()
        self._thinking = first in TAGS
        self._end = _ENDS.get(first, _ANY_END)
        self._step = TagSplitter._think if self._thinking else TagSplitter._after
        return self._step(self, body.removeprefix(first))

    def _first_tag(self, body: str) -> tuple[str, str | None]:
        """The body itself, if it may be the beginning of a tag; else the tag that it begins with, if any."""
        tags = self._opening + _CLOSING
        if any(tag.startswith(body) and tag != body for tag in tags):
            return body, None
        return "", next((tag for tag in tags if body.startswith(tag)), None)

    def _think(self, text: str) -> list[Piece]:
        text = self._cut + text
        if self._fresh:
            text = text.lstrip(_NEWLINES)
        tag = self._end.search(text)
        if tag is None:
            self._cut = ""
            return self._thought(text)
        pieces = self._thought(text[: tag.start()])
        if tag[0] not in _CLOSING:
            self._cut = tag[0]
            return pieces
        self._blanks.clear()
        self._cut, self._thinking, self._step = "", False, TagSplitter._after
        return pieces + self._after(text[tag.end() :])

    def _thought(self, text: str) -> list[Piece]:
        """Thinking without the newlines at its end, which are held: a closing tag may follow them."""
        body = text.rstrip(_NEWLINES)
        pieces = [Piece(True, self._held_blanks() + body)] if body else []
        self._fresh = self._fresh and not body
        if body != text:
            self._blanks.append(text[len(body) :])
        return pieces

    def _after(self, text: str) -> list[Piece]:
        text = text.lstrip(_NEWLINES)
        if text:
            self._step = TagSplitter._answer
        return self._answer(text)

    def _answer(self, text: str) -> list[Piece]:
        return [Piece(False, text)] if text else []

    def _held_blanks(self) -> str:
        held = "".join(self._blanks)
        self._blanks.clear()
        return held


def split(text: str, *, starts_inside: bool = False) -> list[Piece]:
    """A whole message in pieces, thinking and answer in turn."""
    splitter = TagSplitter(starts_inside=starts_inside)
    return merged(splitter.feed(text) + splitter.close())


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """The same pieces with neighbours of one kind put together."""
    return [
        Piece(thinking, "".join(piece.text for piece in group))
        for thinking, group in groupby(pieces, key=lambda piece: piece.thinking)
    ]
