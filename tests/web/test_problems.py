"""Errors as browsers get them."""

from __future__ import annotations

import pytest

from thinkwire.store import StoreFailed
from thinkwire.web.errors import failure_of, told

PRIVATE = "the database postgresql://anna@db.internal/store: connection to 10.0.0.5 refused"


def test_an_error_of_the_database_is_in_the_log_and_not_in_the_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    status, body = told(StoreFailed(PRIVATE))
    assert (status, body["error"]["kind"], body["error"]["advice"]) == (503, "store", "retry")
    for text in (str(body), failure_of(StoreFailed(PRIVATE)).message):
        assert "log" in text
        assert not [word for word in ("anna", "db.internal", "store:", "10.0.0.5") if word in text]
    assert PRIVATE in caplog.text
