"""Limits: how often a tenant may ask, what it may spend in a day, and how much this process does at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from thinkwire.gateway.auth.counters import (
    Counter,
    OwnCounter,
    RedisCounter,
    Reservation,
    day_of,
)
from thinkwire.gateway.auth.keys import Tenant
from thinkwire.gateway.common.ids import new_id
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig

__all__ = ["Counter", "Limits", "OwnCounter", "RedisCounter", "open_counter"]

_SOON = 5.0
"""Seconds to wait where running requests hold back what is left of a day's money."""
_PAUSES = (0.0, 1.0, 5.0)
"""Seconds before each try to settle a request."""
_ORDERLY = 1.0
"""Seconds that a request waits for those of the same tenant to be settled."""
_CLOSING = 10.0
"""Seconds in which everything that was spent must be counted when the gateway ends."""

_log = logging.getLogger("thinkwire.gateway")


class Limits:
    """Lets requests in, or refuses them with the time to wait.

    As a context it is a place for one request, to the end of its stream.
    """

    def __init__(
        self,
        config: GatewayConfig,
        counter: Counter,
        *,
        clock: Callable[[], float] = time.time,
        on_running: Callable[[int], None] = lambda running: None,
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        self.config = config
        """May be replaced while running."""
        self._counter = counter
        self._clock = clock
        self._on_running = on_running
        self._pauses = pauses
        self._settling: dict[asyncio.Task[None], str] = {}
        """Settlements that are still being written, and whose they are."""
        self.running = 0

    def __enter__(self) -> None:
        """One more request at once; Refusal when there are as many as may be."""
        if self.running >= self.config.server.max_streams:
            message = "the gateway serves as many requests as it may (max_streams under [server]); try again"
            raise Refusal(503, "overloaded", message, retry_after=1)
        self.running += 1
        self._on_running(self.running)

    def __exit__(self, *failed: object) -> None:
        self.running -= 1
        self._on_running(self.running)

    async def check_rate(self, tenant: Tenant) -> None:
        """Refuse a tenant that has asked as often as it may."""
        await self._check_rate(tenant, tenant.id)

    async def check_question(self, tenant: Tenant) -> None:
        """Refuse a tenant that has asked for as many plans and counts as it may.

        They have a rate of their own, as high as that of requests, since agents ask for many counts beside
        each request. They cost no money, so the daily spend does not matter.
        """
        await self._check_rate(tenant, f"{tenant.id} questions")

    async def _check_rate(self, tenant: Tenant, bucket: str) -> None:
        if tenant.rate_per_minute is None:
            return
        wait = await self._counter.take(bucket, tenant.rate_per_minute, self._clock())
        if wait > 0:
            message = f"{tenant.name} may ask {tenant.rate_per_minute} times a minute"
            raise Refusal(429, "rate_limit", message, retry_after=round(wait, 3))

    def check_price(self, tenant: Tenant, is_priced: bool) -> None:
        """Refuse a model without a price to a tenant with a daily spend, unless `unpriced` allows it."""
        if tenant.spend_per_day is None or is_priced or self.config.limits.unpriced == "allow":
            return
        message = (
            f"{tenant.name} has a daily spend, and the price of this model is unknown "
            '(`unpriced = "allow"` under [limits] lets it through uncounted)'
        )
        raise Refusal(403, "auth", message)

    async def reserve(self, tenant: Tenant, usd: float) -> Reservation | None:
        """Hold back the estimated cost of a request of a tenant with a daily spend.

        A request is admitted while what was spent and what others hold back is below the limit, so the sum
        can exceed the limit by the last reservation only. The result goes to `settle`.
        """
        limit = tenant.spend_per_day
        if limit is None:
            return None
        await self._settled(tenant.id)
        now = self._clock()
        wanted = Reservation(new_id(), tenant.id, day_of(now), usd)
        asked: asyncio.Future[Any] = asyncio.ensure_future(self._counter.reserve(wanted, limit, now))
        try:
            balance = await asyncio.shield(asked)
        except BaseException:
            # It may have been written all the same.
            self.settle(wanted, 0.0, after=asked)
            raise
        if balance.is_admitted:
            return wanted
        if balance.spent >= limit:
            message = f"{tenant.name} has spent its {limit:g} USD of today; the next day begins at 00:00 UTC"
            raise Refusal(429, "quota", message, retry_after=86_400 - now % 86_400)
        message = (
            f"the running requests of {tenant.name} may use the rest of its {limit:g} USD of today; "
            "try again when one of them has ended"
        )
        raise Refusal(429, "rate_limit", message, retry_after=_SOON)

    def settle(
        self, reservation: Reservation, cost: float, *, after: asyncio.Future[Any] | None = None
    ) -> None:
        """Replace a reservation by the cost, in the background. What cannot be written stays reserved."""
        task = asyncio.ensure_future(self._settle(reservation, cost, after))
        self._settling[task] = reservation.tenant
        task.add_done_callback(lambda done: self._settling.pop(done, None))

    async def aclose(self) -> None:
        if self._settling:
            await asyncio.wait(list(self._settling), timeout=_CLOSING)
        await self._counter.aclose()

    async def _settle(self, reservation: Reservation, cost: float, after: asyncio.Future[Any] | None) -> None:
        if after is not None:
            await asyncio.wait([after])
            if after.exception() is not None:
                # Whether it was written is not known. One try: the store is in trouble.
                with contextlib.suppress(Refusal):
                    await self._counter.settle(reservation, cost)
                return
        failed: Refusal | None = None
        for pause in self._pauses:
            if pause:
                await asyncio.sleep(pause)
            try:
                await self._counter.settle(reservation, cost)
            except Refusal as error:
                failed = error
            else:
                return
        _log.error(
            "a request of %s counts as %.6f USD instead of %.6f: %s",
            *(reservation.tenant, reservation.usd, cost, failed),
        )

    async def _settled(self, tenant: str) -> None:
        """Wait until what this tenant's earlier requests cost is counted."""
        if self._settling:
            mine = [task for task, whose in self._settling.items() if whose == tenant]
            if mine:
                await asyncio.wait(mine, timeout=_ORDERLY)


def open_counter(config: GatewayConfig) -> Counter:
    """The counter that the configuration asks for."""
    return RedisCounter(config.limits.url) if config.limits.url else OwnCounter()
