"""Markdown that grows: one widget for every piece of a text, so that only the last one is drawn anew."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content
from textual.css.styles import RulesMap
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import Static

from thinkwire.session.words import printable
from thinkwire.terminal.cutting import cut_of
from thinkwire.terminal.marking import laid_out


class Page(Visual):
    """A Markdown text at whatever width there is."""

    def __init__(self, source: str, *, gap: bool = False) -> None:
        """With a gap, a blank line follows."""
        self._source = source
        self._gap = gap
        self._width = 0
        self._content = Content("")

    def at(self, width: int) -> Content:
        if width != self._width:
            content = laid_out(self._source, width)
            self._width, self._content = width, content + "\n" if self._gap else content
        return self._content

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        return self.at(width).render_strips(width, height, style, options) if width else []

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self.at(width).plain.count("\n") + 1 if self._source.strip() else 0


class Piece(Static):
    """A part of a text."""

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._source = ""
        self._page = Page("")

    def add(self, text: str) -> None:
        self._source += text
        self._page = Page(self._source)
        self.update(self._page)

    def end(self, *, gap: bool) -> None:
        """Nothing more is added."""
        if gap:
            self._page = Page(self._source, gap=True)
            self.update(self._page)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract(self._page.at(self.size.width).plain), "\n"


class Prose(Vertical):
    """A text in Markdown."""

    def __init__(self, text: str = "", *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._pieces: list[Piece] = []
        self._open = ""
        """The text of the piece that still grows."""
        self._first = text

    async def on_mount(self) -> None:
        if self._first:
            first, self._first = self._first, ""
            await self.add(first)

    @property
    def begun(self) -> bool:
        return bool(self._pieces)

    async def add(self, text: str) -> None:
        """More of it, at the end."""
        known, whole = len(self._open), self._open + printable(text)
        while (cut := cut_of(whole, known)) is not None:
            await self._write(whole[known : cut.at] + cut.close)
            whole, known = cut.open + whole[cut.at :], 0
            self._pieces[-1].end(gap=cut.gap)
            await self._begin_piece()
        await self._write(whole[known:])
        self._open = whole

    async def _write(self, text: str) -> None:
        if text:
            if not self._pieces:
                await self._begin_piece()
            self._pieces[-1].add(text)

    async def _begin_piece(self) -> None:
        self._pieces.append(Piece())
        await self.mount(self._pieces[-1])
