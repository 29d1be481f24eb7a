"""An answer streamed to a client: one `GenerateContentResponse` per piece, as SSE or as a JSON array."""

from __future__ import annotations

from typing import Literal

import msgspec

from thinkwire.dialects.frame_decoder import CUT
from thinkwire.dialects.gemini.constants import NAME, signature
from thinkwire.dialects.gemini.errors import encode_error
from thinkwire.dialects.gemini.response import answer_part, counted, ending, head
from thinkwire.dialects.shared import own
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
    merge_extras,
)
from thinkwire.jsonvalue import JsonObject, dump
from thinkwire.messages import Block, Extras, Seal, Text, Thinking, ToolCall
from thinkwire.notes import Note

_PIECE = b'{"candidates":[{"content":{"parts":[{"text":'
_TEXT_END = b'}],"role":"model"},"index":0}]'
_THOUGHT_END = b',"thought":true}],"role":"model"},"index":0}]'
# Google's Python SDK takes these for the end of a line.
_LINE_ENDS = [(mark.encode(), b"\\u%04x" % ord(mark)) for mark in "\x85\u2028\u2029"]


class _Writing:
    """The block that is being written.

    `ends` is set while its text goes out piece by piece; a block that must go out whole (a call, media, a
    text whose seal is known from the start and belongs on it) is gathered in `pieces` instead.
    """

    __slots__ = ("block", "ends", "index", "pieces", "seal", "written")

    def __init__(self, index: int, block: Block) -> None:
        self.index = index
        self.block = block
        self.pieces: list[str] = []
        self.seal: Seal | None = None
        self.written = False
        self.ends: bytes | None = None
        if isinstance(block, (Text, Thinking)) and block.seal is None and not own(block.extras, NAME):
            self.ends = _THOUGHT_END if isinstance(block, Thinking) else _TEXT_END

    def whole(self, late: Extras) -> Block:
        block, grown = self.block, "".join(self.pieces)
        if not isinstance(block, (Text, Thinking, ToolCall)):
            return block
        extras = merge_extras(block.extras, late)
        seal = self.seal or block.seal
        if isinstance(block, ToolCall):
            return msgspec.structs.replace(block, arguments=block.arguments + grown, seal=seal, extras=extras)
        return msgspec.structs.replace(block, text=block.text + grown, seal=seal, extras=extras)


class StreamEncoder:
    """Blocks go out in the order of their starts; what belongs to a later one waits until its turn."""

    def __init__(self, *, framing: Literal["sse", "array"] = "sse") -> None:
        self.notes: list[Note] = []
        self._framing = framing
        self._begun = False
        self._over = False
        self._model: str | None = None
        self._id: str | None = None
        self._extras: Extras = {}
        self._tail = b"}"
        self._now: _Writing | None = None
        self._waiting: dict[int, list[Event]] = {}

    def feed(self, event: Event) -> bytes:
        now = self._now
        if type(event) is BlockGrew and now is not None and event.index == now.index:
            return self._grow(now, event.text)
        if self._over:
            return b""
        match event:
            case BlockGrew() | BlockSealed() | BlockEnded() | BlockStarted():
                return self._block_event(event)
            case Started():
                self._model, self._id, self._extras = event.model, event.id, event.extras
                rest = dump(head(event.model, event.id, own(event.extras, NAME)))
                self._tail = b"," + rest[1:] if rest != b"{}" else b"}"
            case Finished():
                return self._finished(event)
            case Failed():
                return self._failed(event)
        return b""

    def around(self, index: int) -> tuple[bytes, bytes] | None:
        """None: a part may have to wait for another."""
        return None

    def close(self) -> bytes:
        out = b"" if self._over else self._failed(Failed(Failure("connection_lost", CUT)))
        if self._framing == "array":
            return out + (b"]" if self._begun else b"[]")
        return out

    def _grow(self, now: _Writing, text: str) -> bytes:
        if now.ends is None:
            now.pieces.append(text)
            return b""
        if not text:
            return b""
        now.written = True
        return self._framed(b"%b%b%b%b" % (_PIECE, dump(text), now.ends, self._tail))

    def _framed(self, chunk: bytes) -> bytes:
        if b"\xe2\x80" in chunk or b"\xc2\x85" in chunk:
            for mark, escaped in _LINE_ENDS:
                chunk = chunk.replace(mark, escaped)
        if self._framing == "sse":
            return b"data: %b\n\n" % chunk
        opening = b"," if self._begun else b"["
        self._begun = True
        return opening + chunk + b"\n"

    def _block_event(self, event: BlockStarted | BlockGrew | BlockSealed | BlockEnded) -> bytes:
        if isinstance(event, BlockStarted) and self._now is None:
            return self._start(event)
        if self._now is None or event.index != self._now.index:
            self._waiting.setdefault(event.index, []).append(event)
            return b""
        return self._turn_event(self._now, event) + self._next()

    def _turn_event(self, now: _Writing, event: Event) -> bytes:
        match event:
            case BlockGrew(text=text):
                return self._grow(now, text)
            case BlockSealed(seal=seal):
                now.seal = seal
            case BlockEnded(extras=extras):
                return self._end(now, extras)
        return b""

    def _start(self, event: BlockStarted) -> bytes:
        self._now = now = _Writing(event.index, event.block)
        if now.ends is not None and isinstance(event.block, (Text, Thinking)) and event.block.text:
            return self._grow(now, event.block.text)
        return b""

    def _end(self, now: _Writing, late: Extras) -> bytes:
        self._now = None
        path = f"blocks[{now.index}]"
        if not now.written:
            part = answer_part(now.whole(late), self.notes, path)
        else:
            sealed = signature(now.seal, self.notes, path)
            kind: JsonObject = {"thought": True} if isinstance(now.block, Thinking) else {}
            part = {"text": "", **kind, **sealed} if sealed else None
        return b"" if part is None else self._part(part)

    def _next(self) -> bytes:
        """When a block has ended: what waited for that."""
        out = b""
        while self._now is None and self._waiting:
            index = next(iter(self._waiting))
            for event in self._waiting.pop(index):
                if isinstance(event, BlockStarted):
                    out += self._start(event)
                elif self._now is not None:
                    out += self._turn_event(self._now, event)
        return out

    def _part(self, part: JsonObject) -> bytes:
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
        chunk = {"candidates": [candidate], **head(self._model, self._id, own(self._extras, NAME))}
        return self._framed(dump(chunk))

    def _finished(self, event: Finished) -> bytes:
        out = b""
        while self._now is not None:
            out += self._end(self._now, {}) + self._next()
        self._over = True
        held = own(merge_extras(self._extras, event.extras), NAME)
        chunk = ending(event.reason, [{"text": ""}], held) | head(self._model, self._id, held)
        return out + self._framed(dump(chunk | counted(event.usage, self.notes)))

    def _failed(self, event: Failed) -> bytes:
        out = b""
        while self._now is not None:
            now, self._now = self._now, None
            if now.ends is None:
                self.notes.append(
                    Note(
                        "block.dropped",
                        "a block that was not complete when the answer broke off",
                        path=f"blocks[{now.index}]",
                    )
                )
            out += self._next()
        self._over = True
        chunk = encode_error(event.failure)[1] | counted(event.usage, self.notes)
        return out + self._framed(dump(chunk))
