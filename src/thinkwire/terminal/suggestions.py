"""The list of completions above the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import OptionList
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from thinkwire.session.commands import Candidate, Completion

SHOWN = 8


class Suggestions(OptionList, can_focus=False):
    """What could be typed. The prompt keeps the focus and moves the choice here."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.display = False
        self.completion: Completion | None = None
        self.moved = False
        """Whether somebody chose, or the first is only offered."""

    def offer(self, completion: Completion | None) -> None:
        self.completion = completion
        candidates = completion.candidates if completion else ()
        self.moved = False
        self.clear_options()
        self.display = bool(candidates)
        if candidates:
            width = max(len(candidate.text) for candidate in candidates)
            self.add_options(Option(_shown(candidate, width)) for candidate in candidates)
            self.highlighted = 0

    def close(self) -> None:
        self.offer(None)

    def move(self, by: int) -> None:
        self.moved = True
        if by > 0:
            self.action_cursor_down()
        else:
            self.action_cursor_up()

    @property
    def chosen(self) -> Candidate | None:
        if not self.display or self.highlighted is None or self.completion is None:
            return None
        return self.completion.candidates[self.highlighted]


def _shown(candidate: Candidate, width: int) -> str:
    return f"{candidate.text:<{min(width, 40)}}  {candidate.detail[:70]}".rstrip()
