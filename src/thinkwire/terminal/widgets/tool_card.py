"""A tool call: what it is about, what it would change, how it went."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from thinkwire.messages import Text, ToolCall, ToolResult
from thinkwire.session.formatting import duration, printable, unmistakable
from thinkwire.terminal.changes import Change, change_of, subject_of

RESULT_LINES = 6
DIFF_LINES = 40
_MARKS = {"+": "$success", "-": "$error", "@": "$secondary"}


class ToolCard(Vertical):
    """One call. Results are shown by their first lines; the transcript has them all."""

    def __init__(self, call: ToolCall) -> None:
        super().__init__()
        self._call = call
        self._state = "…"
        self._tail = ""
        self._heading = Static("", classes="heading", markup=False)
        self._diff = Static("", classes="diff", markup=False)
        self._result = Static("", classes="result", markup=False)

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._diff
        yield self._result

    def on_mount(self) -> None:
        self.show_call(self._call)

    def show_call(self, call: ToolCall) -> None:
        """The call, once its arguments are whole."""
        self._call = call
        change = change_of(call)
        self._diff.display = change is not None
        if change is not None:
            self._diff.update(coloured(change, DIFF_LINES))
        self._result.display = False
        self._draw()

    def show_result(self, result: ToolResult, elapsed: float | None = None) -> None:
        self._state = "✗" if result.failed else "✓"
        self._tail = f" ({duration(elapsed)})" if elapsed is not None and elapsed >= 1 else ""
        text = printable("\n".join(part.text for part in result.content if isinstance(part, Text)))
        lines = text.rstrip().splitlines()
        shown = lines[:RESULT_LINES]
        if len(lines) > len(shown):
            shown.append(f"… {len(lines) - len(shown):,} more lines (Ctrl+O)")
        self._result.display = bool(shown)
        self._result.update("\n".join(line[:500] for line in shown))
        self.set_class(result.failed, "failed")
        self._draw()

    def interrupt(self) -> None:
        """It will have no result."""
        if self._state == "…":
            self._state, self._tail = "✗", " (interrupted)"
            self._draw()

    def _draw(self) -> None:
        self._heading.update(f"{self._state} {self._call.name} {subject_of(self._call)}{self._tail}")


def coloured(change: Change, most: int | None = None) -> Content:
    """A diff in the colours of the theme; with a limit, what is longer is cut and said."""
    lines = [Content.styled(unmistakable(line), _MARKS.get(line[:1], "")) for line in change.lines[:most]]
    if most is not None and len(change.lines) > most:
        lines.append(Content.styled(f"… {len(change.lines) - most:,} more lines (Ctrl+O)", "dim"))
    return Content("\n").join(lines)
