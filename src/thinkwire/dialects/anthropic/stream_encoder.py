"""The stream of an answer, written: neutral events in, server-sent events out."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from thinkwire.dialects.anthropic.constants import NAME, REDACTED, SIGNATURE
from thinkwire.dialects.anthropic.errors import encode_error
from thinkwire.dialects.anthropic.render_blocks import answer_block, foreign_seal, note_refusal, text_block
from thinkwire.dialects.anthropic.response import message_id, write_finish
from thinkwire.dialects.anthropic.usage import write_usage
from thinkwire.dialects.frame_decoder import CUT
from thinkwire.dialects.shared import arguments_object, own
from thinkwire.errors import Failure
from thinkwire.events import (
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Failed,
    Finished,
    Started,
)
from thinkwire.jsonvalue import JsonObject, Path, dump, render, unknown_fields
from thinkwire.messages import Block, Seal, Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.wire.sse import frame

_AT_THE_END = frozenset({"stop_reason", "stop_sequence", "stop_details", "container", "context_management"})
_DELTA_HEAD = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":"%b","%b":'
)
_DELTA_TAIL = b"}}\n\n"
_GROWS_BY = {
    Text: (b"text_delta", b"text"),
    Thinking: (b"thinking_delta", b"thinking"),
    ToolCall: (b"input_json_delta", b"partial_json"),
}


class _Out(msgspec.Struct):
    """A block on its way out. `head` is what precedes the text of its deltas, once its start is written."""

    block: Block
    index: int
    seal: Seal | None
    native: int | None = None
    head: bytes = b""
    texts: list[str] = []
    late: JsonObject = {}
    ended: bool = False

    @property
    def path(self) -> Path:
        return ("blocks", self.index)


class StreamEncoder:
    """Writes what the vendor would send.

    Its blocks come strictly one after the other, so a block that begins while another is open waits for it.
    """

    __slots__ = ("_blocks", "_open", "_over", "_started", "_waiting", "_written", "notes")

    def __init__(self) -> None:
        self._started: Started | None = None
        self._over = False
        self._open: _Out | None = None
        self._waiting: tuple[_Out, ...] = ()
        self._written = 0
        self.notes: list[Note] = []
        self._blocks: dict[int, _Out] = {}

    def feed(self, event: Event) -> bytes:
        if self._over:
            return b""
        if type(event) is BlockGrew:
            out = self._blocks[event.index]
            if out is self._open and out.head and type(out.block) is not ToolCall:
                return out.head + dump(event.text) + _DELTA_TAIL
            return self._on_growth(out, event.text)
        if type(event) is BlockStarted:
            return self._on_block(event)
        if type(event) is BlockEnded:
            return self._on_end(event)
        if type(event) is Started:
            return self._start(event)
        if type(event) is BlockSealed:
            self._blocks[event.index].seal = event.seal
        elif type(event) is Finished:
            return self._finish(event)
        elif type(event) is Failed:
            return self._fail(event.failure)
        return b""

    def around(self, index: int) -> tuple[bytes, bytes] | None:
        out = self._blocks.get(index)
        if self._over or out is None or out is not self._open or type(out.block) is ToolCall:
            return None
        return (out.head, _DELTA_TAIL) if out.head else None

    def close(self) -> bytes:
        return b"" if self._over else self._fail(Failure("connection_lost", CUT))

    def _start(self, event: Started) -> bytes:
        if self._started is not None:
            return b""
        self._started = event
        given, model = event.id or message_id(event.model), event.model or ""
        if NAME in event.extras:
            return _message_start(given, model, unknown_fields(event.extras[NAME], _AT_THE_END))
        before, between, after = _PLAIN_START
        return before + dump(given) + between + dump(model) + after

    def _on_block(self, event: BlockStarted) -> bytes:
        lead = b"" if self._started else self._start(Started())
        block = event.block
        out = self._blocks[event.index] = _Out(block, event.index, getattr(block, "seal", None))
        if self._open is not None:
            self._waiting += (out,)
            return lead
        self._open = out
        if type(block) is Text and not block.text:
            return lead
        return lead + self._enter(out)

    def _on_growth(self, out: _Out, text: str) -> bytes:
        out.texts.append(text)
        if out is not self._open or _GROWS_BY.get(type(out.block)) is None:
            return b""
        lead = b"" if out.head else self._begin(out)
        return lead + out.head + dump(text) + _DELTA_TAIL

    def _on_end(self, event: BlockEnded) -> bytes:
        out = self._blocks[event.index]
        out.ended = True
        if event.extras:
            out.late = own(event.extras, NAME)
        if out is not self._open:
            return b""
        return self._leave(out) + self._next() if self._waiting else self._leave(out)

    def _next(self) -> bytes:
        """Lets the waiting blocks go, up to one that has not ended yet."""
        written = b""
        while self._open is None and self._waiting:
            out = self._open = self._waiting[0]
            self._waiting = self._waiting[1:]
            written += self._enter(out)
            if out.ended:
                written += self._leave(out)
        return written

    def _enter(self, out: _Out) -> bytes:
        """What of a block can be written before anything else is known of it."""
        block, texts = out.block, out.texts
        if isinstance(block, (Text, Thinking)) and block.text:
            texts.insert(0, block.text)
        elif isinstance(block, ToolCall) and block.arguments:
            texts.insert(0, block.arguments)
        early = isinstance(block, ToolCall) or (isinstance(block, Thinking) and block.form != "redacted")
        written = self._begin(out) if early or (texts and isinstance(block, (Text, Thinking))) else b""
        if out.head and texts:
            written += out.head + dump("".join(texts)) + _DELTA_TAIL
        return written

    def _begin(self, out: _Out) -> bytes:
        """The start of text, thinking or a tool call."""
        block = out.block
        if type(block) is Text and NAME not in block.extras:
            written, out.head = _plain_text(self._written)
            out.native = self._written
            self._written += 1
            return written
        match block:
            case Text():
                native = {**text_block(block), "text": ""}
                if isinstance(native.get("citations"), list):
                    native["citations"] = []
            case Thinking():
                native = {"type": "thinking", "thinking": "", "signature": "", **own(block.extras, NAME)}
            case ToolCall():
                native = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
                native.update(own(block.extras, NAME))
            case _:
                return b""
        written = self._block_start(out, native)
        out.head = _DELTA_HEAD % (out.native or 0, *_GROWS_BY[type(block)])
        return written + out.head + b'""}}\n\n' if isinstance(block, ToolCall) else written

    def _block_start(self, out: _Out, native: JsonObject) -> bytes:
        out.native = self._written
        self._written += 1
        return _content_block(out.native, native)

    def _leave(self, out: _Out) -> bytes:
        self._open = None
        block = out.block
        if type(block) is Text and out.native is not None and _is_plain(out, block):
            return _block_stop(out.native)
        match block:
            case Text():
                written = self._end_text(out, block)
            case Thinking():
                written = self._end_thinking(out, block)
            case ToolCall():
                written = self._end_call(out)
            case _:
                native = answer_block(block, self.notes, out.path)
                written = b"" if native is None else self._block_start(out, native)
        if unsaid := sorted(out.late.keys() - {"citations"}):
            message = f"{', '.join(unsaid)}: came too late in the stream to be written"
            detail = {"fields": unsaid}
            self.notes.append(Note("field.dropped", message, path=render(out.path), detail=detail))
        if out.native is None:
            return written
        return written + _block_stop(out.native)

    def _end_text(self, out: _Out, block: Text) -> bytes:
        """An empty text that only carried another maker's seal is not shown."""
        self._note_seal(out)
        note_refusal(block, self.notes, out.path)
        if out.native is None and out.seal is not None:
            return b""
        written = b"" if out.native is not None else self._begin(out)
        citations = (own(block.extras, NAME) | out.late).get("citations")
        for citation in citations if isinstance(citations, list) else ():
            written += self._delta(out, {"type": "citations_delta", "citation": citation})
        return written

    def _end_thinking(self, out: _Out, block: Thinking) -> bytes:
        seal = out.seal
        if out.native is None and seal is not None and seal.scheme == REDACTED:
            native = {"type": "redacted_thinking", "data": seal.data, **own(block.extras, NAME)}
            return self._block_start(out, native)
        written = b"" if out.native is not None else self._begin(out)
        if seal is not None and seal.scheme == SIGNATURE:
            return written + self._delta(out, {"type": "signature_delta", "signature": seal.data})
        self._note_seal(out)
        return written

    def _end_call(self, out: _Out) -> bytes:
        self._note_seal(out)
        _, note = arguments_object("".join(out.texts))
        if note is not None:
            self.notes.append(msgspec.structs.replace(note, path=render(out.path)))
        return b""

    def _note_seal(self, out: _Out) -> None:
        if out.seal is not None:
            self.notes.append(foreign_seal(out.seal.scheme, out.path))

    def _delta(self, out: _Out, delta: JsonObject) -> bytes:
        return _event({"type": "content_block_delta", "index": out.native, "delta": delta})

    def _finish(self, event: Finished) -> bytes:
        written = b"" if self._started else self._start(Started())
        assert self._started is not None
        while self._open is not None:
            self.notes.append(Note("stream.irregular", "the answer finished before its last block did"))
            self._open.seal = None
            written += self._leave(self._open) + self._next()
        self._over = True
        early, late = self._started.extras, event.extras
        if NAME not in early and NAME not in late:
            before, after = _plain_end(write_finish(event.reason, self.notes))
            return written + before + dump(write_usage(event.usage, self.notes)) + after
        extras = {key: value for key, value in own(early, NAME).items() if key in _AT_THE_END}
        extras |= own(late, NAME)
        reason = None if "stop_reason" in extras else write_finish(event.reason, self.notes)
        return written + _message_end(reason, write_usage(event.usage, self.notes), extras)

    def _fail(self, failure: Failure) -> bytes:
        self._over = True
        if any(out.texts for out in self._waiting):
            self.notes.append(Note("block.dropped", "blocks that waited for an unfinished one were lost"))
        _, body = encode_error(failure)
        if body["request_id"] is None:
            del body["request_id"]
        return _event(body)


