"""What there is to see in a final object of an SDK, and what our answer says should be seen there.

The SDKs of one vendor for Python and JavaScript give the same JSON, so one view serves both. Nothing here
uses the code under test: native words and sums are written out again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from thinkwire.events import Answer
from thinkwire.messages import Block, Text, Thinking, ToolCall
from thinkwire.usage import Usage

FINISH: dict[str, dict[str, str]] = {
    "anthropic": {
        "stop": "end_turn",
        "tool_calls": "tool_use",
        "length": "max_tokens",
        "refusal": "refusal",
    },
    "openai-chat": {
        "stop": "stop",
        "tool_calls": "tool_calls",
        "length": "length",
        "refusal": "content_filter",
    },
    "openai-responses": {
        "stop": "completed",
        "tool_calls": "completed",
        "length": "incomplete: max_output_tokens",
        "refusal": "incomplete: content_filter",
    },
    "gemini": {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"},
}


OWN_SEALS = {
    "anthropic": ("anthropic.signature", "anthropic.redacted"),
    "openai-chat": ("openrouter.details",),
    "openai-responses": ("openai.encrypted",),
    "gemini": ("gemini.thought",),
}
# Anthropic's wire must always have numbers; unknown ones are 0.
NOTHING = {"input": 0, "cache read": 0, "cache write": 0, "output": 0, "reasoning": 0}


class Seen(NamedTuple):
    """A final object, in plain values. Blocks are `[kind, content, proof]` in their order."""

    id: str
    model: str
    blocks: list[list[Any]]
    finish: str | None
    usage: dict[str, int] | None


def ours(answer: Answer, dialect: str) -> Seen:
    """What the dialect's SDK should see of an answer."""
    origin = answer.turn.origin
    assert origin is not None
    assert answer.finish is not None
    blocks = [_block(block, dialect) for block in answer.turn.blocks]
    finish = FINISH[dialect][answer.finish]
    if dialect == "openai-chat":
        blocks = _as_fields(blocks)
    if dialect == "gemini":
        blocks = _joined(blocks)
    if dialect.startswith("openai") and any(kind == "refusal" for kind, *_ in blocks):
        finish = FINISH[dialect]["stop"]
    usage = _counts(answer.usage, dialect) if answer.usage else None
    if usage is None and dialect == "anthropic":
        usage = NOTHING
    return Seen(str(origin.response_id), str(origin.model), blocks, finish, usage)


def _block(block: Block, dialect: str) -> list[Any]:
    """The block; a seal that the vendor did not make is not shown to its SDK."""
    seal = getattr(block, "seal", None)
    proof = seal.data if seal and seal.scheme in OWN_SEALS[dialect] else None
    match block:
        case Thinking(form="redacted"):
            return ["redacted", "", proof]
        case Thinking(text=text):
            return ["thinking", text, proof or ("" if dialect == "anthropic" else None)]
        case Text(text=text, refusal=refusal):
            return ["refusal" if refusal else "text", text, proof]
        case ToolCall():
            return ["call", [block.id, block.name, json.loads(block.arguments)], proof]
    raise TypeError(f"no view of {block!r}")


def _counts(usage: Usage, dialect: str) -> dict[str, int]:
    assert usage.input_total is not None
    assert usage.output_total is not None
    read, write, reasoning = usage.cache_read or 0, usage.cache_write or 0, usage.output_reasoning or 0
    names = {
        "input": usage.input_total,
        "cache read": read,
        "cache write": write,
        "output": usage.output_total,
        "reasoning": reasoning,
    }
    if dialect == "gemini":
        del names["cache write"]
    return names


def _as_fields(blocks: list[list[Any]]) -> list[list[Any]]:
    """Chat has one field per kind: reasoning, content, refusal, then the calls."""
    kept: list[list[Any]] = []
    for kind in ("thinking", "text", "refusal"):
        told = [(content, proof) for each, content, proof in blocks if each == kind]
        if words := "".join(content for content, _ in told):
            kept.append([kind, words, told[0][1]])
    return kept + [block for block in blocks if block[0] == "call"]


def _joined(blocks: Iterable[list[Any]]) -> list[list[Any]]:
    """Google cuts text into parts as it likes; a part with a signature ends what it belongs to."""
    kept: list[list[Any]] = []
    for kind, content, proof in blocks:
        # Google has no word for a refusal but the finish reason.
        kind = "text" if kind == "refusal" else kind
        last = kept[-1] if kept else None
        if last is not None and kind != "call" and last[0] == kind and last[2] is None:
            kept[-1] = [kind, last[1] + content, proof]
        elif content or proof:
            kept.append([kind, content, proof])
    return kept


