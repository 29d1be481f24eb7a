"""A question above the prompt, answered with one key; what was being typed stays where it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from thinkwire.jsonvalue import dump_text
from thinkwire.messages import ToolCall
from thinkwire.session.formatting import unmistakable
from thinkwire.session.tools import Spec
from thinkwire.terminal.changes import arguments_of, change_of
from thinkwire.terminal.widgets.tool_card import coloured

Approved = bool | Literal["always"]


class ApprovalPrompt(Vertical, can_focus=True):
    """Keys pressed in its first moments, and on from there without a pause, were meant for the prompt."""

    GRACE: ClassVar[float] = 0.4

    def __init__(self, heading: str, body: str | Content, choices: Mapping[str, tuple[Any, str]]) -> None:
        """`choices` are by key: what the answer is, and what is said about it."""
        super().__init__()
        self._heading = heading
        self._body = body
        self._choices = choices
        self._asked = time.monotonic()
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def compose(self) -> ComposeResult:
        yield Static(self._heading, classes="heading", markup=False)
        with VerticalScroll(classes="what", can_focus=False):
            yield Static(self._body, markup=False)
        yield Static("", classes="choices", markup=False)

    def on_mount(self) -> None:
        self._asked = time.monotonic()
        self.focus()
        self._tell_choices()

    def on_resize(self) -> None:
        self._tell_choices()

    def _tell_choices(self) -> None:
        told = [(key, words) for key, (_, words) in self._choices.items()]
        if self.query_one(VerticalScroll).max_scroll_y:
            told.append(("↑↓", "more"))
        shown = [Content.assemble((key, "bold $accent"), f" {words}") for key, words in told]
        self.query_one(".choices", Static).update(Content("    ").join(shown))

    def on_key(self, event: events.Key) -> None:
        if event.key in ("up", "down", "pageup", "pagedown"):
            event.stop()
            self.query_one(VerticalScroll).scroll_relative(
                y=(-1 if "up" in event.key else 1) * (8 if "page" in event.key else 1), animate=False
            )
        elif event.key in self._choices:
            event.stop()
            if not self._still_typing() and not self.answer.done():
                self.answer.set_result(self._choices[event.key][0])
        else:
            self._still_typing()

    def _still_typing(self) -> bool:
        """Whether this key came too soon after the question, or after another that did."""
        now = time.monotonic()
        if now - self._asked >= self.GRACE:
            return False
        self._asked = now
        return True


def approval(call: ToolCall, spec: Spec) -> ApprovalPrompt:
    """May this call run?"""
    always = "always this command" if spec.effect == "run" else f"always {spec.name}"
    choices: dict[str, tuple[Approved, str]] = {
        "y": (True, "yes"),
        "a": ("always", always),
        "n": (False, "no"),
    }
    return ApprovalPrompt(f"May {call.name} run?", _what(call), choices)


def _what(call: ToolCall) -> str | Content:
    """All of it: nobody should approve what they cannot see."""
    change = change_of(call)
    if change is not None:
        return Content.assemble((unmistakable(change.path), "bold"), "\n", coloured(change))
    given = arguments_of(call)
    lines = (
        f"{name}: {value if isinstance(value, str) else dump_text(value)}" for name, value in given.items()
    )
    return unmistakable("\n".join(lines) or call.arguments)
