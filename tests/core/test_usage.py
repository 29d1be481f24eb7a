"""Buckets are disjoint, add up, and say None where nobody knows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.pricing import Price, cost_of
from thinkwire.usage import Usage, measure

anything = st.none() | st.integers() | st.floats() | st.text(max_size=3) | st.booleans()
FIELDS = [
    *("input_uncached", "cache_read", "cache_write", "input_total"),
    *("output_visible", "output_reasoning", "output_total"),
]


@given(st.dictionaries(st.sampled_from(FIELDS), anything))
def test_no_report_makes_a_crash_a_negative_count_or_a_bool(reported: dict[str, Any]) -> None:
    usage, notes = measure(**reported)
    for field in FIELDS:
        value = getattr(usage, field)
        assert value is None or (type(value) is int and value >= 0)
    if any(value is not None and (type(value) is not int or value < 0) for value in reported.values()):
        integral = [v for v in reported.values() if isinstance(v, float) and v.is_integer() and v >= 0]
        odd = [v for v in reported.values() if v is not None and (type(v) is not int or v < 0)]
        assert notes or len(integral) == len(odd)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_known_parts_add_up(total: int, read: int, write: int, reasoning: int) -> None:
    usage, notes = measure(
        input_total=total, cache_read=read, cache_write=write, output_total=total, output_reasoning=reasoning
    )
    if usage.input_uncached is not None:
        assert usage.input_uncached + read + write == usage.input_total
    if usage.output_visible is not None:
        assert usage.output_visible + reasoning == usage.output_total
    assert bool(notes) == (read + write > total or reasoning > total)


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ({}, Usage()),
        (
            {"input_uncached": 12, "cache_read": 2048, "cache_write": 0, "output_total": 530},
            Usage(12, 2048, 0, 2060, None, None, 530),
        ),
        ({"input_total": 9, "output_total": 40}, Usage(input_total=9, output_total=40)),
        (
            {"input_total": 900, "cache_read": 512, "output_total": 300, "output_reasoning": 192},
            Usage(388, 512, None, 900, 108, 192, 300),
        ),
        (
            {"output_visible": 24, "output_reasoning": 210},
            Usage(output_visible=24, output_reasoning=210, output_total=234),
        ),
        ({"output_visible": 24}, Usage(output_visible=24, output_total=24)),
        ({"output_total": 5.0}, Usage(output_total=5)),
    ],
)
def test_what_is_certain_is_derived_and_nothing_else(reported: dict[str, Any], expected: Usage) -> None:
    assert measure(**reported) == (expected, ())


@pytest.mark.parametrize("many", [10**400, 2**53, 1e300])
def test_more_tokens_than_there_can_be_are_unknown(many: Any) -> None:
    usage, (note,) = measure(input_total=many, output_total=5)
    assert usage == Usage(output_total=5)
    assert note.code == "usage.impossible"
    assert cost_of(usage, Price(input=3, output=15)) is None


def test_impossible_counts_are_said_and_not_repaired() -> None:
    usage, (note,) = measure(output_total=-9, output_reasoning=448)
    assert (usage.output_total, usage.output_reasoning, usage.output_visible) == (None, 448, None)
    assert note.code == "usage.impossible"
    assert "-9" in note.message
    usage, (note,) = measure(output_total=9, output_reasoning=448)
    assert (usage.output_total, usage.output_reasoning, usage.output_visible) == (9, 448, None)
    assert note.code == "usage.impossible"


def test_the_total_is_unknown_while_a_side_is() -> None:
    assert Usage(input_total=3).total is None
    assert Usage(input_total=3, output_total=4).total == 7


def test_any_depth_of_nonsense_is_only_nonsense() -> None:
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    usage, (note,) = measure(output_total=deep)
    assert usage.output_total is None
    assert note.message == "output_total was reported as an array"
