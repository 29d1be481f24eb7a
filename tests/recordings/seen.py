"""What the package made of an answer, in the terms of the naive reading."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from tests.recordings.naive import Facts
from tests.recordings.naive.facts import arguments
from thinkwire.dialects import Dialect
from thinkwire.events import Answer, Event, collect
from thinkwire.messages import Block, Document, Image, Opaque, Origin, Seal, Text, Thinking, ToolCall
from thinkwire.usage import Usage

DETAILS = "openrouter.details"

KINDS: dict[type[Block], str] = {
    Text: "text",
    Thinking: "thinking",
    ToolCall: "tool_call",
    Opaque: "native",
    Image: "media",
    Document: "media",
}


def seen(answer: Answer) -> Facts:
    """The same facts, from an `Answer`."""
    blocks = answer.turn.blocks
    usage = answer.usage or Usage()
    origin = answer.turn.origin or Origin()
    facts = Facts(
        id=origin.response_id,
        model=origin.model,
        text="".join(block.text for block in blocks if isinstance(block, Text)),
        thinking="".join(block.text for block in blocks if isinstance(block, Thinking)),
        seals=[data for block in blocks for data in seals(block)],
        details=[
            detail
            for block in blocks
            if isinstance(block, Thinking) and block.seal and block.seal.scheme == DETAILS
            for detail in json.loads(block.seal.data)
        ],
        tool_calls=[
            (block.name, arguments(block.arguments), block.id)
            for block in blocks
            if isinstance(block, ToolCall)
        ],
        natives=[block.data for block in blocks if isinstance(block, Opaque)],
        finish=answer.finish,
        input_total=usage.input_total,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        output_total=usage.output_total,
        reasoning=usage.output_reasoning,
        error=answer.failure is not None,
    )
    for block in blocks:
        facts.came(KINDS[type(block)])
    return facts


def adds_up(usage: Usage) -> bool:
    """Whether the buckets make the totals, wherever all of them are known."""
    given = [usage.cache_read or 0, usage.cache_write or 0]
    return (usage.input_uncached is None or usage.input_uncached + sum(given) == usage.input_total) and (
        usage.output_visible is None
        or usage.output_visible + (usage.output_reasoning or 0) == usage.output_total
    )


def seals(block: Block) -> list[str]:
    """The opaque strings of a block, each as it was on the wire."""
    if isinstance(block, Opaque):
        signature = block.data.get("thoughtSignature")
        return [signature] if signature else []
    seal = getattr(block, "seal", None)
    return _strings(seal) if seal is not None else []


def _strings(seal: Seal) -> list[str]:
    match seal.scheme:
        case "openai.item":  # an id, not a proof
            return []
        case scheme if scheme == DETAILS:  # the whole array, of which only some fields are opaque
            found = [detail.get("signature") or detail.get("data") for detail in json.loads(seal.data)]
            return [data for data in found if data]
    return [seal.data]


def said(answer: Answer) -> Any:
    """An answer as plain values, tool arguments as what they mean, and a failure without its vendor's codes.

    Left out are notes, which tell of the way, and native fields around the answer, which are checked against
    the recorded bodies themselves.
    """
    plain = json.loads(msgspec.json.encode(answer))
    blocks = plain["turn"].get("blocks", [])
    for block in blocks:
        if block["type"] == "tool_call":
            block["arguments"] = arguments(block.get("arguments", ""))
    return {
        "blocks": blocks,
        "finish": answer.finish,
        "usage": plain.get("usage"),
        "failure": answer.failure and (answer.failure.kind, answer.failure.message),
    }


def said_in_stream(answer: Answer) -> Any:
    """The same, but a seal comes after its text: Gemini's streams give it on an empty part that follows."""
    plain = said(answer)
    blocks: list[Any] = []
    for block in plain["blocks"]:
        if block["type"] == "text" and block.get("text") and "seal" in block:
            blocks += [{**block, "seal": None}, {"type": "text", "seal": block["seal"]}]
        else:
            blocks.append(block)
    return {**plain, "blocks": [{key: item for key, item in block.items() if item} for block in blocks]}


def events_from(dialect: Dialect, chunks: Iterable[bytes]) -> list[Event]:
    """The events of a stream that arrives in these pieces."""
    decoder = dialect.stream_decoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.close()


def streamed_again(dialect: Dialect, events: Iterable[Event]) -> Answer:
    """What our own stream of these events amounts to."""
    encoder = dialect.stream_encoder()
    chunks = [encoder.feed(event) for event in events]
    return collect(events_from(dialect, [*chunks, encoder.close()]))
