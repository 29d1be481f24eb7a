"""The conversation on the screen: what was said, thought, answered and run, one widget each."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time

from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widget import Widget

from thinkwire.terminal.markdown.widget import MarkdownView

_HIDDEN = "thinking-hidden"
MOST = 200
"""Parts that stay on the screen: each takes time in every drawing. The transcript has them all."""
_AT_ONCE = 40
"""Parts that go together when there are too many."""
_EARLIER = "earlier messages (Ctrl+O shows them)"
_SLICE, _PAUSE = 0.01, 0.04
"""Seconds of work on what is not seen, and of rest after it."""


class ConversationView(VerticalScroll, can_focus=False):
    """It stays at its end while it grows, unless somebody scrolled up."""

    def __init__(self) -> None:
        super().__init__(id="talk")
        self._still = False
        self._counting: Timer | None = None
        self._moved = 0
        """Lines by which what is seen moved down, until it is followed."""

    def on_mount(self) -> None:
        self.anchor()
        self._counting = self.set_interval(_PAUSE, self._count, pause=True)

    def on_markdown_view_guessed(self) -> None:
        if self._counting is not None:
            self._counting.resume()

    def _count(self) -> None:
        """Lays out some of what is not seen, so that it stands still when somebody scrolls to it."""
        if self._moved:
            return
        until = time.monotonic() + _SLICE
        at_end = self.is_vertical_scroll_end
        for prose in reversed(self.query(MarkdownView)):
            if isinstance(prose.parent, Widget) and not prose.parent.display:
                continue
            done, moved = prose.settle(until, self.scroll_offset.y - self._place(prose))
            if moved and not at_end:
                self._moved += moved
            if not done:
                break
        else:
            assert self._counting is not None
            self._counting.pause()
        if self._moved:
            self.call_after_refresh(self._go_along)

    def _place(self, widget: Widget) -> int:
        """The line on which a part, or a part of a part, begins."""
        inside = widget.parent
        above = self._place(inside) if isinstance(inside, Widget) and inside is not self else 0
        return widget.virtual_region.y + above

    def _go_along(self) -> None:
        """What is above became longer or shorter: what is seen stays where it is."""
        self.scroll_to(y=self.scroll_offset.y + self._moved, animate=False, immediate=True)
        self._moved = 0

    async def put(self, widget: Widget, *, before: Widget | None = None) -> None:
        if before is not None and before.parent is self:
            await self.mount(widget, before=before)
        else:
            await self.mount(widget)
        if len(self.children) >= MOST + _AT_ONCE and self.is_vertical_scroll_end:
            await self._shorten()

    async def say(self, *lines: str, kind: str = "info") -> None:
        """Lines beside the conversation."""
        from thinkwire.terminal.notice import Notice

        if lines:
            await self.put(
                Notice(lines, "error" if kind == "error" else "note" if kind == "note" else "info")
            )

    async def empty(self, *, earlier: int = 0) -> None:
        """Nothing of the conversation before; of this one, so many messages are not shown."""
        await self.remove_children()
        self._let_go()
        if earlier:
            await self.say(f"… {earlier:,} {_EARLIER}")

    async def _shorten(self) -> None:
        """The first parts go; one line says so."""
        from thinkwire.terminal.notice import Notice

        await self.remove_children(self.children[: len(self.children) - MOST])
        self._let_go()
        await self.mount(Notice([f"… {_EARLIER}"]), before=0)

    async def painted(self, *, within: float) -> None:
        """When the screen shows what was put here; no later than in so many seconds."""
        done = asyncio.Event()
        self.call_after_refresh(done.set)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await done.wait()

    def keep_still(self) -> None:
        """All that is loaded and shown now will stay; looking there for garbage would stop the screen."""
        self._still = True
        gc.freeze()

    def _let_go(self) -> None:
        """Something went: it is garbage now."""
        if self._still:
            self._still = False
            gc.unfreeze()

    def show_thinking(self, shown: bool) -> None:
        """At once, and for everything above too."""
        self.set_class(not shown, _HIDDEN)
        self.on_markdown_view_guessed()
