"""Ready-made log lines: the very ones that `logging` would make, and none for what may have to be hidden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.metrics.records import record
from thinkwire.gateway.telemetry.logs import (
    LONGEST,
    JsonLines,
    TextLines,
    _Lines,
    _ready_made,
    _said_if_harmless,
)
from thinkwire.gateway.telemetry.record import MOST_KINDS, RequestRecord, labels_of
from thinkwire.usage import Usage

WORDS = [
    "",
    "a",
    "claude-opus-5",
    "x/y:z",
    'q"\\',
    "é😀",
    "Bearer",
    "planted",
    "sk-planted-planted",
    "password:",
]
HOSTILE = st.sampled_from(["\n", "\0", "\x7f", "\u2028", "\ud800", "\x1b[2J", "\u3000", "?key=", "x" * 1200])
TEXTS = (
    st.sampled_from(WORDS) | st.text(max_size=20) | st.lists(st.sampled_from(WORDS) | HOSTILE).map(" ".join)
)
PERHAPS = st.none() | TEXTS
RECORDS = st.builds(
    record,
    **{"id": st.just("req_0a"), "tenant": TEXTS, "dialect": TEXTS, "operation": TEXTS, "asked": TEXTS},
    **{"provider": PERHAPS, "model": PERHAPS, "failure": PERHAPS, "requested": PERHAPS, "finish": PERHAPS},
    **{"client_left": st.booleans(), "streamed": st.booleans(), "passed_through": st.booleans()},
    **{"status": st.integers(200, 599), "restored": st.integers(0, 10**6)},
    effective=PERHAPS,
    notes=st.lists(TEXTS, max_size=3).map(tuple),
    ms=st.floats(0, 1e12),
    first_ms=st.none() | st.floats(0, 1e12),
    cost=st.none() | st.floats(0, 1e9) | st.floats(0, 1e-4),
    usage=st.none() | st.builds(Usage, *[st.none() | st.integers(0, 2**53) for _ in range(7)]),
)
PLAIN = st.builds(
    record,
    id=st.just("req_0a"),
    asked=st.sampled_from(["", "a", "claude-opus-5/high", "é", 'q"\\']),
    ms=st.floats(0, 1e12) | st.integers(0, 10**9).map(lambda ticks: ticks / 20),
    first_ms=st.none() | st.floats(0, 1e6) | st.integers(0, 10**6).map(lambda ticks: ticks / 20),
    cost=st.none() | st.floats(0, 1e3) | st.floats(0, 1e-4),
    usage=st.none() | st.builds(Usage, *[st.none() | st.integers(0, 2**53) for _ in range(7)]),
)


@pytest.mark.parametrize("lines", [JsonLines(), TextLines()])
@given(RECORDS | PLAIN, st.floats(0, 4e9))
def test_a_ready_made_line_is_the_one_that_logging_would_make(
    lines: JsonLines | TextLines, one: RequestRecord, now: float
) -> None:
    assert lines.of_request(one, now) == _Lines.of_request(lines, one, now)


@given(PLAIN)
def test_ordinary_requests_have_ready_made_lines(one: RequestRecord) -> None:
    assert _ready_made(one.kind) is not None


@pytest.mark.parametrize(
    "odd", ["Bearer planted", "sk-planted-planted", "a\nb", "\ud800", "\0", "x " * LONGEST]
)
@pytest.mark.parametrize("name", ["tenant", "dialect", "operation", "provider", "model", "failure", "finish"])
def test_what_may_have_to_be_hidden_is_never_ready_made(name: str, odd: str) -> None:
    assert _ready_made(record(**{name: odd}).kind) is None


def test_what_is_remembered_of_lines_is_bounded() -> None:
    for remembered in (labels_of, _ready_made, _said_if_harmless):
        assert remembered.cache_info().maxsize == MOST_KINDS
