"""Counting that costs next to nothing: plain numbers by labels, made into samples when somebody looks."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeAlias

Labels: TypeAlias = tuple[str, ...]
"""Values, in the order of the names that a series has for them."""
Sample: TypeAlias = tuple[str, dict[str, str], float]
"""What follows the name of the series, labels, value."""

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Of durations, in seconds. A bucket holds its own bound."""
_LE = (*(str(bound) for bound in BOUNDS), "+Inf")
_PREFIX = "thinkwire_"


class CounterChild(Protocol):
    """The counter of some labels."""

    def inc(self, amount: float = 1) -> None: ...


class HistogramChild(Protocol):
    """The histogram of some labels."""

    def observe(self, seconds: float, /) -> None: ...


class _Count:
    """A number of the same labels, and since when it is counted."""

    __slots__ = ("since", "value")

    def __init__(self) -> None:
        self.value = 0.0
        self.since = time.time()

    def inc(self, amount: float = 1) -> None:
        self.value += amount


class Counter:
    """Counts by labels."""

    kind = "counter"

    def __init__(self, name: str, told: str, names: Labels) -> None:
        self.name, self.told, self.names = name, told, names
        self._counts: dict[Labels, _Count] = {} if names else {(): _Count()}

    def of(self, labels: Labels) -> CounterChild:
        """The counter of these labels; it is told from now on."""
        count = self._counts.get(labels)
        if count is None:
            count = self._counts[labels] = _Count()
        return count

    def samples(self) -> Iterator[Sample]:
        for values, count in self._counts.items():
            labels = dict(zip(self.names, values, strict=True))
            yield "_total", labels, count.value
            yield "_created", labels, count.since


class _Buckets:
    """How durations of the same labels are spread over the buckets; the last is for all that are longer."""

    __slots__ = ("buckets", "since", "sum")

    def __init__(self) -> None:
        self.buckets = [0] * len(_LE)
        self.sum = 0.0
        self.since = time.time()

    def observe(self, seconds: float, /) -> None:
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds


class Histogram:
    """Durations by labels."""

    kind = "histogram"

    def __init__(self, name: str, told: str, names: Labels) -> None:
        self.name, self.told, self.names = name, told, names
        self._spreads: dict[Labels, _Buckets] = {}

    def of(self, labels: Labels) -> HistogramChild:
        """The durations of these labels; they are told from now on."""
        spread = self._spreads.get(labels)
        if spread is None:
            spread = self._spreads[labels] = _Buckets()
        return spread

    def samples(self) -> Iterator[Sample]:
        for values, spread in self._spreads.items():
            labels = dict(zip(self.names, values, strict=True))
            so_far = 0
            for bound, count in zip(_LE, spread.buckets, strict=True):
                so_far += count
                yield "_bucket", {**labels, "le": bound}, so_far
            yield "_count", labels, so_far
            yield "_sum", labels, spread.sum
            yield "_created", labels, spread.since


class Gauge:
    """One number that goes up and down."""

    kind = "gauge"

    def __init__(self, name: str, told: str) -> None:
        self.name, self.told = name, told
        self._value = 0.0

    def set(self, value: float) -> None:
        self._value = value

    def samples(self) -> Iterator[Sample]:
        yield "", {}, self._value


class Passed:
    """A series that several processes share: every number goes to Prometheus' own client at once."""

    def __init__(self, metric: Any) -> None:
        self._metric = metric

    def of(self, labels: Labels) -> Any:
        return self._metric.labels(*labels) if labels else self._metric

    def set(self, value: float) -> None:
        self._metric.set(value)


class ProcessSeries:
    """The series of this process alone."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._all: list[Counter | Histogram | Gauge] = []

    def counter(self, name: str, told: str, labels: Labels) -> Counter | Passed:
        self._all.append(made := Counter(_PREFIX + name, told, labels))
        return made

    def histogram(self, name: str, told: str, labels: Labels) -> Histogram | Passed:
        self._all.append(made := Histogram(_PREFIX + name, told, labels))
        return made

    def gauge(self, name: str, told: str) -> Gauge | Passed:
        self._all.append(made := Gauge(_PREFIX + name, told))
        return made

    def collect(self) -> Iterable[Any]:
        """Everything counted so far, as Prometheus' client wants it."""
        dated = not _is_on("PROMETHEUS_DISABLE_CREATED_SERIES")
        for series in self._all:
            metric = self._client.Metric(series.name, series.told, series.kind)
            for suffix, labels, value in series.samples():
                if dated or suffix != "_created":
                    metric.add_sample(series.name + suffix, labels, value)
            yield metric


class SharedSeries:
    """The series of all workers together, in the folder of Prometheus' multi-process mode."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._registry = client.CollectorRegistry()

    def counter(self, name: str, told: str, labels: Labels) -> Counter | Passed:
        return Passed(self._client.Counter(_PREFIX + name, told, labels, registry=self._registry))

    def histogram(self, name: str, told: str, labels: Labels) -> Histogram | Passed:
        histogram = self._client.Histogram
        return Passed(histogram(_PREFIX + name, told, labels, registry=self._registry, buckets=BOUNDS))

    def gauge(self, name: str, told: str) -> Gauge | Passed:
        gauge = self._client.Gauge
        return Passed(gauge(_PREFIX + name, told, registry=self._registry, multiprocess_mode="livesum"))

    def collect(self) -> Iterable[Any]:
        from prometheus_client import multiprocess

        registry = self._client.CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry.collect()  # type: ignore[no-any-return]


def open_series(client: Any) -> ProcessSeries | SharedSeries:
    """The series of this process, or of all workers where the environment names a folder for them."""
    return SharedSeries(client) if os.environ.get("PROMETHEUS_MULTIPROC_DIR") else ProcessSeries(client)


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("true", "1", "t")
