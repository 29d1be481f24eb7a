"""The line that says what is going on: thinking, answering, running a tool; for how long."""

from __future__ import annotations

import re
import time

from textual.widgets import Static

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BOLD = re.compile(r"\*\*([^*\n]{3,80})\*\*")
_TAIL = 4_000


class Activity(Static):
    """Shown while a model is at work."""

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._what = ""
        self._subject = ""
        self._since = 0.0
        self._frame = 0
        self.display = False

    def on_mount(self) -> None:
        self.set_interval(0.1, self.tick)

    def begin(self, what: str = "Thinking") -> None:
        """A new thing goes on, from now; the same thing goes on counting."""
        if self._what != what or not self.display:
            self._what, self._subject, self._since = what, "", time.monotonic()
        self.display = True
        self.tick()

    def about(self, subject: str) -> None:
        self._subject = subject

    def end(self) -> None:
        self.display = False
        self._what = self._subject = ""

    def tick(self) -> None:
        if self.display:
            self._frame += 1
            self.update(self.line(), layout=False)

    def line(self) -> str:
        seconds = int(time.monotonic() - self._since)
        subject = f" · {self._subject}" if self._subject else ""
        return f"{_FRAMES[self._frame % len(_FRAMES)]} {self._what}… {seconds}s{subject}  (Esc interrupts)"


def subject_of_thought(text: str) -> str:
    """What a model is thinking about now: its last heading, else the beginning of its last line."""
    tail = text[-_TAIL:]
    headings = _BOLD.findall(tail)
    if headings:
        return _short(headings[-1])
    lines = [line.strip(" #*-") for line in tail.splitlines() if line.strip(" #*-")]
    return _short(lines[-1]) if lines else ""


def _short(text: str) -> str:
    from thinkwire.session.formatting import one_line

    return one_line(text, 50)
