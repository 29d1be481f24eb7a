"""Guessing passwords: bounded from everywhere, and no way to keep their owners out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.web.webs import Browser, Served, all_bases, web_app
from thinkwire.sim.fixture import Running
from thinkwire.web.auth import throttle as module
from thinkwire.web.auth.throttle import Throttle, counted_address
from thinkwire.web.errors import Problem

pytestmark = pytest.mark.anyio

ADA = {"name": "Ada", "password": "correct horse"}
WRONG = ADA | {"password": "wrong horse"}


async def tries(browser: Browser, bodies: list[Any], headers: list[dict[str, str]]) -> list[int]:
    return [
        (await browser.ask("POST", "/api/login", body, headers=each)).status
        for body, each in zip(bodies, headers, strict=True)
    ]


def chosen(count: int) -> list[dict[str, str]]:
    return [{"x-forwarded-for": f"203.0.113.{number}"} for number in range(count)]


async def test_an_address_that_a_client_chooses_is_not_believed(
    simulator: Running, own_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    async with web_app(own_url, all_bases(simulator.url), tmp_path, auth=True) as served:
        browser = await served.browser()
        names = [WRONG | {"name": f"name{number}"} for number in range(40)]
        assert await tries(browser, names, chosen(40)) == [401] * 30 + [429] * 10


async def test_behind_a_proxy_each_address_is_counted_and_what_clients_add_is_not(
    guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = await guarded.browser()
    appended = [{"x-forwarded-for": f"9.9.9.{number}, 203.0.113.7"} for number in range(12)]
    assert await tries(browser, [WRONG] * 12, appended) == [401] * 10 + [429] * 2
    other = [{"x-forwarded-for": "203.0.113.8"}]
    assert await tries(browser, [WRONG], other) == [401]


async def test_others_wrong_passwords_keep_nobody_out(
    guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    guarded.web.throttle._sleep = sleep
    own = await guarded.browser()
    await own.post("/api/setup", ADA)
    eve = await guarded.browser()
    assert await tries(eve, [WRONG] * 40, chosen(40)) == [401] * 40, "from forty addresses"
    # From a browser that was here before, and from a new one at an address that nobody guessed from.
    slept.clear()
    await own.post("/api/logout")
    await own.get("/api/me")
    await own.post("/api/login", ADA)
    assert slept == []
    fresh = await guarded.browser()
    await fresh.post("/api/login", ADA)
    assert slept == [module.LONGEST_DELAY]


async def test_a_browser_that_was_here_is_let_in_from_an_address_that_is_used_up(guarded: Served) -> None:
    own = await guarded.browser()
    await own.post("/api/setup", ADA)
    eve = await guarded.browser()
    assert await tries(eve, [WRONG] * 12, [{}] * 12) == [401] * 10 + [429] * 2
    await own.post("/api/logout")
    await own.get("/api/me")
    await own.post("/api/login", ADA)
    assert (await eve.ask("POST", "/api/login", ADA)).status == 429


async def test_a_device_cookie_is_bounded_and_good_for_one_account_and_one_password(guarded: Served) -> None:
    own = await guarded.browser()
    await own.post("/api/setup", ADA)
    assert await tries(own, [WRONG] * 12, [{}] * 12) == [401] * 10 + [429] * 2, "a stolen one"
    user = (await own.get("/api/me"))["user"]["id"]
    found = await guarded.store.user_named("ada")
    assert found is not None
    name = f"thinkwire_device_{user}"
    cookies = {cookie.key: cookie.value for cookie in own.http.cookie_jar}
    device, _, signature = cookies[name].partition(".")
    eve = await guarded.browser()
    forged = [f"{name}={value}" for value in (f"another.{signature}", f"{device}.{'0' * 64}", ".", "", "é.é")]
    for number in range(12):
        cookie = f"thinkwire_csrf={eve.csrf()}; {forged[number % len(forged)]}"
        answer = await eve.ask("POST", "/api/login", WRONG, headers={"cookie": cookie})
        assert answer.status == (401 if number < 10 else 429)


async def test_wrong_passwords_are_slowed_down_slowly_and_not_without_end() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    throttle = Throttle(sleep=sleep)
    for _ in range(100):
        await throttle.slow_down("name ada")
    assert len(slept) == 100 - module.FREE_FAILURES
    assert slept == sorted(slept)
    assert slept[0] == module.DELAY_STEP
    assert slept[-1] == module.LONGEST_DELAY
    await throttle.slow_down("name eve")
    assert len(slept) == 100 - module.FREE_FAILURES


async def test_not_too_many_wait_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await go_on.wait()

    throttle = Throttle(sleep=sleep)
    for _ in range(module.FREE_FAILURES):
        await throttle.slow_down("name ada")
    waiting = [asyncio.ensure_future(throttle.slow_down("name ada")) for _ in range(module.MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(Problem, match="too many"):
        await throttle.slow_down("name ada")
    go_on.set()
    await asyncio.gather(*waiting)
    await throttle.slow_down("name ada")


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002"),
        ("2001:db8:1:2::1", "2001:0db8:0001:0002"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        (None, "?"),
        ("unix", "unix"),
    ],
)
def test_addresses_of_one_machine_are_one(host: str | None, counted: str) -> None:
    assert counted_address(host) == counted
