"""Failures as the vendor words them."""

from __future__ import annotations

from typing import Any

from thinkwire.errors import Failure, FailureKind
from thinkwire.jsonvalue import JsonObject

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_TYPE: dict[FailureKind, str] = {
    "auth": "authentication_error",
    "quota": "billing_error",
    "rate_limit": "rate_limit_error",
    "overloaded": "overloaded_error",
    "bad_request": "invalid_request_error",
    "context_too_long": "invalid_request_error",
    "not_found": "not_found_error",
    "refused": "invalid_request_error",
    "connection_lost": "api_error",
    "timed_out": "timeout_error",
    "protocol": "api_error",
}
_TYPE_BY_STATUS = {
    ("auth", 403): "permission_error",
    ("bad_request", 409): "conflict_error",
    ("bad_request", 413): "request_too_large",
    ("overloaded", 500): "api_error",
    ("overloaded", 502): "api_error",
}
_TELLING = ("context_too_long", "quota")
_OVERFLOW = "prompt is too long"


def encode_error(failure: Failure) -> tuple[int, JsonObject]:
    """Status and body. Clients of this wire know an overflow by the vendor's words, so these are there."""
    kind = _type(failure)
    message = failure.message
    if failure.kind == "context_too_long" and _OVERFLOW not in message:
        message = f"{_OVERFLOW}: {message}"
    error: JsonObject = {"type": kind, "message": message}
    if details := _details(failure.body):
        error["details"] = details
    return _STATUS[kind], {"type": "error", "error": error, "request_id": failure.request_id}


def _type(failure: Failure) -> str:
    """The type that the failure came with, if it is one of the vendor's and says no less than its kind."""
    if failure.code in _STATUS and failure.code != "invalid_request_error" and failure.kind not in _TELLING:
        return failure.code
    return _TYPE_BY_STATUS.get((failure.kind, failure.status or 0), _TYPE[failure.kind])


def _details(body: Any) -> JsonObject | None:
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return details if isinstance(details, dict) and "error_code" in details else None
