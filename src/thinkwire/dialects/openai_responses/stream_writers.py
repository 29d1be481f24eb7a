"""Items of a stream as they are written: announced, grown, completed."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.openai_responses.items import text_part
from thinkwire.dialects.openai_responses.output_items import complete_item, id_for, is_raw, note_seals
from thinkwire.dialects.openai_responses.reasoning import BREAK, reasoning_item
from thinkwire.dialects.shared import own
from thinkwire.events import merge_extras
from thinkwire.jsonvalue import JsonObject, dump
from thinkwire.messages import Extras, Seal, Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.wire.sse import frame


class Frames:
    """Numbers and frames the events of one response, and keeps the items that are done."""

    def __init__(self, notes: list[Note]) -> None:
        self.response_id = ""
        self.sequence = 0
        self.positions = 0
        self.done: dict[int, JsonObject] = {}
        self.notes = notes

    def say(self, kind: str, **fields: Any) -> bytes:
        number = self.sequence
        self.sequence = number + 1
        return frame(dump({"type": kind, **fields, "sequence_number": number}), kind)

    def next_position(self) -> int:
        position = self.positions
        self.positions = position + 1
        return position

    def item_done(self, position: int, item: JsonObject) -> bytes:
        self.done[position] = item
        return self.say("response.output_item.done", output_index=position, item=item)


class Writer:
    """One block on its way out."""

    def __init__(self, frames: Frames, position: int) -> None:
        self.frames = frames
        self.position = position
        self.id = ""
        self.texts: list[str] = []
        self.seal: Seal | None = None
        self._head = b""
        self._tail = b""

    def _grows_by(self, kind: str, where: JsonObject, tail: bytes = b"") -> None:
        """Prepares everything of a delta event but its text and its number."""
        fields = dump({"type": kind, "item_id": self.id, "output_index": self.position} | where)
        self._head = b'event: %b\ndata: %b,"delta":' % (kind.encode(), fields[:-1])
        self._tail = tail + b',"sequence_number":'

    def _delta(self, text: str) -> bytes:
        number = self.frames.sequence
        self.frames.sequence = number + 1
        return b"%b%b%b%d}\n\n" % (self._head, dump(text), self._tail, number)

    def grow(self, text: str) -> bytes:
        self.texts.append(text)
        return self._delta(text)

    def end(self, extras: Extras, *, interrupted: bool = False) -> bytes:
        raise NotImplementedError

    def _say(self, kind: str, **fields: Any) -> bytes:
        return self.frames.say(kind, item_id=self.id, output_index=self.position, **fields)

    @property
    def _text(self) -> str:
        return "".join(self.texts)


class Message:
    """A message item and the texts in it. It is done when no further text can follow."""

    def __init__(self, frames: Frames, first: Text) -> None:
        self.frames = frames
        self.position = frames.next_position()
        self.id = id_for([first], frames.response_id, self.position)
        self.phase = own(first.extras, NAME).get("phase")
        self.writers: list[TextWriter] = []

    def announce(self) -> bytes:
        item: JsonObject = {"id": self.id, "type": "message", "status": "in_progress", "role": "assistant"}
        if self.phase is not None:
            item["phase"] = self.phase
        return self.frames.say(
            "response.output_item.added", output_index=self.position, item=item | {"content": []}
        )

    @property
    def is_complete(self) -> bool:
        return all(writer.ended for writer in self.writers)

    def close(self) -> bytes:
        texts = [writer.block for writer in self.writers]
        self.writers.clear()  # they know their message, and should not outlive the stream with it
        note_seals(texts, self.id, self.frames.notes)
        return self.frames.item_done(self.position, complete_item(texts, self.id))


class TextWriter(Writer):
    def __init__(self, message: Message, block: Text) -> None:
        super().__init__(message.frames, message.position)
        self.id = message.id
        self.message = message
        self.block = block
        self.ended = False
        self._where: JsonObject = {"content_index": len(message.writers)}
        message.writers.append(self)
        if block.refusal:
            self._grows_by("response.refusal.delta", self._where)
        else:
            self._grows_by("response.output_text.delta", self._where, b',"logprobs":[]')

    def announce(self) -> bytes:
        part = text_part(Text(refusal=self.block.refusal), lists=True)
        return self._say("response.content_part.added", **self._where, part=part)

    def end(self, extras: Extras, *, interrupted: bool = False) -> bytes:
        block = msgspec.structs.replace(
            self.block,
            text=self._text,
            seal=self.seal,
            interrupted=interrupted,
            extras=merge_extras(self.block.extras, extras),
        )
        self.block, self.ended = block, True
        part = text_part(block, lists=True)
        if block.refusal:
            done = self._say("response.refusal.done", **self._where, refusal=block.text)
        else:
            logprobs = part.get("logprobs", [])
            done = self._say("response.output_text.done", **self._where, text=block.text, logprobs=logprobs)
        return done + self._say("response.content_part.done", **self._where, part=part)


class CallWriter(Writer):
    def __init__(self, frames: Frames, block: ToolCall) -> None:
        super().__init__(frames, frames.next_position())
        self._block = block
        self.id = id_for(block, frames.response_id, self.position)
        self._grows_by("response.function_call_arguments.delta", {})

    def announce(self) -> bytes:
        item = complete_item(self._block, self.id) | {"arguments": "", "status": "in_progress"}
        return self.frames.say("response.output_item.added", output_index=self.position, item=item)

    def end(self, extras: Extras, *, interrupted: bool = False) -> bytes:
        block = msgspec.structs.replace(
            self._block,
            arguments=self._text,
            seal=self.seal,
            interrupted=interrupted,
            extras=merge_extras(self._block.extras, extras),
        )
        note_seals(block, self.id, self.frames.notes)
        done = self._say("response.function_call_arguments.done", arguments=block.arguments)
        return done + self.frames.item_done(self.position, complete_item(block, self.id))


class ThinkingWriter(Writer):
    """A reasoning item. Hidden thinking is announced late, because its seal may be its id."""

    def __init__(self, frames: Frames, block: Thinking) -> None:
        super().__init__(frames, frames.next_position())
        self._block = block
        self._raw = is_raw(block)
        self._lengths = _lengths(own(block.extras, NAME).get("parts"))
        self._part = 0
        self._said: list[str] = []  # of the part that is open
        self._left: int | None = None  # how much that part still takes; None for the last one
        self._skip = 0  # how much of the break between two parts is still to come
        self._open = False

    def announce(self) -> bytes:
        if self.id:
            return b""
        block = msgspec.structs.replace(self._block, seal=self.seal)
        self.id = id_for(block, self.frames.response_id, self.position)
        item = {"id": self.id, "type": "reasoning", "summary": []}
        return self.frames.say("response.output_item.added", output_index=self.position, item=item)

    def grow(self, text: str) -> bytes:
        self.texts.append(text)
        out = self.announce()
        while text:
            if self._skip:
                skipped = min(self._skip, len(text))
                text = text[skipped:]
                self._skip -= skipped
                continue
            if not self._open:
                out += self._open_part()
            piece = text if self._left is None else text[: self._left]
            text = text[len(piece) :]
            if piece:
                self._said.append(piece)
                out += self._delta(piece)
            if self._left is not None:
                self._left -= len(piece)
                if not self._left:
                    out += self._close_part()
                    self._skip = len(BREAK)
        return out

    @property
    def _where(self) -> JsonObject:
        return {"content_index" if self._raw else "summary_index": self._part}

    def _open_part(self) -> bytes:
        self._open = True
        self._said = []
        self._left = self._lengths[self._part] if self._part + 1 < len(self._lengths) else None
        if self._raw:
            self._grows_by("response.reasoning_text.delta", self._where)
            part = {"type": "reasoning_text", "text": ""}
            return self._say("response.content_part.added", **self._where, part=part)
        self._grows_by("response.reasoning_summary_text.delta", self._where)
        part = {"type": "summary_text", "text": ""}
        return self._say("response.reasoning_summary_part.added", **self._where, part=part)

    def _close_part(self) -> bytes:
        text, where = "".join(self._said), self._where
        self._open = False
        self._part += 1
        if self._raw:
            done = self._say("response.reasoning_text.done", **where, text=text)
            part = {"type": "reasoning_text", "text": text}
            return done + self._say("response.content_part.done", **where, part=part)
        done = self._say("response.reasoning_summary_text.done", **where, text=text)
        part = {"type": "summary_text", "text": text}
        return done + self._say("response.reasoning_summary_part.done", **where, part=part)

    def end(self, extras: Extras, *, interrupted: bool = False) -> bytes:
        out = self.announce()
        if self._open:
            out += self._close_part()
        block = msgspec.structs.replace(
            self._block,
            text=self._text,
            seal=self.seal,
            interrupted=interrupted,
            extras=merge_extras(self._block.extras, extras),
        )
        note_seals(block, self.id, self.frames.notes)
        return out + self.frames.item_done(self.position, reasoning_item(block, self.id, raw=self._raw))


def _lengths(value: Any) -> list[int]:
    """The lengths of the parts, as far as they were known from the start."""
    plausible = isinstance(value, list) and all(type(length) is int and length >= 0 for length in value)
    return value if plausible else []
