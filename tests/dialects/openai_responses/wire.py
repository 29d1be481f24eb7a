"""Hand-written wire, and short ways to read and write it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
from thinkwire.events import Answer, Event, collect
from thinkwire.messages import Block, Extras, Seal, Turn
from thinkwire.notes import Note
from thinkwire.request import Request

ENCRYPTED = Seal("openai.encrypted", "gAAAA/+8=")
SIGNED = Seal("anthropic.signature", "EpUC/+8=")
GEMINI = Seal("gemini.thought", "Q3NRQg==")


def native(**fields: Any) -> Extras:
    return {"openai_responses": fields}


def codes(notes: Iterable[Note]) -> list[str]:
    return [note.code for note in notes]


def turns_of(*items: Any) -> tuple[Turn, ...]:
    return OPENAI_RESPONSES.decode_request({"model": "m", "input": list(items)}).turns


def items_of(*turns: Turn) -> tuple[list[Any], list[str]]:
    """The items of these turns, and the codes of what could not be said."""
    encoded = OPENAI_RESPONSES.encode_request(Request("m", turns))
    return encoded.body["input"], codes(encoded.notes)


def there_and_back(*items: Any) -> list[Any]:
    encoded, notes = items_of(*turns_of(*items))
    assert notes == []
    return encoded


def said_by(*output: Any, **fields: Any) -> Answer:
    """The answer in a response with these output items."""
    return OPENAI_RESPONSES.decode_response(response(*output, **fields))


def response(*output: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "model": "m",
        "status": "completed",
        "output": list(output),
    } | fields


def blocks_of(*output: Any) -> tuple[Block, ...]:
    return said_by(*output).turn.blocks


def sse(events: Iterable[Any], *, named: bool = True) -> bytes:
    lines = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) and "type" in event else ""
        lines.append(f"{name}data: {data}\n\n")
    return "".join(lines).encode()


def events(*wire: Any, named: bool = True) -> list[Event]:
    decoder = OPENAI_RESPONSES.stream_decoder()
    return [*decoder.feed(sse(wire, named=named)), *decoder.close()]


def read(*wire: Any) -> Answer:
    return collect(events(*wire))


def written(given: Iterable[Event]) -> list[dict[str, Any]]:
    """The wire events that these events become; each must be framed under its own name."""
    encoder = OPENAI_RESPONSES.stream_encoder()
    body = b"".join([*(encoder.feed(event) for event in given), encoder.close()]).decode()
    found = []
    for frame in body.split("\n\n")[:-1]:
        name, data = frame.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found


CREATED = {
    "type": "response.created",
    "sequence_number": 0,
    "response": {"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": []},
}


def added(place: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(place: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def delta(kind: str, place: int, item_id: str, text: str, **where: Any) -> dict[str, Any]:
    return {
        "type": f"response.{kind}.delta",
        "output_index": place,
        "item_id": item_id,
        "delta": text,
        "obfuscation": "x7",
        **where,
    }


def text_delta(text: str, place: int = 0, item_id: str = "msg_a", part: int = 0) -> dict[str, Any]:
    return delta("output_text", place, item_id, text, content_index=part)


def message(text: str, item_id: str = "msg_a", **fields: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "type": "message",
        "id": item_id,
        "status": "completed",
        "role": "assistant",
        "content": [part],
    } | fields


def reasoning(*summary: str, item_id: str = "rs_a", **fields: Any) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": item_id, "summary": parts} | fields


def raw_reasoning(*texts: str, item_id: str = "rs_a", **fields: Any) -> dict[str, Any]:
    parts = [{"type": "reasoning_text", "text": text} for text in texts]
    return {"type": "reasoning", "id": item_id, "summary": [], "content": parts} | fields


def call(arguments: Any, item_id: str = "fc_a", **fields: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": item_id,
        "call_id": "call_1",
        "name": "look",
        "arguments": arguments,
        "status": "completed",
    } | fields


def completed(*output: Any, kind: str = "completed", **fields: Any) -> dict[str, Any]:
    status = fields.pop("status", kind)
    return {"type": f"response.{kind}", "response": response(*output, status=status, **fields)}


RICH_STREAM: list[Any] = [
    CREATED,
    CREATED | {"type": "response.in_progress"},
    added(0, type="reasoning", id="rs_a", summary=[], encrypted_content="not this one"),
    {
        "type": "response.reasoning_summary_part.added",
        "output_index": 0,
        "item_id": "rs_a",
        "summary_index": 0,
    },
    delta("reasoning_summary_text", 0, "rs_a", "**Øslo**", summary_index=0),
    delta("reasoning_summary_text", 0, "rs_a", "\n\nCold.", summary_index=0),
    delta("reasoning_summary_text", 0, "rs_a", "Sure.", summary_index=1),
    done(0, **reasoning("**Øslo**\n\nCold.", "Sure.", encrypted_content=ENCRYPTED.data)),
    added(
        1, type="message", id="msg_a", role="assistant", status="in_progress", content=[], phase="commentary"
    ),
    text_delta("Let me ", 1),
    text_delta("look 🌧", 1),
    done(1, **message("Let me look 🌧", phase="commentary")),
    added(2, type="function_call", id="fc_a", call_id="call_1", name="look", arguments=""),
    delta("function_call_arguments", 2, "fc_a", '{"city":'),
    delta("function_call_arguments", 2, "fc_a", '"Ås"}'),
    done(2, **call('{"city":"Ås"}')),
    done(3, type="web_search_call", id="ws_a", status="completed"),
    completed(usage={"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}),
]
