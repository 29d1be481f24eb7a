"""Choosing one of many: earlier conversations, models, levels, what was typed before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from thinkwire.errors import ThinkwireError
from thinkwire.session.commands import Candidate, fuzzy
from thinkwire.session.formatting import one_line, printable

Find = Callable[[str], Awaitable[Sequence[Candidate]]]


class Picker(ModalScreen[str | None]):
    """A list that narrows as one types. Gives the chosen candidate's text, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave"),
        Binding("down", "move(1)", "Next", show=False),
        Binding("up", "move(-1)", "Previous", show=False),
        Binding("pagedown", "move(8)", show=False),
        Binding("pageup", "move(-8)", show=False),
    ]

    def __init__(self, title: str, find: Find, *, details_only: bool = False) -> None:
        super().__init__()
        self._title = title
        self._find = find
        self._details_only = details_only
        """The texts are ids that tell nobody anything."""
        self._found: tuple[Candidate, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="heading", markup=False)
            yield Input(placeholder="type to search", compact=True)
            yield OptionList(markup=False)
            yield Static("Enter chooses, Esc leaves", classes="hint", markup=False)

    async def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        await self._search("")

    async def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        await self._search(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._found):
            self.dismiss(self._found[at].text)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._found[event.option_index].text)

    async def _search(self, words: str) -> None:
        options = self.query_one(OptionList)
        try:
            self._found = tuple(await self._find(words))
        except ThinkwireError as error:
            self._found = ()
            self.query_one(".hint", Static).update(printable(str(error)))
        options.clear_options()
        options.add_options(Option(self._shown(candidate)) for candidate in self._found)
        if self._found:
            options.highlighted = 0

    def _shown(self, candidate: Candidate) -> str:
        if self._details_only:
            return printable(candidate.detail)
        return f"{one_line(candidate.text, 60):<34} {one_line(candidate.detail, 80)}".rstrip()

    def action_move(self, by: int) -> None:
        options = self.query_one(OptionList)
        if self._found:
            options.highlighted = max(0, min(len(self._found) - 1, (options.highlighted or 0) + by))

    def action_leave(self) -> None:
        self.dismiss(None)


def among(candidates: Sequence[Candidate]) -> Find:
    """A search in what is at hand."""

    async def find(words: str) -> Sequence[Candidate]:
        return fuzzy(words, candidates)

    return find
