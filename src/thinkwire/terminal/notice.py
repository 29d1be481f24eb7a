"""Lines beside the conversation: what a command answered, a Note, a failure with its fix."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

from textual.widgets import Static

from thinkwire.errors import Failure
from thinkwire.session.formatting import duration, printable, what_failed, what_to_do

Kind = Literal["info", "note", "error", "welcome"]


class Notice(Static):
    """Lines of one kind; they are text, never markup."""

    def __init__(self, lines: Sequence[str], kind: Kind = "info") -> None:
        super().__init__(printable("\n".join(lines)), classes=kind, markup=False)
        self.lines = tuple(lines)


class FailureNotice(Static):
    """A failure, its fix, and how long to wait before it is worth trying again."""

    def __init__(self, failure: Failure, *, kept: bool) -> None:
        super().__init__("", classes="error", markup=False)
        self._failure = failure
        self._kept = kept
        self._until = time.monotonic() + failure.retry_after if failure.retry_after else None

    def on_mount(self) -> None:
        self.tick()
        if self._until is not None:
            self.set_interval(0.5, self.tick)

    def tick(self) -> None:
        self.update("\n".join(self.lines()))

    def lines(self) -> list[str]:
        failure = self._failure
        told = [f"✗ {printable(what_failed(failure))}", f"  {what_to_do(failure)}"]
        if self._kept:
            told.append("  What arrived is kept.")
        left = self._until - time.monotonic() if self._until is not None else 0
        if left > 0:
            told.append(f"  The provider asks to wait: {duration(left)} left, then F5.")
        else:
            told.append("  F5 asks again.")
        return told
