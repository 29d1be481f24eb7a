"""Conversations for people to read, as Markdown. Thinking only when it is asked for; seals never."""

from __future__ import annotations

import re

import msgspec

from thinkwire.dialects.shared import arguments_object
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import (
    Block,
    Conversation,
    Document,
    Image,
    ResultContent,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)

_TICKS = re.compile(r"`+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_NAMES = {"user": "User", "assistant": "Assistant", "system": "System"}


def write_markdown(conversation: Conversation, *, thinking: bool = False, title: str | None = None) -> str:
    """The conversation, turn by turn."""
    parts = [f"# {_line(title) if title else 'Conversation'}"]
    if conversation.system:
        parts += ["## System", *(_closed(text.text) for text in conversation.system)]
    names: dict[str, str] = {}
    for turn in conversation.turns:
        names |= {call.id: call.name for call in turn.tool_calls}
        said = [part for block in turn.blocks if (part := _block(block, names, thinking))]
        if said:
            parts += [f"## {_heading(turn)}", *said]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _heading(turn: Turn) -> str:
    if all(isinstance(block, ToolResult) for block in turn.blocks):
        return "Tools"
    name = _NAMES[turn.role]
    model = turn.origin.model if turn.origin else None
    return f"{name} ({_line(model)})" if model else name


def _block(block: Block, names: dict[str, str], thinking: bool) -> str:
    match block:
        case Text():
            return _closed(block.text) + _unfinished(block.interrupted)
        case Thinking():
            return _quoted(block) if thinking and block.text else ""
        case ToolCall():
            said = f"**Call:** {_code(block.name)}{_unfinished(block.interrupted)}"
            arguments = _pretty(block.arguments)
            return f"{said}\n\n{fenced(arguments, 'json')}" if arguments else said
        case ToolResult():
            name = block.name or names.get(block.call_id)
            label = "**Failed:**" if block.failed else "**Result:**"
            said = f"{label} {_code(name)}" if name else label
            content = "\n".join(filter(None, map(_content, block.content)))
            return f"{said}\n\n{fenced(content)}" if content else said
    return _media(block)


def _content(block: ResultContent) -> str:
    return block.text if isinstance(block, Text) else _media(block)


def _media(block: Block) -> str:
    if isinstance(block, Image):
        return f"[image: {_line(block.url or block.media_type or 'unknown kind')[:200]}]"
    if isinstance(block, Document):
        return f"[document: {_line(block.name or block.url or block.media_type or 'unknown kind')[:200]}]"
    return "[a block that only its own provider can read]"


def _quoted(block: Thinking) -> str:
    lines = [f"**Thinking**{_unfinished(block.interrupted)}", "", *_closed(block.text).splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _unfinished(interrupted: bool) -> str:
    return " *(interrupted)*" if interrupted else ""


def fenced(text: str, language: str = "") -> str:
    """A code block that nothing inside it can end."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _closed(text: str) -> str:
    """Text whose code blocks all end, so that they do not take in what follows."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        mark, rest = found[1], found[2]
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
            fence = ""
    return f"{text.rstrip()}\n{fence}" if fence else text.strip("\n")


def _code(name: str) -> str:
    return f"`{_line(name).replace('`', chr(39))}`"


def _line(text: str) -> str:
    return " ".join(text.split())


def _pretty(arguments: str) -> str:
    value, broken = arguments_object(arguments)
    if broken or not value:
        return arguments.strip()
    return msgspec.json.format(dump_text(value), indent=2)
