"""Failures as the vendor words them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from thinkwire.dialects.anthropic import ANTHROPIC
from thinkwire.errors import Failure, FailureKind


@pytest.mark.parametrize(
    ("failure", "status", "kind"),
    [
        (Failure("auth", "x"), 401, "authentication_error"),
        (Failure("auth", "x", status=403), 403, "permission_error"),
        (Failure("quota", "x"), 402, "billing_error"),
        (Failure("quota", "x", status=429, code="rate_limit_error"), 402, "billing_error"),
        (Failure("rate_limit", "x"), 429, "rate_limit_error"),
        (Failure("overloaded", "x"), 529, "overloaded_error"),
        (Failure("overloaded", "x", status=500), 500, "api_error"),
        (Failure("overloaded", "x", code="api_error"), 500, "api_error"),
        (Failure("bad_request", "x"), 400, "invalid_request_error"),
        (Failure("bad_request", "x", status=422), 400, "invalid_request_error"),
        (Failure("bad_request", "x", status=413), 413, "request_too_large"),
        (Failure("bad_request", "x", code="conflict_error"), 409, "conflict_error"),
        (Failure("not_found", "x", code="invalid_request_error"), 404, "not_found_error"),
        (Failure("refused", "x"), 400, "invalid_request_error"),
        (Failure("connection_lost", "x"), 500, "api_error"),
        (Failure("timed_out", "x"), 504, "timeout_error"),
        (Failure("protocol", "x"), 500, "api_error"),
    ],
)
def test_every_failure_has_a_status_and_a_type(failure: Failure, status: int, kind: str) -> None:
    assert ANTHROPIC.encode_error(failure) == (
        status,
        {"type": "error", "error": {"type": kind, "message": "x"}, "request_id": None},
    )


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("prompt is too long: 9 tokens > 8 maximum", "prompt is too long: 9 tokens > 8 maximum"),
        ("maximum context length is 8", "prompt is too long: maximum context length is 8"),
    ],
)
def test_an_overflow_is_worded_as_clients_know_it(said: str, written: str) -> None:
    status, body = ANTHROPIC.encode_error(Failure("context_too_long", said, code="api_error"))
    assert (status, body["error"]["message"]) == (400, written)


def test_the_request_id_and_the_details_go_along() -> None:
    details = {"error_code": "enforced_spend_limit_reached"}
    native = {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "x", "details": details},
        "request_id": "req_1",
    }
    failure = ANTHROPIC.decode_error(429, {}, json.dumps(native).encode())
    assert failure.kind == "quota"
    _, body = ANTHROPIC.encode_error(failure)
    assert body["request_id"] == "req_1"
    assert body["error"]["details"] == details


@pytest.mark.parametrize("body", [None, "text", {"error": "text"}, {"error": {"details": [1]}}])
def test_bodies_of_any_shape_are_no_trouble(body: Any) -> None:
    assert "details" not in ANTHROPIC.encode_error(Failure("protocol", "x", body=body))[1]["error"]


KINDS: tuple[FailureKind, ...] = (
    "auth",
    "quota",
    "rate_limit",
    "overloaded",
    "bad_request",
    "context_too_long",
    "not_found",
    "timed_out",
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_survives_the_wire(kind: FailureKind) -> None:
    status, body = ANTHROPIC.encode_error(Failure(kind, "x", request_id="req_1"))
    failure = ANTHROPIC.decode_error(status, {}, json.dumps(body).encode())
    assert (failure.kind, failure.request_id) == (kind, "req_1")