def _event(event: JsonObject) -> bytes:
    return frame(dump(event), event["type"])


def _is_plain(out: _Out, block: Text) -> bool:
    """Whether there is no more to a text than its words."""
    return out.seal is None and not out.late and not block.refusal and NAME not in block.extras


def _message_start(given: str, model: str, extras: JsonObject) -> bytes:
    message = {
        "id": given,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
        **extras,
    }
    return _event({"type": "message_start", "message": message})


def _content_block(native: int, block: JsonObject) -> bytes:
    return _event({"type": "content_block_start", "index": native, "content_block": block})


def _message_end(reason: str | None, usage: JsonObject | str, extras: JsonObject) -> bytes:
    edits = extras.pop("context_management", None)
    delta = {"stop_reason": reason, "stop_sequence": None, "stop_details": None, **extras}
    last: JsonObject = {"type": "message_delta", "delta": delta, "usage": usage}
    if edits is not None:
        last["context_management"] = edits
    return _event(last) + _event({"type": "message_stop"})


# What nearly every answer says: the same bytes each time, around the little that differs.

_HERE = "what differs"
_PLAIN_START = _message_start(_HERE, _HERE, {}).split(dump(_HERE))


@lru_cache(maxsize=16)
def _plain_end(reason: str | None) -> list[bytes]:
    """The end of an answer that this dialect said nothing more about, without its token counts."""
    return _message_end(reason, _HERE, {}).split(dump(_HERE))


@lru_cache(maxsize=64)
def _plain_text(native: int) -> tuple[bytes, bytes]:
    """The start of a text that this dialect said nothing more about, and what precedes its deltas."""
    return _content_block(native, {"type": "text", "text": ""}), _DELTA_HEAD % (native, *_GROWS_BY[Text])


@lru_cache(maxsize=64)
def _block_stop(native: int) -> bytes:
    return _event({"type": "content_block_stop", "index": native})
