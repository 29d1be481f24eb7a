"""Failures in the vendor's words."""

from __future__ import annotations

from typing import NamedTuple

from thinkwire.errors import Failure, FailureKind
from thinkwire.jsonvalue import JsonObject


class _Words(NamedTuple):
    status: int
    type: str
    code: str | None


_BAD = "invalid_request_error"
_WORDS: dict[FailureKind, _Words] = {
    "auth": _Words(401, _BAD, "invalid_api_key"),
    "quota": _Words(429, "insufficient_quota", "insufficient_quota"),
    "rate_limit": _Words(429, "rate_limit_error", "rate_limit_exceeded"),
    "overloaded": _Words(503, "service_unavailable_error", "server_is_overloaded"),
    "bad_request": _Words(400, _BAD, None),
    "context_too_long": _Words(400, _BAD, "context_length_exceeded"),
    "not_found": _Words(404, _BAD, "model_not_found"),
    "refused": _Words(400, _BAD, "invalid_prompt"),
    "connection_lost": _Words(500, "server_error", "server_error"),
    "timed_out": _Words(500, "server_error", "server_error"),
    "protocol": _Words(500, "server_error", "server_error"),
}
_KEPT_STATUS: dict[FailureKind, tuple[int, ...]] = {
    "auth": (403,),
    "bad_request": (409, 413, 422),
    "overloaded": (500,),
}
_KEPT_CODES: dict[FailureKind, tuple[str, ...]] = {
    "auth": ("invalid_organization",),
    "quota": ("credit_balance_exhausted",),
    "rate_limit": ("slow_down",),
    "overloaded": ("server_error",),
    "bad_request": (
        "invalid_encrypted_content",
        "previous_response_not_found",
        "unsupported_parameter",
        "unsupported_value",
    ),
    "not_found": ("previous_response_not_found",),
    "refused": ("bio_policy", "misalignment_policy_violation", "content_policy_violation"),
}


def encode_error(failure: Failure) -> tuple[int, JsonObject]:
    """The HTTP status and body with which this API would have refused."""
    words = _WORDS[failure.kind]
    status = failure.status if failure.status in _KEPT_STATUS.get(failure.kind, ()) else words.status
    body = {"message": failure.message, "type": words.type, "param": failure.param, "code": _code(failure)}
    return status or words.status, {"error": body}


def response_error(failure: Failure | None) -> JsonObject:
    """The `error` of a response that failed after it began."""
    if failure is None:
        return {"code": "server_error", "message": "the answer broke off"}
    return {"code": _code(failure) or _BAD, "message": failure.message}


def _code(failure: Failure) -> str | None:
    """The vendor's code for this kind of failure; its own code, if it is one of the vendor's."""
    if failure.code in _KEPT_CODES.get(failure.kind, ()):
        return failure.code
    return _WORDS[failure.kind].code
