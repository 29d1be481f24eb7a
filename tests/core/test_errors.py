"""Every failure becomes an exception of its kind, and tells the caller what to do."""

from __future__ import annotations

from typing import get_args

import pytest

import thinkwire
from thinkwire import errors
from thinkwire.errors import Failure, FailureKind
from thinkwire.notes import NOTE_CODES

ADVICE = {
    "auth": "fix_key",
    "quota": "fix_key",
    "rate_limit": "retry",
    "overloaded": "retry",
    "bad_request": "fix_request",
    "context_too_long": "fix_request",
    "not_found": "fix_request",
    "refused": "fix_request",
    "connection_lost": "retry",
    "timed_out": "retry",
    "protocol": "report",
}


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_every_kind_has_an_exception_and_advice(kind: FailureKind) -> None:
    failure = Failure(kind, "what happened")
    error = failure.as_error()
    assert error.failure is failure
    assert str(error) == "what happened"
    assert error.advice == failure.advice == ADVICE[kind]


def test_the_tree_is_as_drawn() -> None:
    assert isinstance(Failure("context_too_long", "").as_error(), errors.BadRequest)
    assert isinstance(Failure("timed_out", "").as_error(), errors.ConnectionLost)
    assert not issubclass(errors.ConfigError, errors.ProviderError)
    drawn = errors.__doc__ or ""
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.ThinkwireError):
            assert name in drawn


def test_malformed_input_names_the_place() -> None:
    error = errors.MalformedInput("expected a string", path="messages[2].text", dialect="anthropic")
    assert (str(error), error.path) == ("messages[2].text: expected a string", "messages[2].text")


def test_note_codes_are_unique_and_dotted() -> None:
    assert len(set(NOTE_CODES)) == len(NOTE_CODES)
    assert all(code.count(".") == 1 and code == code.lower() for code in NOTE_CODES)


def test_every_public_name_is_there() -> None:
    for name in thinkwire.__all__:
        assert getattr(thinkwire, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = thinkwire.nothing
