"""Secrets that were planted everywhere come out nowhere."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.gateway.metrics.records import record
from thinkwire.errors import ConfigError
from thinkwire.gateway.auth.key_cache import KeyCache
from thinkwire.gateway.auth.keys import KeyFile, LastUsed, new_key
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.http.security import check_request
from thinkwire.gateway.telemetry.logs import JsonLines, TextLines, log_content, log_request
from thinkwire.gateway.telemetry.metrics import Metrics
from thinkwire.gateway.telemetry.tracing import Tracing

PLANTED = {
    "access key": new_key(),
    "anthropic": "sk-ant-api03-" + "Qx7" * 30,
    "openai": "sk-proj-" + "Zk9" * 40,
    "google": "AIza" + "Sy8" * 12,
    "groq": "gsk_" + "Pw5" * 16,
    "xai": "xai-" + "Rt4" * 20,
    "seal": "ErUB" + "Kj3+/" * 80,
    "unknown kind": "correct-horse-battery",
}
CARRIERS = [
    "{}",
    "Authorization: Bearer {}",
    "x-api-key: {}",
    "{{'x-goog-api-key': '{}'}}",
    '{{"api_key": "{}"}}',
    "GET /v1beta/models?alt=sse&key={} 200",
    "cannot reach redis://:{}@127.0.0.1:6379/0",
    "password={}",
]


@pytest.fixture(params=[JsonLines, TextLines])
def lines(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(request.param())
    logger = logging.getLogger("thinkwire")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(before)


def recognisable(kind: str, carrier: str) -> bool:
    """A secret of no known form can only be told by what stands around it; a seal by its length."""
    return kind != "unknown kind" or carrier != "{}"


CASES = [(kind, carrier) for kind in PLANTED for carrier in CARRIERS if recognisable(kind, carrier)]


@pytest.mark.parametrize(("kind", "carrier"), CASES)
def test_no_log_line_shows_a_secret(lines: io.StringIO, kind: str, carrier: str) -> None:
    secret = PLANTED[kind]
    text = carrier.format(secret)
    log = logging.getLogger("thinkwire.gateway")
    log.error("refused: %s", text)
    log.error(text.replace("%", "%%"))
    try:
        raise ConfigError(text)
    except ConfigError:
        log.exception("failed")
    log_request(record(asked=text[-200:], model=text, requested=text))
    log_content("req_1", "request", text.encode())
    assert len(lines.getvalue()) > 300
    assert hidden(secret, lines.getvalue())


def hidden(secret: str, text: str) -> bool:
    """Neither the secret nor a long piece of it is in the text."""
    size = min(len(secret), 16)
    return not any(secret[at : at + size] in text for at in range(0, len(secret) - size + 1))


@pytest.mark.parametrize("kind", [kind for kind in PLANTED if kind != "unknown kind"])
def test_neither_metrics_nor_spans_show_a_secret(kind: str) -> None:
    secret = PLANTED[kind]
    spans, tracers, metrics = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False), Metrics()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    planted = record(asked=secret, model=secret, response_id=secret)
    metrics.observe(planted)
    metrics.observe(record(notes=(secret,)))
    Tracing(tracer_provider=tracers).observe(planted)
    (span,) = spans.get_finished_spans()
    assert hidden(secret, span.to_json())
    assert hidden(secret, metrics.expose()[0].decode())
    tracers.shutdown()


@pytest.mark.anyio
async def test_no_refusal_shows_what_was_presented(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "access.toml")
    file.create("ci")
    ring = KeyCache(file, loopback=True, used=LastUsed(tmp_path / "used.json"))
    for secret in PLANTED.values():
        for headers, query in (
            ([(b"host", secret.encode())], b""),
            ([(b"host", b"localhost"), (b"origin", secret.encode())], b""),
            ([(b"host", b"localhost")], b"key=" + secret.encode()),
            ([(b"host", b"localhost"), (b"content-length", secret.encode())], b""),
        ):
            with pytest.raises(Refusal) as refusal:
                check_request({"headers": headers, "query_string": query}, GatewayConfig())
            assert secret not in str(refusal.value) + repr(refusal.value.failure)
        with pytest.raises(Refusal) as refusal:
            ring.authenticate(secret)
        assert secret not in str(refusal.value) + repr(refusal.value.failure)
