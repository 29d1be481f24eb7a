"""Limits: requests a minute, dollars a day, and requests at once; in this process, in a file, in Redis."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.redis import running
from tests.support import need
from thinkwire.errors import ConfigError
from thinkwire.gateway.auth.counters import RESERVATION_SECONDS, Reservation, _Bucket
from thinkwire.gateway.auth.keys import LOCAL, Tenant
from thinkwire.gateway.auth.limits import Counter, Limits, OwnCounter, RedisCounter, open_counter
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig, LimitSettings, Server

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
    config = GatewayConfig(server=Server(**server))  # type: ignore[arg-type]
    return Limits(config, counter, clock=clock or Clock(), pauses=(0.0, 0.001))


async def ask(limits: Limits, tenant: Tenant, cost: float = 0.0, *, estimate: float = 0.0) -> None:
    """One request: let in at its estimate, and settled at its cost."""
    with limits:
        await limits.check_rate(tenant)
        held = await limits.reserve(tenant, estimate)
    if held is not None:
        limits.settle(held, cost)
        await limits._settled(tenant.id)


async def refused(limits: Limits, tenant: Tenant, *, estimate: float = 0.0) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await ask(limits, tenant, estimate=estimate)
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
    await ask(gate, TENANT)
    await ask(gate, TENANT, 0.4)
    clock.now += 60
    refusal = await refused(gate, TENANT)
    assert (refusal.status, refusal.kind) == (429, "quota")
    assert refusal.retry_after == 86_400 - clock.now % 86_400
    clock.now += refusal.retry_after + 1
    await ask(gate, TENANT, 0.1)


async def test_money_is_counted_by_all_workers_together(counters: Callable[[], Counter]) -> None:
    first, second = limits(counters()), limits(counters())
    await ask(first, TENANT, 0.6)
    await ask(second, TENANT, 0.6)
    assert (await refused(first, TENANT)).kind == "quota"


async def test_requests_at_once_exceed_the_limit_by_one_reservation_at_most(
    counters: Callable[[], Counter],
) -> None:
    """A hundred at once, at two workers: 2 USD a day, an estimate of 1.255 USD for each."""
    gates = [limits(counters()), limits(counters())]
    tenant = Tenant("t1", "ci", spend_per_day=2.0)

    async def one(number: int) -> Reservation | Refusal | None:
        try:
            return await gates[number % 2].reserve(tenant, 1.255)
        except Refusal as error:
            return error

    answers = await asyncio.gather(*map(one, range(100)))
    admitted = [answer for answer in answers if isinstance(answer, Reservation)]
    assert len(admitted) == 2
    waiting = [answer for answer in answers if isinstance(answer, Refusal)]
    assert {(error.status, error.kind, error.retry_after) for error in waiting} == {(429, "rate_limit", 5.0)}
    for held in admitted:
        gates[0].settle(held, 1.255)
    assert (await refused(gates[0], tenant)).kind == "quota", "and what was spent is counted"


async def test_a_first_request_is_admitted_though_it_may_cost_more_than_a_day(
    counters: Callable[[], Counter],
) -> None:
    gate = limits(counters())
    await ask(gate, TENANT, 0.1, estimate=50.0)
    await ask(gate, TENANT, 0.1, estimate=50.0)


async def test_a_reservation_is_made_and_settled_once(counters: Callable[[], Counter]) -> None:
    """Whatever is sent again because its answer was lost."""
    counter = counters()
    held = Reservation("r1", "t1", "2027-01-15", 0.4)
    for _ in range(3):
        assert (await counter.reserve(held, 1.0, MORNING)).is_admitted
    assert await balance(counter) == pytest.approx((0.0, 0.4))
    for _ in range(3):
        await counter.settle(held, 0.25)
    assert await balance(counter) == pytest.approx((0.25, 0.0))


async def test_a_reservation_that_was_never_settled_counts_as_spent(counters: Callable[[], Counter]) -> None:
    """Its worker was killed."""
    counter = counters()
    held = Reservation("r1", "t1", "2027-01-15", 0.4)
    await counter.reserve(held, 1.0, MORNING)
    later = MORNING + RESERVATION_SECONDS
    assert await balance(counter, later - 1) == pytest.approx((0.0, 0.4))
    assert await balance(counter, later + 1) == pytest.approx((0.4, 0.0))
    await counter.settle(held, 0.1)
    assert await balance(counter, later + 1) == pytest.approx((0.1, 0.0)), "settled late, at its true cost"


async def test_a_killed_worker_leaves_its_reservation(tmp_path: Path) -> None:
    script = (
        "import asyncio, os, signal, sys; from pathlib import Path\n"
        "from thinkwire.gateway.auth.counters import OwnCounter, Reservation\n"
        "async def main():\n"
        "    counter = OwnCounter(Path(sys.argv[1]))\n"
        "    await counter.reserve(Reservation('r1', 't1', '2027-01-15', 0.4), 1.0, float(sys.argv[2]))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, tmp_path / "s.db", str(MORNING)])
    assert killed.returncode == -signal.SIGKILL
    counter = OwnCounter(tmp_path / "s.db")
    assert await balance(counter) == pytest.approx((0.0, 0.4))
    assert await balance(counter, MORNING + RESERVATION_SECONDS) == pytest.approx((0.4, 0.0))
    await counter.aclose()


async def test_a_request_that_is_cancelled_while_it_is_admitted_holds_nothing_back(
    counters: Callable[[], Counter],
) -> None:
    gate = limits(counters())
    waiting = asyncio.ensure_future(gate.reserve(TENANT, 0.9))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await gate._settled("t1")
    assert await balance(gate._counter) == (0.0, 0.0)


async def balance(counter: Counter, now: float = MORNING) -> tuple[float, float]:
    """What is spent and what is reserved, asked for by a request that may not be made."""
    found = await counter.reserve(Reservation("x", "t1", "2027-01-15", 1.0), 0.0, now)
    assert not found.is_admitted
    return found.spent, found.reserved


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
    gate = limits(counter)
    await ask(gate, TENANT, 2.0)
    await gate.aclose()
    counter = OwnCounter(tmp_path / "s.db")
    assert (await refused(limits(counter), TENANT)).kind == "quota"
    await counter.aclose()


async def test_a_model_without_a_price_is_not_for_who_has_a_daily_spend(tmp_path: Path) -> None:
    gate = limits(OwnCounter(tmp_path / "s.db"))
    with pytest.raises(Refusal) as caught:
        gate.check_price(TENANT, False)
    assert (caught.value.status, caught.value.kind) == (403, "auth")
    gate.check_price(TENANT, True)
    gate.check_price(RATED, False)
    gate.config = GatewayConfig(limits=LimitSettings(unpriced="allow"))
    gate.check_price(TENANT, False)


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


async def test_nobody_with_a_limit_is_let_in_uncounted(tmp_path: Path) -> None:
    gone = RedisCounter(f"unix://{tmp_path}/nobody")
    folder = tmp_path / "s.db"
    folder.mkdir()
    for counter in (gone, OwnCounter(folder)):
        gate = limits(counter)
        refusal = await refused(gate, TENANT)
        assert (refusal.status, refusal.kind, refusal.retry_after) == (503, "overloaded", 1)
        await ask(gate, LOCAL)
        await gate.aclose()


async def test_a_full_disk_refuses_keys_with_a_daily_spend(tmp_path: Path) -> None:
    """The file can be read, and has no room for another row."""
    counter = OwnCounter(tmp_path / "s.db")
    gate = limits(counter)
    tenant = Tenant("t" * 20_000, "ci", spend_per_day=9.0)
    assert await gate.reserve(tenant, 0.3) is not None
    (pages,) = await counter._run(lambda db: db.execute("PRAGMA page_count").fetchone())
    await counter._run(lambda db: db.execute(f"PRAGMA max_page_count = {pages}"))
    for _ in range(3):
        refusal = await refused(gate, tenant, estimate=0.1)
        assert (refusal.status, refusal.kind, refusal.retry_after) == (503, "overloaded", 1)
        await ask(gate, LOCAL)
    await counter._run(lambda db: db.execute("PRAGMA max_page_count = 1000000"))
    assert await gate.reserve(tenant, 0.3) is not None, "there is room again"
    await gate.aclose()


async def test_what_cannot_be_settled_counts_at_its_estimate(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The database became read-only while a request was served."""
    counter = OwnCounter(tmp_path / "s.db")
    gate = limits(counter)
    held = await gate.reserve(TENANT, 0.3)
    assert held is not None
    await counter._run(lambda db: db.execute("PRAGMA query_only = ON"))
    gate.settle(held, 0.2)
    assert (await refused(gate, TENANT, estimate=0.1)).status == 503
    assert "counts as 0.300000 USD instead of 0.200000" in caplog.text
    await gate.aclose()
    counter = OwnCounter(tmp_path / "s.db")
    assert await balance(counter) == pytest.approx((0.0, 0.3))
    await counter.aclose()


