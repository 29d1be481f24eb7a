"""News for other browsers of the same user, and tries to sign in: alone, and between processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.web.webs import Browser, Served, all_bases, web_app
from thinkwire.sim.fixture import Running
from thinkwire.web import change_feed as news_module
from thinkwire.web.auth.security import digest
from thinkwire.web.auth.throttle import Limit, SharedThrottle, Throttle
from thinkwire.web.change_feed import ChangeFeed
from thinkwire.web.errors import Problem
from thinkwire.web.runs.redis_bus import RedisBus

pytestmark = pytest.mark.anyio

ADA = {"name": "Ada", "password": "correct horse"}


class Listener:
    """A page that listens, one request after the other."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.after = ""

    async def begin(self) -> Listener:
        assert await self.next() == []
        return self

    async def next(self) -> Any:
        told = await self._browser.get(f"/api/events?after={self.after}")
        self.after = told["after"]
        return told["conversations"]

    async def until(self, true: Any) -> None:
        """Hears news until something is as it should be, which it looks at whenever there are some."""
        async with asyncio.timeout(20):
            while not await true():
                await self.next()


def impatient(served: Served, seconds: float) -> None:
    served.web.options = msgspec.structs.replace(served.web.options, news_patience=seconds)


@pytest.fixture
async def pair(
    simulator: Running, own_url: str, workspace: Path, redis_url: str
) -> AsyncIterator[list[Served]]:
    """Two servers with accounts, on one store and one Redis."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                web_app(own_url, all_bases(simulator.url), workspace, auth=True, redis_url=redis_url)
            )
            for _ in range(2)
        ]


async def same_user(one: Browser, other: Served) -> Browser:
    """Another browser, at another server, of whoever is signed in here."""
    browser = await other.browser()
    cookies = {cookie.key: cookie.value for cookie in one.http.cookie_jar}
    browser.http.cookie_jar.update_cookies(cookies)
    return browser


async def test_another_browser_hears_when_an_answer_begins_and_ends(app: Served, browser: Browser) -> None:
    other = await app.browser()
    listener = await Listener(other).begin()
    talk = await browser.talk()
    id = talk.rpartition("/")[2]
    assert await listener.next() == [id], "it is there"
    said = {"message": {"text": "[[think:Half.]] [[stall:30]]"}}
    async with browser.request("POST", f"{talk}/chat", said) as reply:
        assert reply.status == 200

        async def running() -> bool:
            return bool((await other.get(talk))["running"])

        async def over() -> bool:
            return not (await other.get(talk))["running"]

        await listener.until(running)
        waiting = asyncio.ensure_future(listener.until(over))
        await browser.post(f"{talk}/stop")
        await waiting


async def test_what_is_done_to_a_conversation_is_heard(app: Served, browser: Browser) -> None:
    listener = await Listener(await app.browser()).begin()
    talk = await browser.talk()
    id = talk.rpartition("/")[2]
    await listener.next()
    await browser.patch(talk, {"title": "Another"})
    assert await listener.next() == [id]
    await browser.ask("DELETE", talk)
    assert await listener.next() == [id]
    await browser.post(f"{talk}/restore")
    assert await listener.next() == [id]
    await browser.say(talk, "[[say:One.]]")
    assert await listener.next() == [id], "begun and ended are one piece of news to who was away"


async def test_silence_is_an_empty_answer_after_a_while(app: Served, browser: Browser) -> None:
    impatient(app, 0.05)
    listener = await Listener(browser).begin()
    assert await listener.next() == []
    assert await listener.next() == []


async def test_nobody_hears_of_others(guarded: Served) -> None:
    ada, eve = await guarded.account("ada"), await guarded.account("eve")
    hers = await Listener(ada).begin()
    others = await Listener(eve).begin()
    impatient(guarded, 0.2)
    talk = await ada.talk()
    assert await hers.next() == [talk.rpartition("/")[2]]
    assert await others.next() == []
    nobody = await guarded.browser()
    assert (await nobody.ask("GET", "/api/events")).status == 401


async def test_who_is_signed_out_hears_no_further(guarded: Served) -> None:
    ada = await guarded.account("ada")
    owner = (await ada.get("/api/me"))["user"]["id"]
    listener = await Listener(ada).begin()
    waiting = asyncio.ensure_future(ada.ask("GET", f"/api/events?after={listener.after}"))
    while not guarded.web.news.waiting:
        await asyncio.sleep(0.005)
    token = next(cookie.value for cookie in ada.http.cookie_jar if cookie.key == "thinkwire_session")
    await guarded.store.sign_out(digest(token))
    await guarded.web.news.tell(owner, "something")
    answer = await waiting
    assert (answer.status, answer.body["error"]["kind"]) == (401, "signed_out")


async def test_whoever_is_far_behind_looks_at_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news_module, "MOST", 3)
    news = ChangeFeed()
    start = (await news.since("ada", None, 0)).number
    for number in range(3):
        await news.tell("ada", f"c{number}")
    assert (await news.since("ada", start, 0)).conversation_ids == ["c0", "c1", "c2"]
    await news.tell("ada", "c3")
    heard = await news.since("ada", start, 0)
    assert heard.conversation_ids is None
    assert (await news.since("ada", heard.number, 0)).conversation_ids == []
    assert (await news.since("ada", (1, 0), 0)).conversation_ids is None, "from before the server was started"


@pytest.mark.parametrize("after", ["1", "-", "1-2-3", "9" * 20 + "-1", "a-b"])
async def test_what_nobody_gave_is_refused(browser: Browser, after: str) -> None:
    assert (await browser.ask("GET", f"/api/events?after={after}")).status == 400


async def test_any_process_tells_what_happened_at_another(pair: list[Served]) -> None:
    one, two = pair
    ada = await one.account("ada")
    eve = await one.account("eve")
    listener = await Listener(await same_user(ada, two)).begin()
    talk = await ada.talk()
    id = talk.rpartition("/")[2]
    async with asyncio.timeout(10):
        while not (heard := await listener.next()):
            pass
    assert heard == [id]
    here = Listener(ada)
    here.after = listener.after
    await eve.talk()
    impatient(one, 0.1)
    assert await here.next() == [], "numbers are the same everywhere, and what is another's is not told"


async def test_tries_are_counted_over_all_processes(pair: list[Served]) -> None:
    one, two = pair
    await (await one.browser()).post("/api/setup", ADA)
    browsers = [await one.browser(), await two.browser()]
    wrong = ADA | {"password": "wrong horse"}
    for number in range(10):
        assert (await browsers[number % 2].ask("POST", "/api/login", wrong)).status == 401
    for browser in browsers:
        answer = await browser.ask("POST", "/api/login", ADA)
        assert (answer.status, answer.body["error"]["kind"]) == (429, "throttled")
        assert 0 < int(answer.headers["retry-after"]) <= 300


async def test_many_tries_at_once_are_no_way_around_it(guarded: Served) -> None:
    browser = await guarded.browser()
    await browser.post("/api/setup", ADA)
    wrong = ADA | {"password": "wrong horse"}
    tries = await asyncio.gather(*(browser.ask("POST", "/api/login", wrong) for _ in range(30)))
    assert sorted(answer.status for answer in tries) == [401] * 10 + [429] * 20


@pytest.mark.parametrize("kind", ["alone", "shared"])
async def test_right_passwords_do_not_count(kind: str, redis_url: str) -> None:
    board = RedisBus(redis_url)
    throttle = Throttle(60) if kind == "alone" else SharedThrottle(board, 60)
    for _ in range(20):
        await throttle.take(Limit("name ada", 3))
        await throttle.give_back("name ada")
    for _ in range(3):
        await throttle.take(Limit("name ada", 3))
    with pytest.raises(Problem) as caught:
        await throttle.take(Limit("name ada", 3))
    wait = caught.value.retry_after
    assert wait is not None
    assert 0 < wait <= 60, "after that they are forgotten"
    await throttle.take(Limit("name eve", 3))
    await board.aclose()


async def test_old_tries_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    throttle = Throttle(60)
    await throttle.take(Limit("name ada", 1))
    later = time.monotonic() + 61
    monkeypatch.setattr("thinkwire.web.auth.throttle.time", SimpleNamespace(monotonic=lambda: later))
    await throttle.take(Limit("name ada", 1))
    with pytest.raises(Problem):
        await throttle.take(Limit("name ada", 1))
