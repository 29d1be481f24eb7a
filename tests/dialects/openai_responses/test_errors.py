"""Failures in the vendor's words."""

from __future__ import annotations

from typing import get_args

import pytest

from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
from thinkwire.errors import Failure, FailureKind
from thinkwire.jsonvalue import dump

MELTED = {"timed_out": "overloaded", "connection_lost": "overloaded", "protocol": "overloaded"}
"""Three kinds that the wire does not tell apart."""


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_a_failure_is_read_as_it_was_written(kind: FailureKind) -> None:
    status, body = OPENAI_RESPONSES.encode_error(Failure(kind, "No, because.", param="input"))
    failure = OPENAI_RESPONSES.decode_error(status, {}, dump(body))
    assert failure.kind == MELTED.get(kind, kind)
    assert (failure.message, failure.param, failure.status) == ("No, because.", "input", status)


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (Failure("overloaded", "m", status=529, code="overloaded_error"), 503, "server_is_overloaded"),
        (Failure("overloaded", "m", status=500, code="server_error"), 500, "server_error"),
        (Failure("auth", "m", status=403), 403, "invalid_api_key"),
        (Failure("bad_request", "m", status=422), 422, None),
        (Failure("bad_request", "m", code="invalid_encrypted_content"), 400, "invalid_encrypted_content"),
        (Failure("refused", "m", status=200, code="bio_policy"), 400, "bio_policy"),
        (Failure("rate_limit", "m", code="RESOURCE_EXHAUSTED"), 429, "rate_limit_exceeded"),
    ],
    ids=str,
)
def test_codes_of_others_are_translated_and_the_vendors_own_are_kept(
    failure: Failure, status: int, code: str | None
) -> None:
    found, body = OPENAI_RESPONSES.encode_error(failure)
    assert (found, body["error"]["code"]) == (status, code)
