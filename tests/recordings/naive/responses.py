"""OpenAI Responses."""

from __future__ import annotations

from typing import Any

from tests.recordings.loader import DONE
from tests.recordings.naive.facts import Facts, Json, arguments, count

ENDS = ("response.completed", "response.incomplete", "response.failed")


def read(bodies: list[Any], streamed: bool) -> Facts:
    final, items = _spelled_out(bodies) if streamed else (bodies[0], bodies[0]["output"])
    broken = final.get("status") == "failed" or bool(final.get("error"))
    facts = Facts(id=final.get("id"), model=final.get("model"), error=broken)
    for item in items:
        _item(facts, item)
    usage = final.get("usage") or {}
    facts.input_total = count(usage.get("input_tokens"))
    given = usage.get("input_tokens_details") or {}
    facts.cache_read = count(given.get("cached_tokens"))
    facts.cache_write = count(given.get("cache_write_tokens"))
    facts.output_total = count(usage.get("output_tokens"))
    facts.reasoning = count((usage.get("output_tokens_details") or {}).get("reasoning_tokens"))
    if not broken:
        facts.finish = _finish(final, items)
    return facts


def _spelled_out(frames: list[Any]) -> tuple[Json, list[Json]]:
    """The response and its items. An item is what its `done` event says; nothing else has the right seal."""
    done: dict[int, Json] = {}
    last: Json = {"error": "cut off"}
    for frame in frames:
        if frame == DONE:
            continue
        if frame["type"] == "response.created":
            last = {**frame["response"], "error": "cut off"}
        if frame["type"] == "response.output_item.done":
            done[frame["output_index"]] = frame["item"]
        if frame["type"] in ENDS:
            last = frame["response"]
            break  # one recording goes on with further answers
        if frame["type"] == "error":
            last = {**last, "error": frame}
            break
    return last, [item for _, item in sorted(done.items())]


def _item(facts: Facts, item: Json) -> None:
    kinds = {"reasoning": "thinking", "message": "text", "function_call": "tool_call"}
    facts.came(kinds.get(item["type"], "native"))
    match item["type"]:
        case "reasoning":
            readable = [*(item.get("summary") or []), *(item.get("content") or [])]
            facts.thinking += "\n\n".join(part["text"] for part in readable)
            if item.get("encrypted_content"):
                facts.seals.append(item["encrypted_content"])
        case "message":
            for part in item["content"]:
                facts.text += part["refusal"] if part["type"] == "refusal" else part["text"]
        case "function_call":
            facts.tool_calls.append((item["name"], arguments(item["arguments"]), item["call_id"]))
        case _:
            facts.natives.append(item)


def _finish(final: Json, items: list[Json]) -> str | None:
    if final["status"] == "incomplete":
        return "refusal" if final["incomplete_details"]["reason"] == "content_filter" else "length"
    if final["status"] != "completed":
        return None  # queued in the background: there is no answer yet
    parts = [part for item in items if item["type"] == "message" for part in item["content"]]
    if any(part["type"] == "refusal" for part in parts):
        return "refusal"
    return "tool_calls" if any(item["type"] == "function_call" for item in items) else "stop"
