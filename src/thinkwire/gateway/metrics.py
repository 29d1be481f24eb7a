"""Prometheus series of the gateway. Labels come from our tables, so that no client can make new ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from thinkwire.catalog import Catalog, default_catalog
from thinkwire.errors import ConfigError
from thinkwire.gateway.record import Record
from thinkwire.gateway.tallies import Durations, open_series
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
        self._who = lru_cache(maxsize=1024)(self._named)
        self._of = lru_cache(maxsize=4096)(_Series)
        self._series = series = open_series(client)
        who = ("provider", "model")
        self.requests = series.counter(
            "requests", "Finished requests.", ("dialect", "operation", *who, "status", "outcome")
        )
        spoken = ("dialect", *who)
        self.duration = series.histogram(
            "request_duration_seconds", "From the request to the end of its answer.", spoken
        )
        self.first = series.histogram(
            "time_to_first_token_seconds", "Until the first piece of an answer.", spoken
        )
        self.tokens = series.counter("tokens", "Tokens, in types that add up.", ("type", *who))
        self.untold = series.counter("unknown_usage", "Answers whose tokens nobody told.", who)
        self.cost = series.counter("cost_usd", "Known cost of answers.", ("tenant", *who))
        self.unpriced = series.counter("unknown_cost", "Answers whose cost is unknown.", who)
        self.losses = series.counter("translation_losses", "What did not go through as it was.", ("reason",))
        self.notes = series.counter("notes", "Notes, by code.", ("code",))
        self.restored = series.counter("rehydrated_blocks", "Blocks that a client dropped, put back.", ())
        self.running = series.gauge("requests_running", "Requests being served.").set
        """How many requests are being served (for `Limits(on_running=…)`)."""

    def observe(self, record: Record) -> None:
        """Counts a finished request."""
        who = self._who(record.provider, record.model or "")
        outcome = "client_left" if record.client_left else record.failure or "ok"
        series = self._of(self, _Kind(record.dialect, record.operation, who, record.status, outcome))
        series.requests.inc()
        series.duration.observe(record.ms / 1000)
        if record.first_ms is not None:
            series.first.observe(record.first_ms / 1000)
        for code in record.notes:
            self._note(code if code in NOTE_CODES else OTHER)
        if record.restored:
            self.restored.of(()).inc(record.restored)
        if record.operation == "generate" and record.provider is not None:
            self._count(record, series)

    def expose(self) -> tuple[bytes, str]:
        """The text for `/metrics`, and its content type."""
        return self._client.generate_latest(self._series), self._client.CONTENT_TYPE_LATEST

    def _note(self, code: str) -> None:
        self.notes.of((code,)).inc()
        if code in LOSSES:
            self.losses.of((code,)).inc()

    def _count(self, record: Record, series: _Series) -> None:
        counts = token_types(record.usage)
        for kind, tokens in counts.items():
            series.tokens(kind).inc(tokens)
        if not counts:
            self.untold.of(series.who).inc()
        if record.cost is None:
            self.unpriced.of(series.who).inc()
        else:
            series.cost(record.tenant).inc(record.cost)

    def _named(self, provider: str | None, model: str) -> tuple[str, str]:
        """The labels of who answered; once given, they stay."""
        if provider is None:
            return NOBODY, NOBODY
        named = provider if provider in self._providers else OTHER
        who = (named, self._known_model(provider, model))
        if who not in self._models and len(self._models) >= MOST_MODELS:
            return named, OTHER
        self._models.add(who)
        return who

    def _known_model(self, provider: str, model: str) -> str:
        """The id of the row that knows the model, without the dates and variants that a client may invent."""
        found = self._catalog.find(provider, model)
        return OTHER if found is None or found.by == "family" else found.facts.id.partition(":")[0]


class _Kind(NamedTuple):
    """What tells requests apart."""

    dialect: str
    operation: str
    who: tuple[str, str]
    status: int
    outcome: str


class _Series:
    """The numbers that requests of one kind count in; each is there from the first request that needs it."""

    def __init__(self, metrics: Metrics, kind: _Kind) -> None:
        dialect, operation, who, status, outcome = kind
        self.who = who
        self.requests = metrics.requests.of((dialect, operation, *who, str(status), outcome))
        self.duration = metrics.duration.of((dialect, *who))
        self._spoken = (dialect, *who)
        self._metrics = metrics
        self.tokens = cache(lambda kind: metrics.tokens.of((kind, *who)))
        self.cost = lru_cache(maxsize=1024)(lambda tenant: metrics.cost.of((tenant, *who)))

    @cached_property
    def first(self) -> Durations:
        return self._metrics.first.of(self._spoken)


def token_types(usage: Usage | None) -> dict[str, int]:
    """Known tokens by type; the types add up to all of them. Unknown ones are not there."""
    if usage is None:
        return {}
    read, write, reasoning = usage.cache_read, usage.cache_write, usage.output_reasoning
    counts = {}
    if read is not None:
        counts["cache_read"] = read
    if write is not None:
        counts["cache_write"] = write
    if reasoning is not None:
        counts["reasoning"] = reasoning
    if usage.input_total is not None:
        counts["input"] = max(usage.input_total - (read or 0) - (write or 0), 0)
    if usage.output_total is not None:
        counts["output"] = max(usage.output_total - (reasoning or 0), 0)
    return counts
