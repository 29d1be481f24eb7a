"""Error bodies in every shape that servers send, read into a `Failure`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from thinkwire.errors import Failure, FailureKind, MalformedInput
from thinkwire.jsonvalue import JsonObject, parse
from thinkwire.wire import retry_after

_BODY_KEPT = 20_000
_TEXT_KEPT = 500
_DEPTH = 4
_JSON_START = re.compile(r"\{\s*\"|\[\s*\{\s*\"")
_ERROR_FIELDS = frozenset(("error", "message", "detail"))
_json = json.JSONDecoder()

_KIND_BY_STATUS: dict[int, FailureKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    408: "timed_out",
    413: "context_too_long",
    429: "rate_limit",
    499: "connection_lost",
    504: "timed_out",
    524: "timed_out",
}

_KIND_BY_CODE: dict[str, FailureKind] = {
    "authentication": "auth",
    "authentication_error": "auth",
    "billing_error": "quota",
    "content_policy_violation": "refused",
    "context_length_exceeded": "context_too_long",
    "credit_balance_exhausted": "quota",
    "deadline_exceeded": "timed_out",
    "enforced_spend_limit_reached": "quota",
    "insufficient_quota": "quota",
    "internal": "overloaded",
    "internal_server_error": "overloaded",
    "invalid_api_key": "auth",
    "invalid_argument": "bad_request",
    "invalid_request": "bad_request",
    "invalid_request_error": "bad_request",
    "model_context_window_exceeded": "context_too_long",
    "model_not_found": "not_found",
    "not_found": "not_found",
    "not_found_error": "not_found",
    "overloaded_error": "overloaded",
    "payment_required": "quota",
    "permission_denied": "auth",
    "permission_error": "auth",
    "provider_overloaded": "overloaded",
    "provider_unavailable": "overloaded",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "refusal": "refused",
    "request_too_large": "bad_request",
    "resource_exhausted": "rate_limit",
    "server": "overloaded",
    "server_error": "overloaded",
    "server_is_overloaded": "overloaded",
    "service_unavailable_error": "overloaded",
    "slow_down": "rate_limit",
    "timeout": "timed_out",
    "timeout_error": "timed_out",
    "unauthenticated": "auth",
    "unavailable": "overloaded",
    "api_error": "overloaded",
    "invalid_prompt": "refused",
    "bio_policy": "refused",
    "misalignment_policy_violation": "refused",
}

_OVERFLOW = re.compile(
    "|".join(
        (
            r"prompt is too long",
            r"exceeds the context window",
            r"context window exceeds limit",
            r"context window exceeded",
            r"maximum context length",
            r"input token count.{0,40}exceeds the maximum",
            r"maximum prompt length is \d+",
            r"reduce the length of the messages",
            r"longer than the model's context length",
            r"exceeds the limit of \d+",
            r"exceeds the available context size",
            r"greater than the context length",
            r"exceeded model token limit",
            r"too large for model with \d+",
            r"prompt too long",
            r"prompt exceeds max length",
            r"range of input length should be",
            r"input is too long for requested model",
        )
    ),
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<(script|style).*?</\1>|<[^>]+>", re.DOTALL)
_THROTTLED = re.compile(r"too many tokens, please wait|throttl", re.IGNORECASE)
_BAD_KEY = re.compile(
    r"api[ _]key (not valid|provided|is invalid)|invalid api[ _-]?key|API_KEY_INVALID", re.IGNORECASE
)
_NO_CREDIT = re.compile(
    r"credit balance is too low|insufficient (balance|credit)|exceeded your monthly", re.IGNORECASE
)

_POLICY = re.compile(
    r"usage guidelines|content policy|safety system|requires moderation|was flagged", re.IGNORECASE
)


def decode_error(status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """A failed HTTP answer, whatever its body is: JSON of any vendor, SSE-framed, HTML, text, nothing."""
    lowered = {name.lower(): value for name, value in headers.items()}
    value = _body_value(body)
    failure = failure_from(value, status=status)
    return msgspec.structs.replace(
        failure,
        request_id=failure.request_id or _first(lowered, "request-id", "x-request-id", "x-goog-request-id"),
        retry_after=failure.retry_after if (delay := retry_after.read_headers(lowered)) is None else delay,
    )


def failure_from(value: Any, *, status: int | None = None) -> Failure:
    """A parsed error body, or an error found inside a stream, as a `Failure`."""
    value = value[0] if isinstance(value, list) and value else value
    layers = _layers(value)
    message = ": ".join(dict.fromkeys(filter(None, (layer.text for layer in layers))))
    codes = _all_codes(layers)
    if status is None:
        status = next((code for code in map(_status, codes) if code is not None), None)
    outer, inner, _ = layers[0]
    return Failure(
        kind=_classify(status, codes, message),
        message=message or f"{f'HTTP {status}' if status else 'an error'} with no explanation",
        status=status,
        code=next((code for code in codes if _status(code) is None), codes[0] if codes else None),
        param=next(filter(None, map(_param, reversed(layers))), None),
        request_id=outer.get("request_id") if isinstance(outer.get("request_id"), str) else None,
        retry_after=_body_delay(inner),
        body=value,
    )


class _Layer(NamedTuple):
    """One error object: the body's own, or one of an upstream server that is nested in it."""

    outer: JsonObject
    inner: JsonObject
    text: str


