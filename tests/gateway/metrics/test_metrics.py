"""Prometheus series: named as people expect, with labels that no client can multiply."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from tests.gateway.metrics.records import USAGE, record
from thinkwire.errors import ConfigError
from thinkwire.gateway.telemetry.counters import BOUNDS, ProcessSeries, SharedSeries
from thinkwire.gateway.telemetry.metrics import LOSSES, MOST_MODELS, MOST_WAITING, TYPES, Metrics, token_types
from thinkwire.gateway.telemetry.record import RequestRecord
from thinkwire.notes import NOTE_CODES
from thinkwire.usage import Usage, measure

CLAUDE = {"provider": "anthropic", "model": "claude-opus-5"}


def samples(*records: RequestRecord) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    metrics = Metrics(providers=("mine",))
    for one in records:
        metrics.observe(one)
    return read(metrics.expose()[0])


def read(text: bytes) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    found: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return found


def at(found: dict[str, dict[frozenset[tuple[str, str]], float]], name: str, **labels: str) -> float | None:
    return found.get(f"thinkwire_{name}", {}).get(frozenset(labels.items()))


def test_an_answer_is_counted_in_every_series() -> None:
    found = samples(record(), record(restored=3))
    chat = {"dialect": "openai-chat", **CLAUDE}
    assert at(found, "requests_total", **chat, operation="generate", status="200", outcome="ok") == 2
    assert at(found, "request_duration_seconds_count", **chat) == 2
    assert at(found, "request_duration_seconds_sum", **chat) == pytest.approx(3.00008)
    assert at(found, "time_to_first_token_seconds_sum", **chat) == 0.5
    for kind, tokens in {
        "input": 70,
        "cache_read": 20,
        "cache_write": 10,
        "output": 30,
        "reasoning": 20,
    }.items():
        assert at(found, "tokens_total", type=kind, **CLAUDE) == 2 * tokens
    assert at(found, "cost_usd_total", tenant="t1", **CLAUDE) == 0.025
    assert at(found, "translation_losses_total", reason="sampling.dropped") == 2
    assert at(found, "translation_losses_total", reason="thinking.dormant") is None
    assert at(found, "notes_total", code="thinking.dormant") == 2
    assert at(found, "rehydrated_blocks_total") == 3


def test_what_is_unknown_is_counted_as_unknown_and_not_as_nothing() -> None:
    found = samples(record(usage=None, cost=None, first_ms=None))
    assert "thinkwire_tokens_total" not in found
    assert "thinkwire_cost_usd_total" not in found
    assert "thinkwire_time_to_first_token_seconds_count" not in found
    assert at(found, "unknown_usage_total", **CLAUDE) == 1
    assert at(found, "unknown_cost_total", **CLAUDE) == 1


def test_failures_and_leavers_are_told_apart() -> None:
    refused = record(status=401, failure="auth", provider=None, model=None, usage=None, cost=None)
    found = samples(refused, record(failure="connection_lost"), record(client_left=True))
    outcomes = {dict(labels)["outcome"] for labels in found["thinkwire_requests_total"]}
    assert outcomes == {"auth", "connection_lost", "client_left"}
    assert at(found, "unknown_usage_total", provider="none", model="none") is None


def test_questions_about_tokens_and_models_are_no_answers() -> None:
    found = samples(record(operation="count_tokens", usage=None, cost=None))
    assert "thinkwire_unknown_usage_total" not in found


LABELS = [
    ("anthropic", "claude-opus-5", "claude-opus-5"),
    ("anthropic", "claude-opus-5-20991231", "claude-opus-5"),
    ("anthropic", "claude-opus-99", "other"),
    ("anthropic", "anything\n", "other"),
    ("openrouter", "anthropic/claude-opus-5:made-up", "anthropic/claude-opus-5"),
    ("mine", "m", "other"),
]


@pytest.mark.parametrize(("provider", "model", "label"), LABELS)
def test_a_model_is_named_only_as_our_tables_name_it(provider: str, model: str, label: str) -> None:
    found = samples(record(provider=provider, model=model))
    assert at(found, "cost_usd_total", tenant="t1", provider=provider, model=label) == 0.0125


def test_a_service_that_nobody_configured_has_no_name() -> None:
    found = samples(record(provider="invented", model="m"))
    assert at(found, "cost_usd_total", tenant="t1", provider="other", model="other") == 0.0125


def test_labels_are_bounded_whatever_comes() -> None:
    metrics = Metrics()
    metrics._models = {("anthropic", f"m{number}") for number in range(MOST_MODELS)}
    metrics.observe(record(notes=("made-up",)))
    found = read(metrics.expose()[0])
    assert at(found, "cost_usd_total", tenant="t1", provider="anthropic", model="other") == 0.0125
    assert at(found, "notes_total", code="other") == 1


def test_running_requests_are_shown() -> None:
    metrics = Metrics()
    metrics.running(3)
    text, kind = metrics.expose()
    assert at(read(text), "requests_running") == 3
    assert kind.startswith("text/plain")


def test_losses_are_notes() -> None:
    assert set(NOTE_CODES) >= LOSSES


COUNTS = st.none() | st.integers(0, 1000)


@given(st.fixed_dictionaries({name: COUNTS for name in Usage.__struct_fields__ if name != "extras"}))
def test_the_types_add_up_to_the_totals(reported: dict[str, Any]) -> None:
    usage, _ = measure(**reported)
    types = {kind: told for kind, told in zip(TYPES, token_types(usage), strict=True) if told is not None}
    assert all(count >= 0 for count in types.values())
    parts = (usage.cache_read or 0) + (usage.cache_write or 0)
    if usage.input_total is not None and usage.input_total >= parts:
        assert types["input"] + parts == usage.input_total
    reasoning = usage.output_reasoning or 0
    if usage.output_total is not None and usage.output_total >= reasoning:
        assert types["output"] + reasoning == usage.output_total
    if usage.input_total is None:
        assert "input" not in types


def test_nothing_told_is_nothing_counted() -> None:
    assert token_types(None) == ()
    assert token_types(Usage()) == (None,) * len(TYPES)
    assert token_types(USAGE)[TYPES.index("reasoning")] == 20


RECORDS = st.builds(
    record,
    **{"tenant": st.sampled_from(["t1", "t2"]), "provider": st.sampled_from([None, "anthropic", "mine"])},
    **{"model": st.sampled_from([None, "claude-opus-5", "m"]), "status": st.sampled_from([200, 401])},
    **{"failure": st.sampled_from([None, "auth"]), "client_left": st.booleans()},
    operation=st.sampled_from(["generate", "count_tokens"]),
    notes=st.lists(st.sampled_from(["sampling.dropped", "thinking.dormant", "made-up"]), unique=True).map(
        tuple
    ),
    ms=st.floats(0, 1e6),
    first_ms=st.none() | st.floats(0, 1e6),
    cost=st.none() | st.floats(0, 10),
    restored=st.integers(0, 3),
    usage=st.none() | st.builds(Usage, *[st.none() | st.integers(0, 1000) for _ in range(7)]),
)


@given(st.lists(RECORDS), st.lists(st.booleans()), st.integers(1, 5))
def test_requests_that_wait_are_counted_as_if_they_had_not(
    records: list[RequestRecord], looks: list[bool], kinds: int
) -> None:
    soon, at_once = Metrics(providers=("mine",)), Metrics(providers=("mine",))
    at_once._most_waiting = 0
    with pytest.MonkeyPatch.context() as patch:
        for one, look in zip_longest(records, looks, fillvalue=False):
            if isinstance(one, RequestRecord):
                patch.setattr("thinkwire.gateway.telemetry.metrics.MOST_KINDS", kinds)
                soon.observe(one)
                patch.setattr("thinkwire.gateway.telemetry.metrics.MOST_KINDS", 1000)
                at_once.observe(one)
            if look:
                assert undated(soon.expose()[0].decode()) == undated(at_once.expose()[0].decode())
    assert undated(soon.expose()[0].decode()) == undated(at_once.expose()[0].decode())


def undated(text: str) -> str:
    """An exposition without the times at which counting began."""
    return re.sub(r"^(\w+_created.*) \S+$", r"\1", text, flags=re.MULTILINE)


def test_a_series_begins_with_its_first_request_and_not_when_somebody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metrics = Metrics()
    for now in (1000.0, 2000.0, 3000.0):
        monkeypatch.setattr("time.time", lambda now=now: now)
        metrics.observe(record())
    found = read(metrics.expose()[0])
    assert at(found, "cost_usd_created", tenant="t1", **CLAUDE) == 1000
    assert at(found, "cost_usd_total", tenant="t1", **CLAUDE) == pytest.approx(0.0375)


def test_few_requests_wait() -> None:
    metrics = Metrics()
    for _ in range(3 * MOST_WAITING):
        metrics.observe(record())
        assert len(metrics._waiting) <= MOST_WAITING


def test_what_cannot_be_counted_takes_no_other_with_it(caplog: pytest.LogCaptureFixture) -> None:
    found = samples(record(), record(), record(usage=Usage(output_total=10**400)), record())
    chat = {"dialect": "openai-chat", **CLAUDE}
    assert at(found, "tokens_total", type="reasoning", **CLAUDE) == 60
    assert at(found, "requests_total", **chat, operation="generate", status="200", outcome="ok") == 4
    assert "could not be counted" in caplog.text


def test_several_workers_are_told_together(tmp_path: Path) -> None:
    code = """
