"""Errors in the vendor's form: `{"error": {"code", "message", "status", "details"}}`."""

from __future__ import annotations

from typing import Any

from thinkwire.errors import Failure, FailureKind
from thinkwire.jsonvalue import JsonObject
from thinkwire.wire.retry_after import bounded

_BY_KIND: dict[FailureKind, tuple[int, str]] = {
    "auth": (401, "UNAUTHENTICATED"),
    "quota": (402, "RESOURCE_EXHAUSTED"),
    "rate_limit": (429, "RESOURCE_EXHAUSTED"),
    "overloaded": (503, "UNAVAILABLE"),
    "bad_request": (400, "INVALID_ARGUMENT"),
    "context_too_long": (400, "INVALID_ARGUMENT"),
    "not_found": (404, "NOT_FOUND"),
    "refused": (400, "INVALID_ARGUMENT"),
    "connection_lost": (503, "UNAVAILABLE"),
    "timed_out": (504, "DEADLINE_EXCEEDED"),
    "protocol": (500, "INTERNAL"),
}
_BY_STATUS = {
    (403, "auth"): (403, "PERMISSION_DENIED"),
    (500, "overloaded"): (500, "INTERNAL"),
    (499, "connection_lost"): (499, "CANCELLED"),
    (413, "bad_request"): (413, "INVALID_ARGUMENT"),
}


def encode_error(failure: Failure) -> tuple[int, JsonObject]:
    """Status and body. A body that came in this very form goes out as it came."""
    native = _native(failure.body)
    if native is not None:
        return failure.status or native["code"], {"error": native}
    code, status = _BY_STATUS.get((failure.status or 0, failure.kind), _BY_KIND[failure.kind])
    error: JsonObject = {"code": code, "message": failure.message, "status": status}
    if (seconds := bounded(failure.retry_after)) is not None:
        delay = f"{seconds:.9g}s"
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    return code, {"error": error}


def _native(body: Any) -> JsonObject | None:
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None
    typed = type(error.get("code")) is int and all(
        isinstance(error.get(key), str) for key in ("message", "status")
    )
    return error if typed else None