def anthropic(message: dict[str, Any]) -> Seen:
    """A Messages API `message`."""
    refused = message["stop_reason"] == "refusal"
    usage = message["usage"]
    read = usage.get("cache_read_input_tokens") or 0
    write = usage.get("cache_creation_input_tokens") or 0
    return Seen(
        message["id"],
        message["model"],
        [_anthropic_block(block, refused) for block in message["content"]],
        message["stop_reason"],
        {
            "input": usage["input_tokens"] + read + write,
            "cache read": read,
            "cache write": write,
            "output": usage["output_tokens"],
            "reasoning": (usage.get("output_tokens_details") or {}).get("thinking_tokens") or 0,
        },
    )


def _anthropic_block(block: dict[str, Any], refused: bool) -> list[Any]:
    match block["type"]:
        case "thinking":
            return ["thinking", block["thinking"], block["signature"]]
        case "redacted_thinking":
            return ["redacted", "", block["data"]]
        case "text":
            return ["refusal" if refused else "text", block["text"], None]
        case "tool_use":
            return ["call", [block["id"], block["name"], block["input"]], None]
    raise TypeError(f"no view of {block!r}")


def chat(completion: dict[str, Any]) -> Seen:
    """A Chat Completions `chat.completion`."""
    (choice,) = completion["choices"]
    message = choice["message"]
    assert message["role"] == "assistant"
    fields = {
        "reasoning_content": "thinking",
        "reasoning": "thinking",
        "content": "text",
        "refusal": "refusal",
    }
    blocks: list[list[Any]] = [
        [kind, message[name], None] for name, kind in fields.items() if message.get(name)
    ]
    if details := message.get("reasoning_details"):
        proof = json.dumps(details, separators=(",", ":"))
        blocks.insert(0, ["thinking", "".join(each["text"] for each in details), proof])
    for call in message.get("tool_calls") or ():
        function = call["function"]
        blocks.append(["call", [call["id"], function["name"], json.loads(function["arguments"])], None])
    usage = completion.get("usage")
    return Seen(
        completion["id"],
        completion["model"],
        blocks,
        choice["finish_reason"],
        usage and _openai(usage, "prompt"),
    )


def responses(response: dict[str, Any]) -> Seen:
    """A Responses API `response`."""
    finish = response["status"]
    if details := response.get("incomplete_details"):
        finish = f"{finish}: {details['reason']}"
    usage = response.get("usage")
    return Seen(
        response["id"],
        response["model"],
        [block for item in response["output"] for block in _items(item)],
        finish,
        usage and _openai(usage, "input"),
    )


def _items(item: dict[str, Any]) -> list[list[Any]]:
    match item["type"]:
        case "reasoning":
            text = "\n\n".join(part["text"] for part in item["summary"])
            return [["thinking", text, item.get("encrypted_content")]]
        case "message":
            kinds = {"output_text": ("text", "text"), "refusal": ("refusal", "refusal")}
            named = [(kinds[part["type"]], part) for part in item["content"]]
            return [[kind, part[name], None] for (kind, name), part in named]
        case "function_call":
            return [["call", [item["call_id"], item["name"], json.loads(item["arguments"])], None]]
    raise TypeError(f"no view of {item!r}")


def _openai(usage: dict[str, Any], side: str) -> dict[str, int]:
    other = {"prompt": "completion", "input": "output"}[side]
    given = usage.get(f"{side}_tokens_details") or {}
    made = usage.get(f"{other}_tokens_details") or {}
    counts = {
        "input": usage[f"{side}_tokens"],
        "cache read": given.get("cached_tokens") or 0,
        "cache write": given.get("cache_write_tokens") or 0,
        "output": usage[f"{other}_tokens"],
        "reasoning": made.get("reasoning_tokens") or 0,
    }
    assert usage["total_tokens"] == counts["input"] + counts["output"]
    return counts


def gemini(chunks: list[dict[str, Any]]) -> Seen:
    """A `GenerateContentResponse`, or the several of a stream."""
    first, last = chunks[0], chunks[-1]
    candidates = [chunk["candidates"][0] for chunk in chunks if chunk.get("candidates")]
    parts = [part for each in candidates for part in (each.get("content") or {}).get("parts") or ()]
    usage = last.get("usageMetadata")
    return Seen(
        first["responseId"],
        first["modelVersion"],
        _joined(_part(part) for part in parts),
        candidates[-1].get("finishReason") if candidates else None,
        usage and _google(usage),
    )


def _part(part: dict[str, Any]) -> list[Any]:
    proof = part.get("thoughtSignature")
    if called := part.get("functionCall"):
        return ["call", [called.get("id"), called["name"], called.get("args") or {}], proof]
    return ["thinking" if part.get("thought") else "text", part["text"], proof]


def _google(usage: dict[str, Any]) -> dict[str, int]:
    thoughts = usage.get("thoughtsTokenCount") or 0
    counts = {
        "input": usage["promptTokenCount"],
        "cache read": usage.get("cachedContentTokenCount") or 0,
        "output": (usage.get("candidatesTokenCount") or 0) + thoughts,
        "reasoning": thoughts,
    }
    assert usage["totalTokenCount"] == counts["input"] + counts["output"]
    return counts
