"""Log lines: one JSON object each, on standard error, without content and without secrets."""

from __future__ import annotations

import datetime
import logging
import re
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import msgspec

from thinkwire.errors import MalformedInput
from thinkwire.gateway.config import Logging
from thinkwire.gateway.headers import ascii_json
from thinkwire.gateway.log_writer import LineWriter
from thinkwire.gateway.record import Record
from thinkwire.jsonvalue import dump_text, parse
from thinkwire.usage import Usage

LONGEST = 2_000
"""Letters of one message."""
LONGEST_CONTENT = 64 * 1024
HIDDEN = "[hidden]"

_SECRETS = re.compile(
    r"(?i:\bbearer\s+[^\s\"',]+)"
    r"|(?i:\b(?:x-api-key|x-goog-api-key|authorization|api[_-]?key|access[_-]token|password|secret)"
    r"[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?[^\s\"',&]+)"
    r"|(?<=[?&])(?i:key)=[^&\s]+"
    r"|(?<=://)[^/\s@]+@"
    r"|\b(?:tw_|sk-|sk_|gsk_|xai-|csk-|fw_|tgp_|r8_|hf_)[\w-]{8,}"
    r"|\bAIza[\w-]{20,}"
    r"|[A-Za-z0-9+/_=-]{160,}"
)
"""What looks like a key, and any run of letters that can only be opaque data."""

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What would move a terminal's cursor or break a line."""

_SEALED = frozenset({"signature", "encrypted_content", "thoughtSignature", "thought_signature", "data"})

_ours = logging.getLogger("thinkwire")
_gateway = logging.getLogger("thinkwire.gateway")
_requests = logging.getLogger("thinkwire.gateway.request")
_contents = logging.getLogger("thinkwire.gateway.content")


def redacted(text: str) -> str:
    """The text without what looks like a secret."""
    return _SECRETS.sub(HIDDEN, text)


