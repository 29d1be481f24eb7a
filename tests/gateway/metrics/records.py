"""Records of requests, as the gateway would make them."""

from __future__ import annotations

from typing import Any

from thinkwire.gateway.telemetry.record import RequestLabels, RequestRecord
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


KIND: dict[str, Any] = {
    "tenant": "t1",
    "dialect": "openai-chat",
    "operation": "generate",
    "asked": "claude-opus-5/high",
    "provider": "anthropic",
    "model": "claude-opus-5",
    "status": 200,
    "failure": None,
    "client_left": False,
    "streamed": True,
    "passed_through": False,
    "requested": "high",
    "effective": "high",
    "finish": "stop",
    "notes": ("thinking.dormant", "sampling.dropped"),
}


def record(**changes: Any) -> RequestRecord:
    """An answer by Claude to a client of the chat dialect, with these differences in it or in its kind."""
    kind = {name: changes.pop(name, value) for name, value in KIND.items()}
    fields: dict[str, Any] = {
        "id": "req_1",
        "time": 1_800_000_000.25,
        "ms": 1500.04,
        "first_ms": 250.0,
        "usage": USAGE,
        "cost": 0.0125,
    }
    return RequestRecord(kind=RequestLabels(**kind), **(fields | changes))
