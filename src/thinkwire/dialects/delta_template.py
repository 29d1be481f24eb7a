"""Frames that repeat one another but for one string: the growing text of a stream, nearly always.

When a frame has been read that did nothing but let a block grow, the bytes around its text are known. A frame
with the same bytes around another JSON string is the same JSON but for that string, so that it need not be
parsed: it does the same with other words.
"""

from __future__ import annotations

import msgspec

_read_string = msgspec.json.Decoder(str).decode
_read_strings = msgspec.json.Decoder(list[str]).decode

TRIES = 8
"""How many patterns in a row may be of no use; some servers never send the same bytes again."""


class DeltaTemplate:
    """The frame that came before, as a pattern for those that follow."""

    __slots__ = (
        "_after",
        "_before",
        "_closing",
        "_end",
        "_joint",
        "_lead",
        "_least",
        "_name",
        "_opening",
        "_start",
        "also",
        "index",
        "used",
    )

    def __init__(
        self, name: str | None, render_around: tuple[bytes, bytes], index: int, also: list[str] | None
    ) -> None:
        """`index` is the block that grows; `also` is a list that takes its texts as well."""
        self._name = name
        self._before, self._after = render_around
        self._start, self._end = len(self._before), -len(self._after)
        self._least = self._start - self._end + len('""')
        self._opening = (b"event: %b\n" % name.encode() if name else b"") + b"data: " + self._before
        self._lead = len(self._opening)
        self._closing = self._after + b"\n\n"
        self._joint = self._closing + self._opening
        """What stands between the texts of two events."""
        self.used = False
        """Whether anything has repeated it."""
        self.index = index
        self.also = also

    def text_in(self, name: str | None, data: bytes) -> str | None:
        """The text of a frame that repeats this one; None for any other frame."""
        if (
            len(data) > self._least
            and data.startswith(self._before)
            and data.endswith(self._after)
            and name == self._name
        ):
            try:
                text = _read_string(data[self._start : self._end])
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None
            self.used = True
            return text
        return None

    def texts_in(self, piece: bytes) -> list[str] | None:
        """The texts of a piece of the stream that is nothing but whole events like this one; else None.

        It must begin where an event begins. A line end within a text would not be JSON, so that the blank
        lines are all between events.
        """
        if not (piece.startswith(self._opening) and piece.endswith(self._closing)):
            return None
        said = piece[self._lead : self._end - 2]
        try:
            if self._joint in said:
                texts = self._several(said)
            else:
                text = _read_string(said)
                texts = [text] if text else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if texts is not None:
            if self.also is not None:
                self.also.extend(texts)
            self.used = True
        return texts

    def _several(self, said: bytes) -> list[str] | None:
        """The texts of several events, read as a list; `said` is the first of them up to the last.

        What is more than one string in an event would be more than one in the list, and what is less no JSON.
        """
        texts = _read_strings(b"[%b]" % said.replace(self._joint, b","))
        return texts if len(texts) == said.count(self._joint) + 1 and all(texts) else None


def render_around(data: bytes, text: str) -> tuple[bytes, bytes] | None:
    """What stands before and after the one string that says `text`; None if it is not sure which that is.

    Without a backslash every string in the frame is written as it is, so that this one is found if it is the
    only one of its kind; a search from either end finds also what overlaps.
    """
    written = b'"%b"' % text.encode("utf-8", "replace")
    at = data.find(written)
    if at < 0 or data.rfind(written) != at or b"\\" in data:
        return None
    return data[:at], data[at + len(written) :]
