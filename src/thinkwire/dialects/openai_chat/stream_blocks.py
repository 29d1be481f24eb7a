"""Deltas to blocks: one text, refusal or thinking block at a time, and tool calls beside them."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.frame_decoder import FrameDecoder
from thinkwire.dialects.openai_chat import google_signatures as google
from thinkwire.dialects.openai_chat import think_tags as inline
from thinkwire.dialects.openai_chat.constants import NAME, keep
from thinkwire.dialects.openai_chat.content import thinking_text
from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.reasoning import OPAQUE_FIELD, Said, Thoughts, hidden_field
from thinkwire.dialects.openai_chat.tool_calls import Call, ToolCalls
from thinkwire.dialects.shared import made_up_id
from thinkwire.events import BlockEnded, BlockGrew, merge_extras
from thinkwire.jsonvalue import JsonObject, malformed, unknown_fields
from thinkwire.messages import Extras, Opaque, Text, Thinking, ToolCall
from thinkwire.wire.think_tags import TagSplitter, may_begin_with_tag

_TEXT_PART = frozenset({"type", "text"})
_THINKING_PART = frozenset({"type", "thinking"})


class BlockDecoder(FrameDecoder):
    """The part of the stream decoder that knows which block is open.

    What puts thinking, calls and tags together is made when the first of them comes: most answers have none.
    """

    __slots__ = (
        *("_announced", "_calls", "_head", "_id", "_in_thought", "_index", "_kind", "_late"),
        *("_quirks", "_refused", "_splitter", "_tag", "_tagged", "_thoughts", "_whole"),
    )

    def __init__(self, *, quirks: Quirks = USUAL) -> None:
        super().__init__()
        self._quirks = quirks
        self._id: str | None = None
        self._whole = False
        """The message came in one piece: every text part is a block of its own."""
        self._kind: str | None = None
        self._index = -1
        self._refused = False
        self._thoughts: Thoughts | None = None
        self._calls: ToolCalls | None = None
        self._announced = 0
        self._splitter: TagSplitter | None = None
        self._head: list[str] = []
        self._tag: str | None = None
        self._tagged = quirks.think_tags != "off"
        """Whether the text may still begin with a tag, or is in one."""
        self._in_thought = False
        """Gemini's thought has been opened; the answer will begin with its closing tag."""
        self._late: Extras = {}

    def _say(self, kind: str, text: str) -> None:
        if self._kind != kind:
            if self._kind is not None:
                self._close_block()
            if self._thoughts is not None:
                self._settle()
            self._refused = self._refused or kind == "refusal"
            self._index = self._open(Text("", kind == "refusal"))
            self._kind = kind
        self._events.append(BlockGrew(self._index, text))

    def _text(self, text: str) -> None:
        if not self._tagged:
            self._say("text", text)
            return
        splitter = self._splitter
        if splitter is None:
            if self._quirks.think_tags == "auto" and not may_begin_with_tag(text):
                self._tagged = False
                self._say("text", text)
                return
            splitter = self._begin_splitting()
        if self._tag is None:
            self._head.append(text)
        for piece in splitter.feed(text):
            self._piece(piece.thinking, piece.text)

    def _begin_splitting(self) -> TagSplitter:
        self._splitter = TagSplitter(starts_inside=self._quirks.think_tags == "inside")
        return self._splitter

    def _piece(self, thinking: bool, text: str) -> None:
        if thinking:
            if self._tag is None:
                self._tag = inline.field_of("".join(self._head))
            self._think([(self._tag, text)])
        else:
            self._tagged, self._splitter = False, None
            self._say("text", text)

    def _flush_text(self) -> None:
        """What was held back because it might have become a tag."""
        if self._splitter is not None:
            for piece in self._splitter.close():
                self._piece(piece.thinking, piece.text)
        self._tagged, self._splitter = False, None

    def _think(self, said: Said) -> None:
        thoughts = self._thoughts
        if thoughts is None:
            thoughts = self._thoughts = Thoughts()
        text = thoughts.take(said)
        if not text:
            return
        if self._kind != "thinking":
            self._close_block()
            self._index = self._open(Thinking(form=thoughts.form, field=thoughts.field))
            self._kind = "thinking"
        self._events.append(BlockGrew(self._index, text))

    def _reasoning(self, delta: JsonObject) -> None:
        opaque, thoughts = delta.get(OPAQUE_FIELD), self._thoughts
        if opaque and thoughts is not None and thoughts.opaque not in (None, opaque):
            self._close_block()
            self._settle()
        thoughts = self._thoughts
        if thoughts is None:
            thoughts = self._thoughts = Thoughts()
        said = thoughts.read(delta)
        if said or thoughts.sealed:
            self._no_tags()
            self._think(said)

    def _no_tags(self) -> None:
        if self._tagged:
            (self._splitter or self._begin_splitting()).no_more_opening()

    def _close_block(self) -> None:
        """Ends the text or thinking that is open."""
        kind, self._kind = self._kind, None
        late, self._late = self._late, {}
        if kind == "thinking":
            thoughts, self._thoughts = self._thoughts, None
            assert thoughts is not None
            seal = thoughts.seal(verbatim=self._whole)
            if seal is not None:
                self._seal(self._index, seal)
            self._end(self._index, merge_extras(late, thoughts.extras()))
        elif kind is not None:
            self._events.append(BlockEnded(self._index, late))

    def _settle(self) -> None:
        """Sealed reasoning that nobody can read becomes a block when something else begins."""
        thoughts = self._thoughts
        if thoughts is None or not thoughts.sealed or self._kind == "thinking":
            return
        self._thoughts = None
        seal = thoughts.seal(verbatim=self._whole)
        index = self._open(Thinking(form="hidden", field=hidden_field(thoughts)))
        if seal is not None:
            self._seal(index, seal)
        self._end(index, thoughts.extras())

    def _content(self, value: Any) -> None:
        if type(value) is str:
            if self._in_thought:
                self._in_thought = False
                value = value.removeprefix("</thought>")
            if value:
                self._text(value)
        elif type(value) is list:
            for part in value:
                self._part(part)
        elif value is not None:
            raise malformed(("choices", 0, "message", "content"), "a string or an array", value)

    def _part(self, part: Any) -> None:
        if type(part) is str:
            part = {"type": "text", "text": part}
        kind = part.get("type") if type(part) is dict else None
        if kind == "text" and type(part.get("text")) is str:
            self._text_part(part)
        elif kind == "thinking" and (text := thinking_text(part.get("thinking"))) is not None:
            self._thinking_part(part, text)
        elif kind == "refusal" and type(part.get("refusal")) is str:
            self._say("refusal", part["refusal"])
        elif type(part) is dict:
            self._break()
            self._end(self._open(Opaque(NAME, part)))
        else:
            raise malformed(("choices", 0, "message", "content"), "an array of objects", part)

    def _text_part(self, part: JsonObject) -> None:
        if self._whole and self._kind == "text":
            self._close_block()
        if part["text"]:
            self._text(part["text"])
            if len(part) > 2 and self._kind == "text":
                self._late = merge_extras(self._late, keep(unknown_fields(part, _TEXT_PART)))

    def _thinking_part(self, part: JsonObject, text: str) -> None:
        self._no_tags()
        if self._whole and self._kind == "thinking":
            self._close_block()
        if text:
            self._think([("content", text)])
        if self._kind == "thinking":
            bare = type(part["thinking"]) is str or None
            self._late = merge_extras(self._late, keep(unknown_fields(part, _THINKING_PART), bare=bare))

    def _break(self) -> None:
        """Something else begins."""
        if self._tagged:
            self._flush_text()
        if self._kind is not None:
            self._close_block()
        if self._thoughts is not None:
            self._settle()

    def _call_deltas(self, entries: Any) -> None:
        beside: set[Call] = set()
        calls = self._all_calls()
        for entry in entries if type(entries) is list else ():
            if type(entry) is not dict:
                continue
            call, new = calls.take(entry, beside)
            beside.add(call)
            self._call_grew(call, new)

    def _all_calls(self) -> ToolCalls:
        if self._calls is None:
            self._calls = ToolCalls()
        return self._calls

    def _legacy_delta(self, function: Any) -> None:
        taken = self._all_calls().take_legacy(function) if type(function) is dict else None
        if taken is not None:
            self._call_grew(*taken)

    def _call_grew(self, call: Call, new: bool) -> None:
        if new:
            self._break()
        if call.block is None:
            self._announce()
        elif call.waiting:
            self._pass_on(call, call.block)

    def _announce(self) -> None:
        """Announces calls in their order, as far as each has its id and name."""
        calls = self._all_calls().all
        while self._announced < len(calls) and calls[self._announced].ready:
            self._open_call(calls[self._announced])

    def _open_call(self, call: Call) -> None:
        self._announced += 1
        given = call.id
        call.id = given or made_up_id(self._id or "", self._blocks, call.name, call.arguments)
        self._all_calls().know_id(call)
        call.block = self._open(ToolCall(call.id, call.name))
        if not given:
            self._note("tool_call.id_generated", f"the call of {call.name or 'a tool'} came without an id")
        if not call.name:
            self._note("stream.irregular", "a tool call came without a name")
        self._pass_on(call, call.block)

    def _pass_on(self, call: Call, block: int) -> None:
        if call.waiting:
            self._grow(block, "".join(call.waiting))
            call.waiting.clear()

    def _open_rest(self) -> None:
        """Announces the calls that were still waiting for an id, a name or arguments."""
        for call in self._all_calls().all[self._announced :]:
            if call.custom is not None:
                self._announced += 1
                native = {"id": call.id, "type": "custom", "custom": call.custom_fields()}
                self._end(self._open(Opaque(NAME, native)))
            elif call.empty:
                self._announced += 1
            else:
                self._open_call(call)

    def _end_calls(self) -> bool:
        """Ends all calls; whether there were any."""
        self._open_rest()
        any_call = False
        for call in self._all_calls().all:
            any_call = any_call or call.block is not None or bool(call.custom)
            if call.block is None:
                continue
            if not call.parts:
                self._grow(call.block, "{}")
            if call.seal is not None:
                self._seal(call.block, call.seal)
            self._end(call.block, call.extras())
        return any_call

    def _signature(self, extra: Any, *, calls: bool) -> None:
        """A thought signature on the message: of its first call, else of its text."""
        seal, rest = google.read_signature(extra)
        if seal is None:
            return
        call = self._all_calls().first_signable() if calls or self._kind != "text" else None
        if call is not None:
            call.sign(seal, rest)
            return
        self._flush_text()
        if self._kind != "text":
            self._break()
            self._index = self._open(Text())
            self._kind = "text"
        self._seal(self._index, seal)
        self._late = merge_extras(self._late, keep({google.FIELD: rest}, at="message"))

    def _google_thought(self, value: Any) -> None:
        """Text that Gemini marked as a thought; it may go over into the answer."""
        if type(value) is not str or not value:
            return
        thought, closed, answer = value.removeprefix("<thought>").partition("</thought>")
        self._in_thought = not closed
        if thought:
            self._no_tags()
            self._think([(inline.GOOGLE, thought)])
        if answer:
            self._say("text", answer)

    def _salvage(self) -> None:
        """The answer broke off: what was held back is shown, and stays open."""
        self._flush_text()
        for call in self._all_calls().all[self._announced :]:
            if call.custom is None and call.name:
                self._open_call(call)
