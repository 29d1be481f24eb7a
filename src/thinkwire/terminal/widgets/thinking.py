"""Thinking as it is shown: inline, shaded, italic, above the answer; one line where it cannot be read."""

from __future__ import annotations

import time

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from thinkwire.session.formatting import count, thought_for
from thinkwire.terminal.markdown.widget import MarkdownView

UNSAID = object()
"""Tokens that nobody has counted yet; None is a count that nobody will tell."""


class ThinkingView(Vertical):
    """One stretch of thinking. Its heading counts the seconds, then says how long and how much it was."""

    def __init__(self, *, began: float | None = None) -> None:
        super().__init__()
        self._began = time.monotonic() if began is None else began
        self._seconds: float | None = None
        self._tokens: object = UNSAID
        self._remark = ""
        self._heading = Static("", classes="heading", markup=False)
        self._prose: MarkdownView | None = None
        self.ended = False

    def compose(self) -> ComposeResult:
        yield self._heading

    def on_mount(self) -> None:
        self.tick()

    async def add(self, text: str) -> None:
        """More of it."""
        if self._prose is None:
            self._prose = MarkdownView()
            await self.mount(self._prose)
        self._prose.add(text)

    async def part(self) -> None:
        """A new paragraph: what comes is another block of the same stretch."""
        if self._prose is not None and self._prose.begun:
            await self.add("\n\n")

    def end(self, seconds: float | None = None) -> None:
        """It is over; without a number, it took from its beginning until now."""
        if not self.ended:
            self.ended = True
            self._seconds = time.monotonic() - self._began if seconds is None else seconds
            self.tick()

    def close(self, *, seconds: float | None = None, tokens: object = UNSAID) -> None:
        """A stored thought has no clock of its own: what is known of it."""
        self.ended = True
        self._seconds, self._tokens = seconds, tokens
        self.tick()

    def measure(self, tokens: int | None) -> None:
        """How many tokens it was; None is unknown."""
        self._tokens = tokens
        self.tick()

    def remark(self, words: str) -> None:
        self._remark = words
        self.tick()

    def tick(self) -> None:
        self._heading.update(self.heading(), layout=False)

    def heading(self) -> str:
        if not self.ended:
            return f"Thinking… {int(time.monotonic() - self._began)}s"
        parts = [thought_for(self._seconds)]
        if self._tokens is not UNSAID:
            assert self._tokens is None or isinstance(self._tokens, int)
            parts.append(f"{count(self._tokens)} tokens")
        return " · ".join([*parts, self._remark] if self._remark else parts)
