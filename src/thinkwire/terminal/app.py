"""The chat on the whole screen: its parts and its keys. What happens on it is in `chatting`, loaded after."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.widgets import Footer

from thinkwire.errors import ThinkwireError
from thinkwire.terminal import themes as looks
from thinkwire.terminal.activity import Activity
from thinkwire.terminal.prompt import Prompt
from thinkwire.terminal.prompt_history import PromptHistory
from thinkwire.terminal.status import StatusBar
from thinkwire.terminal.suggestions import Suggestions
from thinkwire.terminal.widgets.conversation import ConversationView

if TYPE_CHECKING:
    from thinkwire.terminal.chat.controller import ChatController
    from thinkwire.terminal.chat.conversations import ConversationManager

LEAVE_WITHIN = 2.0
"""Seconds between the two Ctrl+C that leave."""


class Chat(App[int]):
    """One conversation at a time. The first frame is drawn before anything else is loaded."""

    CSS_PATH = "terminal.tcss"
    TITLE = "thinkwire"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "interrupt", "Stop"),
        Binding("f5", "retry", "Again"),
        Binding("ctrl+t", "level", "Level", priority=True),
        Binding("alt+t", "thinking", "Thinking", priority=True),
        Binding("ctrl+o", "transcript", "Transcript"),
        Binding("ctrl+r", "history", "History"),
        Binding("ctrl+c", "leave", "Quit", priority=True),
    ]

    def __init__(self, desk: Callable[[], ConversationManager], *, theme: str | None = None) -> None:
        """`desk` makes the desk; what it raises ends the chat with its message."""
        super().__init__()
        for look in looks.ALL.values():
            self.register_theme(look)
        self.theme = theme or looks.usual_theme()
        self._desk = desk
        self.talk = ConversationView()
        self.activity = Activity()
        self.status = StatusBar()
        self.suggestions = Suggestions()
        self.prompt = Prompt(PromptHistory(), self.suggestions)
        self.chatting: ChatController | None = None
        self.ready = asyncio.Event()
        """Set when the desk is there and messages can be sent."""
        self.alone = False
        """Whether nothing else runs in this process."""
        self._left_at = -LEAVE_WITHIN

    def get_driver_class(self) -> type[Driver]:
        usual = super().get_driver_class()
        if usual.__name__ != "LinuxDriver":
            return usual
        from thinkwire.terminal.resilient_driver import ResilientDriver

        return ResilientDriver

    def compose(self) -> ComposeResult:
        yield self.talk
        yield self.activity
        yield self.suggestions
        yield self.prompt
        yield self.status
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.prompt.focus()
        self.call_after_refresh(self._load)

    def _load(self) -> None:
        from thinkwire.terminal.chat.controller import ChatController

        try:
            self.chatting = ChatController(self, self._desk())
        except ThinkwireError as error:
            self.exit(1, return_code=1, message=f"error: {error}")
            return
        self.prompt.complete = self.chatting.complete
        self.run_worker(self.chatting.begin(), group="begin")

    async def put_away(self) -> None:
        """Whatever goes on is interrupted, and everything that was said is kept."""
        if self.chatting is not None:
            await self.chatting.aclose()

    async def on_prompt_sent(self, event: Prompt.Sent) -> None:
        if self.chatting is not None and self.ready.is_set():
            await self.chatting.take(event.text.strip())
        else:
            self.notify("One moment: still starting. Your text stays here.", timeout=2)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "retry":
            return self.chatting is not None and self.chatting.can_retry
        if action == "interrupt":
            return self.chatting is not None and self.chatting.busy
        return True

    async def action_interrupt(self) -> None:
        if self.chatting is not None:
            await self.chatting.interrupt()

    def action_retry(self) -> None:
        if self.chatting is not None:
            self.chatting.retry()

    async def action_level(self) -> None:
        if self.chatting is not None:
            await self.chatting.cycle_level()

    async def action_thinking(self) -> None:
        if self.chatting is not None:
            await self.chatting.toggle_thinking()

    async def action_transcript(self) -> None:
        if self.chatting is not None:
            await self.chatting.show_transcript()

    def action_history(self) -> None:
        if self.chatting is not None:
            self.chatting.show_history()

    def action_leave(self) -> None:
        """Copies what is selected; else the second time leaves."""
        selected = getattr(self.focused, "selected_text", "") or self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            return
        now = time.monotonic()
        if now - self._left_at < LEAVE_WITHIN:
            self.exit(0)
        self._left_at = now
        self.notify("Ctrl+C again quits.", timeout=LEAVE_WITHIN)

    def action_scroll_talk(self, pages: int) -> None:
        if pages < 0:
            self.talk.scroll_page_up(animate=False)
        else:
            self.talk.scroll_page_down(animate=False)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        if self.chatting is not None:
            for name, help, chosen in self.chatting.palette():
                yield SystemCommand(name, help, chosen)


async def run_chat(
    desk: Callable[[], ConversationManager], *, theme: str | None = None, mouse: bool = True
) -> int:
    """The exit code. Everything that was said is kept when this returns."""
    app = Chat(desk, theme=theme)
    app.alone = True
    shown = asyncio.ensure_future(app.run_async(mouse=mouse))
    try:
        await asyncio.shield(shown)
        return app.return_code or 0
    except asyncio.CancelledError:
        app.exit()
        raise
    finally:
        from thinkwire.store.cancellation import run_to_completion

        await run_to_completion(_left(app, shown))


async def _left(app: Chat, shown: Awaitable[Any]) -> None:
    """The terminal is as it was, and everything is put away."""
    try:
        await shown
    finally:
        await app.put_away()
