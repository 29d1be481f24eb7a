"""Times to wait, read from anything that a server may say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.dialects.error_bodies import decode_error, failure_from
from thinkwire.wire.retry_after import (
    LONGEST_SECONDS,
    bounded,
    forwarded,
    header_value,
    read_headers,
    read_value,
)

NOW = "Wed, 18 Nov 2026 20:00:00 GMT"
USELESS = [
    *(
        "",
        " ",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "infinity",
        "-1",
        "-0.5",
        "1e9",
        "1e999",
        "0x10",
        "1_000",
        "soon",
    ),
    *("soon", "+3", "3s", "٣", "1.2.3", "Wed, 99 Nov 2026 20:00:00 GMT", "9" * 400),
]


@pytest.mark.parametrize("value", USELESS)
def test_what_is_no_time_is_not_read_and_not_forwarded(value: str) -> None:
    assert read_value(value, date=NOW) is None
    for name in ("retry-after", "retry-after-ms"):
        headers = {name: value, "date": NOW}
        assert read_headers(headers) is None
        assert forwarded(headers) == {}
        assert decode_error(429, headers, b"{}").retry_after is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        (" 7 ", 7),
        ("1.5", 1.5),
        ("999999999999", LONGEST_SECONDS),
        ("Wed, 18 Nov 2026 20:01:30 GMT", 90),
        ("Wednesday, 18-Nov-26 20:01:30 GMT", 90),
        ("Wed, 18 Nov 2026 19:00:00 GMT", 0),
        ("Wed, 18 Nov 2099 20:00:00 GMT", LONGEST_SECONDS),
    ],
)
def test_numbers_and_dates_are_seconds(value: str, seconds: float) -> None:
    assert read_value(value, date=NOW) == seconds
    assert decode_error(503, {"Retry-After": value, "Date": NOW}, b"").retry_after == seconds


def test_a_date_needs_the_date_of_its_response() -> None:
    assert read_value("Wed, 18 Nov 2026 20:01:30 GMT") is None


def test_milliseconds_are_more_exact_unless_they_are_no_time() -> None:
    assert read_headers({"retry-after-ms": "250", "retry-after": "1"}) == 0.25
    assert read_headers({"retry-after-ms": "nan", "retry-after": "1"}) == 1


@pytest.mark.parametrize(("delay", "seconds"), [("37s", 37), ("1.5s", 1.5), ("9e9s", None), ("infs", None)])
def test_error_bodies_are_read_alike(delay: str, seconds: float | None) -> None:
    assert failure_from({"error": {"details": [{"retryDelay": delay}]}}).retry_after == seconds
    assert (
        failure_from({"error": {"details": [{"retryDelay": "9" * 29 + "s"}]}}).retry_after == LONGEST_SECONDS
    )


def test_what_goes_on_to_a_client_is_a_number_of_a_length_that_can_be_waited() -> None:
    assert forwarded({"retry-after": "7", "retry-after-ms": "7000", "x": "1"}) == {
        "retry-after": "7",
        "retry-after-ms": "7000",
    }
    assert forwarded({"retry-after": "1.5"}) == {"retry-after": "1.5"}
    assert forwarded({"retry-after": "9999999999"}) == {"retry-after": "604800"}
    assert forwarded({"retry-after": "Wed, 18 Nov 2026 20:01:30 GMT", "date": NOW}) == {"retry-after": "90"}


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (None, None),
        (math.nan, None),
        (math.inf, None),
        (-1.0, None),
        (0.0, "0"),
        (0.2, "1"),
        (1e30, "604800"),
    ],
)
def test_a_header_has_whole_seconds_and_never_too_few(seconds: float | None, written: str | None) -> None:
    assert header_value(seconds) == written


@given(value=st.text(max_size=60), date=st.text(max_size=60) | st.just(NOW), seconds=st.floats())
def test_whatever_comes_the_time_is_finite_and_bounded(value: str, date: str, seconds: float) -> None:
    for read in (read_value(value, date=date), read_headers({"retry-after": value, "date": date})):
        assert read is None or 0 <= read <= LONGEST_SECONDS
    wait = bounded(seconds)
    assert wait is None or 0 <= wait <= LONGEST_SECONDS
