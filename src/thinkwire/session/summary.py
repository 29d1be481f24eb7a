"""Side calls: summaries and titles, asked of the conversation's own model with thinking at its least."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thinkwire.client.engine import Client
from thinkwire.context import estimate_text
from thinkwire.messages import Block, Document, Image, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.reasoning import Intent
from thinkwire.reasoning.model_names import parse_name

LEAST = Intent(level="none", said="a side call")

SUMMARISE = (
    "You keep the notes of a conversation between a user and an assistant, so that the assistant can go on "
    "without the earlier turns. Write what it must still know: what the user wants and has decided, facts "
    "and numbers found, names of files, what was done and how it turned out, what is still open. Leave out "
    "greetings and detours. Be complete and terse; use the language of the conversation; write no preamble."
)
NAME_IT = (
    "Give this conversation a title of two to six words, in its own language. Answer with the title alone: "
    "no quotation marks, no full stop."
)
PREFACE = "Summary of the conversation so far:\n\n"

_TOOL_TEXT = 2_000
"""Characters of a tool's input or result that a summary needs to see."""


async def summarised(client: Client, model: str, turns: Sequence[Turn], *, room: int, thinking: bool) -> str:
    """What the turns amount to. Text of more than `room` tokens is read in pieces, with the notes so far."""
    notes = ""
    for piece in _pieces(written(turns, thinking=thinking), room):
        asked = f"Notes so far:\n{notes}\n\nThe conversation goes on:\n{piece}" if notes else piece
        notes = await _asked(client, model, SUMMARISE, asked)
    return notes


async def titled(client: Client, model: str, turns: Sequence[Turn]) -> str | None:
    """A short name; None when the model gives none."""
    text = written(turns, thinking=False)[0:6_000]
    answer = await _asked(client, model, NAME_IT, text)
    line = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    return line.replace("`", "").strip("\"'«»“”„*#. ")[:80] or None


async def _asked(client: Client, model: str, system: str, text: str) -> str:
    answer = await client.complete(text, model=parse_name(model).name, system=system, thinking=LEAST)
    return answer.turn.text.strip()


def written(turns: Iterable[Turn], *, thinking: bool) -> str:
    """Turns as a text that another reader can follow."""
    return "\n\n".join(
        f"{turn.role.upper()}:\n{said}" for turn in turns if (said := _said(turn, thinking=thinking))
    )


def _said(turn: Turn, *, thinking: bool) -> str:
    return "\n".join(filter(None, (_block(block, thinking=thinking) for block in turn.blocks)))


def _block(block: Block, *, thinking: bool) -> str:
    match block:
        case Text(text=text):
            return text
        case Thinking(text=text):
            return f"[thought] {text}" if thinking and text else ""
        case ToolCall(name=name, arguments=arguments):
            return f"[called {name}] {_short(arguments)}"
        case ToolResult(content=content):
            return "[result] " + _short("\n".join(_block(part, thinking=thinking) for part in content))
        case Image():
            return "[a picture]"
        case Document(name=name, text=text):
            return f"[file {name or 'without a name'}] {_short(text or '')}"
    return ""


def _short(text: str) -> str:
    if len(text) <= _TOOL_TEXT:
        return text
    half = _TOOL_TEXT // 2
    return f"{text[:half]} […] {text[-half:]}"


def _pieces(text: str, room: int) -> list[str]:
    """The text in parts of about `room` tokens, cut between paragraphs."""
    if estimate_text(text) <= room:
        return [text]
    pieces: list[str] = []
    current: list[str] = []
    size = 0
    for paragraph in _paragraphs(text, room):
        weight = estimate_text(paragraph) + 1
        if current and size + weight > room:
            pieces.append("\n\n".join(current))
            current, size = [], 0
        current.append(paragraph)
        size += weight
    return [*pieces, "\n\n".join(current)]


def _paragraphs(text: str, room: int) -> Iterable[str]:
    """Paragraphs, those of more than `room` characters in slices: no slice has more tokens than that."""
    for paragraph in text.split("\n\n"):
        for start in range(0, max(1, len(paragraph)), max(1, room)):
            yield paragraph[start : start + max(1, room)]
