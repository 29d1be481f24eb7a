"""What can go wrong, and who can mend it.

    ThinkwireError
    ├── ConfigError            before any request: an unknown model, a wrong setting
    │   └── MissingKey         a provider's key is nowhere to be found
    ├── Unsupported            the model or the dialect cannot do what was asked
    ├── MalformedInput         what a caller gave us cannot be read; `path` names the place
    ├── BodyRejected           a server stopped reading a request body: too slow, too much, or not HTTP
    └── ProviderError          the provider answered badly; `failure` tells what it said
        ├── AuthFailed         the key is missing, wrong or may not do this
        ├── QuotaExhausted     no credit or quota left; waiting does not help
        ├── RateLimited        too many requests; `retry_after` says how long to wait
        ├── Overloaded         the provider is busy or broken
        ├── BadRequest         the provider refused the request
        │   └── ContextTooLong
        ├── NotFound           unknown model, endpoint or stored item
        ├── Refused            the provider declined for reasons of policy
        ├── ConnectionLost     the stream or the connection ended too early
        │   └── TimedOut
        └── ProtocolError      the answer is not in the provider's own language

Failures travel as values (`Failure`) in events, files and stores; `as_error()` makes the exception.
Every error has `advice`, one of `retry`, `fix_request`, `fix_key`, `report`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

Advice = Literal["retry", "fix_request", "fix_key", "report"]

FailureKind = Literal[
    "auth",
    "quota",
    "rate_limit",
    "overloaded",
    "bad_request",
    "context_too_long",
    "not_found",
    "refused",
    "connection_lost",
    "timed_out",
    "protocol",
]


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """A provider's failure as a value: what it said, in its own words, and what kind of trouble it is."""

    kind: FailureKind
    message: str
    status: int | None = None
    code: str | None = None
    """The vendor's own code or error type, e.g. `overloaded_error`, `invalid_encrypted_content`."""
    param: str | None = None
    request_id: str | None = None
    retry_after: float | None = None
    """Seconds, when the provider named a time."""
    provider: str | None = None
    body: Any = None
    """The error body as received (parsed JSON, else text), for whoever must report it."""

    @property
    def advice(self) -> Advice:
        return _ERRORS[self.kind].advice

    def as_error(self) -> ProviderError:
        return _ERRORS[self.kind](self)


class ThinkwireError(Exception):
    """Root of everything thinkwire raises on purpose."""

    advice: ClassVar[Advice] = "report"


class ConfigError(ThinkwireError):
    """Something is missing or wrong in the configuration; nothing was sent."""

    advice: ClassVar[Advice] = "fix_request"


class MissingKey(ConfigError):
    """There is no key for a provider; the message names the variable to set."""

    advice = "fix_key"


class Unsupported(ThinkwireError):
    """The model or dialect cannot do what was asked; the message says what can be done instead."""

    advice = "fix_request"


class MalformedInput(ThinkwireError):
    """Input that cannot be read. `path` names the place, e.g. `messages[2].content[0].text`."""

    advice = "fix_request"

    def __init__(self, message: str, *, path: str = "$", dialect: str | None = None) -> None:
        super().__init__(f"{path}: {message}" if path != "$" else message)
        self.message = message
        self.path = path
        self.dialect = dialect


class BodyRejected(ThinkwireError):
    """A server stopped reading a request; `status` is the answer to it, after which the connection closes."""

    advice: ClassVar[Advice] = "retry"

    def __init__(self, status: int, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class ProviderError(ThinkwireError):
    """A provider's failure, raised. `failure` holds everything that is known about it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.partial: Any = None
        """The `Answer` as far as it had come, when it broke off on the way."""


class AuthFailed(ProviderError):
    advice = "fix_key"


class QuotaExhausted(ProviderError):
    advice = "fix_key"


class RateLimited(ProviderError):
    advice = "retry"


class Overloaded(ProviderError):
    advice = "retry"


class BadRequest(ProviderError):
    advice = "fix_request"


class ContextTooLong(BadRequest):
    pass


class NotFound(ProviderError):
    advice = "fix_request"


class Refused(ProviderError):
    advice = "fix_request"


class ConnectionLost(ProviderError):
    advice = "retry"


class TimedOut(ConnectionLost):
    pass


class ProtocolError(ProviderError):
    """Bytes that are not what the dialect promises; they are kept in `failure.body` up to a bound."""


_ERRORS: dict[str, type[ProviderError]] = {
    "auth": AuthFailed,
    "quota": QuotaExhausted,
    "rate_limit": RateLimited,
    "overloaded": Overloaded,
    "bad_request": BadRequest,
    "context_too_long": ContextTooLong,
    "not_found": NotFound,
    "refused": Refused,
    "connection_lost": ConnectionLost,
    "timed_out": TimedOut,
    "protocol": ProtocolError,
}


def protocol_failure(message: str, *, body: Any = None) -> Failure:
    """The answer broke the rules of its own wire."""
    return Failure(kind="protocol", message=message, body=body)
