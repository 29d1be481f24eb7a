"""Errors as the browser gets them: a status, and `{"error": {"kind", "message", "advice"}}`."""

from __future__ import annotations

import logging
import re
from typing import Any

from thinkwire.errors import (
    BodyRejected,
    ConfigError,
    Failure,
    MalformedInput,
    MissingKey,
    ProviderError,
    ThinkwireError,
)
from thinkwire.providers import default_providers
from thinkwire.session import Busy
from thinkwire.session.formatting import what_to_do
from thinkwire.store import NameTaken, RowNotFound, StoreFailed

_log = logging.getLogger("thinkwire.web")

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_PROVIDER_STATUS = {"rate_limit": 429, "bad_request": 400, "context_too_long": 400, "not_found": 400}


class Problem(ThinkwireError):
    """A request that the server itself does not serve."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        advice: str = "fix_request",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.what_to_do = advice
        self.retry_after = retry_after


def not_there(what: str = "page") -> Problem:
    """The same for what is not there and for what belongs to somebody else."""
    return Problem(404, "not_found", f"there is no such {what}")


def variable_in(message: str) -> str | None:
    """The environment variable that a message names."""
    found = _VARIABLE.search(message)
    return found[0] if found else None


def told(error: ThinkwireError) -> tuple[int, dict[str, Any]]:
    """The status and the body for an error."""
    match error:
        case Problem():
            status, kind, advice = error.status, error.kind, error.what_to_do
        case BodyRejected():
            status, kind, advice = error.status, "request", error.advice
        case ProviderError(failure=failure):
            status, kind, advice = _PROVIDER_STATUS.get(failure.kind, 502), failure.kind, failure.advice
        case _:
            status, kind = _known(error)
            advice = error.advice
    body: dict[str, Any] = {"kind": kind, "message": _message(error), "advice": advice}
    if isinstance(error, MalformedInput):
        body |= {"message": error.message, "path": error.path}
    if isinstance(error, MissingKey):
        body["variable"] = variable_in(str(error))
    after = retry_after(error)
    if after is not None:
        body["retry_after"] = after
    return status, {"error": body}


STORE_FAILED = "the server's database did not do this; try again in a moment (the server's log says why)"


def _message(error: ThinkwireError) -> str:
    """Return an error's text. A database's names its user, host and path, which are not for browsers."""
    if isinstance(error, StoreFailed):
        _log.error("%s", error)
        return STORE_FAILED
    return str(error)


def retry_after(error: ThinkwireError) -> float | None:
    if isinstance(error, ProviderError):
        return error.failure.retry_after
    return error.retry_after if isinstance(error, Problem | BodyRejected) else None


def _known(error: ThinkwireError) -> tuple[int, str]:
    table: tuple[tuple[type[ThinkwireError], int, str], ...] = (
        (RowNotFound, 404, "not_found"),
        (NameTaken, 409, "taken"),
        (StoreFailed, 503, "store"),
        (Busy, 409, "busy"),
        (MissingKey, 400, "missing_key"),
        (MalformedInput, 400, "malformed_input"),
        (ConfigError, 400, "config"),
    )
    return next(
        ((status, kind) for type, status, kind in table if isinstance(error, type)), (400, "unsupported")
    )


def failure_of(error: ThinkwireError) -> Failure:
    """What kept a request from being sent, as a failure that a message can keep."""
    if isinstance(error, ProviderError):
        return error.failure
    if isinstance(error, MissingKey):
        return Failure("auth", str(error), code="missing_key", param=variable_in(str(error)))
    if isinstance(error, StoreFailed):
        return Failure("overloaded", _message(error), code="store")
    return Failure("bad_request", str(error), code="config")


def shown(failure: Failure) -> dict[str, Any]:
    """A failure for people: what was said, and what to do. The provider's raw answer stays here."""
    fields = {
        "kind": failure.code if failure.code in ("missing_key", "config", "store") else failure.kind,
        "message": failure.message,
        "advice": failure.advice,
        "help": None if failure.code in ("missing_key", "config") else what_to_do(failure),
        "provider": failure.provider,
        "status": failure.status,
        "retry_after": failure.retry_after,
        "variable": _variable(failure),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _variable(failure: Failure) -> str | None:
    """Where the key is missing, or where the one is that the provider refused."""
    if failure.code == "missing_key":
        return failure.param
    provider = default_providers().get(failure.provider or "") if failure.kind == "auth" else None
    return provider.keys[0] if provider and provider.keys else None
