"""What a transcript was read as."""

from __future__ import annotations

from typing import Literal

import msgspec

from thinkwire.messages import Conversation
from thinkwire.notes import Note
from thinkwire.request import Request
from thinkwire.transcripts.archive import Archive

Format = Literal[
    "thinkwire",
    "jsonl",
    "claude-code",
    "codex",
    "anthropic",
    "openai-chat",
    "openai-responses",
    "gemini",
]
"""Our file, our lines, two programs' logs, or a request body of a dialect."""


class Imported(msgspec.Struct, frozen=True):
    """A conversation from a file. `earlier` holds what stood before each compaction, oldest first."""

    format: Format
    conversation: Conversation
    earlier: tuple[Conversation, ...] = ()
    title: str | None = None
    model: str | None = None
    """The model that spoke last, or that the file names."""
    notes: tuple[Note, ...] = ()
    archives: tuple[Archive, ...] = ()
    """Everything that our own lines say, message by message."""
    request: Request | None = None
    """The request that the conversation is part of."""
