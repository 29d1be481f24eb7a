"""Events as each vendor's bytes: the dialect's own encoder, and the vendor's accent on top."""

from __future__ import annotations

from typing import Any

from thinkwire import dialects
from thinkwire.dialects import StreamEncoder
from thinkwire.dialects.gemini.stream_encoder import StreamEncoder as GeminiEncoder
from thinkwire.dialects.openai_chat.response import encode_response as encode_chat
from thinkwire.dialects.openai_chat.stream_encoder import StreamEncoder as ChatEncoder
from thinkwire.dialects.openai_responses.stream_encoder import StreamEncoder as ResponsesEncoder
from thinkwire.events import Answer, BlockGrew, BlockStarted, Event, Started
from thinkwire.jsonvalue import JsonObject, dump, parse
from thinkwire.messages import Extras, Thinking
from thinkwire.sim.ids import answer_id
from thinkwire.sim.model.answer import Fitted, input_tokens, tokens_in
from thinkwire.sim.rules.shared import as_object
from thinkwire.sim.vendors.quirks import VendorFormat, quirks_of, responses_event
from thinkwire.sim.vendors.thinking_format import SimulatedModel
from thinkwire.wire.sse import DONE, Frame, SSEParser, frame

CREATED = 1_790_000_000
"""When every simulated answer was made, since answers are the same every time."""

_PING = frame(b'{"type": "ping"}', "ping")
_PROCESSING = b": OPENROUTER PROCESSING\n\n"
_EDITED_EVENT = b"event: response.output_item.added"
_ECHOED = (
    *("instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "previous_response_id"),
    *("reasoning", "service_tier", "store", "temperature", "text", "tool_choice", "tools", "top_p"),
    *("truncation", "user"),
)


def started(speaker: SimulatedModel, *, stream: bool) -> Started:
    """The first event, with what the vendor says of an answer at its start."""
    vendor, dialect = speaker.provider.name, speaker.dialect
    extras: Extras = {}
    if dialect == "anthropic" and stream:
        spent = {"input_tokens": input_tokens(speaker.request)}
        cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        extras = {"anthropic": {"usage": spent | cached | {"output_tokens": 1}}}
    elif dialect == "openai-responses":
        echo = {name: speaker.body[name] for name in _ECHOED if speaker.body.get(name) is not None}
        echo["reasoning"] = {"effort": None, "summary": None} | as_object(speaker.body.get("reasoning"))
        extras = {"openai_responses": {"created_at": CREATED, "store": True} | echo}
    return Started(answer_id(dialect, vendor, speaker.nonce), speaker.model, extras)


def whole(speaker: SimulatedModel, answer: Answer, *, twice: bool = False) -> JsonObject:
    """The body of an answer that is not streamed."""
    if speaker.dialect != "openai-chat":
        return dialects.get(speaker.dialect).encode_response(answer).body
    return VendorFormat(speaker, twice=twice).whole(encode_chat(answer, created=CREATED).body)


class Stream:
    """Writes one stream. `query` is the request's, `twice` repeats reasoning in a second field."""

    def __init__(
        self, speaker: SimulatedModel, fitted: Fitted, *, query: str = "", twice: bool = False
    ) -> None:
        self._speaker = speaker
        self._accent = VendorFormat(speaker, twice=twice)
        self._sse = speaker.dialect != "gemini" or "alt=sse" in query
        self._encoder = self._make()
        self._counter = Counter(speaker, fitted)
        self._pinged = speaker.dialect != "anthropic" or speaker.provider.name != "anthropic"
        self._begun = False
        self.content_type = "text/event-stream" if self._sse else "application/json"

    def _make(self) -> StreamEncoder:
        speaker = self._speaker
        match speaker.dialect:
            case "openai-chat":
                options = speaker.body.get("stream_options")
                asked = isinstance(options, dict) and options.get("include_usage") is True
                return ChatEncoder(created=CREATED, include_usage=asked or quirks_of(speaker).counts)
            case "openai-responses":
                return ResponsesEncoder(created_at=CREATED)
            case "gemini":
                return GeminiEncoder(framing="sse" if self._sse else "array")
        return dialects.get(speaker.dialect).stream_encoder()

    def feed(self, event: Event) -> bytes:
        self._counter.count(event)
        return self._spoken(self._encoder.feed(event))

    def close(self) -> bytes:
        return self._spoken(self._encoder.close())

    def _spoken(self, data: bytes) -> bytes:
        if not data:
            return data
        match self._speaker.dialect:
            case "openai-chat":
                data = self._chunks(data)
            case "openai-responses" if _EDITED_EVENT in data:
                data = self._events(data)
            case "gemini" if self._sse:
                data = self._counter.write(data)
            case "anthropic":
                data = self._ping(data)
        if not self._begun and self._speaker.provider.name == "openrouter":
            data = _PROCESSING + data
        self._begun = True
        return data

    def _chunks(self, data: bytes) -> bytes:
        """An encoder writes whole chunks, never parts of them."""
        frames = _frames(data)
        chunks = self._accent.chunks([parse(found.data) for found in frames if found.data != DONE])
        out = b"".join(frame(dump(chunk)) for chunk in chunks)
        return out + (frame(DONE) if frames[-1].data == DONE else b"")

    def _events(self, data: bytes) -> bytes:
        events = [responses_event(self._speaker, parse(found.data)) for found in _frames(data)]
        return b"".join(frame(dump(event), event["type"]) for event in events)

    def _ping(self, data: bytes) -> bytes:
        """The vendor lives, it says once, after the first block began."""
        mark = b"event: content_block_start"
        if self._pinged or mark not in data:
            return data
        self._pinged = True
        end = data.index(b"\n\n", data.index(mark)) + 2
        return data[:end] + _PING + data[end:]


class Counter:
    """Counts tokens while they come; Google tells the count so far in every chunk."""

    def __init__(self, speaker: SimulatedModel, fitted: Fitted) -> None:
        self._spent = input_tokens(speaker.request)
        self._total = fitted.thought
        self._hidden = not speaker.shows
        self._thinking: set[int] = set()
        self._thought = self._text = ""

    def count(self, event: Event) -> None:
        if isinstance(event, BlockStarted) and isinstance(event.block, Thinking):
            self._thinking.add(event.index)
        elif isinstance(event, BlockGrew) and event.index in self._thinking:
            self._thought += event.text
        elif isinstance(event, BlockGrew):
            self._text += event.text

    def write(self, data: bytes) -> bytes:
        """The chunks, each with the usage so far; the last one has its own."""
        chunks = data.split(b"\n\n")[:-1]
        return b"".join(b"%b\n\n" % self._counted(chunk) for chunk in chunks)

    def _counted(self, chunk: bytes) -> bytes:
        if b'"usageMetadata":' in chunk or b'"error":' in chunk[:16]:
            return chunk
        counts = {"promptTokenCount": self._spent, "candidatesTokenCount": tokens_in(self._text)}
        counts["thoughtsTokenCount"] = self._total if self._hidden else tokens_in(self._thought)
        shown: dict[str, Any] = {name: count for name, count in counts.items() if count}
        usage = shown | {"totalTokenCount": sum(counts.values())}
        return chunk[:-1] + b',"usageMetadata":' + dump(usage) + b"}"


def _frames(data: bytes) -> list[Frame]:
    parser = SSEParser()
    return [*parser.feed(data), *parser.close()]
