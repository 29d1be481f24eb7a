"""The stream of an answer, read: server-sent events in, neutral events out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from thinkwire.dialects.anthropic.constants import NAME, SIGNATURE
from thinkwire.dialects.anthropic.parse_blocks import read_answer_block
from thinkwire.dialects.anthropic.response import answer_extras, decode_response, read_finish, read_origin
from thinkwire.dialects.anthropic.usage import read_usage
from thinkwire.dialects.error_bodies import failure_from
from thinkwire.dialects.frame_decoder import FrameDecoder
from thinkwire.dialects.pieces import GrowingFields
from thinkwire.dialects.shared import arguments_object, as_extras
from thinkwire.errors import MalformedInput
from thinkwire.events import BlockEnded, BlockGrew, Finished, Noted, Started, events_of
from thinkwire.jsonvalue import JsonObject, kind, parse
from thinkwire.messages import Opaque, Seal, Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.usage import Usage

_START = frozenset(
    {"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "stop_details", "usage"}
)
_DELTA_EVENT = frozenset({"type", "delta", "usage"})
_DELTA = frozenset({"stop_reason"})
_STOP = frozenset({"type"})
_TEXT = ("text_delta", "text")
_THINKING = ("thinking_delta", "thinking")
_ARGUMENTS = ("input_json_delta", "partial_json")
_FIELD = dict((_TEXT, _THINKING, _ARGUMENTS))
_NEW_TEXT = {"type": "text", "text": ""}
_NO_WORDS = Text()
_IMPLIED = {"text_delta": "text", "thinking_delta": "thinking"}


class _Open(msgspec.Struct):
    """The block that is being read. Thinking has no `index` until it is known whether it has text."""

    place: int | None
    start: Text | Thinking | ToolCall | Opaque
    delta: str
    field: str
    index: int | None = None
    grew: bool = False
    citations: list[Any] | None = None
    parts: list[str] | None = None
    native: GrowingFields | None = None
    """The fields of a block that we do not know, once deltas have changed them."""


def _grows_by(block: Text | Thinking | ToolCall | Opaque) -> tuple[str, str]:
    match block:
        case Text():
            return _TEXT
        case Thinking() if block.form != "redacted":
            return _THINKING
        case ToolCall():
            return _ARGUMENTS
        case _:
            return "", ""


class StreamDecoder(FrameDecoder):
    """Reads what the vendor sends and what its imitators do.

    Blocks come one after the other. A seal is told at the end of its block, and a block that this dialect has
    no word for is told whole, at its end.
    """

    _begun = False
    _id: str | None = None
    _current: _Open | None = None
    _places = 0
    _calls = False
    _reason: Any = None
    _said: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._usage: JsonObject = {}
        self._extras: JsonObject = {}

    def _on_frame(self, name: str | None, data: bytes) -> None:
        event = parse(data)
        if type(event) is not dict:
            raise MalformedInput(f"expected an object, got {kind(event)}")
        said = event.get("type") or name
        if type(said) is str and said in _READERS:
            _READERS[said](self, event)
        elif said is None and event.get("error"):
            self._on_error(event)

    def _on_done(self) -> None:
        if self._reason is not None:
            self._end_of_bytes()

    def _end_of_bytes(self) -> None:
        if self._reason is None:
            super()._end_of_bytes()
            return
        self._odd("the stream ended without message_stop")
        self._conclude()

    def _odd(self, message: str) -> None:
        if message not in self._said:
            self._said += (message,)
            self._note("stream.irregular", message)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._events.append(Started())
            self._odd("the stream began without message_start")

    def _on_start(self, event: JsonObject) -> None:
        if self._begun:
            self._odd("message_start came again; the first one counts")
            return
        message = event.get("message")
        message = message if type(message) is dict else {}
        self._id, model = read_origin(message)
        self._merge_usage(message.get("usage"))
        extras = {} if _START.issuperset(message) else as_extras(NAME, answer_extras(message, _START))
        self._begun = True
        self._events.append(Started(self._id, model, extras))

    def _merge_usage(self, usage: Any) -> None:
        """Counts are cumulative: a later one replaces an earlier one."""
        if type(usage) is dict:
            for key, value in usage.items():
                if value is not None:
                    self._usage[key] = value

    def usage_so_far(self) -> Usage | None:
        return read_usage(self._usage)[0] if self._usage else None

    def _on_stop(self, event: JsonObject) -> None:
        if not _STOP.issuperset(event):
            self._extras |= answer_extras(event, _STOP)
        self._conclude()

    def _on_error(self, event: JsonObject) -> None:
        self._fail(failure_from(event))

    def _on_whole(self, message: JsonObject) -> None:
        """A server that was asked for a stream and answered at once."""
        if self._begun:
            self._odd("a whole message came inside the stream and was ignored")
            return
        self._over = True
        self._events.extend(events_of(decode_response(message)))

    def _on_block_start(self, event: JsonObject) -> None:
        if not self._begun:
            self._begin()
        native, place = event.get("content_block"), event.get("index")
        if type(native) is not dict:
            self._odd("content_block_start came without a block")
            return
        if place != self._places:
            self._odd("the blocks are not numbered from 0 without a gap")
        self._places += 1
        self._enter(place, native)

    def _enter(self, place: Any, native: JsonObject) -> None:
        if self._current is not None:
            self._odd("a block began before content_block_stop of the one before it")
            self._leave()
        if native == _NEW_TEXT and type(place) is int:
            self._current = _Open(place, _NO_WORDS, *_TEXT, self._open(_NO_WORDS))
            return
        start, note = read_answer_block(native, (self._id, self._blocks))
        if note is not None:
            self._events.append(Noted(note))
        assert isinstance(start, (Text, Thinking, ToolCall, Opaque))
        current = self._current = _Open(place if type(place) is int else None, start, *_grows_by(start))
        match start:
            case Thinking() if start.form == "hidden":
                pass
            case Thinking() if start.form == "full":
                current.index = self._open(msgspec.structs.replace(start, seal=None))
            case ToolCall():
                self._calls = True
                current.index = self._open(msgspec.structs.replace(start, arguments=""))
            case Opaque():
                pass
            case _:
                current.index = self._open(start)

    def _on_delta(self, event: JsonObject) -> None:
        current, delta = self._current, event.get("delta")
        if type(delta) is not dict:
            self._odd("content_block_delta came without a delta")
            return
        if current is not None and event.get("index") == current.place and delta.get("type") == current.delta:
            text = delta.get(current.field)
            if type(text) is str and current.index is not None:
                if text:
                    current.grew = self._steady = True
                    self._events.append(BlockGrew(current.index, text))
                return
        self._on_other_delta(event.get("index"), delta)

    def _on_other_delta(self, place: Any, delta: JsonObject) -> None:
        """The first delta of thinking, all that is no text, and what stands where it should not."""
        kind, current = delta.get("type"), self._current
        known = type(kind) is str and kind in _FIELD
        elsewhere = current is None or (type(place) is int and current.place not in (None, place))
        if elsewhere or (known and current is not None and not _takes(current, kind)):
            current = self._imply(place, kind)
        if current is None:
            self._odd("a delta came for a block that is not open; it is lost")
        elif isinstance(current.start, Opaque):
            _absorb(current, delta)
        elif known:
            self._grow_oddly(current, delta)
        elif kind == "signature_delta" and isinstance(current.start, Thinking):
            self._sign(current, delta.get("signature"))
        elif kind == "citations_delta" and isinstance(current.start, Text):
            current.citations = current.citations or []
            current.citations.append(delta.get("citation"))
        else:
            self._odd("a delta of a kind that its block does not take was ignored")

    def _imply(self, place: Any, kind: Any) -> _Open | None:
        """Text and thinking whose block never began, or began as something else, get a block of their own."""
        native = _IMPLIED.get(kind) if type(kind) is str else None
        if native is None:
            return None
        self._begin()
        self._odd("a delta came for a block that had not begun")
        self._enter(place, {"type": native})
        return self._current

    def _grow_oddly(self, current: _Open, delta: JsonObject) -> None:
        text = delta.get(current.field)
        if text is None and current.field == "thinking":
            text = delta.get("text")
        if type(text) is not str or not text:
            return
        if current.index is None:
            assert isinstance(current.start, Thinking)
            current.index = self._open(msgspec.structs.replace(current.start, form="full", seal=None))
        current.grew = True
        self._grow(current.index, text)

    def _sign(self, current: _Open, signature: Any) -> None:
        assert isinstance(current.start, Thinking)
        if type(signature) is str and signature:
            current.start = msgspec.structs.replace(current.start, seal=Seal(SIGNATURE, signature))

    def _on_block_stop(self, event: JsonObject) -> None:
        current, place = self._current, event.get("index")
        if current is None or (type(place) is int and current.place not in (None, place)):
            self._odd("content_block_stop came for a block that is not open")
            return
        self._leave()

    def _leave(self) -> None:
        current, self._current = self._current, None
        assert current is not None
        start, index = current.start, current.index
        if type(start) is Text and index is not None and not current.citations:
            self._events.append(BlockEnded(index))
            return
        late: JsonObject = {}
        if isinstance(start, Opaque):
            index = self._open(self._settled(current, start))
        elif index is None:
            index = self._open(msgspec.structs.replace(start, seal=None))
        if isinstance(start, ToolCall) and not current.grew:
            self._grow(index, start.arguments)
        if isinstance(start, Thinking) and start.form != "redacted" and start.seal is not None:
            self._seal(index, start.seal)
        if current.citations:
            late["citations"] = current.citations
        self._end(index, as_extras(NAME, late))

    def _settled(self, current: _Open, block: Opaque) -> Opaque:
        if current.native is not None:
            block = Opaque(NAME, current.native.whole())
        arguments = "".join(current.parts or ())
        if not arguments:
            return block
        value, note = arguments_object(arguments)
        if note is not None:
            self._events.append(Noted(note))
        return Opaque(NAME, {**block.data, "input": value})

    def _on_message_delta(self, event: JsonObject) -> None:
        if not self._begun:
            self._begin()
        delta = event.get("delta")
        if type(delta) is dict:
            if delta.get("stop_reason") is not None:
                self._reason = delta["stop_reason"]
            self._extras |= answer_extras(delta, _DELTA)
        if not _DELTA_EVENT.issuperset(event):
            self._extras |= answer_extras(event, _DELTA_EVENT)
        self._merge_usage(event.get("usage"))

    def _conclude(self) -> None:
        if not self._begun:
            self._begin()
        if self._current is not None:
            self._odd("the answer ended before content_block_stop of its last block")
            self._leave()
        notes: list[Note] = []
        finish, native = read_finish(self._reason, self._calls, notes)
        usage, odd = read_usage(self._usage)
        for note in (*notes, *odd):
            self._events.append(Noted(note))
        extras = self._extras | native
        self._over = True
        self._events.append(Finished(finish, usage, {NAME: extras} if extras else {}))


_READERS: dict[str, Callable[[StreamDecoder, JsonObject], None]] = {
    "message_start": StreamDecoder._on_start,
    "content_block_start": StreamDecoder._on_block_start,
    "content_block_delta": StreamDecoder._on_delta,
    "content_block_stop": StreamDecoder._on_block_stop,
    "message_delta": StreamDecoder._on_message_delta,
    "message_stop": StreamDecoder._on_stop,
    "message": StreamDecoder._on_whole,
    "error": StreamDecoder._on_error,
}
"""What reads each kind of event; others say nothing."""


def _takes(current: _Open, kind: Any) -> bool:
    return current.delta == kind or isinstance(current.start, Opaque)


def _absorb(current: _Open, delta: JsonObject) -> None:
    """Adds a delta to a block that we do not know: text is appended, lists are extended, the rest is set."""
    assert isinstance(current.start, Opaque)
    arguments = delta.get("partial_json")
    if delta.get("type") == "input_json_delta" and type(arguments) is str:
        current.parts = current.parts or []
        current.parts.append(arguments)
        return
    native = current.native = current.native or GrowingFields(dict(current.start.data), levels=0)
    for key, value in delta.items():
        if key == "citation":
            native.add("citations", [value])
        elif key != "type":
            native.add(key, value)
