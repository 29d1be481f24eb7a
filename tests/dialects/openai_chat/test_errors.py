"""Failures as a server of this dialect tells them."""

from __future__ import annotations

from typing import get_args

import pytest

from thinkwire.dialects.openai_chat import OPENAI_CHAT
from thinkwire.errors import Failure, FailureKind
from thinkwire.jsonvalue import dump

LOST = {"connection_lost": "overloaded", "protocol": "overloaded"}
"""Kinds that a client of ours can only see as a broken server."""


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_a_client_sees_the_same_kind_of_failure(kind: FailureKind) -> None:
    status, body = OPENAI_CHAT.encode_error(Failure(kind, "boom", param="x"))
    seen = OPENAI_CHAT.decode_error(status, {}, dump(body))
    assert seen.kind == LOST.get(kind, kind)
    assert (seen.message, seen.param, seen.status) == ("boom", "x", status)
    assert body["error"].keys() == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (Failure("bad_request", "x", status=422), 422, None),
        (Failure("overloaded", "x", status=529), 529, "server_is_overloaded"),
        (Failure("overloaded", "x", status=200), 503, "server_is_overloaded"),
        (Failure("quota", "x", status=402), 402, "insufficient_quota"),
        (Failure("not_found", "x", code="no_such_model"), 404, "no_such_model"),
    ],
)
def test_status_and_code_stay_where_they_can(failure: Failure, status: int, code: str | None) -> None:
    answered, body = OPENAI_CHAT.encode_error(failure)
    assert (answered, body["error"]["code"]) == (status, code)
