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
from thinkwire.gateway.config.gateway_config import Logging
from thinkwire.gateway.telemetry.log_writer import LineWriter
from thinkwire.gateway.telemetry.record import MOST_KINDS, RequestLabels, RequestRecord
from thinkwire.jsonvalue import ascii_json, dump, dump_text, parse
from thinkwire.usage import Usage

LONGEST = 2_000
"""Letters of one message."""
LONGEST_CONTENT = 64 * 1024
HIDDEN = "[hidden]"

_SECRETS = re.compile(
    r"(?i:\bbearer\s+[^\s\"',]+)"
    r"|(?i:\b(?:x-api-key|x-goog-api-key|authorization|api[_-]?key|access[_-]token|password|secret)"
    r"[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?[^\s\"',&]+)"
    r"|(?<=[?&])(?i:key|token)=[^&\s]+"
    r"|(?<=://)[^/\s@]+@"
    r"|\b(?:tw_|sk-|sk_|gsk_|xai-|csk-|fw_|tgp_|r8_|hf_)[\w-]{8,}"
    r"|\bAIza[\w-]{20,}"
    r"|[A-Za-z0-9+/_=-]{160,}"
)
"""What looks like a key, and any run of letters that can only be opaque data."""

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What would move a terminal's cursor or break a line."""

_SEALED = frozenset({"signature", "encrypted_content", "thoughtSignature", "thought_signature", "data"})

_encode = msgspec.json.Encoder().encode
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


def log_request(record: RequestRecord) -> None:
    """The one line of a finished request; past `logging`, where that would only come to our own handler."""
    if not _requests.isEnabledFor(logging.INFO):
        return
    now = time.time()
    writer = _writer()
    if writer is not None and isinstance(writer.formatter, _Lines):
        writer.put(writer.formatter.of_request, record, now)
    else:
        message = _summary(record, _said(record.kind))
        _requests.info("%s", message, extra={"fields": _fields(record, now, message)})


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
    """The line of a request, in the order of its fields."""

    id: str
    tenant: str | None
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
    cost_estimated: bool
    notes: tuple[str, ...]
    asked: str
    time: str
    level: str
    logger: str
    message: str


_UNKNOWN = Usage()


def _line(it: RequestRecord, now: float, message: str) -> _Line:
    """A record as a line tells it."""
    kind = it.kind
    return _Line(
        id=it.id,
        tenant=kind.tenant,
        dialect=kind.dialect,
        operation=kind.operation,
        provider=kind.provider,
        model=kind.model,
        status=kind.status,
        failure=kind.failure,
        client_left=kind.client_left,
        streamed=kind.streamed,
        passed_through=kind.passed_through,
        requested=kind.requested,
        effective=kind.effective,
        finish=kind.finish,
        restored=it.restored,
        ms=round(it.ms, 1),
        first_ms=None if it.first_ms is None else round(it.first_ms, 1),
        tokens=_tokens(it.usage or _UNKNOWN),
        cost=None if it.cost is None else round(it.cost, 8),
        cost_estimated=kind.cost_estimated,
        notes=kind.notes,
        asked=kind.asked[:200],
        time=_time(now),
        level="info",
        logger=_requests.name,
        message=message,
    )


def _fields(it: RequestRecord, now: float, message: str) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(_line(it, now, message))
    return fields


def _tokens(usage: Usage) -> _Tokens:
    return _Tokens(
        usage.input_uncached,
        usage.cache_read,
        usage.cache_write,
        usage.input_total,
        usage.output_visible,
        usage.output_reasoning,
        usage.output_total,
    )


def _summary(record: RequestRecord, said: str) -> str:
    return f"{record.kind.status} {said} in {round(record.ms)} ms"


def _said(kind: RequestLabels) -> str:
    by = f"{kind.provider}/{kind.model}" if kind.model else "nobody"
    return f"{kind.asked[:200] or '-'} by {by}"


