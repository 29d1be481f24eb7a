"""What the gateway itself says: errors in the client's own dialect and with the right status, and headers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from thinkwire import dialects
from thinkwire.client.prepare import PreparedRequest
from thinkwire.errors import BodyRejected, ConfigError, Failure, FailureKind, ProviderError, ThinkwireError
from thinkwire.gateway.auth.keys import LOCAL, Tenant
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import RouteChoice
from thinkwire.gateway.http.headers import HeaderPairs
from thinkwire.gateway.telemetry.logs import redacted
from thinkwire.jsonvalue import JsonObject, dump
from thinkwire.notes import Note
from thinkwire.reasoning.feedback import feedback
from thinkwire.wire.retry_after import header_value

JSON: HeaderPairs = [(b"content-type", b"application/json")]
STREAM: HeaderPairs = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]

_OWN_STATUS = frozenset({403, 404, 405, 408, 413, 415, 426, 431})
"""What the dialects have no word of their own for, or say with another status."""


def failure_of(error: ThinkwireError) -> Failure:
    """An error of ours as a failure that every dialect can tell."""
    if isinstance(error, Refusal):
        return error.failure
    if isinstance(error, ProviderError):
        return error.failure
    if isinstance(error, BodyRejected):
        kind: FailureKind = "overloaded" if error.status == 503 else "bad_request"
        return Failure(kind, str(error), status=error.status, retry_after=error.retry_after)
    if isinstance(error, ConfigError):
        return Failure("not_found", str(error), status=404)
    return Failure("bad_request", str(error), status=400)


def in_our_words(failure: Failure) -> Failure:
    """A provider's failure as the gateway tells it: without secrets, and clear about whose key it was."""
    failure = without_secrets(failure)
    if failure.kind not in ("auth", "quota") or failure.provider is None:
        return failure
    message = f"{failure.provider} does not serve the gateway's own key: {failure.message}"
    return msgspec.structs.replace(failure, message=message)


def error_answer(dialect: str, failure: Failure) -> tuple[int, HeaderPairs, bytes]:
    """Status, headers and body."""
    status, body = dialects.get(dialect or "openai-chat").encode_error(failure)
    if failure.status in _OWN_STATUS and failure.provider is None:
        status = failure.status or status
        if dialect == "gemini":
            body["error"]["code"] = status
    headers = list(JSON)
    if (wait := header_value(failure.retry_after)) is not None:
        headers.append((b"retry-after", wait.encode()))
    return status, headers, dump(body)


def without_secrets(failure: Failure) -> Failure:
    message = redacted(failure.message)
    body = None if failure.kind == "auth" else _cleaned(failure.body)
    return msgspec.structs.replace(failure, message=message, body=body)


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return redacted(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {key: _cleaned(item) for key, item in value.items()}
    return value


def explained(
    prepared: PreparedRequest, notes: Iterable[Note], routed: RouteChoice, tenant: Tenant
) -> JsonObject:
    """What would be sent, and why: as `thinkwire explain --json` tells it.

    Where keys were given out, their holders are not told which host it is.
    """
    plan = prepared.plan
    endpoint = prepared.url if tenant.id == LOCAL.id else urlsplit(prepared.url).path
    return {
        "asked": routed.asked,
        "fallbacks": routed.names[1:],
        "provider": prepared.provider.name,
        "model": prepared.model,
        "dialect": prepared.dialect.name,
        "endpoint": endpoint,
        "requested": plan.requested,
        "effective": plan.effective,
        "outcome": plan.outcome,
        "controls": plan.controls,
        "notes": [{"code": note.code, "text": note.message} for note in (*notes, *prepared.notes)],
        "headers": plan.headers,
        "body": prepared.body,
        "feedback": feedback(plan),
    }
