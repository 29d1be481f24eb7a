"""How long to wait before another try, as headers and error bodies say it: read and written in one place.

What is read is None or a finite number of seconds from 0 to `LONGEST_SECONDS`. What is written is too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

LONGEST_SECONDS = 7 * 86_400.0
"""A longer time is cut to this one."""
_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{0,30})?")
_LONGEST_DATE = 40
_HEADERS = (("retry-after-ms", 0.001), ("retry-after", 1.0))
"""Names, the more exact one first, and their units in seconds."""


def read_headers(headers: Mapping[str, str]) -> float | None:
    """Seconds, from the headers of a response; their names are in lower case."""
    for name, unit in _HEADERS:
        seconds = read_value(headers.get(name, ""), unit=unit, date=headers.get("date", ""))
        if seconds is not None:
            return seconds
    return None


def read_value(value: str, *, unit: float = 1.0, date: str = "") -> float | None:
    """Seconds, from one value: a number, or an HTTP date, which counts from the `date` of the response."""
    value = value.strip()
    if _NUMBER.fullmatch(value):
        return bounded(float(value) * unit)
    then, now = _read_date(value), _read_date(date.strip())
    return None if then is None or now is None else bounded(max(0.0, (then - now).total_seconds()))


def bounded(seconds: float | None) -> float | None:
    """`seconds` if they are a time that can be waited for, at most the longest one; else None."""
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return None
    return min(seconds, LONGEST_SECONDS)


def header_value(seconds: float | None) -> str | None:
    """The value of a `retry-after` header: whole seconds, rounded up; None where there is nothing to say."""
    seconds = bounded(seconds)
    return None if seconds is None else str(math.ceil(seconds))


def forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an upstream that go on to a client: numbers as they came, dates as seconds."""
    passed: dict[str, str] = {}
    for name, unit in _HEADERS:
        value = headers.get(name)
        if value is None:
            continue
        seconds = read_value(value, unit=unit, date=headers.get("date", ""))
        if seconds is not None:
            as_it_came = seconds < LONGEST_SECONDS and _NUMBER.fullmatch(value)
            passed[name] = value if as_it_came else str(math.ceil(seconds / unit))
    return passed


def _read_date(text: str) -> datetime | None:
    if not 0 < len(text) <= _LONGEST_DATE:
        return None
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
