"""Happenings as frames of the UI message stream v1, which any AI SDK front end reads. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Failed, Noted, Started
from thinkwire.messages import Block, Document, Image, Text, Thinking, ToolCall, ToolResult
from thinkwire.notes import Note
from thinkwire.session import SessionEvent, SessionNote, ToolEnded, TurnSaved
from thinkwire.web.ui_stream.parts import (
    NOT_RUN,
    about,
    call_input,
    file_part,
    note_part,
    output_text,
    redacted,
)

Frame = dict[str, Any]

_KINDS = {Text: "text", Thinking: "reasoning"}


class _Open:
    """A block that is being told."""

    def __init__(self, id: str, block: Block) -> None:
        self.id = id
        self.block = block
        self.began = False
        self.arguments: list[str] = []


class UIStreamEncoder:
    """Tells one answer: every request of it is a step. Empty parts are never begun."""

    def __init__(self) -> None:
        self._step = 0
        self._in_step = False
        self._blocks: dict[int, _Open] = {}
        self._files: list[tuple[int, Image | Document]] = []
        self._calls: dict[str, None] = {}
        self._notes: set[tuple[str, str]] = set()

    def tell(self, happening: SessionEvent) -> Iterator[Frame]:
        """The frames of one happening."""
        match happening:
            case BlockGrew(index=index, text=text) if index in self._blocks:
                yield from self._grow(self._blocks[index], text)
            case BlockStarted(index=index, block=block):
                yield from self._begin(index, block)
            case BlockEnded(index=index) if index in self._blocks:
                yield from self._end(self._blocks.pop(index))
            case Started():
                yield from self._new_step(happening)
            case Noted(note=note) | SessionNote(note=note):
                yield from self._note(note)
            case Failed():
                yield from self._close()
            case ToolEnded(call_id=call_id, result=result):
                self._calls.pop(call_id, None)
                yield _output(call_id, result)
            case TurnSaved(id=id, role="assistant"):
                yield from self._close()
                yield from self._kept_files(id)

    def close(self) -> Iterator[Frame]:
        """Ends whatever is still open."""
        yield from self._close()
        for call_id in self._calls:
            yield {"type": "tool-output-error", "toolCallId": call_id, "errorText": NOT_RUN, "dynamic": True}
        self._calls.clear()
        if self._in_step:
            self._in_step = False
            yield {"type": "finish-step"}

    def _new_step(self, started: Started) -> Iterator[Frame]:
        yield from self._close()
        if self._in_step:
            yield {"type": "finish-step"}
        self._step += 1
        self._in_step = True
        yield {"type": "start-step"}
        origin = started.origin
        if origin is not None:
            told = {"model": origin.model, "provider": origin.provider}
            yield {"type": "message-metadata", "messageMetadata": told}

    def _begin(self, index: int, block: Block) -> Iterator[Frame]:
        opened = _Open(f"{self._step}.{index}", block)
        match block:
            case Text(text=text) | Thinking(text=text):
                self._blocks[index] = opened
                if text:
                    yield from self._grow(opened, text)
            case ToolCall():
                self._blocks[index] = opened
                self._calls[block.id] = None
                yield {
                    "type": "tool-input-start",
                    "toolCallId": block.id,
                    "toolName": block.name,
                    "dynamic": True,
                }
                if block.arguments:
                    yield from self._grow(opened, block.arguments)
            case Image() | Document():
                self._files.append((index, block))

    def _grow(self, opened: _Open, text: str) -> Iterator[Frame]:
        block = opened.block
        if isinstance(block, ToolCall):
            opened.arguments.append(text)
            yield {"type": "tool-input-delta", "toolCallId": block.id, "inputTextDelta": text}
            return
        assert isinstance(block, Text | Thinking)
        kind = _KINDS[type(block)]
        if not opened.began:
            opened.began = True
            yield _with(about(block), {"type": f"{kind}-start", "id": opened.id})
        yield {"type": f"{kind}-delta", "id": opened.id, "delta": text}

    def _end(self, opened: _Open) -> Iterator[Frame]:
        block = opened.block
        match block:
            case ToolCall():
                yield {
                    "type": "tool-input-available",
                    "toolCallId": block.id,
                    "toolName": block.name,
                    "input": call_input("".join(opened.arguments)),
                    "dynamic": True,
                }
            case Text() | Thinking() if opened.began:
                yield {"type": f"{_KINDS[type(block)]}-end", "id": opened.id}
            case Thinking():
                yield redacted(block)

    def _close(self) -> Iterator[Frame]:
        blocks, self._blocks = self._blocks, {}
        for index in sorted(blocks):
            yield from self._end(blocks[index])

    def _kept_files(self, message_id: str) -> Iterator[Frame]:
        """Pictures, told when they can be fetched."""
        files, self._files = self._files, []
        for index, block in files:
            part = file_part(block, f"{message_id}/files/{index}")
            yield {name: part[name] for name in ("type", "mediaType", "url")}

    def _note(self, note: Note) -> Iterator[Frame]:
        if (note.code, note.message) not in self._notes:
            self._notes.add((note.code, note.message))
            yield note_part(note)


def _output(call_id: str, result: ToolResult) -> Frame:
    if result.failed:
        return {
            "type": "tool-output-error",
            "toolCallId": call_id,
            "errorText": output_text(result),
            "dynamic": True,
        }
    return {
        "type": "tool-output-available",
        "toolCallId": call_id,
        "output": output_text(result),
        "dynamic": True,
    }


def _with(metadata: dict[str, Any] | None, frame: Frame) -> Frame:
    return frame | {"providerMetadata": metadata} if metadata else frame


def merged(frames: Iterable[tuple[int, Frame]]) -> Iterator[tuple[int, Frame]]:
    """The same frames with deltas of one part joined: for whoever is behind. Each has its last number."""
    for kind, run in groupby(frames, key=lambda numbered: _delta(numbered[1])):
        if kind is None:
            yield from run
            continue
        numbered = list(run)
        last, frame = numbered[-1]
        yield last, frame | {kind.field: "".join(each[kind.field] for _, each in numbered)}


class _Delta(NamedTuple):
    """What deltas must have in common to be joined."""

    type: str
    id: str
    field: str


def _delta(frame: Frame) -> _Delta | None:
    match frame["type"]:
        case "tool-input-delta" as kind:
            return _Delta(kind, frame["toolCallId"], "inputTextDelta")
        case "text-delta" | "reasoning-delta" as kind:
            return _Delta(kind, frame["id"], "delta")
    return None
