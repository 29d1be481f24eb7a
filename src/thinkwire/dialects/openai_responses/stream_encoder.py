"""The streamed response, written."""

from __future__ import annotations

from thinkwire.dialects.frame_decoder import CUT
from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.openai_responses.errors import response_error
from thinkwire.dialects.openai_responses.items import bare, content_of, continues
from thinkwire.dialects.openai_responses.outcome import write_usage
from thinkwire.dialects.openai_responses.output_items import opaque_item
from thinkwire.dialects.openai_responses.response import CONTINUE, made_up_response_id, skeleton, write_end
from thinkwire.dialects.openai_responses.stream_writers import (
    CallWriter,
    Frames,
    Message,
    TextWriter,
    ThinkingWriter,
    Writer,
)
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
    FinishReason,
    Started,
)
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.usage import Usage


class StreamEncoder:
    """Events to events of the wire, in the vendor's order and numbered from 0.

    `created_at` is the time in every copy of the response, since there is no clock here.
    """

    def __init__(self, *, created_at: float = 0) -> None:
        self.notes: list[Note] = []
        self._frames = Frames(self.notes)
        self._echo: JsonObject = {"created_at": created_at}
        self._model: str | None = None
        self._writers: dict[int, Writer] = {}
        self._message: Message | None = None  # the last one, while another part of it may follow
        self._usual: FinishReason = "stop"
        self._begun = False
        self._over = False

    def feed(self, event: Event) -> bytes:
        if type(event) is BlockGrew:
            writer = self._writers.get(event.index)
            return writer.grow(event.text) if writer is not None and event.text else b""
        if self._over:
            return b""
        match event:
            case Started():
                return self._begin(event)
            case BlockStarted(index=index, block=block):
                return self._begin(Started()) + self._start(index, block)
            case BlockSealed(index=index, seal=seal):
                if index in self._writers:
                    self._writers[index].seal = seal
            case BlockEnded(index=index, extras=extras):
                writer = self._writers.pop(index, None)
                return writer.end(extras) + self._close_messages(writer) if writer is not None else b""
            case Finished(reason=reason, usage=usage, extras=extras):
                return self._finish(reason, usage, own(extras, NAME))
            case Failed(failure=failure, usage=usage):
                return self._fail(failure, usage)
        return b""

    def around(self, index: int) -> tuple[bytes, bytes] | None:
        """None: every event has a number of its own."""
        return None

    def close(self) -> bytes:
        return b"" if self._over else self._fail(Failure("connection_lost", CUT), None)

    def _begin(self, started: Started) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        self._model = started.model
        self._frames.response_id = started.id or made_up_response_id(started.model)
        self._echo |= own(started.extras, NAME)
        response = self._response()
        created = self._frames.say("response.created", response=response)
        return created + self._frames.say("response.in_progress", response=response)

    def _response(self) -> JsonObject:
        return skeleton(self._frames.response_id, self._model, self._echo)

    def _start(self, index: int, block: Block) -> bytes:
        if not isinstance(block, (Text, ToolCall, Thinking)):
            return self._close_message() + self._write_whole(block)
        content = content_of(block)
        writer, out = self._announce(bare(block))
        writer.seal = block.seal
        self._writers[index] = writer
        return out + (writer.grow(content) if content else b"")

    def _announce(self, block: Text | ToolCall | Thinking) -> tuple[Writer, bytes]:
        if isinstance(block, Text):
            return self._announce_text(block)
        out = self._close_message()
        if isinstance(block, ToolCall):
            self._usual = "tool_calls"
            call = CallWriter(self._frames, block)
            return call, out + call.announce()
        thought = ThinkingWriter(self._frames, block)
        return thought, out + (b"" if block.form == "hidden" else thought.announce())

    def _announce_text(self, block: Text) -> tuple[Writer, bytes]:
        if block.refusal and self._usual == "stop":
            self._usual = "refusal"
        out = b""
        if self._message is None or not continues(block):
            out = self._close_message()
            self._message = Message(self._frames, block)
            out += self._message.announce()
        writer = TextWriter(self._message, block)
        return writer, out + writer.announce()

    def _write_whole(self, block: Block) -> bytes:
        item = opaque_item(block, self.notes)
        if item is None:
            return b""
        position = self._frames.next_position()
        added = self._frames.say("response.output_item.added", output_index=position, item=item)
        return added + self._frames.item_done(position, item)

    def _close_message(self) -> bytes:
        """No further part of the last message can follow."""
        message, self._message = self._message, None
        return message.close() if message is not None and message.is_complete else b""

    def _close_messages(self, writer: Writer) -> bytes:
        """A message whose last text has just ended, and which is not the last one any more."""
        if isinstance(writer, TextWriter) and writer.message is not self._message:
            return writer.message.close() if writer.message.is_complete else b""
        return b""

    def _finish(self, reason: FinishReason, usage: Usage | None, extras: JsonObject) -> bytes:
        out = self._begin(Started())
        for writer in self._writers.values():
            out += writer.end({}, interrupted=True) + self._close_messages(writer)
        self._writers.clear()
        out += self._close_message()
        if reason == "continue":
            self.notes.append(CONTINUE)
        self._echo |= extras
        ending = write_end(reason, self._usual, self._echo)
        if reason == "error":
            ending["error"] = response_error(None)
        return out + self._end(ending, usage)

    def _fail(self, failure: Failure, usage: Usage | None) -> bytes:
        out = self._begin(Started()) + self._close_message()
        ending = write_end("error", self._usual, self._echo) | {"error": response_error(failure)}
        return out + self._end(ending, usage)

    def _end(self, ending: JsonObject, usage: Usage | None) -> bytes:
        self._over = True
        self._writers.clear()
        done = self._frames.done
        response = self._response() | ending
        response["output"] = [done[position] for position in sorted(done)]
        response["usage"] = write_usage(usage)
        kind = ending["status"] if ending["status"] in ("completed", "failed") else "incomplete"
        return self._frames.say(f"response.{kind}", response=response)
