"""What happens in a session, in the words of the Agent Client Protocol, and what an editor said in ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import acp
from acp import schema

from thinkwire.errors import MalformedInput
from thinkwire.events import BlockGrew, BlockStarted, Noted
from thinkwire.messages import Block, Document, Image, Text, Thinking, ToolCall, ToolResult
from thinkwire.session import Compacted, SessionEvent, SessionNote, ToolEnded, ToolStarted
from thinkwire.session.attachments import attachment
from thinkwire.session.formatting import one_line
from thinkwire.session.tools import Spec
from thinkwire.store.rows import MessageRow
from thinkwire.terminal.changes import arguments_of, subject_of

_KINDS: dict[str, schema.ToolKind] = {"read": "read", "write": "edit", "run": "execute"}


class AcpUpdates:
    """One run: a growth belongs to the block that was begun under its number."""

    def __init__(self, specs: Mapping[str, Spec], *, thinking: bool) -> None:
        self._specs = specs
        self._thinking = thinking
        self._kinds: dict[int, type] = {}

    def updates(self, happening: SessionEvent) -> Iterator[Any]:
        match happening:
            case BlockStarted(index=index, block=block):
                self._kinds[index] = type(block)
                if isinstance(block, Text | Thinking) and block.text:
                    yield from self._grew(type(block), block.text)
            case BlockGrew(index=index, text=text):
                yield from self._grew(self._kinds.get(index), text)
            case ToolStarted(call=call):
                yield tool_start(call, self._specs.get(call.name))
            case ToolEnded(result=result):
                yield tool_end(result)
            case Noted(note=note) | SessionNote(note=note):
                yield acp.update_agent_thought_text(f"\n(note: {note.message})\n")
            case Compacted(turns=turns):
                yield acp.update_agent_thought_text(f"\n({turns} earlier turns became a summary)\n")

    def _grew(self, kind: type | None, text: str) -> Iterator[Any]:
        if kind is Text:
            yield acp.update_agent_message_text(text)
        elif kind is Thinking and self._thinking:
            yield acp.update_agent_thought_text(text)


def tool_start(call: ToolCall, spec: Spec | None) -> schema.ToolCallStart:
    """A call, with its change where it is one."""
    given = arguments_of(call)
    content = None
    match call.name, given:
        case "edit_file", {"path": str(path), "old": str(old), "new": str(new)}:
            content = [acp.tool_diff_content(path, new, old)]
        case "write_file", {"path": str(path), "content": str(text)}:
            content = [acp.tool_diff_content(path, text)]
    return acp.start_tool_call(
        call.id,
        f"{call.name} {subject_of(call)}".strip(),
        kind=_KINDS[spec.effect] if spec else "other",
        status="in_progress",
        content=content,
        raw_input=given,
    )


def tool_end(result: ToolResult) -> schema.ToolCallProgress:
    text = "\n".join(part.text for part in result.content if isinstance(part, Text))
    return acp.update_tool_call(
        result.call_id,
        status="failed" if result.failed else "completed",
        content=[acp.tool_content(acp.text_block(text))] if text else None,
    )


def retold(path: Sequence[MessageRow]) -> Iterator[Any]:
    """A conversation from its beginning."""
    for kept in path:
        for block in kept.turn.blocks if kept.kind == "turn" else ():
            match block:
                case Text(text=text) if kept.role == "assistant":
                    yield acp.update_agent_message_text(text)
                case Text(text=text):
                    yield acp.update_user_message_text(text)
                case Thinking(text=text) if text:
                    yield acp.update_agent_thought_text(text)
                case ToolCall():
                    yield tool_start(block, None)
                case ToolResult():
                    yield tool_end(block)


def said_blocks(prompt: Sequence[Any]) -> tuple[str, list[Block]]:
    """The words of a prompt, and what goes along with them."""
    words: list[str] = []
    blocks: list[Block] = []
    for part in prompt:
        match part:
            case schema.TextContentBlock(text=text):
                words.append(text)
            case schema.ImageContentBlock(data=data, mime_type=media):
                blocks.append(Image(media_type=media, data=data))
            case schema.EmbeddedResourceContentBlock(resource=resource):
                blocks.append(_embedded(resource))
            case schema.ResourceContentBlock():
                blocks += _linked(part, words)
            case _:
                raise MalformedInput(f"{type(part).__name__} cannot be given to a model here")
    return "\n".join(words).strip(), blocks


def _embedded(resource: Any) -> Document:
    text = getattr(resource, "text", None)
    if text is None:
        return Document(
            resource.mime_type or "application/octet-stream", data=resource.blob, name=resource.uri
        )
    return Document("text/plain", text=text, name=resource.uri)


def _linked(part: schema.ResourceContentBlock, words: list[str]) -> list[Block]:
    """A file goes along; another address is only named."""
    parts = urlsplit(part.uri)
    path = Path(unquote(parts.path))
    if parts.scheme == "file" and path.is_file():
        return [attachment(path)]
    words.append(f"[{one_line(part.name)}]({part.uri})")
    return []
