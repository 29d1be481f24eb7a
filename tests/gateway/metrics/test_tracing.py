"""OpenTelemetry: spans and measurements by the conventions, with reasoning in them and no content."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tests.gateway.metrics.records import record
from thinkwire.errors import ConfigError
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.config.gateway_config import Tracing as Settings
from thinkwire.gateway.telemetry.tracing import Tracing, open_tracing


class Seen(NamedTuple):
    tracing: Tracing
    spans: InMemorySpanExporter
    reader: InMemoryMetricReader

    def points(self) -> dict[str, list[Any]]:
        data = self.reader.get_metrics_data()
        assert data is not None
        return {
            metric.name: list(metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def seen() -> Iterator[Seen]:
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(shutdown_on_exit=False), MeterProvider([reader], shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    yield Seen(Tracing(tracer_provider=tracers, meter_provider=meters), spans, reader)
    tracers.shutdown()
    meters.shutdown()


def test_an_answer_is_a_span_with_its_thinking(seen: Seen) -> None:
    seen.tracing.observe(record(response_id="msg_1", effective="xhigh"))
    (span,) = seen.spans.get_finished_spans()
    assert (span.name, span.kind) == ("chat claude-opus-5", SpanKind.CLIENT)
    assert span.start_time == 1_800_000_000_250_000_000
    assert span.end_time == span.start_time + 1_500_040_000
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-opus-5",
        "gen_ai.request.stream": True,
        "gen_ai.request.reasoning.level": "xhigh",
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.time_to_first_chunk": 0.25,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.cache_read.input_tokens": 20,
        "gen_ai.usage.cache_creation.input_tokens": 10,
        "gen_ai.usage.reasoning.output_tokens": 20,
        "thinkwire.request.id": "req_1",
        "thinkwire.tenant": "t1",
        "thinkwire.dialect": "openai-chat",
        "thinkwire.asked": "claude-opus-5/high",
        "thinkwire.reasoning.requested": "high",
        "thinkwire.notes": ("thinking.dormant", "sampling.dropped"),
        "thinkwire.cost_usd": 0.0125,
    }


def test_what_is_unknown_is_left_out(seen: Seen) -> None:
    seen.tracing.observe(record(usage=None, cost=None, first_ms=None, effective=None, finish=None))
    (span,) = seen.spans.get_finished_spans()
    assert not any("usage" in name or "cost" in name or "level" in name for name in span.attributes or {})
    assert set(seen.points()) == {"gen_ai.client.operation.duration"}


def test_a_failure_is_an_error_by_its_kind(seen: Seen) -> None:
    seen.tracing.observe(record(failure="overloaded", provider="google", dialect="gemini"))
    (span,) = seen.spans.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.name == "generate_content claude-opus-5"
    attributes = span.attributes or {}
    assert (attributes["error.type"], attributes["gen_ai.provider.name"]) == ("overloaded", "gcp.gemini")


def test_a_span_belongs_to_the_clients_trace(seen: Seen) -> None:
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    seen.tracing.observe(record(trace=f"00-{trace}-{parent}-01"))
    seen.tracing.observe(record(trace="nonsense\r\n"))
    first, second = seen.spans.get_finished_spans()
    assert first.context is not None
    assert first.parent is not None
    assert (f"{first.context.trace_id:032x}", f"{first.parent.span_id:016x}") == (trace, parent)
    assert second.parent is None


def test_tokens_and_times_are_measured(seen: Seen) -> None:
    seen.tracing.observe(record())
    points = seen.points()
    assert points["gen_ai.client.operation.duration"][0].sum == pytest.approx(1.50004)
    assert points["gen_ai.client.operation.time_to_first_chunk"][0].sum == 0.25
    tokens = {
        point.attributes["gen_ai.token.type"]: point.sum for point in points["gen_ai.client.token.usage"]
    }
    assert tokens == {"input": 100, "output": 50}
    assert points["gen_ai.client.inference.usage.reasoning.output_tokens"][0].sum == 20


@pytest.mark.parametrize("changes", [{"operation": "models"}, {"provider": None}])
def test_only_answers_of_models_are_told(seen: Seen, changes: dict[str, Any]) -> None:
    seen.tracing.observe(record(**changes))
    assert seen.spans.get_finished_spans() == ()


def test_tracing_is_off_until_asked_for_and_says_when_nobody_listens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert open_tracing(GatewayConfig()) is None
    with caplog.at_level(logging.WARNING):
        tracing = open_tracing(GatewayConfig(tracing=Settings(enabled=True)))
    assert tracing is not None
    assert "no OpenTelemetry SDK is set up" in caplog.text
    tracing.observe(record())


def test_a_probe_leaves_nothing_behind(seen: Seen) -> None:
    assert seen.tracing.is_heard
    assert seen.spans.get_finished_spans() == ()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ConfigError, match=r"pip install 'thinkwire\[otel\]'"):
        Tracing()
