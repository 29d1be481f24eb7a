"""Short ways to write what this wire carries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thinkwire.dialects.gemini import GEMINI
from thinkwire.events import Answer, Event, collect
from thinkwire.jsonvalue import JsonObject, dump
from thinkwire.messages import Block, Seal
from thinkwire.notes import Note
from thinkwire.request import Request

SIGNED = "Q3NRQg=="
SEAL = Seal("gemini.thought", SIGNED)
FOREIGN = Seal("anthropic.signature", "c2ln")


def content(role: str | None, *parts: JsonObject) -> JsonObject:
    return {"parts": list(parts)} if role is None else {"role": role, "parts": list(parts)}


def user(*parts: JsonObject) -> JsonObject:
    return content("user", *parts)


def model(*parts: JsonObject) -> JsonObject:
    return content("model", *parts)


def call(name: str = "add", args: Any = None, **more: Any) -> JsonObject:
    return {"functionCall": {"name": name, **({} if args is None else {"args": args}), **more}}


def result(name: str = "add", response: Any = None, **more: Any) -> JsonObject:
    return {"functionResponse": {"name": name, "response": response or {"output": "5"}, **more}}


def read(*contents: JsonObject, **more: Any) -> Request:
    return GEMINI.decode_request({"contents": list(contents), **more})


def blocks(*parts: JsonObject) -> tuple[Block, ...]:
    """The blocks of a request that is one content of the user."""
    return read(user(*parts)).turns[0].blocks


def rewritten(body: JsonObject) -> JsonObject:
    """The body after reading and writing; nothing may have to be said about it."""
    encoded = GEMINI.encode_request(GEMINI.decode_request(body))
    assert encoded.notes == ()
    return encoded.body


def codes(notes: Iterable[Note]) -> list[str]:
    return [note.code for note in notes]


def chunk(
    *parts: JsonObject, finish: str | None = None, usage: JsonObject | None = None, **more: Any
) -> JsonObject:
    candidate: JsonObject = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    body: JsonObject = {"candidates": [candidate], "modelVersion": "gemini-3.8-flash", "responseId": "r1"}
    return body | ({} if usage is None else {"usageMetadata": usage}) | more


def sse(*chunks: JsonObject) -> bytes:
    return b"".join(b"data: " + dump(each) + b"\r\n\r\n" for each in chunks)


def array(*chunks: JsonObject) -> bytes:
    return b"[" + b"\n,\r\n".join(dump(each) for each in chunks) + b"\n]"


def events(data: bytes, size: int | None = None) -> list[Event]:
    decoder = GEMINI.stream_decoder()
    found: list[Event] = []
    step = size or max(1, len(data))
    for start in range(0, len(data), step):
        found += decoder.feed(data[start : start + step])
    return found + decoder.close()


def streamed(*chunks: JsonObject) -> Answer:
    return collect(events(sse(*chunks)))
