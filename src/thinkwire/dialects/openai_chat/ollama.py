"""Ollama's native answers (`/api/chat`) in the shape of this dialect's chunks."""

from __future__ import annotations

from typing import Any

from thinkwire.jsonvalue import JsonObject, unknown_fields

_TAKEN = frozenset({"message", "done", "done_reason", "finish_reason", "prompt_eval_count", "eval_count"})


def is_native(value: JsonObject) -> bool:
    return type(value.get("message")) is dict and "choices" not in value


def as_chunk(value: JsonObject) -> JsonObject:
    """A native line or body as a chunk: the message is its delta."""
    message = value["message"]
    calls = message.get("tool_calls")
    if type(calls) is list:
        message = message | {"tool_calls": [_call(call) for call in calls]}
    choice = {"index": 0, "delta": message}
    if value.get("done"):
        choice["finish_reason"] = value.get("done_reason") or "stop"
    elif value.get("finish_reason"):
        choice["finish_reason"] = value["finish_reason"]
    chunk = unknown_fields(value, _TAKEN) | {"choices": [choice]}
    counts = {"prompt_tokens": value.get("prompt_eval_count"), "completion_tokens": value.get("eval_count")}
    counts = {name: count for name, count in counts.items() if count is not None}
    if counts:
        chunk["usage"] = counts
    return chunk


def _call(call: Any) -> Any:
    """A call has its index inside the function, if it has one."""
    function = call.get("function") if type(call) is dict else None
    if type(function) is not dict or "index" not in function:
        return call
    return {"index": function["index"]} | call | {"function": unknown_fields(function, frozenset({"index"}))}
