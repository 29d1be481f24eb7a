"""Errors, in both directions."""

from __future__ import annotations

import pytest

from thinkwire.dialects.gemini import GEMINI
from thinkwire.errors import Failure, FailureKind
from thinkwire.jsonvalue import dump


@pytest.mark.parametrize(
    ("kind", "status", "name"),
    [
        ("bad_request", 400, "INVALID_ARGUMENT"),
        ("context_too_long", 400, "INVALID_ARGUMENT"),
        ("refused", 400, "INVALID_ARGUMENT"),
        ("auth", 401, "UNAUTHENTICATED"),
        ("quota", 402, "RESOURCE_EXHAUSTED"),
        ("not_found", 404, "NOT_FOUND"),
        ("rate_limit", 429, "RESOURCE_EXHAUSTED"),
        ("protocol", 500, "INTERNAL"),
        ("overloaded", 503, "UNAVAILABLE"),
        ("connection_lost", 503, "UNAVAILABLE"),
        ("timed_out", 504, "DEADLINE_EXCEEDED"),
    ],
)
def test_every_kind_of_failure_has_a_status(kind: FailureKind, status: int, name: str) -> None:
    error = {"code": status, "message": "why", "status": name}
    assert GEMINI.encode_error(Failure(kind, "why")) == (status, {"error": error})


@pytest.mark.parametrize(
    ("kind", "status", "name"),
    [
        ("auth", 403, "PERMISSION_DENIED"),
        ("overloaded", 500, "INTERNAL"),
        ("connection_lost", 499, "CANCELLED"),
    ],
)
def test_a_known_status_is_kept(kind: FailureKind, status: int, name: str) -> None:
    code, body = GEMINI.encode_error(Failure(kind, "why", status=status))
    assert (code, body["error"]["status"]) == (status, name)


@pytest.mark.parametrize(
    "kind", ["bad_request", "auth", "quota", "not_found", "rate_limit", "overloaded", "timed_out"]
)
def test_what_we_write_is_read_as_the_same_kind(kind: FailureKind) -> None:
    status, body = GEMINI.encode_error(Failure(kind, "why", retry_after=1.5))
    failure = GEMINI.decode_error(status, {}, dump(body))
    assert (failure.kind, failure.message, failure.retry_after) == (kind, "why", 1.5)


def test_the_vendors_own_body_is_passed_on_whole() -> None:
    body = {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}],
        }
    }
    for sent in (body, [body]):
        failure = GEMINI.decode_error(429, {}, dump(sent))
        assert (failure.kind, failure.retry_after) == ("rate_limit", 37.0)
        assert GEMINI.encode_error(failure) == (429, body)


def test_another_vendors_body_is_put_in_this_form() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    failure = GEMINI.decode_error(529, {}, dump(body))
    assert GEMINI.encode_error(failure) == (
        503,
        {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}},
    )
