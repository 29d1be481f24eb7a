"""Anthropic Messages."""

from __future__ import annotations

from typing import Any

from tests.recordings.naive.facts import Facts, Json, added, arguments, count


def read(bodies: list[Any], streamed: bool) -> Facts:
    message = _message(bodies) if streamed else bodies[0]
    facts = Facts(error=any(body.get("type") == "error" for body in bodies))
    for block in message["content"]:
        match block["type"]:
            case "text":
                facts.came("text")
                facts.text += block["text"]
            case "thinking":
                facts.came("thinking")
                facts.thinking += block["thinking"]
                facts.seals.append(block["signature"])
            case "redacted_thinking":
                facts.came("thinking")
                facts.seals.append(block["data"])
            case "tool_use":
                facts.came("tool_call")
                facts.tool_calls.append((block["name"], block["input"], block["id"]))
            case _:
                facts.came("native")
                facts.natives.append(block)
    usage = message["usage"]
    facts.id, facts.model = message["id"], message["model"]
    facts.finish = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "pause_turn": "continue",
        "compaction": "continue",
        "refusal": "refusal",
        None: None,
    }[message["stop_reason"]]
    facts.cache_read = count(usage.get("cache_read_input_tokens"))
    facts.cache_write = count(usage.get("cache_creation_input_tokens"))
    facts.input_total = added(count(usage.get("input_tokens")), facts.cache_read, facts.cache_write)
    facts.output_total = count(usage.get("output_tokens"))
    facts.reasoning = count((usage.get("output_tokens_details") or {}).get("thinking_tokens"))
    return facts


def _message(frames: list[Any]) -> Json:
    """The message that a stream spells out."""
    message: Json = {}
    blocks: dict[int, Json] = {}
    for frame in frames:
        match frame["type"]:
            case "message_start":
                message = {**frame["message"], "content": [], "usage": dict(frame["message"]["usage"])}
            case "content_block_start":
                blocks[frame["index"]] = dict(frame["content_block"])
            case "content_block_delta":
                _delta(blocks[frame["index"]], frame["delta"])
            case "message_delta":
                message["stop_reason"] = frame["delta"]["stop_reason"]
                told = {key: value for key, value in frame["usage"].items() if value is not None}
                message["usage"].update(told)
    for _, block in sorted(blocks.items()):
        if "partial" in block:
            block["input"] = arguments(block.pop("partial"))
        message["content"].append(block)
    return message


def _delta(block: Json, delta: Json) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] += delta["signature"]
        case "input_json_delta":
            block["partial"] = block.get("partial", "") + delta["partial_json"]
        case "compaction_delta":
            block["content"] = (block.get("content") or "") + delta["content"]
        case "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        case other:
            raise AssertionError(f"a delta that the recordings have not shown before: {other}")