def set_up(settings: Logging) -> logging.Handler:
    """Sends the lines of the gateway and of its server to standard error; gives back the handler."""
    handler = LineWriter(sys.stderr)
    handler.setFormatter(JsonLines() if settings.format == "json" else TextLines())
    for name in ("thinkwire", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(settings.level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
    # The server's own line for each request shows addresses with their queries.
    logging.getLogger("uvicorn.access").disabled = True
    _contents.disabled = not settings.content
    return handler


def gathering() -> AbstractContextManager[None]:
    """While the block runs, the lines of requests may wait for each other a moment."""
    writer = _writer()
    return nullcontext() if writer is None else writer.gathering()


def log_request(record: Record) -> None:
    """The one line of a finished request; past `logging`, where that would only come to our own handler."""
    if not _requests.isEnabledFor(logging.INFO):
        return
    now = time.time()
    writer = _writer()
    if writer is not None and isinstance(writer.formatter, _Lines):
        line = writer.formatter.of_request(record, now)
        if line is not None:
            writer.put(line)
            return
    message = _summary(record, _said(record.asked, record.provider, record.model))
    _requests.info("%s", message, extra={"fields": msgspec.to_builtins(_line(record, now, message))})


def _writer() -> LineWriter | None:
    """Our handler, if it is the only one that a request's line would reach."""
    if (
        len(_ours.handlers) != 1
        or _ours.propagate
        or _gateway.handlers
        or _requests.handlers
        or _requests.filters
        or not (_gateway.propagate and _requests.propagate)
    ):
        return None
    handler = _ours.handlers[0]
    if type(handler) is not LineWriter or handler.level > logging.INFO or handler.filters:
        return None
    return handler


def log_content(request_id: str, what: str, body: bytes) -> None:
    """A body, where `content = true`: without seals, keys, and what is beyond a bound."""
    if _contents.disabled or not _contents.isEnabledFor(logging.INFO):
        return
    try:
        shown: Any = _unsealed(parse(body))
    except MalformedInput:
        shown = redacted(body[:LONGEST_CONTENT].decode("utf-8", "replace"))
    text = redacted(dump_text(shown))[:LONGEST_CONTENT]
    _contents.info("%s", what, extra={"fields": {"id": request_id, "content": text}})


class _Tokens(msgspec.Struct):
    input_uncached: int | None
    cache_read: int | None
    cache_write: int | None
    input_total: int | None
    output_visible: int | None
    output_reasoning: int | None
    output_total: int | None


class _Line(msgspec.Struct):
    """The line of a request, in the order of its fields. Made from values in that order: names cost more."""

    id: str
    tenant: str
    dialect: str
    operation: str
    provider: str | None
    model: str | None
    status: int
    failure: str | None
    client_left: bool
    streamed: bool
    passed_through: bool
    requested: str | None
    effective: str | None
    finish: str | None
    restored: int
    ms: float
    first_ms: float | None
    tokens: _Tokens
    cost: float | None
    notes: tuple[str, ...]
    asked: str
    time: str
    level: str
    logger: str
    message: str


_UNKNOWN = Usage()


def _line(it: Record, now: float, message: str) -> _Line:
    """A record as a line tells it."""
    usage = it.usage or _UNKNOWN
    return _Line(
        it.id,
        it.tenant,
        it.dialect,
        it.operation,
        it.provider,
        it.model,
        it.status,
        it.failure,
        it.client_left,
        it.streamed,
        it.passed_through,
        it.requested,
        it.effective,
        it.finish,
        it.restored,
        round(it.ms, 1),
        None if it.first_ms is None else round(it.first_ms, 1),
        _Tokens(
            usage.input_uncached,
            usage.cache_read,
            usage.cache_write,
            usage.input_total,
            usage.output_visible,
            usage.output_reasoning,
            usage.output_total,
        ),
        None if it.cost is None else round(it.cost, 8),
        it.notes,
        it.asked[:200],
        _time(now),
        "info",
        _requests.name,
        message,
    )


def _summary(record: Record, said: str) -> str:
    return f"{record.status} {said} in {record.ms:.0f} ms"


def _said(asked: str, provider: str | None, model: str | None) -> str:
    return f"{asked[:200] or '-'} by {f'{provider}/{model}' if model else 'nobody'}"


def _harmless_summary(record: Record) -> str | None:
    """The summary, if nothing that others had a hand in looks like a secret, by itself or in the summary."""
    model = record.model
    if len(record.asked) > LONGEST or (model and len(model) > LONGEST):
        return None
    said = _said_if_harmless(
        *(record.asked, record.provider, model, record.operation, record.tenant, record.dialect),
        *(record.failure, record.requested, record.effective, record.finish, *record.notes),
    )
    return None if said is None else _summary(record, said)[:LONGEST]


@lru_cache(maxsize=1024)
def _said_if_harmless(asked: str, provider: str | None, model: str | None, *others: str | None) -> str | None:
    """Requests say the same again and again, and the search costs more than the rest of a line."""
    said = _said(asked, provider, model)
    texts = "\n".join([said, *map(str, others), str(provider)])
    return said if _SECRETS.search(texts) is None else None


class _Lines(logging.Formatter):
    """What a line looks like."""

    def of_request(self, record: Record, now: float) -> str | None:
        """The line of a request that has nothing to hide; None for any other."""
        raise NotImplementedError


class JsonLines(_Lines):
    """Every line is one JSON object; whatever goes in, no secret comes out."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage())[:LONGEST],
        }
        fields = {name: _clean(value) for name, value in getattr(record, "fields", {}).items()}
        if record.exc_info:
            line["error"] = redacted(self.formatException(record.exc_info))[-4 * LONGEST :]
        return ascii_json(fields | line)

    def of_request(self, record: Record, now: float) -> str | None:
        message = _harmless_summary(record)
        return None if message is None else ascii_json(_line(record, now, message))


class TextLines(_Lines):
    """The same for people: one line, without the fields."""

    def format(self, record: logging.LogRecord) -> str:
        message = _on_one_line(redacted(record.getMessage())[:LONGEST])
        if record.exc_info:
            message += "\n" + redacted(self.formatException(record.exc_info))[-4 * LONGEST :]
        return f"{_time(record.created)} {record.levelname.lower()} {message}"

    def of_request(self, record: Record, now: float) -> str | None:
        message = _harmless_summary(record)
        return None if message is None else f"{_time(now)} info {_on_one_line(message)}"


def _on_one_line(message: str) -> str:
    return message if message.isprintable() else _UNSEEN.sub(" ", message.replace("\n", " | "))


def _time(seconds: float) -> str:
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1000):03d}+00:00"


@lru_cache(maxsize=2)
def _second(whole: int) -> str:
    """Many lines are of the same second."""
    return datetime.datetime.fromtimestamp(whole, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _clean(value: Any) -> Any:
    match value:
        case str():
            return redacted(value)
        case list() | tuple():
            return [_clean(item) for item in value]
        case dict():
            return {name: _clean(item) for name, item in value.items()}
    return value


def _unsealed(value: Any) -> Any:
    match value:
        case list():
            return [_unsealed(item) for item in value]
        case dict():
            return {
                name: HIDDEN if name in _SEALED and isinstance(item, str) else _unsealed(item)
                for name, item in value.items()
            }
    return value
