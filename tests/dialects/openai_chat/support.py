"""Hand-written wire, and short ways to read and write it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.request import decode_request, encode_request
from thinkwire.dialects.openai_chat.response import decode_response
from thinkwire.dialects.openai_chat.stream_decoder import StreamDecoder
from thinkwire.dialects.openai_chat.stream_encoder import StreamEncoder
from thinkwire.events import Answer, Event, collect, events_of
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Block, Seal, Text, Turn
from thinkwire.notes import Note
from thinkwire.request import Request

NAME = "openai_chat"
DONE = "[DONE]"
FOREIGN = Seal("anthropic.signature", "EpUC/+8=")
GOOGLE = Seal("gemini.thought", "Q3NRQg==")
PICTURE = "data:image/png;base64,iVBORw0KGgo="

SIGNED: dict[str, Any] = {
    "type": "reasoning.text",
    "text": "Hm, two cities.",
    "signature": "c2ln",
    "format": "anthropic-claude-v1",
    "index": 0,
}
ENCRYPTED: dict[str, Any] = {
    "type": "reasoning.encrypted",
    "data": "gAAA",
    "id": "rs_1",
    "format": "openai-responses-v1",
    "index": 0,
}
SUMMARY: dict[str, Any] = {"type": "reasoning.summary", "summary": "Two cities.", "index": 0}


def details(*entries: dict[str, Any]) -> Seal:
    return Seal("openrouter.details", dump_text(list(entries)))


def chunk(delta: Any = None, *, finish: Any = None, **fields: Any) -> dict[str, Any]:
    """A chunk as OpenAI writes it. A delta that is None is left out; further fields go on top."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
    if delta is not None:
        choice["delta"] = delta
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]} | fields


def stop(reason: Any = "stop", **fields: Any) -> dict[str, Any]:
    return chunk({}, finish=reason, **fields)


def sse(*frames: Any) -> bytes:
    """Frames as a stream; text goes out as it is."""
    texts = (frame if isinstance(frame, str) else json.dumps(frame) for frame in frames)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def events(data: bytes, quirks: Quirks = USUAL) -> list[Event]:
    decoder = StreamDecoder(quirks=quirks)
    return [*decoder.feed(data), *decoder.close()]


def stream(*deltas: Any, finish: Any = "stop", quirks: Quirks = USUAL) -> Answer:
    """The answer that these deltas, a finish and the end mark amount to."""
    return collect(events(sse(*map(chunk, deltas), stop(finish), DONE), quirks))


def body(message: Any, *, finish: Any = "stop", **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]} | fields


def whole(message: Any, *, finish: Any = "stop", quirks: Quirks = USUAL) -> Answer:
    return decode_response(body({"role": "assistant"} | message, finish=finish), quirks=quirks)


def both(message: dict[str, Any], *, finish: Any = "stop", quirks: Quirks = USUAL) -> tuple[Block, ...]:
    """The blocks of a message, which are the same whether it comes as JSON or as one delta."""
    answer = whole(message, finish=finish, quirks=quirks)
    assert stream(message, finish=finish, quirks=quirks).turn.blocks == answer.turn.blocks
    return answer.turn.blocks


def codes(notes: Iterable[Note]) -> list[str]:
    return [note.code for note in notes]


def messages(*turns: Turn, quirks: Quirks = USUAL, system: tuple[Text, ...] = ()) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = encode_request(
        Request("m", turns=turns, system=system), quirks=quirks
    ).body["messages"]
    return written


def notes_of(*turns: Turn, quirks: Quirks = USUAL) -> list[str]:
    return codes(encode_request(Request("m", turns=turns), quirks=quirks).notes)


def said_by(*blocks: Block, quirks: Quirks = USUAL) -> dict[str, Any]:
    """The one message in which these blocks go back to a server."""
    (message,) = messages(Turn("assistant", blocks), quirks=quirks)
    return message


def written(answer: Answer | Iterable[Event], **options: Any) -> list[Any]:
    """The frames of a stream that our encoder writes."""
    encoder = StreamEncoder(**options)
    told = events_of(answer) if isinstance(answer, Answer) else answer
    data = b"".join([*(encoder.feed(event) for event in told), encoder.close()])
    frames = [frame.removeprefix("data: ") for frame in data.decode().split("\n\n")[:-1]]
    return [frame if frame == DONE else json.loads(frame) for frame in frames]


def deltas(frames: list[Any]) -> list[dict[str, Any]]:
    """What the chunks of our encoder add, without the first one, which names the role."""
    chunks = [frame for frame in frames if frame != DONE and "error" not in frame]
    found = [choice["delta"] for frame in chunks for choice in frame["choices"]]
    assert found[0] == {"role": "assistant", "content": ""}
    return [delta for delta in found[1:] if delta]


USER = {"role": "user", "content": "Well?"}
ASKED = Turn("user", (Text("Well?"),))


def read(*messages: Any, **fields: Any) -> Request:
    return decode_request({"model": "m", "messages": list(messages)} | fields)


def turns(*messages: Any) -> tuple[Turn, ...]:
    return read(*messages).turns


def call_entry(id_: str = "c1", name: str = "f", arguments: Any = "{}", **fields: Any) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} | fields


def tool_message(id_: Any = "c1", content: Any = "12 °C", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content} | fields


def assistant(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant"} | fields


LOOP = assistant(content=None, tool_calls=[call_entry()])


PIECE = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"Ø":'}}
RICH_STREAM = [
    chunk({"role": "assistant", "content": "", "reasoning": None}, provider="P"),
    chunk({"reasoning": "Hm, Øslo…", "reasoning_details": [SIGNED | {"text": "Hm, Øslo…", "signature": ""}]}),
    chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "c2ln"}]}),
    chunk({"content": "It is\r\n 🌧 "}),
    chunk({"content": [{"type": "text", "text": " "}, {"type": "zz"}]}),
    chunk({"tool_calls": [PIECE]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}], "refusal": "no"}),
    chunk(
        {
            "function_call": {"name": "g", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "s"}},
        }
    ),
    stop("tool_calls", x_groq={"usage": {"prompt_tokens": 1}}),
    chunk(
        None,
        usage={
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    ),
]
