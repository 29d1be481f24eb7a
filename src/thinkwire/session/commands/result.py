"""What a command gives back: lines to print, and what is left for the face to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

import msgspec

from thinkwire.errors import ConfigError
from thinkwire.session.session import Session


class Candidate(msgspec.Struct, frozen=True):
    """Something that could be typed or chosen, and what it means."""

    text: str
    detail: str = ""


class StartConversation(msgspec.Struct, frozen=True):
    """A new conversation."""


class Continue(msgspec.Struct, frozen=True):
    """An earlier conversation: by id, or found by words; without words, the newest ones to choose from."""

    words: str = ""


class Retry(msgspec.Struct, frozen=True):
    """Ask again from where the conversation stands."""


class Choose(msgspec.Struct, frozen=True):
    """Something to choose; the command is `prefix` and what was chosen."""

    prefix: str
    options: tuple[Candidate, ...]


class Copy(msgspec.Struct, frozen=True):
    """To the clipboard."""

    text: str


class Export(msgspec.Struct, frozen=True):
    """A file for the user."""

    name: str
    data: bytes


class ApplyTheme(msgspec.Struct, frozen=True):
    """Another look of the face: `dark`, `light`, `high-contrast`."""

    theme: str


class After(msgspec.Struct, frozen=True):
    """A command to run again once the model has answered; until then it changes nothing."""

    command: str


class Quit(msgspec.Struct, frozen=True):
    """The end."""


Action: TypeAlias = StartConversation | Continue | Retry | Choose | Copy | Export | ApplyTheme | After | Quit


class Reply(msgspec.Struct, frozen=True):
    """`failed` lines say what to type instead."""

    lines: tuple[str, ...] = ()
    action: Action | None = None
    failed: bool = False


def lines(*text: str, action: Action | None = None) -> Reply:
    return Reply(text, action)


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A slash command. `complete` is given what stands after the command's name."""

    name: str
    usage: str = ""
    help: str
    run: Callable[[Session, str], Awaitable[Reply]]
    complete: Callable[[Session, str], Iterable[Candidate]] | None = None
    while_answering: bool = True

    @property
    def written(self) -> str:
        return f"/{self.name} {self.usage}".strip()


class Misused(ConfigError):
    """The command cannot be understood; the message says how it is written."""
