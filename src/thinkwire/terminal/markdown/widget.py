"""Markdown that grows: one widget for a text of any length, which draws the lines that are seen."""

from __future__ import annotations

import time

from rich.segment import Segment
from textual._styles_cache import StylesCache
from textual.content import Content
from textual.css.styles import RulesMap
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widget import Widget

from thinkwire.session.formatting import printable
from thinkwire.terminal.markdown.chunks import Chunks

END = 60
"""Lines at the end that are laid out as soon as they come: about a screen of them."""
CACHED = 400
"""Lines that are kept as they were drawn."""


class MarkdownLine(Visual):
    """One line of a text, which knows which one it is: that is how it is selected."""

    def __init__(self, content: Content, y: int) -> None:
        self._content = content
        self._y = y

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        content = self._content
        span = options.selection.get_span(self._y) if options.selection is not None else None
        if span is not None and options.selection_style is not None:
            content = content.stylize(options.selection_style, span[0], None if span[1] == -1 else span[1])
        segments: list[Segment] = []
        x = 0
        for text, look in content.render(style, end="", parse_style=options.get_style):
            segments.append(Segment(text, (style + look).rich_style_with_offset(x, self._y)))
            x += len(text)
        return [Strip(segments, content.cell_length)]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return 1


class RenderedContent(StylesCache):
    """Lines as they were drawn. What must be drawn anew is forgotten, and not noted line by line."""

    def set_dirty(self, *regions: Region) -> None:
        self.clear()


class MarkdownView(Widget):
    """A text in Markdown."""

    class Guessed(Message):
        """How high a text is was only guessed: there is something to do when there is time."""

    def __init__(self, text: str = "", *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._styles_cache = RenderedContent()
        self._sheets = Chunks()
        self._sheets.add(printable(text))
        self._style = Style()
        self._drawn = 0

    @property
    def begun(self) -> bool:
        return self._sheets.begun

    def add(self, text: str) -> None:
        """More of it, at the end."""
        self._sheets.add(printable(text))
        if self._sheets.width:
            self._sheets.settle_end(END)
            self._tell_guesses()
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if width and width != self._sheets.width:
            self._sheets.fit(width)
            self._tell_guesses()
        return self._sheets.height if width else 0

    def settle(self, until: float, seen_from: int) -> tuple[bool, int]:
        """Counts lines until a time; whether all are counted, and by how much the first line seen moved."""
        done = True
        for at in self._sheets.guesses():
            if time.monotonic() >= until:
                done = False
                break
            self._sheets.count(at)
        moved = self._sheets.moved(seen_from)
        if moved is not None:
            self.refresh(layout=True)
        return done, moved or 0

    def _tell_guesses(self) -> None:
        if next(self._sheets.guesses(), None) is not None:
            self.post_message(self.Guessed())

    def render_lines(self, crop: Region) -> list[Strip]:
        self._style = self.visual_style
        self._drawn += crop.height
        if self._drawn > CACHED:
            self._styles_cache.clear()
            self._drawn = crop.height
        strips = super().render_lines(crop)
        if self._sheets.moved(crop.y) is not None:
            self.call_later(self.refresh, layout=True)
        return strips

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines, at = self._sheets.line(y) if width == self._sheets.width else ([], 0)
        if not 0 <= at < len(lines):
            return Strip.blank(width, self._style.rich_style)
        return Visual.to_strips(self, MarkdownLine(lines[at], y), width, 1, self._style)[0]

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is selected, as it stands on the screen."""
        first = selection.start.y if selection.start is not None else 0
        last = selection.end.y if selection.end is not None else self._sheets.height - 1
        chosen = [self._plain(y) for y in range(first, last + 1)]
        up = Offset(0, first)
        moved = Selection(
            selection.start - up if selection.start is not None else None,
            selection.end - up if selection.end is not None else None,
        )
        return moved.extract("\n".join(chosen)), "\n"

    def _plain(self, y: int) -> str:
        lines, at = self._sheets.line(y)
        return lines[at].plain if 0 <= at < len(lines) else ""
