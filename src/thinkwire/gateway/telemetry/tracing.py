"""OpenTelemetry, by its conventions for generative AI: a span and metrics for each answer, never its content.

The SDK and where it sends are the operator's: `opentelemetry-instrument thinkwire serve`, or providers set up
in the process. We speak to its API only.
"""

from __future__ import annotations

import logging
from typing import Any, TypeAlias

from thinkwire._version import __version__
from thinkwire.errors import ConfigError
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.telemetry.logs import redacted
from thinkwire.gateway.telemetry.record import RequestRecord
from thinkwire.usage import Usage

_log = logging.getLogger("thinkwire.gateway")

Attributes: TypeAlias = dict[str, str | int | float | bool | list[str]]

PROVIDER_NAMES = {"google": "gcp.gemini", "vertex": "gcp.vertex_ai", "xai": "x_ai", "mistral": "mistral_ai"}
"""Where the conventions have a name of their own."""


def open_tracing(config: GatewayConfig) -> Tracing | None:
    """The tracing that the configuration asks for, if it does."""
    if not config.tracing.enabled:
        return None
    tracing = Tracing()
    if not tracing.is_heard:
        _log.warning(
            "tracing is on, but no OpenTelemetry SDK is set up (`opentelemetry-instrument thinkwire …`)"
        )
    return tracing


class Tracing:
    """Tells OpenTelemetry of finished requests."""

    def __init__(self, *, tracer_provider: Any = None, meter_provider: Any = None) -> None:
        try:
            from opentelemetry import metrics, trace
            from opentelemetry.trace.propagation import tracecontext
        except ImportError:
            raise ConfigError("tracing needs OpenTelemetry: pip install 'thinkwire[otel]'") from None
        self._trace = trace
        self._context = tracecontext.TraceContextTextMapPropagator()
        self._tracer = trace.get_tracer("thinkwire", __version__, tracer_provider)
        meter = metrics.get_meter("thinkwire", __version__, meter_provider)
        self._duration = meter.create_histogram("gen_ai.client.operation.duration", "s")
        self._first = meter.create_histogram("gen_ai.client.operation.time_to_first_chunk", "s")
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}")
        self._reasoning = meter.create_histogram(
            "gen_ai.client.inference.usage.reasoning.output_tokens", "{token}"
        )

    @property
    def is_heard(self) -> bool:
        """Whether spans go anywhere."""
        # The probe is never ended, and so never sent.
        return self._tracer.start_span("probe").is_recording()

    def observe(self, record: RequestRecord) -> None:
        """One answer's span and measurements."""
        kind = record.kind
        if kind.operation != "generate" or kind.provider is None:
            return
        operation = "generate_content" if kind.dialect == "gemini" else "chat"
        shared: Attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": PROVIDER_NAMES.get(kind.provider, kind.provider),
            "gen_ai.request.model": _short(kind.model),
        }
        error: Attributes = {"error.type": kind.failure} if kind.failure else {}
        self._span(record, f"{operation} {_short(kind.model)}", shared | error)
        self._measure(record, shared, error)

    def _span(self, record: RequestRecord, name: str, shared: Attributes) -> None:
        start = round(record.time * 1e6) * 1000
        span = self._tracer.start_span(
            name,
            context=self._context.extract({"traceparent": record.trace}) if record.trace else None,
            kind=self._trace.SpanKind.CLIENT,
            start_time=start,
            attributes=shared | attributes_of(record),
        )
        if record.kind.failure:
            span.set_status(self._trace.StatusCode.ERROR)
        span.end(start + int(record.ms * 1e6))

    def _measure(self, record: RequestRecord, shared: Attributes, error: Attributes) -> None:
        self._duration.record(record.ms / 1000, shared | error)
        if record.first_ms is not None:
            self._first.record(record.first_ms / 1000, shared)
        usage = record.usage or Usage()
        for kind, tokens in (("input", usage.input_total), ("output", usage.output_total)):
            if tokens is not None:
                self._tokens.record(tokens, shared | {"gen_ai.token.type": kind})
        if usage.output_reasoning is not None:
            self._reasoning.record(usage.output_reasoning, shared)


def attributes_of(record: RequestRecord) -> Attributes:
    """What a span says beside its provider and model. What is unknown is left out."""
    kind, usage = record.kind, record.usage or Usage()
    known = {
        "gen_ai.response.id": record.response_id and _short(record.response_id),
        "gen_ai.response.finish_reasons": [kind.finish] if kind.finish else None,
        "gen_ai.request.stream": kind.streamed,
        "gen_ai.response.time_to_first_chunk": record.first_ms and record.first_ms / 1000,
        "gen_ai.request.reasoning.level": kind.effective,
        "gen_ai.usage.input_tokens": usage.input_total,
        "gen_ai.usage.output_tokens": usage.output_total,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.output_reasoning,
        "thinkwire.request.id": record.id,
        "thinkwire.tenant": kind.tenant,
        "thinkwire.dialect": kind.dialect,
        "thinkwire.asked": _short(kind.asked),
        "thinkwire.reasoning.requested": kind.requested,
        "thinkwire.notes": list(kind.notes) or None,
        "thinkwire.restored_blocks": record.restored or None,
        "thinkwire.cost_usd": record.cost,
        "thinkwire.cost_estimated": kind.cost_estimated or None,
    }
    return {name: value for name, value in known.items() if value is not None}


def _short(text: str | None) -> str:
    return redacted((text or "")[:200])
