"""Several real processes on one PostgreSQL and one Redis, and processes that are killed in the middle."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.postgres import PostgreSQL
from tests.redis import RedisServer
from tests.web.processes import Process, browser_at, processes
from tests.web.webs import MODEL, Browser, folded, frames
from thinkwire.errors import ConfigError
from thinkwire.store import open_store
from thinkwire.store.schema import NEWEST
from thinkwire.store.store import migrate
from thinkwire.web.change_feed import RedisChangeFeed
from thinkwire.web.errors import Problem
from thinkwire.web.runs.redis_bus import RedisBus
from thinkwire.web.runs.redis_registry import RedisRunRegistry

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

ASKS = (
    '[[think:First half of a thought.]] [[call:write_file {"path":"note.txt","content":"x"}]] '
    "[[think:Second half.]] [[say:And the answer.]]"
)
STUCK = "[[think:First half of a thought.]] [[stall:60]] [[say:Never said.]]"


@pytest.fixture(scope="module")
def pair(
    postgres: PostgreSQL, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Process]]:
    url = postgres.database()
    asyncio.run(migrate(url, NEWEST))
    env = {"THINKWIRE_DATABASE_URL": url, "THINKWIRE_REDIS_URL": redis.url}
    with processes(2, tmp_path_factory.mktemp("pair"), env) as found:
        yield found


@pytest.fixture
async def both(pair: list[Process]) -> Any:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        yield [await browser_at(process.url, http) for process in pair]


async def begin(browser: Browser, talk: str, text: str, kind: str = "reasoning-delta") -> int:
    """Begins an answer, and leaves at the first frame of a kind; its number."""
    async with browser.request("POST", f"{talk}/chat", {"message": {"text": text}}) as reply:
        assert reply.status == 200, await reply.text()
        async for number, frame in frames(reply):
            if frame["type"] == kind:
                return number
    raise AssertionError(f"no {kind} came")


def bare(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in message["parts"] if part["type"] not in ("data-note", "data-approval")]


async def follow(browser: Browser, talk: str, after: int = 0) -> list[tuple[int, dict[str, Any]]]:
    async with browser.request("GET", f"{talk}/stream", headers={"last-event-id": str(after)}) as reply:
        assert reply.status == 200
        return [pair async for pair in frames(reply)]


async def waiting(browser: Browser) -> tuple[str, list[tuple[int, dict[str, Any]]]]:
    """A conversation whose answer waits for an approval, and its frames so far."""
    agent = await browser.post("/api/agents", {"name": "A", "model": MODEL, "tools": ["write_file"]})
    talk = await browser.talk(agent_id=agent["id"])
    seen: list[tuple[int, dict[str, Any]]] = []
    async with browser.request("POST", f"{talk}/chat", {"message": {"text": ASKS}}) as reply:
        assert reply.status == 200, await reply.text()
        async for number, frame in frames(reply):
            seen.append((number, frame))
            if frame["type"] == "data-approval":
                break
    return talk, seen


async def refuse(browser: Browser, talk: str, seen: list[tuple[int, dict[str, Any]]]) -> Any:
    call_id = seen[-1][1]["data"]["tool_call_id"]
    return await browser.post(f"{talk}/approve", {"tool_call_id": call_id, "decision": "no"})


async def test_any_process_follows_resumes_and_approves_any_answer(both: list[Browser]) -> None:
    one, two = both
    talk, first = await waiting(one)
    assert (await two.get(talk))["running"] is True
    assert (await two.ask("POST", f"{talk}/chat", {"message": {"text": "And?"}})).status == 409
    nobody = {"tool_call_id": "none", "decision": "no"}
    assert (await two.ask("POST", f"{talk}/approve", nobody)).status == 409
    last = first[-1][0]
    readers = [follow(one, talk), follow(two, talk), follow(one, talk, last), follow(two, talk, last)]
    reading = [asyncio.ensure_future(reader) for reader in readers]
    assert await refuse(two, talk, first) == {"decided": True}
    here, there, here_later, there_later = await asyncio.gather(*reading)
    kept = (await two.messages(talk))[-1]
    assert kept["metadata"]["status"] == "complete"
    for seen in (here, there, first + here_later, first + there_later):
        told = folded([frame for _, frame in seen])
        assert (told["id"], bare(told)) == (kept["id"], bare(kept))
    again = await follow(two, talk, here[-3][0])
    assert [frame["type"] for _, frame in again] == ["finish-step", "finish"], "just ended, and still there"
    assert (await two.ask("GET", f"{talk}/stream")).status == 204
    await two.say(talk, "[[say:Next.]]")
    assert len(await one.messages(talk)) == 4


async def test_any_process_stops_any_answer(both: list[Browser]) -> None:
    one, two = both
    talk = await one.talk()
    await begin(one, talk, STUCK)
    assert await two.post(f"{talk}/stop") == {"stopped": True}
    assert (await two.messages(talk))[-1]["metadata"]["status"] == "interrupted"
    assert await two.post(f"{talk}/stop") == {"stopped": False}


async def test_ids_and_texts_that_no_database_can_hold(both: list[Browser]) -> None:
    browser = both[0]
    assert (await browser.ask("GET", "/api/conversations/a%00b")).status == 404
    assert (await browser.ask("GET", "/api/conversations?before=1~a%00")).status == 400
    assert (await browser.ask("POST", "/api/conversations", {"agent_id": "a\0b"})).status == 400
    assert (await browser.get("/api/conversations?q=a%00b"))["items"] == []
    talk = await browser.talk()
    assert (await browser.patch(talk, {"title": "a\0b"}))["title"] == "a\ufffdb"
    broken = await browser.ask("PATCH", talk, data=b'{"title": "half \\ud83d pair"}')
    assert broken.body["title"] == "half \ufffd pair"
    assert (await browser.ask("PATCH", talk, data=b'{"title": 3, "x": "\\ud83d"}')).status == 400
    told = await browser.say(talk, "a\0b [[say:c\0d]]")
    assert folded(told)["parts"][-1]["text"] == (await browser.messages(talk))[-1]["parts"][-1]["text"]


async def test_words_are_found_whichever_process_kept_them(both: list[Browser]) -> None:
    one, two = both
    talk = await one.talk()
    await one.say(talk, "[[think:Perpendicular.]] [[say:The quagga, naïve as ever.]]")
    for words in ("quagga", "QUAGGA naïve", "quag"):
        found = (await two.get("/api/conversations", params={"q": words}))["items"]
        assert [item["id"] for item in found] == [talk.rpartition("/")[2]], words
    assert (await two.get("/api/conversations", params={"q": "okapi"}))["items"] == []


async def test_an_answer_whose_process_dies_is_gone_on_with_by_another(
    both: list[Browser], pair: list[Process], tmp_path: Path
) -> None:
    """The third process asks for an approval and dies; the second goes on with the same message."""
    _, two = both
    third = Process(tmp_path, pair[0].env)
    try:
        talk, seen = await waiting(await browser_at(third.url, two.http))
    finally:
        third.kill()
    assert await two.post(f"{talk}/stop") == {"stopped": True}
    left = (await two.messages(talk))[-1]
    assert left["metadata"]["status"] == "interrupted"
    async with two.request("POST", f"{talk}/chat", {"message": None}) as reply:
        assert reply.status == 200, await reply.text()
        async for _, frame in frames(reply):
            if frame["type"] == "data-approval" and frame["data"]["state"] == "asked":
                await refuse(two, talk, [(0, frame)])
    said, answer = await two.messages(talk)
    assert (answer["id"], answer["metadata"]["status"]) == (left["id"], "complete")
    assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["And the answer."]
    assert seen[0][1]["messageId"] == answer["id"]
    assert said["role"] == "user"


async def test_an_answer_whose_process_dies_is_interrupted_and_goes_on_elsewhere(
    both: list[Browser], pair: list[Process]
) -> None:
    one, two = both
    talk = await one.talk()
    await begin(one, talk, STUCK)
    async with asyncio.timeout(20), two.request("GET", f"{talk}/stream") as reply:
        stream = frames(reply)
        _, start = await anext(stream)
        while not (await two.get(f"/api/messages/{start['messageId']}/explain"))["observed"]["blocks"]:
            await asyncio.sleep(0.05)
        pair[0].kill()
        told = [frame["type"] async for _, frame in stream]
    assert told[-2:] == ["finish", "abort"]
    kept = (await two.messages(talk))[-1]
    assert kept["metadata"]["status"] == "interrupted"
    assert kept["parts"][0]["text"].startswith("First half")
    assert (await two.get(talk))["running"] is False
    await two.say(talk, "[[say:Still here.]]", parent_id=None)
    assert (await two.messages(talk))[-1]["metadata"]["status"] == "complete"


KILLS = 3
WAITING = -1.0
STAGES = (0.0, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 60.0, WAITING)
"""Seconds for which the streams of one round stall. Two end before the kill; one would take a minute, and one
waits for a word about its tool.
"""


async def test_nothing_is_lost_when_the_server_is_killed_in_the_middle(own_url: str, tmp_path: Path) -> None:
    """Thirty streams at different stages, three kills; after each every message is there, and marked."""
    env = {"THINKWIRE_DATABASE_URL": own_url}
    told: dict[str, str] = {}
    talks: list[str] = []
    statuses: list[str] = []
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        for _ in range(KILLS):
            with processes(1, tmp_path, env) as (process,):
                browser = await browser_at(process.url, http)
                statuses = [await check(browser, talk, told.get(talk)) for talk in talks]
                talks += await streams_until_killed(browser, process, told)
        with processes(1, tmp_path, env) as (process,):
            browser = await browser_at(process.url, http)
            before, statuses = statuses, [await check(browser, talk, told.get(talk)) for talk in talks]
    assert len(talks) == KILLS * len(STAGES) == 30
    assert statuses[: len(before)] == before, "what was marked stays as it was"
    for first in range(0, len(talks), len(STAGES)):
        of_round = statuses[first : first + len(STAGES)]
        assert of_round[:2] == ["complete"] * 2
        assert of_round[-2:] == ["interrupted"] * 2
    assert set(statuses) == {"complete", "interrupted"}


async def streams_until_killed(browser: Browser, process: Process, told: dict[str, str]) -> list[str]:
    """A round of streams and a kill at some moment; their conversations."""
    agent = await browser.post("/api/agents", {"name": "A", "model": MODEL, "tools": ["write_file"]})
    talks = [await browser.talk(agent_id=agent["id"]) for _ in STAGES]
    thinking = asyncio.Semaphore(0)
    streams = [
        asyncio.ensure_future(stream_until_killed(browser, talk, stage, told, thinking))
        for talk, stage in zip(talks, STAGES, strict=True)
    ]
    for _ in STAGES:
        await thinking.acquire()
    await asyncio.gather(*streams[:2])
    await asyncio.sleep(random.Random().uniform(0, 0.6))
    process.kill()
    await asyncio.gather(*streams)
    return talks


async def stream_until_killed(
    browser: Browser, talk: str, stall: float, told: dict[str, str], thinking: asyncio.Semaphore
) -> None:
    text = f"[[think:Let me think.]] [[stall:{stall}]] [[say:Done now.]]" if stall != WAITING else ASKS
    try:
        async with browser.request("POST", f"{talk}/chat", {"message": {"text": text}}) as reply:
            async for _, frame in frames(reply):
                if frame["type"] == ("reasoning-start" if stall != WAITING else "data-approval"):
                    thinking.release()
                if frame["type"] == "finish":
                    told[talk] = frame["messageMetadata"]["status"]
    except (aiohttp.ClientError, EOFError):
        pass


async def check(browser: Browser, talk: str, seen: str | None) -> str:
    said, answer = await browser.messages(talk)
    assert said["parts"][0]["text"].startswith("[[think:")
    status: str = answer["metadata"]["status"]
    assert seen in (None, status), "what was told to be complete is complete"
    if status == "complete":
        assert answer["parts"][-1]["text"] == "Done now."
    assert (await browser.ask("GET", f"{talk}/stream")).status == 204
    return status


async def test_a_redis_that_does_not_answer_is_said_at_the_start(own_url: str, tmp_path: Path) -> None:
    async with await open_store(own_url) as store:
        board = RedisBus(f"unix://{tmp_path / 'nothing.sock'}")
        runs = RedisRunRegistry(store, board, RedisChangeFeed(board))
        with pytest.raises(Problem, match="Redis does not answer"):
            await runs.open()
        await runs.aclose()
        await board.aclose()
    with pytest.raises(ConfigError, match="THINKWIRE_REDIS_URL"):
        RedisBus("nonsense")
