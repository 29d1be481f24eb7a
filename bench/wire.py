"""What is said in every measurement: the same question and the same answer, in each dialect.

Standard library only, and none of thinkwire's own encoders: the bytes are as the vendors' wires have them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

MODEL = "bench-model"
WORDS = "The square of an odd number is odd because it is four times something plus one , see "
_WORDS = [f"{word} " for word in WORDS.split()]
_QUESTION = "Why is the square of an odd number odd? Show each step, and say where it could go wrong. " * 4


class Answer(NamedTuple):
    """One answer as a vendor gives it: whole, and as a stream of events."""

    whole: bytes
    head: bytes
    """Events before the first piece of text."""
    deltas: list[bytes]
    """One event each; repeated for as long as the stream is."""
    tail: bytes


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _data(value: Any) -> bytes:
    return b"data: " + _compact(value) + b"\n\n"


def _event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\n".encode() + _data(value)


def _chat() -> Answer:
    base = {"id": "chatcmpl-bench", "created": 1_790_000_000, "model": MODEL, "system_fingerprint": "fp_1"}
    usage = {"prompt_tokens": 90, "completion_tokens": 500, "total_tokens": 590}

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**base, "object": "chat.completion.chunk", "choices": [choice], **more})

    message = {"role": "assistant", "content": WORDS, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return Answer(
        whole=_compact({**base, "object": "chat.completion", "choices": [choice], "usage": usage}),
        head=chunk({"role": "assistant", "content": ""}),
        deltas=[chunk({"content": word}) for word in _WORDS],
        tail=chunk({}, "stop", usage=usage) + b"data: [DONE]\n\n",
    )


def _messages() -> Answer:
    usage = {"input_tokens": 90, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    base = {
        "id": "msg_01bench",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "stop_sequence": None,
    }
    text = {"type": "text", "text": WORDS}
    whole = {**base, "content": [text], "stop_reason": "end_turn", "usage": {**usage, "output_tokens": 500}}
    started: dict[str, Any] = {
        **base,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    return Answer(
        whole=_compact(whole),
        head=_event({"type": "message_start", "message": started})
        + _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        deltas=[
            _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}})
            for word in _WORDS
        ],
        tail=_event({"type": "content_block_stop", "index": 0})
        + _event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 500}})
        + _event({"type": "message_stop"}),
    )


def _gemini() -> Answer:
    usage = {"promptTokenCount": 90, "candidatesTokenCount": 500, "totalTokenCount": 590}
    base = {"modelVersion": MODEL, "responseId": "bench"}

    def said(text: str, **more: Any) -> dict[str, Any]:
        content = {"parts": [{"text": text}], "role": "model"}
        return {"candidates": [{"content": content, "index": 0, **more}], "usageMetadata": usage, **base}

    return Answer(
        whole=_compact(said(WORDS, finishReason="STOP")),
        head=_data(said("")),
        deltas=[_data(said(word)) for word in _WORDS],
        tail=_data(said("", finishReason="STOP")),
    )


ANSWERS = {"chat": _chat(), "messages": _messages(), "gemini": _gemini()}


def answer_for(path: str) -> Answer | None:
    """Whose wire a path belongs to; the ends of paths, since gateways put their own before them."""
    if path.endswith("/messages"):
        return ANSWERS["messages"]
    if path.endswith("/chat/completions"):
        return ANSWERS["chat"]
    return ANSWERS["gemini"] if "enerateContent" in path else None


def tools(count: int) -> list[dict[str, Any]]:
    """Tool schemas in JSON Schema, as agents have them by the dozen."""
    properties = {f"field_{n}": {"type": "string", "description": "What to look for."} for n in range(4)}
    schema = {"type": "object", "properties": properties, "required": ["field_0"]}
    return [
        {"name": f"tool_{n}", "description": f"Looks something up, in way {n}.", "input_schema": schema}
        for n in range(count)
    ]


def request(dialect: str, model: str, *, stream: bool, text: str = _QUESTION) -> tuple[str, bytes]:
    """The path and body of the one question."""
    turn = {"role": "user", "content": text}
    body: dict[str, Any]
    match dialect:
        case "chat":
            body = {"model": model, "messages": [turn], "max_tokens": 1000, "stream": stream}
            if stream:
                body["stream_options"] = {"include_usage": True}
            return "/v1/chat/completions", _compact(body)
        case "messages":
            body = {"model": model, "max_tokens": 1000, "messages": [turn], "stream": stream}
            return "/v1/messages", _compact(body)
        case "responses":
            return "/v1/responses", _compact(
                {"model": model, "input": text, "stream": stream, "store": False}
            )
    raise ValueError(dialect)
