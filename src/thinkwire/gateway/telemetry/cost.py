"""What an answer cost, in US dollars; None where the price or a count of tokens is unknown."""

from __future__ import annotations

import datetime
import time
from functools import lru_cache

from thinkwire import pricing as prices
from thinkwire.catalog import default_catalog
from thinkwire.pricing import Price, price_of
from thinkwire.usage import Usage


def cost_of(
    usage: Usage | None, provider: str | None, model: str | None, *, day: datetime.date | None = None
) -> float | None:
    """The price of an answer on a day, else today."""
    if usage is None or provider is None or model is None:
        return None
    return prices.cost_of(usage, _price(provider, model, _today() if day is None else _number(day)))


def bound_of(usage: Usage | None, provider: str | None, model: str | None) -> float | None:
    """Estimate a cost where a cache price is unknown: cached tokens cost what other input does."""
    if usage is None or provider is None or model is None:
        return None
    return prices.cost_of(usage, prices.with_cache_prices(_price(provider, model, _today())))


def has_price(provider: str | None, model: str | None) -> bool:
    """Whether an answer of this model can be priced at all."""
    if provider is None or model is None:
        return False
    price = _price(provider, model, _today())
    return price.input is not None and price.output is not None


_EPOCH = datetime.date(1970, 1, 1)


def _today() -> int:
    """Days since the epoch began, in UTC."""
    return int(time.time() // 86_400)


def _number(day: datetime.date) -> int:
    return (day - _EPOCH).days


@lru_cache(maxsize=1024)
def _price(provider: str, model: str, day: int) -> Price:
    found = default_catalog().find(provider, model)
    return Price() if found is None else price_of(found.facts, _EPOCH + datetime.timedelta(day))
