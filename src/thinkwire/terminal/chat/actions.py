"""What commands leave to the face: other conversations, files, the clipboard, the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thinkwire.errors import ThinkwireError
from thinkwire.session import Session
from thinkwire.session.commands import (
    Action,
    After,
    ApplyTheme,
    Candidate,
    Choose,
    Continue,
    Copy,
    Export,
    Quit,
    Retry,
    StartConversation,
)
from thinkwire.terminal.files import exported, shown_to_choose
from thinkwire.terminal.picker import Picker, among

if TYPE_CHECKING:
    from thinkwire.terminal.chat.controller import ChatController


async def act(chatting: ChatController, action: Action) -> None:
    match action:
        case StartConversation():
            chatting.desk.begin()
            await chatting.show_session()
        case Continue(words=words):
            await _go_on(chatting, words)
        case Retry():
            chatting.retry()
        case Choose(prefix=prefix, options=options):
            _choose(chatting, prefix, options)
        case Copy(text=text):
            chatting.app.copy_to_clipboard(text)
        case Export(name=name, data=data):
            done, line = exported(chatting.desk.options.folder, name, data)
            await chatting.say(line, failed=not done)
        case ApplyTheme(theme=theme):
            chatting.app.theme = theme
        case After(command=command):
            chatting.later.append(command)
        case Quit():
            chatting.app.exit(0)


def _choose(chatting: ChatController, prefix: str, options: Sequence[Candidate]) -> None:
    def chosen(text: str | None) -> None:
        if text is not None:
            chatting.app.run_worker(chatting.command(f"{prefix}{text}"), group="command")

    chatting.app.push_screen(Picker(prefix.strip(), among(options)), chosen)


async def _go_on(chatting: ChatController, words: str) -> None:
    try:
        found = await chatting.desk.go_on_with(words)
    except ThinkwireError as error:
        await chatting.say(f"✗ {error}", failed=True)
        return
    if isinstance(found, Session):
        await chatting.show_session()
    elif not found:
        told = f"No other conversation has {words!r}." if words else "There is no earlier conversation yet."
        await chatting.say(told)
    else:
        _pick_conversation(chatting, words)


def _pick_conversation(chatting: ChatController, words: str) -> None:
    async def find(typed: str) -> Sequence[Candidate]:
        found = await chatting.desk.find(typed or words)
        return [Candidate(earlier.id, shown_to_choose(earlier)) for earlier in found]

    def chosen(conversation_id: str | None) -> None:
        if conversation_id is not None:
            chatting.app.run_worker(_open(chatting, conversation_id), group="command")

    chatting.app.push_screen(Picker("Earlier conversations", find, details_only=True), chosen)


async def _open(chatting: ChatController, conversation_id: str) -> None:
    try:
        await chatting.desk.go_on(conversation_id)
    except ThinkwireError as error:
        await chatting.say(f"✗ {error}", failed=True)
    else:
        await chatting.show_session()
