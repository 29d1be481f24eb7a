"""Everything that a request or an answer says, as a list of things, to see what got lost on the way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from thinkwire.events import Answer
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from thinkwire.notes import Note
from thinkwire.request import Request, Tool


class Thing(NamedTuple):
    """One thing said: its kind and what makes it itself. Text counts by letters, since wires may join it."""

    kind: str
    what: str


EXCUSES = {
    "text": {"block.dropped", "block.degraded"},
    "thinking": {"thinking.dropped", "block.degraded"},
    "seal": {"thinking.dropped", "seal.dropped", "block.dropped"},
    "call": {"tool_call.arguments_invalid", "block.dropped"},
    "call id": {"field.changed"},
    "result": {"block.dropped", "block.degraded"},
    "result id": {"field.changed"},
    "failed": {"block.degraded"},
    "media": {"block.dropped", "block.degraded"},
    "opaque": {"block.dropped", "field.dropped"},
    "tool": {"field.dropped", "field.changed", "block.dropped"},
    "setting": {"field.dropped", "field.changed"},
    "field": {"field.dropped"},
}
"""Which Notes excuse the loss of what."""


def silent_losses(before: Counter[Thing], after: Counter[Thing], notes: Iterable[Note]) -> list[Thing]:
    """What is gone without a word."""
    said = {str(note.code) for note in notes}
    return [thing for thing in before - after if not said & EXCUSES[thing.kind]]


def of_request(request: Request) -> Counter[Thing]:
    things: Counter[Thing] = Counter()
    blocks: list[Block] = [*request.system, *(block for turn in request.turns for block in turn.blocks)]
    for block in blocks:
        things.update(_of_block(block))
    for tool in request.tools:
        things.update(_of_tool(tool))
    things.update(_settings(request))
    for dialect, fields in request.extras.items():
        things.update(Thing("field", f"{dialect} {name}") for name in fields)
    return things


def of_answer(answer: Answer) -> Counter[Thing]:
    things: Counter[Thing] = Counter()
    for block in answer.turn.blocks:
        things.update(_of_block(block))
    return things


def _settings(request: Request) -> Iterator[Thing]:
    names = (
        "max_tokens",
        "temperature",
        "top_p",
        "top_k",
        "stop",
        "seed",
        "presence_penalty",
        "frequency_penalty",
    )
    for name in (*names, "parallel_tool_calls", "tool_choice", "output"):
        value = getattr(request, name)
        if value is not None and value != () and value is not True:
            yield Thing("setting", f"{name} {value!r}")


def _of_tool(tool: Tool | Opaque) -> Iterator[Thing]:
    if isinstance(tool, Opaque):
        yield from _of_block(tool)
    else:
        yield Thing("tool", f"{tool.name} {tool.description or ''} {json.dumps(tool.schema, sort_keys=True)}")


def _of_block(block: Block) -> Iterator[Thing]:
    match block:
        case Text(text=text, seal=seal) | Thinking(text=text, seal=seal):
            kind = "text" if isinstance(block, Text) else "thinking"
            yield from (Thing(kind, letter) for letter in text if not letter.isspace())
            yield from _of_seal(seal)
        case ToolCall():
            yield Thing("call", f"{block.name} {_arguments(block.arguments)}")
            yield Thing("call id", block.id)
            yield from _of_seal(block.seal)
        case ToolResult():
            yield Thing("result id", block.call_id)
            if block.failed:
                yield Thing("failed", block.call_id)
            for inner in block.content:
                yield from _of_block(inner)
        case Image() | Document():
            yield Thing(
                "media", f"{block.data or block.url or block.file_id or getattr(block, 'text', None)}"
            )
        case Opaque():
            yield Thing("opaque", json.dumps(block.data, sort_keys=True))


def _of_seal(seal: Seal | None) -> Iterator[Thing]:
    if seal is not None:
        yield Thing("seal", f"{seal.scheme} {seal.data}")


def _arguments(arguments: str) -> Any:
    try:
        return json.dumps(json.loads(arguments.strip() or "{}"), sort_keys=True)
    except ValueError:
        return arguments
