"""The conversation on the screen: what was said, thought, answered and run, one widget each."""

from __future__ import annotations

from textual.containers import VerticalScroll
from textual.widget import Widget

_HIDDEN = "thinking-hidden"


class Talk(VerticalScroll, can_focus=False):
    """It stays at its end while it grows, unless somebody scrolled up."""

    def __init__(self) -> None:
        super().__init__(id="talk")

    def on_mount(self) -> None:
        self.anchor()

    async def put(self, widget: Widget, *, before: Widget | None = None) -> None:
        if before is not None and before.parent is self:
            await self.mount(widget, before=before)
        else:
            await self.mount(widget)

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
        if earlier:
            await self.say(f"… {earlier:,} earlier messages (Ctrl+O shows them)")

    def show_thinking(self, shown: bool) -> None:
        """At once, and for everything above too."""
        self.set_class(not shown, _HIDDEN)
