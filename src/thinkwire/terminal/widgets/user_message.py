"""What the user said."""

from __future__ import annotations

from textual.widgets import Static

from thinkwire.messages import Block, Document, Image, Text, ToolResult, Turn
from thinkwire.session.formatting import printable

MOST_LINES = 30
"""Lines of a long message that are shown."""


class UserMessage(Static):
    """The user's words, and what went along with them."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(said(turn), markup=False)


def said(turn: Turn) -> str:
    """Attachments first, one line each, then the words."""
    files = [f"+ {name}" for block in turn.blocks if (name := _attached(block))]
    words = "\n".join(printable(block.text) for block in turn.blocks if isinstance(block, Text))
    lines = words.splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES:,} more lines (Ctrl+O)"]
    if lines:
        lines[0] = f"> {lines[0]}"
    return "\n".join([*files, *lines])


def is_said(turn: Turn) -> bool:
    """Whether a person said this; tool results are no words."""
    return turn.role == "user" and any(not isinstance(block, ToolResult) for block in turn.blocks)


def _attached(block: Block) -> str | None:
    match block:
        case Image():
            return f"picture ({block.media_type or 'unknown'})"
        case Document():
            return block.name or "document"
    return None
