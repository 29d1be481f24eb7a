"""Prometheus series of the gateway. Labels come from our tables, so that no client can make new ones."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from thinkwire.catalog import Catalog, default_catalog
from thinkwire.errors import ConfigError
from thinkwire.gateway.record import Record
from thinkwire.notes import NOTE_CODES
from thinkwire.providers import default_providers
from thinkwire.usage import Usage

OTHER = "other"
NOBODY = "none"
MOST_MODELS = 500
"""Model labels of one process; later models are `other`."""

LOSSES = frozenset(
    {
        *("thinking.dropped", "thinking.stripped", "seal.dropped", "seal.forged", "prefix.broken"),
        *("block.dropped", "block.degraded", "field.dropped", "field.changed", "choices.dropped"),
        *("sampling.dropped", "tool_choice.degraded", "tool_result.dropped", "turn.dropped"),
        *("prefill.closed", "text.repaired", "reasoning.adjusted", "reasoning.minimum"),
        *("reasoning.unsupported", "replay.thinking_off", "cache.lost"),
    }
)
"""Notes that tell of something the model or the client did not get as it was."""

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class Metrics:
    """Counts finished requests. In Prometheus' multi-process mode all workers are told by any of them."""

    def __init__(self, *, catalog: Catalog | None = None, providers: Iterable[str] = ()) -> None:
        try:
            import prometheus_client as client
        except ImportError:
            raise ConfigError("metrics need prometheus-client: pip install 'thinkwire[gateway]'") from None
        self._client = client
        self._catalog = catalog or default_catalog()
        self._providers = {*default_providers(), *providers}
        self._models: set[tuple[str, str]] = set()
        self._model = lru_cache(maxsize=1024)(self._known_model)
        self._series = lru_cache(maxsize=4096)(_labelled)
        self._registry = registry = client.CollectorRegistry()
        who = ["provider", "model"]

        def counter(name: str, told: str, labels: list[str]) -> Any:
            return client.Counter(f"thinkwire_{name}", told, labels, registry=registry)

        def histogram(name: str, told: str) -> Any:
            labels = ["dialect", *who]
            return client.Histogram(f"thinkwire_{name}", told, labels, registry=registry, buckets=_SECONDS)

        self._requests = counter(
            "requests_total", "Finished requests.", ["dialect", "operation", *who, "status", "outcome"]
        )
        self._duration = histogram("request_duration_seconds", "From the request to the end of its answer.")
        self._first = histogram("time_to_first_token_seconds", "Until the first piece of an answer.")
        self._tokens = counter("tokens_total", "Tokens, in types that add up.", ["type", *who])
        self._untold = counter("unknown_usage_total", "Answers whose tokens nobody told.", who)
        self._cost = counter("cost_usd_total", "Known cost of answers.", ["tenant", *who])
        self._unpriced = counter("unknown_cost_total", "Answers whose cost is unknown.", who)
        self._losses = counter("translation_losses_total", "What did not go through as it was.", ["reason"])
        self._notes = counter("notes_total", "Notes, by code.", ["code"])
        self._restored = counter("rehydrated_blocks_total", "Blocks that a client dropped, put back.", [])
        self._running = client.Gauge(
            "thinkwire_requests_running",
            "Requests being served.",
            registry=registry,
            multiprocess_mode="livesum",
        )

    def running(self, count: int) -> None:
        """How many requests are being served (for `Limits(on_running=…)`)."""
        self._running.set(count)

    def observe(self, record: Record) -> None:
        """Counts a finished request."""
        who = self._who(record)
        outcome = "client_left" if record.client_left else record.failure or "ok"
        series = self._series
        series(self._requests, record.dialect, record.operation, *who, str(record.status), outcome).inc()
        series(self._duration, record.dialect, *who).observe(record.ms / 1000)
        if record.first_ms is not None:
            series(self._first, record.dialect, *who).observe(record.first_ms / 1000)
        for code in record.notes:
            self._note(code if code in NOTE_CODES else OTHER)
        if record.restored:
            self._restored.inc(record.restored)
        if record.operation == "generate" and record.provider is not None:
            self._count(record, who)

    def expose(self) -> tuple[bytes, str]:
        """The text for `/metrics`, and its content type."""
        registry = self._registry
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            from prometheus_client import multiprocess

            registry = self._client.CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return self._client.generate_latest(registry), self._client.CONTENT_TYPE_LATEST

    def _note(self, code: str) -> None:
        self._notes.labels(code).inc()
        if code in LOSSES:
            self._losses.labels(code).inc()

    def _count(self, record: Record, who: tuple[str, str]) -> None:
        counts = token_types(record.usage)
        for kind, tokens in counts.items():
            self._series(self._tokens, kind, *who).inc(tokens)
        if not counts:
            self._untold.labels(*who).inc()
        if record.cost is None:
            self._unpriced.labels(*who).inc()
        else:
            self._cost.labels(record.tenant, *who).inc(record.cost)

    def _who(self, record: Record) -> tuple[str, str]:
        if record.provider is None:
            return NOBODY, NOBODY
        provider = record.provider if record.provider in self._providers else OTHER
        who = (provider, self._model(record.provider, record.model or ""))
        if who not in self._models and len(self._models) >= MOST_MODELS:
            return provider, OTHER
        self._models.add(who)
        return who

    def _known_model(self, provider: str, model: str) -> str:
        """The id of the row that knows the model, without the dates and variants that a client may invent."""
        found = self._catalog.find(provider, model)
        return OTHER if found is None or found.by == "family" else found.facts.id.partition(":")[0]


def _labelled(metric: Any, *labels: str) -> Any:
    """The one series of these labels; finding it costs more than counting in it."""
    return metric.labels(*labels)


def token_types(usage: Usage | None) -> dict[str, int]:
    """Known tokens by type; the types add up to all of them. Unknown ones are not there."""
    if usage is None:
        return {}
    counts = {
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "reasoning": usage.output_reasoning,
        "input": _rest(usage.input_total, usage.cache_read, usage.cache_write),
        "output": _rest(usage.output_total, usage.output_reasoning),
    }
    return {kind: count for kind, count in counts.items() if count is not None}


def _rest(total: int | None, *parts: int | None) -> int | None:
    return None if total is None else max(total - sum(part or 0 for part in parts), 0)
