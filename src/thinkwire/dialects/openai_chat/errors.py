"""Failures as OpenAI would tell them."""

from __future__ import annotations

from thinkwire.errors import Failure, FailureKind
from thinkwire.jsonvalue import JsonObject

_KINDS: dict[FailureKind, tuple[int, str, str | None]] = {
    "auth": (401, "invalid_request_error", "invalid_api_key"),
    "quota": (429, "insufficient_quota", "insufficient_quota"),
    "rate_limit": (429, "rate_limit_error", "rate_limit_exceeded"),
    "overloaded": (503, "service_unavailable_error", "server_is_overloaded"),
    "bad_request": (400, "invalid_request_error", None),
    "context_too_long": (400, "invalid_request_error", "context_length_exceeded"),
    "not_found": (404, "invalid_request_error", "model_not_found"),
    "refused": (400, "invalid_request_error", "content_policy_violation"),
    "connection_lost": (502, "server_error", None),
    "timed_out": (504, "server_error", "timeout"),
    "protocol": (502, "server_error", None),
}
"""Status, `type` and `code` by kind, after OpenAI's list of errors."""


def encode_error(failure: Failure) -> tuple[int, JsonObject]:
    """An HTTP status and the body that goes with it."""
    status, _, _ = _KINDS[failure.kind]
    if failure.status is not None and failure.status // 100 == status // 100:
        status = failure.status
    return status, error_body(failure)


def error_body(failure: Failure) -> JsonObject:
    """The body alone, which is also what a stream that breaks off says."""
    _, type_, code = _KINDS[failure.kind]
    return {
        "error": {
            "message": failure.message,
            "type": type_,
            "param": failure.param,
            "code": failure.code or code,
        }
    }
