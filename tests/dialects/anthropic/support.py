"""Hand-written wire, and short ways to read and write it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from thinkwire.dialects.anthropic import ANTHROPIC
from thinkwire.events import Answer, Event, collect
from thinkwire.messages import Seal
from thinkwire.notes import Note

SIGNED = Seal("anthropic.signature", "EpUC/+8=")
REDACTED = Seal("anthropic.redacted", "EmwK/+8=")
FOREIGN = Seal("gemini.thought", "Q3NRQg==")

START: dict[str, Any] = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": {"input_tokens": 12, "cache_read_input_tokens": 3, "output_tokens": 1},
    },
}
STOP: dict[str, Any] = {"type": "message_stop"}
RICH_STREAM = [
    START,
    {"type": "ping"},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm, "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Øslo…"}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "signature_delta", "signature": "EpUC/+8="},
    },
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "redacted_thinking", "data": "EmwK/+8="},
    },
    {"type": "content_block_stop", "index": 1},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "text", "text": "", "citations": []},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "citations_delta", "citation": {"url": "u"}},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "It is\r\n 🌧 "}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": " "}},
    {"type": "content_block_stop", "index": 2},
    {
        "type": "content_block_start",
        "index": 3,
        "content_block": {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 3,
        "delta": {"type": "input_json_delta", "partial_json": '{"q":'},
    },
    {
        "type": "content_block_delta",
        "index": 3,
        "delta": {"type": "input_json_delta", "partial_json": '"rain"}'},
    },
    {"type": "content_block_stop", "index": 3},
    {
        "type": "content_block_start",
        "index": 4,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
    },
    {"type": "content_block_delta", "index": 4, "delta": {"type": "input_json_delta", "partial_json": ""}},
    {
        "type": "content_block_delta",
        "index": 4,
        "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'},
    },
    {"type": "content_block_stop", "index": 4},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None, "stop_details": None},
        "usage": {"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 30}},
        "context_management": {"applied_edits": []},
    },
    STOP,
]


def ended(reason: str | None = "end_turn", **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5, **usage}}


def block(index: Any, kind: str, *deltas: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    """One whole block of a stream."""
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def said(text: str) -> dict[str, Any]:
    return {"type": "text_delta", "text": text}


def thought(text: str) -> dict[str, Any]:
    return {"type": "thinking_delta", "thinking": text}


def sse(events: Iterable[Any]) -> bytes:
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "".join(lines).encode()


def read(data: bytes) -> list[Event]:
    decoder = ANTHROPIC.stream_decoder()
    return [*decoder.feed(data), *decoder.close()]


def answer_of(*events: Any) -> Answer:
    return collect(read(sse(events)))


def write(events: Iterable[Event]) -> tuple[bytes, list[Note]]:
    encoder = ANTHROPIC.stream_encoder()
    written = b"".join([*map(encoder.feed, events), encoder.close()])
    return written, encoder.notes


def frames(stream: bytes) -> list[dict[str, Any]]:
    """The data of a stream in which every event bears its own name."""
    found = []
    for part in stream.decode().split("\n\n")[:-1]:
        name, data = part.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found


def codes(notes: Iterable[Note]) -> list[str]:
    return [note.code for note in notes]
