"""A long text in Markdown as a stack of sheets.

Only those that are looked at are laid out; the others keep their words and how high they are. So a text costs
what is seen of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator

from textual.content import Content

from thinkwire.terminal.markdown.layout import Lines, Over, lay
from thinkwire.terminal.markdown.split import Seam, cut_of

KEPT = 600
"""Lines that are kept: more than any screen shows."""
_LEAST = 3
"""Sheets that are kept, whatever they have of lines."""
JOINED = 16
"""Sheets that one paragraph may run through; then it begins a new line."""


_BLANK = Content("")


class Chunk:
    """A piece of the text."""

    __slots__ = ("exact", "gap", "height", "over", "seam", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.gap = False
        """A blank line follows."""
        self.seam: Seam = ""
        self.over: Over = None
        """What it hands over to the next one; known once it is laid out."""
        self.height = 0
        self.exact = False
        """Whether the height is counted; else it is a guess."""


class Chunks:
    """The text, at a width of cells; 0 while nobody knows it."""

    def __init__(self) -> None:
        self.width = 0
        self._sheets = [Chunk("")]
        """The last one still grows."""
        self._tops = [0]
        """Where each begins, as far as that is known; the first ones always are."""
        self._laid: OrderedDict[int, Lines] = OrderedDict()
        self._joined = 0
        self._changes: list[tuple[int, int]] = []
        """Where heights turned out to be others than guessed, and by how much."""

    def __len__(self) -> int:
        return len(self._sheets)

    @property
    def begun(self) -> bool:
        return bool(self._sheets[0].source)

    def add(self, text: str) -> None:
        """More of it, at the end."""
        whole = self._sheets[-1].source + text
        while (cut := cut_of(whole)) is not None:
            self._joined = self._joined + 1 if cut.seam == "line" else 0
            seam = "" if self._joined % JOINED == JOINED - 1 else cut.seam
            self._write(whole[: cut.at] + cut.close, gap=cut.gap, seam=seam)
            whole = cut.open + whole[cut.at :]
            self._sheets.append(Chunk(""))
        self._write(whole)

    def fit(self, width: int) -> None:
        """Another width: everything is as high as it probably is."""
        if width != self.width:
            self.width = width
            self._laid.clear()
            self._changes.clear()
            for sheet in self._sheets:
                self._guess(sheet)
            del self._tops[1:]

    @property
    def height(self) -> int:
        return self._top(len(self._sheets) - 1) + self._sheets[-1].height

    def line(self, y: int) -> tuple[Lines, int]:
        """The lines of the sheet that a line lies on, and which of them it is."""
        at = -1
        while at != (at := self._at(y)):
            lines = self.lines(at)
        return lines, y - self._top(at)

    def lines(self, at: int) -> Lines:
        """One sheet, laid out; from now on its height is known."""
        if at in self._laid:
            self._laid.move_to_end(at)
            return self._laid[at]
        for earlier in range(self._chain(at), at):
            self._hand_over(earlier)
        return self._lay(at)

    def settle_end(self, lines: int) -> None:
        """So many of the last lines are laid out."""
        at = len(self._sheets) - 1
        while at >= 0 and lines > 0:
            if not self._sheets[at].exact:
                self.lines(at)
            lines -= self._sheets[at].height
            at -= 1
        self._changes.clear()

    def guesses(self) -> Iterator[int]:
        """The sheets whose height is a guess, from the last one up."""
        return (at for at in reversed(range(len(self._sheets))) if not self._sheets[at].exact)

    def count(self, at: int) -> None:
        """Lays a sheet out to know its height, and keeps no line of it."""
        for earlier in range(self._chain(at), at):
            self._hand_over(earlier)
        self._lay(at, keep=False)

    def moved(self, y: int) -> int | None:
        """By how much a line moved since this was asked: what begins above it is not as high as was guessed.
        None when nothing changed."""
        changes, self._changes = self._changes, []
        return sum(more for top, more in changes if top < y) if changes else None

    def _write(self, source: str, *, gap: bool = False, seam: Seam = "") -> None:
        sheet = self._sheets[-1]
        if (source, gap, seam) != (sheet.source, sheet.gap, sheet.seam):
            sheet.source, sheet.gap, sheet.seam = source, gap, seam
            self._laid.pop(len(self._sheets) - 1, None)
            self._guess(sheet)

    def _guess(self, sheet: Chunk) -> None:
        sheet.exact, sheet.over = False, None
        if self.width:
            words = sheet.source.rstrip()
            height = sum(-(-len(line) // self.width) or 1 for line in words.split("\n")) if words else 0
            sheet.height = height + sheet.gap

    def _lay(self, at: int, *, keep: bool = True) -> Lines:
        sheet = self._sheets[at]
        over = self._sheets[at - 1].over if at else None
        lines, sheet.over = lay(sheet.source, self.width, over=over, seam=sheet.seam)
        if sheet.gap:
            lines.append(_BLANK)
        if sheet.height != len(lines):
            self._changes.append((self._top(at), len(lines) - sheet.height))
            sheet.height = len(lines)
            del self._tops[at + 1 :]
        sheet.exact = True
        if keep:
            self._laid[at] = lines
            while len(self._laid) > _LEAST and sum(map(len, self._laid.values())) > KEPT:
                self._laid.popitem(last=False)
        return lines

    def _hand_over(self, at: int) -> None:
        """A table that only goes on hands its columns on as they are."""
        sheet, before = self._sheets[at], self._sheets[at - 1]
        if at and sheet.seam == before.seam == "columns" and "\n\n" not in sheet.source:
            sheet.over = before.over
        else:
            self._lay(at)

    def _chain(self, at: int) -> int:
        """The first sheet that must be laid out before this one, which takes something over from it."""
        while at and self._sheets[at - 1].seam and self._sheets[at - 1].over is None:
            at -= 1
        return at

    def _at(self, y: int) -> int:
        """The sheet that a line lies on, as far as heights are known."""
        self._top(len(self._sheets) - 1)
        return max(0, bisect_right(self._tops, y) - 1)

    def _top(self, at: int) -> int:
        while len(self._tops) <= at:
            self._tops.append(self._tops[-1] + self._sheets[len(self._tops) - 1].height)
        return self._tops[at]
