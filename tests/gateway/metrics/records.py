"""Records of requests, as the gateway would make them."""

from __future__ import annotations

from typing import Any

from thinkwire.gateway.record import Record
from thinkwire.usage import Usage

USAGE = Usage(
    input_uncached=70,
    cache_read=20,
    cache_write=10,
    input_total=100,
    output_visible=30,
    output_reasoning=20,
    output_total=50,
)


def record(**changes: Any) -> Record:
    """An answer by Claude to a client of the chat dialect, with these differences."""
    fields: dict[str, Any] = {
        "id": "req_1",
        "time": 1_800_000_000.25,
        "tenant": "t1",
        "dialect": "openai-chat",
        "asked": "claude-opus-5/high",
        "provider": "anthropic",
        "model": "claude-opus-5",
        "status": 200,
        "ms": 1500.04,
        "first_ms": 250.0,
        "usage": USAGE,
        "cost": 0.0125,
        "requested": "high",
        "effective": "high",
        "finish": "stop",
        "notes": ("thinking.dormant", "sampling.dropped"),
        "streamed": True,
    }
    return Record(**(fields | changes))
