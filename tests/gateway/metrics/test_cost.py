"""Cost: from the tables, or unknown."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.metrics.records import USAGE
from thinkwire import pricing as prices
from thinkwire.catalog import Facts, default_catalog
from thinkwire.gateway.telemetry import cost
from thinkwire.gateway.telemetry.cost import cost_of, has_price
from thinkwire.pricing import Price, price_of
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


def test_a_day_is_a_day_of_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[datetime.date] = []

    def priced(facts: Facts, day: datetime.date) -> Price:
        asked.append(day)
        return Price(1.0, 1.0, 1.0, 1.0)

    monkeypatch.setattr(cost, "price_of", priced)
    cost._price.cache_clear()
    midnight = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC).timestamp()
    for now in (midnight - 0.001, midnight, midnight + 86_399.9):
        monkeypatch.setattr("time.time", lambda now=now: now)
        assert cost_of(USAGE, PRICED.provider, PRICED.id) == pytest.approx(0.00015)
    assert cost_of(USAGE, PRICED.provider, PRICED.id, day=DAY) == pytest.approx(0.00015)
    cost._price.cache_clear()
    assert asked == [DAY, datetime.date(2026, 11, 2)], "each day's price is looked up once"


COUNTS = st.integers(0, 10**6)
DOLLARS = st.none() | st.floats(0, 1000)


@given(st.tuples(*[COUNTS] * 4), st.tuples(*[DOLLARS] * 4))
def test_buckets_add_up_and_only_those_that_are_used_need_a_price(
    buckets: tuple[int, int, int, int], dollars: tuple[float | None, ...]
) -> None:
    fresh, read, write, output = buckets
    price = Price(dollars[0], dollars[3], dollars[1], dollars[2])
    usage = Usage(None, read or None, write or None, fresh + read + write, None, None, output)
    spent = 0.0
    for tokens, each in zip(buckets, dollars, strict=True):
        if tokens and each is None:
            assert prices.cost_of(usage, price) is None
            return
        spent += tokens * (each or 0)
    assert prices.cost_of(usage, price) == spent / 1_000_000


@pytest.mark.parametrize("usage", [None, Usage(), Usage(input_total=5), Usage(output_total=5)])
def test_without_all_counts_the_cost_is_unknown(usage: Usage | None) -> None:
    assert cost_of(usage, PRICED.provider, PRICED.id) is None


@pytest.mark.parametrize(
    ("provider", "model"), [(None, None), ("anthropic", None), ("ollama", "llama3"), ("nobody", "x")]
)
def test_without_a_price_the_cost_is_unknown(provider: str | None, model: str | None) -> None:
    assert cost_of(USAGE, provider, model) is None
    assert not has_price(provider, model)


def test_names_that_clients_invent_do_not_pile_up() -> None:
    for remembered in (cost._price, prices._model):
        most = remembered.cache_info().maxsize
        assert most is not None
        assert most <= 4096
