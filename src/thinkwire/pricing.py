"""What a token costs: from the maintained price data (`thinkwire[prices]`), else from our tables."""

from __future__ import annotations

import datetime
from functools import cache, lru_cache
from typing import Any

import msgspec

from thinkwire.catalog import Facts
from thinkwire.providers import find_provider
from thinkwire.usage import Usage


class Price(msgspec.Struct, frozen=True):
    """US dollars for a million tokens, at the first tier; None where nobody knows."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    source: str = "unknown"


def price_of(facts: Facts, day: datetime.date) -> Price:
    """The price of a model on a day."""
    known = _maintained(facts, day)
    if known is not None:
        return known
    if facts.price_input is None and facts.price_output is None:
        return Price()
    return Price(facts.price_input, facts.price_output, source=facts.source)


def cost_of(usage: Usage | None, price: Price) -> float | None:
    """US dollars for one answer; None when a count or a price that it needs is not known.

    Reasoning is billed as output.
    """
    if usage is None or usage.input_total is None or usage.output_total is None:
        return None
    read, write, output = usage.cache_read or 0, usage.cache_write or 0, usage.output_total
    fresh = usage.input_total - read - write
    if (
        (fresh and price.input is None)
        or (read and price.cache_read is None)
        or (write and price.cache_write is None)
        or (output and price.output is None)
    ):
        return None
    spent = (
        fresh * (price.input or 0.0)
        + read * (price.cache_read or 0.0)
        + write * (price.cache_write or 0.0)
        + output * (price.output or 0.0)
    )
    return spent / 1_000_000


def with_cache_prices(price: Price) -> Price:
    """The price with the input price in place of unknown cache prices, for estimates."""
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    return msgspec.structs.replace(price, cache_read=read, cache_write=write)


def context_of(facts: Facts) -> int | None:
    """The context window: the maintained data's where it has one, else ours."""
    model = _model(facts.provider, facts.id)
    return getattr(model, "context_window", None) or facts.context


def _maintained(facts: Facts, day: datetime.date) -> Price | None:
    model = _model(facts.provider, facts.id)
    if model is None:
        return None
    prices = model.get_prices(datetime.datetime.combine(day, datetime.time(), datetime.UTC))
    return Price(
        _base(prices.input_mtok),
        _base(prices.output_mtok),
        _base(prices.cache_read_mtok),
        _base(prices.cache_write_mtok),
        source="genai-prices",
    )


def _base(price: Any) -> float | None:
    return None if price is None else float(getattr(price, "base", price))


@lru_cache(maxsize=4096)
def _model(provider: str, name: str) -> Any:
    snapshot = _snapshot()
    service = find_provider(provider)
    if snapshot is None or service is None:
        return None
    try:
        return snapshot.find_provider_model(name, None, service.prices or service.name, None)[1]
    except LookupError:
        return None


@cache
def _snapshot() -> Any:
    try:
        from genai_prices import data_snapshot
    except ImportError:
        return None
    return data_snapshot.get_snapshot()
