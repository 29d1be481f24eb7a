"""The chat on a stage: the real app without a terminal, on strict simulators of this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from thinkwire.terminal.app import Chat
from thinkwire.terminal.chat.controller import ChatController
from thinkwire.terminal.chat.conversations import ConversationManager, Options
from thinkwire.terminal.widgets.approval import ApprovalPrompt

PATIENCE = 30.0


class Stage:
    """The app, and what a person at its keys can do and see."""

    def __init__(self, app: Chat, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def chatting(self) -> ChatController:
        assert self.app.chatting is not None
        return self.app.chatting

    @property
    def settings(self) -> Any:
        return self.chatting.session.settings

    def seen(self) -> str:
        """The screen as text."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, true: Callable[[], Any], what: str = "") -> None:
        """Until something is so; what it was is in the complaint."""
        end = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > end:
                raise AssertionError(f"never: {what or true}\n{self.seen()}")
            await asyncio.sleep(0.04)

    async def sees(self, text: str) -> None:
        await self.until(lambda: text in self.seen(), f"seen {text!r}")

    async def type(self, text: str) -> None:
        self.app.prompt.insert(text)
        await self.pilot.pause()

    async def say(self, text: str, *, wait: bool = True) -> None:
        """Types a line, sends it, and waits until it is dealt with."""
        await self.type(text)
        if self.app.suggestions.display:
            await self.press("escape")
        await self.press("enter")
        await self.until(lambda: not self.app.prompt.text, "the prompt is taken")
        if wait:
            await self.rest()

    async def rest(self) -> None:
        await self.until(lambda: not self.chatting.busy and not self.app.activity.display, "nothing goes on")
        await self.app.workers.wait_for_complete(
            [worker for worker in self.app.workers if worker.group == "command"]
        )
        await self.pilot.pause()


@asynccontextmanager
async def stage(
    folder: Path, *, size: tuple[int, int] = (100, 40), theme: str | None = "dark", **options: Any
) -> AsyncIterator[Stage]:
    """A chat in a folder, ready for the first message."""
    ApprovalPrompt.GRACE = 0.0
    usual = {"sim": True, "save": False, "model": "claude-opus-5-5/high", "theme": theme}
    given: dict[str, Any] = usual | options
    app = Chat(lambda: ConversationManager(Options(folder=folder, **given)), theme=theme)
    async with app.run_test(size=size, notifications=True) as pilot:
        on = Stage(app, pilot)
        if given["sim"]:
            await asyncio.wait_for(app.ready.wait(), PATIENCE)
        else:
            await on.until(lambda: app.chatting is not None)
        await pilot.pause()
        try:
            yield on
        finally:
            if app.chatting is not None:
                await app.chatting.aclose()
