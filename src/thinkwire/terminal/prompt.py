"""Where one types: several lines, history, completion, and large pastes as one word."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from thinkwire.terminal.prompt_history import PromptHistory
from thinkwire.terminal.suggestions import Suggestions

if TYPE_CHECKING:
    from thinkwire.session.commands import Completion

LARGE_LINES = 12
LARGE_TEXT = 1_500
_NEWLINE = ("shift+enter", "alt+enter", "ctrl+j", "ctrl+enter")
_PASTED = re.compile(r"\[pasted #(\d+): [\d,]+ lines\]")


class Prompt(TextArea):
    """Enter sends, Shift+Enter or Ctrl+J begins a new line, Up and Down go through what was typed before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "app.scroll_talk(-1)", show=False),
        Binding("pagedown", "app.scroll_talk(1)", show=False),
    ]

    class Sent(Message):
        """Something is to be sent; whoever handles it calls `taken` when it is."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, history: PromptHistory, suggestions: Suggestions) -> None:
        super().__init__(
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
            placeholder="Ask anything. / for commands, @ for files, Shift+Enter for a new line",
        )
        self.typed = history
        self._suggestions = suggestions
        self.complete: Callable[[str], Completion | None] = lambda text: None
        """What could stand at the end of a text."""
        self._pastes: dict[int, str] = {}
        self._quiet = False

    @property
    def whole_text(self) -> str:
        """What was typed, with large pastes in full."""
        return _PASTED.sub(lambda found: self._pastes.get(int(found[1]), found[0]), self.text)

    def taken(self) -> None:
        """What was typed is on its way; the prompt is empty again."""
        self.typed.add(self.text if self.text == self.whole_text else self.whole_text)
        self.replace_all("")
        self._pastes.clear()

    def replace_all(self, text: str) -> None:
        self._quiet = True
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._suggestions.close()

    async def _on_key(self, event: events.Key) -> None:
        if self._handled(event.key):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def _handled(self, key: str) -> bool:
        choosing = self._suggestions.display
        match key:
            case "tab":
                return self._accept() or True
            case "enter":
                return (choosing and self._suggestions.moved and self._accept()) or self._send()
            case "up" | "down" if choosing:
                self._suggestions.move(1 if key == "down" else -1)
                return True
            case "escape" if choosing:
                self._suggestions.close()
                return True
            case "up" if self.cursor_at_first_line:
                return self._recall(self.typed.before(self.text))
            case "down" if self.cursor_at_last_line:
                return self._recall(self.typed.after())
            case _ if key in _NEWLINE:
                self.insert("\n")
                return True
        return False

    def _send(self) -> bool:
        row, column = self.cursor_location
        before = self.document[row][:column]
        if before.endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
        elif self.text.strip():
            self._suggestions.close()
            self.post_message(self.Sent(self.whole_text))
        return True

    def _accept(self) -> bool:
        """Types the chosen completion; what may follow it is offered at once."""
        chosen = self._suggestions.chosen
        completion = self._suggestions.completion
        if chosen is None or completion is None:
            return False
        before = self._before_cursor()
        open_end = chosen.text.endswith(("/", "="))
        text = chosen.text if open_end else f"{chosen.text} "
        row, column = self.cursor_location
        start = column - (len(before) - completion.start)
        self.replace(text, (row, start), (row, column))
        return True

    def _recall(self, text: str | None) -> bool:
        if text is None:
            return False
        self.replace_all(text)
        return True

    def _before_cursor(self) -> str:
        row, column = self.cursor_location
        return self.document[row][:column]

    def on_text_area_changed(self) -> None:
        if self._quiet:
            self._quiet = False
            return
        row, _ = self.cursor_location
        before = self._before_cursor()
        if row == 0 or "@" in before:
            self._suggestions.offer(self.complete(before))
        else:
            self._suggestions.close()

    async def _on_paste(self, event: events.Paste) -> None:
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + 1
        if lines >= LARGE_LINES or len(text) >= LARGE_TEXT:
            number = len(self._pastes) + 1
            self._pastes[number] = text
            text = f"[pasted #{number}: {lines:,} lines]"
        event.stop()
        event.prevent_default()
        self.insert(text)
