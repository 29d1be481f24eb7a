"""Cost: from the tables, or unknown."""

from __future__ import annotations

import datetime

import pytest

from tests.gateway.metrics.records import USAGE
from thinkwire.catalog import default_catalog
from thinkwire.gateway.cost import cost_of, has_price
from thinkwire.prices import price_of
from thinkwire.usage import Usage

DAY = datetime.date(2026, 11, 1)
PRICED = next(
    facts
    for facts in default_catalog()
    if price_of(facts, DAY).cache_write and price_of(facts, DAY).cache_read
)


def test_every_bucket_has_its_price() -> None:
    price = price_of(PRICED, DAY)
    assert price.input is not None
    assert price.output is not None
    assert price.cache_read is not None
    assert price.cache_write is not None
    dollars = 70 * price.input + 20 * price.cache_read + 10 * price.cache_write + 50 * price.output
    assert cost_of(USAGE, PRICED.provider, PRICED.id, day=DAY) == pytest.approx(dollars / 1_000_000)
    assert has_price(PRICED.provider, PRICED.id)


@pytest.mark.parametrize("usage", [None, Usage(), Usage(input_total=5), Usage(output_total=5)])
def test_without_all_counts_the_cost_is_unknown(usage: Usage | None) -> None:
    assert cost_of(usage, PRICED.provider, PRICED.id) is None


@pytest.mark.parametrize(
    ("provider", "model"), [(None, None), ("anthropic", None), ("ollama", "llama3"), ("nobody", "x")]
)
def test_without_a_price_the_cost_is_unknown(provider: str | None, model: str | None) -> None:
    assert cost_of(USAGE, provider, model) is None
    assert not has_price(provider, model)