@lru_cache(maxsize=MOST_KINDS)
def _said_if_harmless(kind: RequestLabels) -> str | None:
    """The words of a summary, if nothing that others had a hand in looks like a secret or is no plain text,
    by itself or in the summary. Requests say the same again and again, and the search costs more than a line.
    """
    said = _said(kind)
    others = (kind.operation, kind.tenant, kind.dialect, kind.failure, kind.requested, kind.effective)
    texts = " ".join([said, *map(str, others), str(kind.finish), *kind.notes, str(kind.provider)])
    harmless = texts.isprintable() and len(texts) <= LONGEST // 2 and _SECRETS.search(texts) is None
    return said if harmless else None


_HOLE = "\0"
"""Stands in no JSON by itself."""


@lru_cache(maxsize=MOST_KINDS)
def _ready_made(kind: RequestLabels) -> tuple[str, ...] | None:
    """The JSON line of requests of a kind that has nothing to hide, in pieces: what differs goes between."""
    said = _said_if_harmless(kind)
    if said is None:
        return None
    hole, quoted = msgspec.Raw(_HOLE.encode()), msgspec.Raw(f'"{_HOLE}"'.encode())
    message = dump(f"{kind.status} {said} in ")[:-1] + f'{_HOLE} ms"'.encode()
    line = msgspec.structs.replace(
        _line(RequestRecord("", 0.0, kind, 0.0), 0.0, ""),
        **{"id": quoted, "restored": hole, "ms": hole, "first_ms": hole, "tokens": hole, "cost": hole},
        **{"time": quoted, "message": msgspec.Raw(message)},
    )
    return tuple(ascii_json(line).split(_HOLE))


class _Lines(logging.Formatter):
    """What a line looks like."""

    def of_request(self, record: RequestRecord, now: float) -> str:
        """The line of a request; here as `logging` would have it made, as if it had been told."""
        message = _summary(record, _said(record.kind))
        told = {"name": _requests.name, "levelname": "INFO", "msg": message, "created": now}
        return self.format(logging.makeLogRecord(told | {"fields": _fields(record, now, message)}))


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

    def of_request(self, record: RequestRecord, now: float) -> str:
        pieces = _ready_made(record.kind)
        if pieces is None:
            return super().of_request(record, now)
        a, b, c, d, e, f, g, h, i = pieces
        ms, first, cost = record.ms, record.first_ms, record.cost
        tokens = str(_encode(_tokens(record.usage or _UNKNOWN)), "ascii")
        first_ms = "null" if first is None else f"{first:.1f}"
        dollars = "null" if cost is None else str(_encode(round(cost, 8)), "ascii")
        return (
            f"{a}{record.id}{b}{record.restored}{c}{ms:.1f}{d}{first_ms}{e}{tokens}{f}{dollars}"
            f"{g}{_time(now)}{h}{round(ms)}{i}"
        )


class TextLines(_Lines):
    """The same for people: one line, without the fields."""

    def format(self, record: logging.LogRecord) -> str:
        message = _on_one_line(redacted(record.getMessage())[:LONGEST])
        if record.exc_info:
            message += "\n" + redacted(self.formatException(record.exc_info))[-4 * LONGEST :]
        return f"{_time(record.created)} {record.levelname.lower()} {message}"

    def of_request(self, record: RequestRecord, now: float) -> str:
        said = _said_if_harmless(record.kind)
        if said is None:
            return super().of_request(record, now)
        return f"{_time(now)} info {_summary(record, said)}"


def _on_one_line(message: str) -> str:
    return message if message.isprintable() else _UNSEEN.sub(" ", message.replace("\n", " | "))


_THOUSANDTHS = [f"{number:03d}" for number in range(1000)]


def _time(seconds: float) -> str:
    whole = int(seconds)
    return f"{_second(whole)}.{_THOUSANDTHS[int((seconds - whole) * 1000)]}+00:00"


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
