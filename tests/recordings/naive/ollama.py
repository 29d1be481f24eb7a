"""Ollama's own chat: the same things under other names."""

from __future__ import annotations

from typing import Any

from tests.recordings.naive import chat
from tests.recordings.naive.facts import Facts, Json


def read(bodies: list[Any], streamed: bool) -> Facts:
    place = "delta" if streamed else "message"
    return chat.read([_as_chat(body, place, number) for number, body in enumerate(bodies)], streamed)


def _as_chat(body: Json, place: str, number: int) -> Json:
    message = body.get("message") or {}
    calls = [  # each comes whole
        {**call, "index": (number, position)} for position, call in enumerate(message.get("tool_calls") or [])
    ]
    said = {"content": message.get("content"), "reasoning": message.get("thinking"), "tool_calls": calls}
    usage = {"prompt_tokens": body.get("prompt_eval_count"), "completion_tokens": body.get("eval_count")}
    return {
        "error": body.get("error"),
        "model": body.get("model"),
        "choices": [{place: said, "finish_reason": body.get("done_reason")}],
        "usage": usage if body.get("done") else None,
    }
