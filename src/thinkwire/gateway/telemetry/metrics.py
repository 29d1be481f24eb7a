"""Prometheus series of the gateway. Labels come from our tables, so that no client can make new ones."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from thinkwire.catalog import Catalog, default_catalog
from thinkwire.errors import ConfigError
from thinkwire.gateway.telemetry.counters import (
    CounterChild,
    HistogramChild,
    ProcessSeries,
    SharedSeries,
    open_series,
)
from thinkwire.gateway.telemetry.record import MOST_KINDS, RequestLabels, RequestRecord
from thinkwire.notes import NOTE_CODES
from thinkwire.providers import default_providers
from thinkwire.usage import Usage

_log = logging.getLogger("thinkwire.gateway")

OTHER = "other"
NOBODY = "none"
MOST_MODELS = 500
"""Model labels of one process; later models are `other`."""

MOST_WAITING = 100
"""Requests that are counted together."""

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
        self._kinds: dict[RequestLabels, _Series] = {}
        self._waiting: list[RequestRecord] = []
        self._series = series = open_series(client)
        self._most_waiting = MOST_WAITING if isinstance(series, ProcessSeries) else 0
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
        self.estimated = series.counter("estimated_cost_usd", "Estimated cost of answers.", ("tenant", *who))
        self.unpriced = series.counter("unknown_cost", "Answers whose cost is unknown.", who)
        self.losses = series.counter("translation_losses", "What did not go through as it was.", ("reason",))
        self.notes = series.counter("notes", "Notes, by code.", ("code",))
        self.restored = series.counter("rehydrated_blocks", "Blocks that a client dropped, put back.", ())
        self.running = series.gauge("requests_running", "Requests being served.").set
        """How many requests are being served (for `Limits(on_running=…)`)."""

    def observe(self, record: RequestRecord) -> None:
        """Counts a finished request: soon, where nobody sees the numbers before `expose`; at once, if it is
        the first of its kind, so that its series begin with it."""
        waiting = self._waiting
        waiting.append(record)
        if len(waiting) > self._most_waiting or record.kind not in self._kinds:
            self.count_waiting()

    def expose(self, tenant: str | None = None) -> tuple[bytes, str]:
        """The text for `/metrics`, and its content type; with a tenant, only that tenant's own series."""
        self.count_waiting()
        series = self._series if tenant is None else _SeriesOf(self._series, tenant)
        return self._client.generate_latest(series), self._client.CONTENT_TYPE_LATEST

    def count_waiting(self) -> None:
        """Counts those that wait: many in a row cost half of what each costs amid other work."""
        waiting, self._waiting = self._waiting, []
        for record in waiting:
            try:
                self._of(record.kind).count(record)
            except Exception:
                _log.exception("a request could not be counted")

    def _of(self, kind: RequestLabels) -> _Series:
        series = self._kinds.get(kind)
        if series is None:
            if len(self._kinds) >= MOST_KINDS:
                self._kinds.clear()
            series = self._kinds[kind] = _Series(self, kind)
        return series

    def who(self, provider: str | None, model: str | None) -> tuple[str, str]:
        """The labels of who answered; once given, they stay."""
        if provider is None:
            return NOBODY, NOBODY
        named = provider if provider in self._providers else OTHER
        who = (named, self._known_model(provider, model or ""))
        if who not in self._models and len(self._models) >= MOST_MODELS:
            return named, OTHER
        self._models.add(who)
        return who

    def _known_model(self, provider: str, model: str) -> str:
        """The id of the row that knows the model, without the dates and variants that a client may invent."""
        found = self._catalog.find(provider, model)
        return OTHER if found is None or found.by == "family" else found.facts.id.partition(":")[0]


class _SeriesOf:
    """The samples of a registry that have the label of one tenant."""

    def __init__(self, series: ProcessSeries | SharedSeries, tenant: str) -> None:
        self._series, self._tenant = series, tenant

    def collect(self) -> Iterator[Any]:
        for metric in self._series.collect():
            metric.samples = [one for one in metric.samples if one.labels.get("tenant") == self._tenant]
            if metric.samples:
                yield metric


class _Series:
    """The numbers that requests of one kind count in; each is there from the first request that needs it."""

    def __init__(self, metrics: Metrics, kind: RequestLabels) -> None:
        self._metrics, self._kind = metrics, kind
        self._who = who = metrics.who(kind.provider, kind.model)
        self._spoken = spoken = (kind.dialect, *who)
        outcome = "client_left" if kind.client_left else kind.failure or "ok"
        self.requests = metrics.requests.of((kind.dialect, kind.operation, *who, str(kind.status), outcome))
        self.duration = metrics.duration.of(spoken)
        codes = [code if code in NOTE_CODES else OTHER for code in kind.notes]
        self.notes = [metrics.notes.of((code,)) for code in codes]
        self.notes += [metrics.losses.of((code,)) for code in codes if code in LOSSES]
        self.is_answer = kind.operation == "generate" and kind.provider is not None
        self._tokens: list[CounterChild | None] = [None] * len(TYPES)

    @cached_property
    def first(self) -> HistogramChild:
        return self._metrics.first.of(self._spoken)

    def count(self, record: RequestRecord) -> None:
        """One more of this kind."""
        self.requests.inc()
        self.duration.observe(record.ms / 1000)
        if record.first_ms is not None:
            self.first.observe(record.first_ms / 1000)
        for noted in self.notes:
            noted.inc()
        if record.restored:
            self._metrics.restored.of(()).inc(record.restored)
        if self.is_answer:
            self._count_spent(record)

    def _count_spent(self, record: RequestRecord) -> None:
        known = self._tokens
        untold = True
        for at, tokens in enumerate(token_types(record.usage)):
            if tokens is not None:
                untold = False
                count = known[at]
                if count is None:
                    count = known[at] = self._metrics.tokens.of((TYPES[at], *self._who))
                if tokens:
                    count.inc(tokens)
        if untold:
            self._metrics.untold.of(self._who).inc()
        if record.cost is None:
            self._metrics.unpriced.of(self._who).inc()
        elif self._kind.cost_estimated:
            self._metrics.estimated.of(self._payer).inc(record.cost)
        else:
            self._cost.inc(record.cost)

    @cached_property
    def _cost(self) -> CounterChild:
        return self._metrics.cost.of(self._payer)

    @property
    def _payer(self) -> tuple[str, str, str]:
        """The labels of who asked and who answered."""
        return self._kind.tenant or NOBODY, *self._who


TYPES = ("cache_read", "cache_write", "reasoning", "input", "output")
"""Of tokens; they add up to all of them."""


def token_types(usage: Usage | None) -> tuple[int | None, ...]:
    """Tokens by type; None where they are unknown."""
    if usage is None:
        return ()
    read, write, reasoning = usage.cache_read, usage.cache_write, usage.output_reasoning
    given, output = usage.input_total, usage.output_total
    if given is not None and (read or write):
        given = max(given - (read or 0) - (write or 0), 0)
    if output is not None and reasoning:
        output = max(output - reasoning, 0)
    return read, write, reasoning, given, output
