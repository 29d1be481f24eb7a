"""Events to a stream as OpenAI sends it."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import msgspec

from thinkwire.dialects.frame_decoder import CUT
from thinkwire.dialects.openai_chat import finish, usage
from thinkwire.dialects.openai_chat.constants import NAME, fields, memory
from thinkwire.dialects.openai_chat.content import write_part
from thinkwire.dialects.openai_chat.errors import error_body
from thinkwire.dialects.openai_chat.reasoning import OPAQUE_SCHEME
from thinkwire.dialects.openai_chat.render_assistant import OWN_SCHEMES, is_call
from thinkwire.dialects.openai_chat.stream_shapes import CallShape, Shape, TextShape, thinking_shape
from thinkwire.dialects.shared import made_up_id
from thinkwire.errors import Failure
from thinkwire.events import (
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Failed,
    Finished,
    Noted,
    Started,
    merge_extras,
)
from thinkwire.jsonvalue import JsonObject, dump
from thinkwire.messages import Block, Extras, Opaque, Seal, Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.usage import Usage
from thinkwire.wire.sse import DONE, frame

_BlockEvent: TypeAlias = BlockStarted | BlockGrew | BlockSealed | BlockEnded

_json = msgspec.json.Encoder().encode
_CHOICE = b',"choices":[{"index":0,"delta":'
_UNFINISHED = b',"finish_reason":null}]}\n\n'
_FIRST = _CHOICE + dump({"role": "assistant", "content": ""}) + _UNFINISHED
_END = frame(DONE)


class _Written(msgspec.Struct):
    """A block on the wire. `before` and `after` are the bytes around each piece of its text."""

    block: Text | Thinking | ToolCall
    shape: Shape
    seal: Seal | None
    before: bytes = b""
    after: bytes = b""
    spoke: bool = False


class StreamEncoder:
    """Writes chunks. One text or thinking block is on the wire at a time; tool calls may overlap it.

    `reasoning_field` forces where thinking is shown and `also` names fields that repeat it. Without them it
    is shown as it came, else in `reasoning_content`; what came as `reasoning_details` alone goes out whole.
    """

    _head = b""
    _closing: bytes | None = None
    _current: int | None = None
    _waiting: list[_BlockEvent] | None = None
    _calls = 0
    _spoke = False
    _refused = False
    _opaque = False

    def __init__(
        self,
        *,
        reasoning_field: str | None = None,
        also: tuple[str, ...] = (),
        include_usage: bool = True,
        created: int = 0,
        response_id: str | None = None,
    ) -> None:
        self.notes: list[Note] = []
        self._names = (reasoning_field, *also) if reasoning_field is not None else ()
        self._include_usage = include_usage
        self._created = created
        self._id = response_id
        self._remembered: Extras = {}
        self._blocks: dict[int, _Written | None] = {}

    def feed(self, event: Event) -> bytes:
        if type(event) is BlockGrew:
            written = self._blocks.get(event.index)
            if written is not None and written.before and written.spoke:
                try:
                    return written.before + _json(event.text) + written.after
                except UnicodeEncodeError:
                    return written.before + self._repaired(event.text) + written.after
        if type(event) is Noted:
            return b""
        lead = b"" if self._head else self._begin(event if type(event) is Started else Started())
        match event:
            case BlockStarted() | BlockGrew() | BlockSealed() | BlockEnded():
                return lead + self._on_block(event)
            case Finished():
                return lead + self._finish(event)
            case Failed():
                return lead + self._tokens(event.usage) + self._fail(event.failure)
        return lead

    def around(self, index: int) -> tuple[bytes, bytes] | None:
        written = self._blocks.get(index)
        if written is None or not (written.before and written.spoke):
            return None
        return written.before, written.after

    def close(self) -> bytes:
        if self._closing is None:
            lead = b"" if self._head else self._begin(Started())
            return lead + self._fail(Failure("connection_lost", CUT))
        return self._closing

    def _begin(self, event: Started) -> bytes:
        self._remembered = event.extras
        native = fields(event.extras) if event.extras else {}
        model = event.model or ""
        envelope = {
            "id": self._id or event.id or f"chatcmpl-{made_up_id('stream', model)}",
            "object": "chat.completion.chunk",
            "created": native.pop("created", self._created),
            "model": model,
        }
        self._head = b"data: " + dump(envelope)[:-1]
        return self._head + b"," + dump(native)[1:-1] + _FIRST if native else self._head + _FIRST

    def _chunk(self, delta: JsonObject) -> bytes:
        return self._head + _CHOICE + dump(delta) + _UNFINISHED

    def _on_block(self, event: _BlockEvent) -> bytes:
        if isinstance(event, BlockStarted):
            if self._current is not None and isinstance(event.block, (Text, Thinking)):
                return self._wait(event)
            return self._start(event.index, event.block)
        written = self._blocks.get(event.index)
        if written is None:
            return self._wait(event) if event.index not in self._blocks else b""
        match event:
            case BlockGrew():
                return self._grow(written, event.text)
            case BlockSealed():
                written.seal = event.seal
                return b""
            case BlockEnded():
                return self._stop(event.index, written, event.extras)

    def _start(self, index: int, block: Block) -> bytes:
        self._blocks[index] = None
        match block:
            case Text():
                shape: Shape = TextShape(self.notes, block)
                self._current = index
                self._refused = self._refused or block.refusal
                return self._write(index, block, shape, block.text)
            case Thinking():
                shape = thinking_shape(block, self.notes, names=self._names, spoke=self._spoke)
                self._current = index
                return self._write(index, block, shape, block.text)
            case ToolCall():
                self._calls += 1
                shape = CallShape(self.notes, block, self._calls - 1)
                return self._write(index, block, shape, block.arguments)
            case Opaque():
                return self._native(block)
        self.notes.append(Note("block.dropped", f"an answer has no place for a {type(block).__name__}"))
        return b""

    def _native(self, block: Opaque) -> bytes:
        if block.dialect == NAME and is_call(block.data):
            self._calls += 1
            return self._chunk({"tool_calls": [{"index": self._calls - 1} | block.data]})
        part = write_part(block, self.notes)
        return self._chunk({"content": [part]}) if part is not None else b""

    def _write(self, index: int, block: Text | Thinking | ToolCall, shape: Shape, text: str) -> bytes:
        written = self._blocks[index] = _Written(block, shape, block.seal)
        if shape.around is not None:
            before, after = shape.around
            written.before, written.after = self._head + _CHOICE + before, after + _UNFINISHED
        out = self._chunk(shape.opening) if isinstance(block, ToolCall) and shape.opening else b""
        return out + (self._grow(written, text) if text else b"")

    def _grow(self, written: _Written, text: str) -> bytes:
        out = b""
        if not written.spoke:
            written.spoke = True
            if type(written.block) is not ToolCall:
                self._spoke = self._spoke or type(written.block) is Text
                out = self._chunk(written.shape.opening) if written.shape.opening else b""
        if not written.before:
            delta = written.shape.grow(text)
            return out + self._chunk(delta) if delta is not None else out
        return out + written.before + self._encoded(text) + written.after

    def _stop(self, index: int, written: _Written, extras: Extras) -> bytes:
        block, seal = written.block, written.seal
        if seal is not None:
            seal = self._only_one(seal)
        out = b""
        if isinstance(block, ToolCall) and not written.spoke:
            out = self._grow(written, "{}")
        if isinstance(block, Thinking) and not written.spoke and not _is_ours(seal):
            if seal is not None or block.form in ("hidden", "redacted"):
                self.notes.append(Note("thinking.dropped", "hidden thinking of another maker"))
        elif type(block) is not Text or seal is not None:
            late = written.shape.close(seal, merge_extras(block.extras, extras))
            out += b"".join([self._chunk(delta) for delta in late])
        if self._current == index:
            self._current = None
            if self._waiting:
                out += self._release()
        return out

    def _only_one(self, seal: Seal) -> Seal | None:
        """A message has one field for an opaque seal."""
        if seal.scheme != OPAQUE_SCHEME:
            return seal
        if self._opaque:
            self.notes.append(Note("seal.dropped", "this wire takes one sealed thought in a message"))
            return None
        self._opaque = True
        return seal

    def _wait(self, event: _BlockEvent) -> bytes:
        self._waiting = self._waiting or []
        self._waiting.append(event)
        return b""

    def _release(self) -> bytes:
        """Goes on with what had to wait."""
        waiting, self._waiting = self._waiting, None
        return b"".join([self._on_block(event) for event in waiting or ()])

    def _finish(self, event: Finished) -> bytes:
        self._current = None
        out = self._release() if self._waiting else b""
        self._closing = _END
        if NAME in event.extras or NAME in event.turn or NAME in self._remembered:
            out += self._rich_end(event)
        else:
            out += self._head + _plain_end(finish.write(event.reason, refused=self._refused))
        return out + self._tokens(event.usage)

    def _rich_end(self, event: Finished) -> bytes:
        """The end of an answer that this dialect said more about."""
        extras = merge_extras(self._remembered, event.extras)
        spoken = fields(event.turn)
        out = self._chunk(spoken) if spoken else b""
        word = finish.write(event.reason, native=memory(extras, "finish_reason"), refused=self._refused)
        return out + self._head + _end(word, memory(extras, "choice") or {}, fields(event.extras))

    def _tokens(self, spent: Usage | None) -> bytes:
        if spent is None or not self._include_usage:
            return b""
        return self._head + b',"choices":[],"usage":' + dump(usage.write(spent)) + b"}\n\n"

    def _fail(self, failure: Failure) -> bytes:
        self._closing = b""
        return frame(dump(error_body(failure)))

    def _encoded(self, text: str) -> bytes:
        try:
            return _json(text)
        except UnicodeEncodeError:
            return self._repaired(text)

    def _repaired(self, text: str) -> bytes:
        self.notes.append(Note("text.repaired", "lone surrogates were replaced"))
        return dump(text)


def _end(word: str | None, more: JsonObject, beside: JsonObject) -> bytes:
    """The chunk in which an answer ends, after its head."""
    choice = {"index": 0, "delta": {}, "finish_reason": word} | more
    return b"," + dump({"choices": [choice]} | beside)[1:] + b"\n\n"


@lru_cache(maxsize=16)
def _plain_end(word: str | None) -> bytes:
    return _end(word, {}, {})


def _is_ours(seal: Seal | None) -> bool:
    return seal is not None and seal.scheme in OWN_SCHEMES
