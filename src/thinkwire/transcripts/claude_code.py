"""Claude Code's session logs: a tree of lines, of which one path is the conversation.

An answer is several lines with the same message id, one for each block; results of parallel calls hang on
the call's own line, so a path by parents alone would miss some. A compaction begins a new path.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import msgspec

from thinkwire import dialects
from thinkwire.errors import MalformedInput
from thinkwire.messages import Block, Conversation, Origin, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.transcripts.jsonl import JsonLine, bad_line, read_lines, seconds, skipped, word
from thinkwire.transcripts.result import Imported

TYPES = frozenset({"user", "assistant", "summary", "system", "file-history-snapshot", "queue-operation"})
_SYNTHETIC = "<synthetic>"
"""What stands for the model in lines that the program itself wrote."""


class Entry(NamedTuple):
    """A line that says something."""

    line: JsonLine
    turn: Turn
    message_id: str | None


def read_claude_code(data: bytes) -> Imported:
    notes: list[Note] = []
    lines = read_lines(data, notes)
    left_out: Counter[str] = Counter()
    entries = [entry for line in lines if (entry := _entry(line, left_out)) is not None]
    segments = _segments(lines, entries, left_out)
    conversations = [Conversation(turns=_turns(segment)) for segment in segments]
    spoken = [e.turn.origin.model for e in segments[-1] if e.turn.origin and e.turn.origin.model]
    return Imported(
        "claude-code",
        conversations[-1],
        earlier=tuple(conversations[:-1]),
        title=_title(lines),
        model=spoken[-1] if spoken else None,
        notes=(*notes, *skipped(left_out)),
    )


def _title(lines: list[JsonLine]) -> str | None:
    for kind, field in (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary")):
        found = [word(line.value.get(field)) for line in lines if line.value.get("type") == kind]
        if any(found):
            return next(title for title in reversed(found) if title)
    return None


def _entry(line: JsonLine, left_out: Counter[str]) -> Entry | None:
    value = line.value
    kind = str(value.get("type"))
    message = value.get("message")
    if kind not in ("user", "assistant"):
        if kind not in ("summary", "custom-title", "ai-title"):
            left_out[kind] += 1
        return None
    if value.get("isSidechain") is True:
        left_out["sidechain"] += 1
        return None
    if type(message) is not dict:
        raise bad_line(line.number, "expected an object in message")
    if message.get("model") == _SYNTHETIC or value.get("isApiErrorMessage") is True:
        left_out["error message"] += 1
        return None
    content = message.get("content")
    if content in (None, "", []):
        left_out[f"empty {kind}"] += 1
        return None
    blocks = _blocks(line, kind, content)
    origin = _origin(message, value) if kind == "assistant" else None
    turn = Turn("assistant" if kind == "assistant" else "user", blocks, origin=origin)
    return Entry(line, turn, word(message.get("id")) if kind == "assistant" else None)


def _blocks(line: JsonLine, role: str, content: Any) -> tuple[Block, ...]:
    try:
        request = dialects.get("anthropic").decode_request({"messages": [{"role": role, "content": content}]})
    except MalformedInput as error:
        raise bad_line(line.number, str(error).removeprefix("messages[0].")) from None
    return request.turns[0].blocks


def _origin(message: dict[str, Any], value: dict[str, Any]) -> Origin:
    """Another maker's model was asked through somebody's gateway; its thinking is not Anthropic's."""
    model = word(message.get("model"))
    ours = model is None or "claude" in model
    return Origin(
        provider="anthropic" if ours else "claude-code",
        model=model,
        response_id=word(message.get("id")),
        time=seconds(value.get("timestamp")),
    )


def _segments(lines: list[JsonLine], entries: list[Entry], left_out: Counter[str]) -> list[list[Entry]]:
    """The path that ends at the last line, and before it the paths that compactions ended; oldest first."""
    by_id = {name: line for line in lines if (name := word(line.value.get("uuid")))}
    if any(word(entry.line.value.get("uuid")) is None for entry in entries) or not entries:
        return [entries]
    segments: list[list[Entry]] = []
    taken: set[int] = set()
    leaf: JsonLine | None = entries[-1].line
    while leaf is not None:
        path, leaf = _path(leaf, by_id)
        segment = [entry for entry in _whole(entries, path) if entry.line.number not in taken]
        taken |= {entry.line.number for entry in segment}
        if segment:
            segments.append(segment)
    others = len(entries) - len(taken)
    if others:
        left_out["line of other branches"] += others
    return segments[::-1]


def _path(leaf: JsonLine, by_id: dict[str, JsonLine]) -> tuple[set[str], JsonLine | None]:
    """The ids from a line up to its root, and the line that a compaction continued."""
    path: set[str] = set()
    at: JsonLine | None = leaf
    while at is not None:
        name = str(at.value.get("uuid"))
        if name in path:
            return path, None
        path.add(name)
        parent = word(at.value.get("parentUuid"))
        if parent is None:
            before = by_id.get(str(at.value.get("logicalParentUuid")))
            return path, before if before and str(before.value.get("uuid")) not in path else None
        at = by_id.get(parent)
    return path, None


def _whole(entries: list[Entry], path: set[str]) -> list[Entry]:
    """The lines of a path, with the other blocks of its answers and the results of their calls."""
    messages = {e.message_id for e in entries if e.message_id and e.line.value.get("uuid") in path}
    answers = {e.line.value.get("uuid") for e in entries if e.message_id in messages and e.message_id}
    return [
        entry
        for entry in entries
        if entry.line.value.get("uuid") in path
        or entry.line.value.get("uuid") in answers
        or (_is_results(entry.turn) and word(entry.line.value.get("parentUuid")) in answers)
    ]


def _is_results(turn: Turn) -> bool:
    return turn.role == "user" and any(isinstance(block, ToolResult) for block in turn.blocks)


def _turns(entries: list[Entry]) -> tuple[Turn, ...]:
    """Lines of one answer are one turn, and so are results that follow each other."""
    turns: list[Turn] = []
    places: dict[str, int] = {}
    for entry in entries:
        name, turn = entry.message_id, entry.turn
        if name is not None and name in places:
            place = places[name]
            turns[place] = _joined(turns[place], turn)
        elif turns and _is_results(turn) and _is_results(turns[-1]):
            turns[-1] = _joined(turns[-1], turn)
        else:
            if name is not None:
                places[name] = len(turns)
            turns.append(turn)
    return tuple(turns)


def _joined(first: Turn, second: Turn) -> Turn:
    new = tuple(block for block in second.blocks if not (_is_said_once(block) and block in first.blocks))
    return msgspec.structs.replace(first, blocks=first.blocks + new)


def _is_said_once(block: Block) -> bool:
    return isinstance(block, ToolCall | ToolResult) or (
        isinstance(block, Thinking) and block.seal is not None
    )