def _layers(value: Any) -> list[_Layer]:
    """The error and the upstream errors nested in it, outermost first, at most `_DEPTH`."""
    layers: list[_Layer] = []
    while value is not None and len(layers) < _DEPTH:
        value = value[0] if isinstance(value, list) and value else value
        outer: JsonObject = value if isinstance(value, dict) else {}
        error = outer.get("error")
        inner = error if isinstance(error, dict) else outer
        text = _message(outer, inner, value)
        nested = _nested_value(outer, inner)
        if nested is None:
            text, nested = _split_json(text)
        layers.append(_Layer(outer, inner, text))
        value = nested
    return layers or [_Layer({}, {}, "")]


def _nested_value(outer: JsonObject, inner: JsonObject) -> Any:
    """What a relay says that its own upstream answered; None where it says nothing."""
    metadata = inner.get("metadata")
    detail = outer.get("detail")
    for found in (
        inner.get("upstream_error"),
        outer.get("upstream_error"),
        metadata.get("raw") if isinstance(metadata, dict) else None,
        detail if isinstance(detail, dict) else None,
    ):
        if isinstance(found, dict) and found:
            return found
        if isinstance(found, str) and found:
            try:
                return parse(found)
            except MalformedInput:
                return found[:_TEXT_KEPT]
    return None


def _split_json(text: str) -> tuple[str, Any]:
    """A message and the error object that is written into it as JSON; None where there is none."""
    found = _JSON_START.search(text)
    if found is None:
        return text, None
    try:
        value, _ = _json.raw_decode(text, found.start())
    except (ValueError, RecursionError):
        return text, None
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict) or first.keys().isdisjoint(_ERROR_FIELDS):
        return text, None
    return text[: found.start()].rstrip(" :-"), first


def _all_codes(layers: list[_Layer]) -> list[str]:
    """The codes of all layers: a router that classifies errors itself first, else the innermost first."""
    ordered = layers if "metadata" in layers[0].inner else layers[::-1]
    return [code for layer in ordered for code in _codes(layer.outer, layer.inner)]


def _param(layer: _Layer) -> str | None:
    """The path of the field that an error names in a field of its own."""
    for found in (layer.inner.get("param"), layer.outer.get("param")):
        if isinstance(found, str) and found:
            return found
    detail = layer.outer.get("detail")
    if isinstance(detail, list) and len(detail) == 1 and isinstance(detail[0], dict):
        return ".".join(_steps(detail[0]))
    return None


def _body_value(body: bytes) -> Any:
    text = body[:_BODY_KEPT].decode("utf-8", "replace").strip()
    try:
        return parse(body)
    except MalformedInput:
        pass
    framed = re.search(r"^data:\s*(\{.*\})\s*$", text, re.MULTILINE)
    if framed:
        try:
            return parse(framed[1])
        except MalformedInput:
            pass
    return text


def _message(outer: JsonObject, inner: JsonObject, value: Any) -> str:
    for found in (inner.get("message"), outer.get("error"), outer.get("message"), outer.get("detail")):
        if isinstance(found, str) and found:
            return found
        if isinstance(found, list) and found:
            return "; ".join(_detail(item) for item in found)
    if isinstance(value, str):
        return " ".join(_MARKUP.sub(" ", value).split())[:500]
    return ""


def _detail(item: Any) -> str:
    """One of the complaints that FastAPI lists."""
    if isinstance(item, str):
        return item
    if not isinstance(item, dict):
        return ""
    steps = _steps(item)
    words = item.get("msg") if isinstance(item.get("msg"), str) else ""
    return f"{'.'.join(steps)}: {words}" if steps else f"{words}"


def _steps(item: JsonObject) -> list[str]:
    place = item.get("loc")
    return [str(step) for step in place if isinstance(step, (str, int))] if isinstance(place, list) else []


def _codes(outer: JsonObject, inner: JsonObject) -> list[str]:
    """Everything that names the kind of error, most telling first."""
    details = inner.get("details")
    metadata = inner.get("metadata")
    found = [
        details.get("error_code") if isinstance(details, dict) else None,
        metadata.get("error_type") if isinstance(metadata, dict) else None,
        inner.get("status"),
        inner.get("code"),
        inner.get("type"),
        outer.get("code"),
        outer.get("error_type"),
    ]
    return [
        str(code)
        for code in found
        if isinstance(code, (str, int)) and not isinstance(code, bool) and code != ""
    ]


def _status(code: str) -> int | None:
    return int(code) if re.fullmatch(r"[45]\d\d", code) else None


def _classify(status: int | None, codes: list[str], words: str) -> FailureKind:
    if _OVERFLOW.search(words) and not _THROTTLED.search(words):
        return "context_too_long"
    if status == 402 or _NO_CREDIT.search(words):
        return "quota"
    if _BAD_KEY.search(words):
        return "auth"
    if _POLICY.search(words):
        return "refused"
    by_code = next((_KIND_BY_CODE[code.lower()] for code in codes if code.lower() in _KIND_BY_CODE), None)
    if by_code is not None and (by_code != "bad_request" or status is None or status == 413):
        return by_code
    if status is None:
        return "protocol"
    if status in _KIND_BY_STATUS:
        return _KIND_BY_STATUS[status]
    return "bad_request" if status < 500 else "overloaded"


def _first(headers: Mapping[str, str], *names: str) -> str | None:
    return next((headers[name] for name in names if headers.get(name)), None)


def _body_delay(inner: JsonObject) -> float | None:
    """Google's RetryInfo, as `"37s"`."""
    details = inner.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return retry_after.read_value(delay[:-1])
    return None