import sys
from tests.gateway.metrics.records import record
from thinkwire.gateway.telemetry.metrics import Metrics
metrics = Metrics()
metrics.observe(record())
metrics.running(2)
sys.stdout.buffer.write(metrics.expose()[0])
"""
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert at(read(run.stdout), "cost_usd_total", tenant="t1", **CLAUDE) == 0.025


def told_in(series: ProcessSeries | SharedSeries, collector: Any, numbers: list[tuple[str, float]]) -> str:
    """The exposition of numbers, without the times at which counting began."""
    counter = series.counter("c", "Counted.", ("a", "b"))
    bare = series.counter("bare", "Without labels.", ())
    durations = series.histogram("d_seconds", "Timed.", ("a",))
    gauge = series.gauge("g", "Now.")
    for label, number in numbers:
        counter.of((label, "x")).inc(number)
        counter.of((label, "y")).inc()
        bare.of(()).inc(number)
        durations.of((label,)).observe(number)
        gauge.set(number)
    return undated(prometheus_client.generate_latest(collector).decode())


NUMBERS = st.floats(0, 1000) | st.sampled_from(BOUNDS) | st.integers(0, 10**12)


@given(st.lists(st.tuples(st.sampled_from(["p", 'q"\\\n', "é"]), NUMBERS)))
def test_our_counting_reads_as_prometheus_own(numbers: list[tuple[str, float]]) -> None:
    own, theirs = ProcessSeries(prometheus_client), SharedSeries(prometheus_client)
    assert told_in(own, own, numbers) == told_in(theirs, theirs._registry, numbers)


def test_the_times_at_which_counting_began_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics()
    metrics.observe(record())
    assert b"_created" in metrics.expose()[0]
    monkeypatch.setenv("PROMETHEUS_DISABLE_CREATED_SERIES", "true")
    assert b"_created" not in metrics.expose()[0]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(ConfigError, match=r"pip install 'thinkwire\[gateway\]'"):
        Metrics()
