"""Limits: requests a minute, dollars a day, and requests at once; in this process, in a file, in Redis."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import need
from thinkwire.errors import ConfigError
from thinkwire.gateway.config import GatewayConfig, LimitSettings, Server
from thinkwire.gateway.guard import Refusal
from thinkwire.gateway.keys import LOCAL, Tenant
from thinkwire.gateway.limits import Counter, Limits, OwnCounter, RedisCounter, _Bucket, open_counter

pytestmark = pytest.mark.anyio
MORNING = 1_800_000_000.0
TENANT = Tenant("t1", "ci", rate_per_minute=3, spend_per_day=1.0)
RATED = Tenant("t2", "rated", rate_per_minute=3)


class Clock:
    def __init__(self) -> None:
        self.now = MORNING

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis of its own on a socket in a folder."""
    program = need("redis")
    socket = tmp_path_factory.mktemp("redis") / "s"
    server = subprocess.Popen(
        [program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
        cwd=socket.parent,
    )
    try:
        give_up = time.monotonic() + 10
        while not socket.exists() and time.monotonic() < give_up:
            time.sleep(0.02)
        yield f"unix://{socket}"
    finally:
        server.terminate()
        server.wait(timeout=10)


@pytest.fixture(params=["own", "redis"])
async def counters(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callable[[], Counter]]:
    """Makes counters that share what they share when there are several workers."""
    made: list[Counter] = []

    def another() -> Counter:
        own = request.param == "own"
        made.append(
            OwnCounter(tmp_path / "s.db") if own else RedisCounter(request.getfixturevalue("redis_url"))
        )
        return made[-1]

    yield another
    for counter in made:
        if isinstance(counter, RedisCounter):
            await counter._redis.flushall()
        await counter.aclose()


def limits(counter: Counter, clock: Clock | None = None, **server: int) -> Limits:
    return Limits(GatewayConfig(server=Server(**server)), counter, clock=clock or Clock())  # type: ignore[arg-type]


async def ask(limits: Limits, tenant: Tenant, cost: float | None = None, *, priced: bool = True) -> None:
    with limits:
        await limits.check(tenant, priced=priced)
    await limits.spend(tenant, cost)


async def refused(limits: Limits, tenant: Tenant, *, priced: bool = True) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await ask(limits, tenant, priced=priced)
    return caught.value


async def test_the_rate_is_a_bucket_that_fills_evenly(counters: Callable[[], Counter]) -> None:
    clock = Clock()
    gate = limits(counters(), clock)
    for _ in range(3):
        await ask(gate, RATED)
    refusal = await refused(gate, RATED)
    assert (refusal.status, refusal.kind) == (429, "rate_limit")
    assert refusal.retry_after == pytest.approx(20)
    clock.now += 19
    assert (await refused(gate, RATED)).retry_after == pytest.approx(1, abs=0.01)
    clock.now += 1.01
    await ask(gate, RATED)
    await refused(gate, RATED)
    clock.now += 3600
    for _ in range(3):
        await ask(gate, RATED)
    await refused(gate, RATED)


async def test_one_tenant_does_not_use_up_another(counters: Callable[[], Counter]) -> None:
    gate = limits(counters())
    for _ in range(3):
        await ask(gate, RATED)
    await refused(gate, RATED)
    await ask(gate, TENANT)
    for _ in range(20):
        await ask(gate, LOCAL)


async def test_a_day_ends_when_its_money_is_spent_and_another_begins(counters: Callable[[], Counter]) -> None:
    clock = Clock()
    gate = limits(counters(), clock)
    await ask(gate, TENANT, 0.7)
    await ask(gate, TENANT, None)
    await ask(gate, TENANT, 0.4)
    refusal = await refused(gate, TENANT)
    assert (refusal.status, refusal.kind) == (429, "quota")
    assert refusal.retry_after == 86_400 - MORNING % 86_400
    clock.now += refusal.retry_after + 1
    await ask(gate, TENANT, 0.1)


async def test_money_is_counted_by_all_workers_together(counters: Callable[[], Counter]) -> None:
    first, second = limits(counters()), limits(counters())
    await ask(first, TENANT, 0.6)
    await ask(second, TENANT, 0.6)
    assert (await refused(first, TENANT)).kind == "quota"


async def test_requests_are_counted_together_where_redis_is_shared(redis_url: str) -> None:
    one, two = RedisCounter(redis_url), RedisCounter(redis_url)
    try:
        for counter in (one, two, one):
            await ask(limits(counter), Tenant("shared", "s", rate_per_minute=3))
        assert (await refused(limits(two), Tenant("shared", "s", rate_per_minute=3))).kind == "rate_limit"
    finally:
        await one.aclose()
        await two.aclose()


async def test_money_spent_is_known_after_a_restart(tmp_path: Path) -> None:
    counter = OwnCounter(tmp_path / "s.db")
    await ask(limits(counter), TENANT, 2.0)
    await counter.aclose()
    counter = OwnCounter(tmp_path / "s.db")
    assert (await refused(limits(counter), TENANT)).kind == "quota"
    await counter.aclose()


async def test_a_model_without_a_price_is_not_for_who_has_a_daily_spend(tmp_path: Path) -> None:
    gate = limits(OwnCounter(tmp_path / "s.db"))
    refusal = await refused(gate, TENANT, priced=False)
    assert (refusal.status, refusal.kind) == (403, "auth")
    await ask(gate, RATED, priced=False)
    gate.config = GatewayConfig(limits=LimitSettings(unpriced="allow"))
    await ask(gate, TENANT, priced=False)
    await gate.aclose()


async def test_a_full_house_refuses_at_once_and_has_room_again(tmp_path: Path) -> None:
    seen: list[int] = []
    counter = OwnCounter(tmp_path / "s.db")
    gate = Limits(GatewayConfig(server=Server(max_streams=2)), counter, on_running=seen.append)
    with gate, gate:
        refusal = await refused(gate, LOCAL)
        assert (refusal.kind, refusal.retry_after) == ("overloaded", 1)
    await ask(gate, LOCAL)
    assert seen == [1, 2, 1, 0, 1, 0]


async def test_a_refusal_takes_no_place(tmp_path: Path) -> None:
    gate = limits(OwnCounter(tmp_path / "s.db"), max_streams=1)
    for _ in range(3):
        await ask(gate, RATED)
    for _ in range(3):
        assert (await refused(gate, RATED)).kind == "rate_limit"
    assert gate.running == 0


async def test_who_leaves_while_it_is_counted_takes_no_place(tmp_path: Path) -> None:
    class Slow(OwnCounter):
        async def take(self, tenant: str, per_minute: int, now: float) -> float:
            asked.set()
            await asyncio.Event().wait()
            return 0.0

    asked = asyncio.Event()
    gate = limits(Slow(tmp_path / "s.db"), max_streams=1)
    waiting = asyncio.ensure_future(ask(gate, RATED))
    await asked.wait()
    assert gate.running == 1
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert gate.running == 0
    await ask(gate, LOCAL)


async def test_nobody_with_a_limit_is_let_in_uncounted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone = RedisCounter(f"unix://{tmp_path}/nobody")
    folder = tmp_path / "s.db"
    folder.mkdir()
    for counter in (gone, OwnCounter(folder)):
        assert (await refused(limits(counter), TENANT)).kind == "overloaded"
        await counter.add("t1", "2027-01-01", 1.0)
        await ask(limits(counter), LOCAL)
        await counter.aclose()
    assert caplog.text.count("could not be counted") == 2


def test_the_configuration_chooses_the_counter() -> None:
    assert isinstance(open_counter(GatewayConfig()), OwnCounter)
    assert isinstance(
        open_counter(GatewayConfig(limits=LimitSettings(url="redis://127.0.0.1"))), RedisCounter
    )
    with pytest.raises(ConfigError, match="must be redis://") as caught:
        open_counter(GatewayConfig(limits=LimitSettings(url="http://:planted@127.0.0.1")))
    assert "planted" not in str(caught.value)


@given(st.integers(1, 100), st.lists(st.floats(0, 120), min_size=1, max_size=60))
def test_no_minute_has_more_than_twice_its_worth(per_minute: int, pauses: list[float]) -> None:
    """A full bucket and what flows in meanwhile: never more, whatever the pauses."""
    bucket = _Bucket(per_minute, 0)
    now, taken = 0.0, []
    for pause in pauses:
        now += pause
        if bucket.take(per_minute, now) == 0:
            taken.append(now)
    assert all(sum(start <= when < start + 60 for when in taken) <= 2 * per_minute for start in taken)


@given(st.integers(1, 100), st.integers(0, 50))
def test_who_waits_as_long_as_was_said_is_let_in(per_minute: int, before: int) -> None:
    bucket = _Bucket(per_minute, 0)
    for _ in range(per_minute + before):
        bucket.take(per_minute, 0)
    wait = bucket.take(per_minute, 0)
    assert wait > 0
    assert bucket.take(per_minute, wait + 1e-6) == 0