async def test_a_locked_database_does_not_stop_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    gate = limits(OwnCounter(path))
    await ask(gate, TENANT)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(gate.reserve(TENANT, 0.1))
    for _ in range(50):
        await asyncio.sleep(0.001)
    assert not waiting.done(), "it waits for the lock, and the loop went on fifty times"
    other.execute("COMMIT")
    other.close()
    assert await waiting is not None
    await gate.aclose()


async def test_requests_do_not_wait_for_a_lock_one_after_another(tmp_path: Path) -> None:
    """Twenty are refused in about the time in which one is."""
    path = tmp_path / "s.db"
    gate = limits(OwnCounter(path, patience=0.2))
    await ask(gate, TENANT)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    took: list[float] = []
    for count in (1, 20):
        began = time.monotonic()
        answers = await asyncio.gather(
            *(gate.reserve(TENANT, 0.1) for _ in range(count)), return_exceptions=True
        )
        took.append(time.monotonic() - began)
        assert {getattr(answer, "status", None) for answer in answers} == {503}
    assert took[1] < 5 * took[0]
    other.execute("COMMIT")
    other.close()
    await gate.aclose()


async def test_what_could_not_be_settled_at_once_is_settled_later(tmp_path: Path) -> None:
    counter = OwnCounter(tmp_path / "s.db")
    gate = limits(counter)
    held = await gate.reserve(TENANT, 0.3)
    assert held is not None
    settle, tries = counter.settle, 0

    async def once_broken(reservation: Reservation, cost: float) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise Refusal(503, "overloaded", "locked")
        await settle(reservation, cost)

    counter.settle = once_broken  # type: ignore[method-assign]
    gate.settle(held, 0.2)
    await gate._settled("t1")
    assert await balance(counter) == pytest.approx((0.2, 0.0))
    await gate.aclose()


async def test_redis_is_asked_again_after_it_was_restarted(tmp_path: Path) -> None:
    with running() as server:
        counter = RedisCounter(server.url)
        gate = limits(counter)
        await ask(gate, RATED)
        await ask(gate, TENANT, 0.25)
        server.say("CLIENT KILL TYPE normal SKIPME yes")
        server.say("SCRIPT FLUSH")
        assert await balance(counter) == pytest.approx((0.25, 0.0))
        server.say("CLIENT KILL TYPE normal SKIPME yes")
        await ask(gate, RATED)
        await gate.aclose()


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
