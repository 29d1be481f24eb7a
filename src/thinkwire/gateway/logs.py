"""Log lines: one JSON object each, on standard error, without content and without secrets."""

from __future__ import annotations

import datetime
import logging
import re
import sys
from typing import Any

from thinkwire.errors import MalformedInput
from thinkwire.gateway.config import Logging
from thinkwire.gateway.headers import ascii_json
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

_requests = logging.getLogger("thinkwire.gateway.request")
_contents = logging.getLogger("thinkwire.gateway.content")


def redacted(text: str) -> str:
    """The text without what looks like a secret."""
    return _SECRETS.sub(HIDDEN, text)


def set_up(settings: Logging) -> logging.Handler:
    """Sends the lines of the gateway and of its server to standard error; gives back the handler."""
    handler = logging.StreamHandler(sys.stderr)
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


def log_request(record: Record) -> None:
    """The one line of a finished request."""
    if _requests.isEnabledFor(logging.INFO):
        _requests.info("%s", _summary(record), extra={"fields": fields_of(record)})


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


def fields_of(record: Record) -> dict[str, Any]:
    """A record as a line tells it."""
    told = {name: getattr(record, name) for name in _TOLD}
    return told | {
        "ms": round(record.ms, 1),
        "first_ms": None if record.first_ms is None else round(record.first_ms, 1),
        "tokens": _tokens(record.usage or Usage()),
        "cost": None if record.cost is None else round(record.cost, 8),
        "notes": list(record.notes),
        "asked": record.asked[:200],
    }


_TOLD = (
    *("id", "tenant", "dialect", "operation", "provider", "model", "status", "failure", "client_left"),
    *("streamed", "passed_through", "requested", "effective", "finish", "restored"),
)


_BUCKETS = tuple(name for name in Usage.__struct_fields__ if name != "extras")


def _tokens(usage: Usage) -> dict[str, int | None]:
    return {name: getattr(usage, name) for name in _BUCKETS}


def _summary(record: Record) -> str:
    answered = f"{record.provider}/{record.model}" if record.model else "nobody"
    return f"{record.status} {record.asked[:200] or '-'} by {answered} in {record.ms:.0f} ms"


class JsonLines(logging.Formatter):
    """Every line is one JSON object; whatever goes in, no secret comes out."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage())[:LONGEST],
        }
        fields = getattr(record, "fields", {})
        # One search over all texts; most lines have nothing to hide.
        plain = _SECRETS.search("\n".join([text for text in fields.values() if type(text) is str])) is None
        fields = {
            name: value if plain and type(value) is str else _clean(value) for name, value in fields.items()
        }
        if record.exc_info:
            line["error"] = redacted(self.formatException(record.exc_info))[-4 * LONGEST :]
        return ascii_json(fields | line)


class TextLines(logging.Formatter):
    """The same for people: one line, without the fields."""

    def format(self, record: logging.LogRecord) -> str:
        message = _UNSEEN.sub(" ", redacted(record.getMessage())[:LONGEST].replace("\n", " | "))
        if record.exc_info:
            message += "\n" + redacted(self.formatException(record.exc_info))[-4 * LONGEST :]
        return f"{_time(record)} {record.levelname.lower()} {message}"


def _time(record: logging.LogRecord) -> str:
    return datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds")


def _clean(value: Any) -> Any:
    match value:
        case str():
            return redacted(value)
        case list():
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
