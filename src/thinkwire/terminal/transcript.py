"""The whole conversation as text: thinking, tool results and Notes in full."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, TextArea

from thinkwire.messages import Block, Document, Image, Text, Thinking, ToolCall, ToolResult
from thinkwire.session.formatting import printable, thought_for, tokens, what_failed
from thinkwire.store.rows import MessageRow


class Transcript(Screen[None]):
    """To read, search by eye, and copy from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+o,q", "app.pop_screen", "Back to the conversation", priority=True),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        area = TextArea(self._text, read_only=True, show_line_numbers=False, soft_wrap=True)
        area.highlight_cursor_line = False
        yield area
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)


def transcript(path: list[MessageRow]) -> str:
    """Everything that is kept, in words; seals are named and never shown."""
    return "\n\n".join(part for kept in path if (part := _message(kept))) or "Nothing was said yet."


def _message(kept: MessageRow) -> str:
    parts = [said for block in kept.turn.blocks if (said := _block(block, kept))]
    parts += [f"note: {note.message}" for note in kept.notes]
    if kept.failure is not None:
        parts.append(f"✗ {what_failed(kept.failure)}")
    elif kept.status == "interrupted":
        parts.append("✗ interrupted")
    if kept.role == "assistant":
        parts.append(f"({tokens(kept.usage)} tokens)")
    return printable("\n\n".join([f"━━ {_heading(kept)}", *parts]))


def _heading(kept: MessageRow) -> str:
    if kept.kind == "summary":
        return "Summary of what was said before"
    if kept.role == "assistant":
        origin = kept.turn.origin
        return (origin.model if origin else None) or "Answer"
    results = all(isinstance(block, ToolResult) for block in kept.turn.blocks)
    return "Tools" if results and kept.turn.blocks else "You"


def _block(block: Block, kept: MessageRow) -> str:
    match block:
        case Text(text=text):
            return text
        case Thinking():
            return _thinking(block, kept)
        case ToolCall(name=name, arguments=arguments):
            return f"→ {name} {arguments}"
        case ToolResult(content=content, failed=failed):
            said = "\n".join(part.text for part in content if isinstance(part, Text))
            return f"{'✗' if failed else '←'} {said or '(nothing to read)'}"
        case Image(media_type=media):
            return f"+ picture ({media or 'unknown'})"
        case Document(name=name):
            return f"+ {name or 'document'}"
    return ""


def _thinking(block: Thinking, kept: MessageRow) -> str:
    if not block.text and block.seal is None:
        return ""
    form = {"summary": " (a summary)", "redacted": " (redacted by the provider)", "hidden": " (sealed)"}
    heading = f"{thought_for(kept.elapsed_thinking)}{form.get(block.form, '')}"
    body = "\n".join(f"│ {line}" for line in block.text.splitlines())
    return f"{heading}\n{body}".rstrip()
