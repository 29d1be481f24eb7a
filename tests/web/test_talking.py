"""Talking over a real socket: what is streamed is what is kept, and nobody has to watch."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.web.webs import MODEL, Browser, Served, all_bases, folded, frames, web_app
from thinkwire.sim.fixture import Running

pytestmark = pytest.mark.anyio

SLOW = "[[think:First half.]] [[stall:5]] [[say:Never said.]]"


def bare(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Its parts without Notes, which have no place of their own, and without questions."""
    return [part for part in message["parts"] if part["type"] not in ("data-note", "data-approval")]


def text(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


async def until(browser: Browser, talk: str, kind: str, body: Any = None) -> list[tuple[int, dict[str, Any]]]:
    """Begins an answer and leaves when a frame of this kind has come."""
    seen: list[tuple[int, dict[str, Any]]] = []
    async with browser.request("POST", f"{talk}/chat", body or {"message": {"text": SLOW}}) as reply:
        assert reply.status == 200, await reply.text()
        async for number, frame in frames(reply):
            seen.append((number, frame))
            if frame["type"] == kind:
                break
    return seen


@pytest.mark.parametrize(
    "said",
    [
        "[[think:Let me see.]] [[say:Forty two.]]",
        "[[say:At once.]]",
        "[[redact:secret]] [[say:Hidden.]]",
        '[[think:Look.]] [[call:list_files {"folder":"."}]] [[think:I see.]] [[say:Two files.]]',
        '[[call:list_files {"folder":"."}]] & [[call:read_file {"path":"none.txt"}]] [[say:One failed.]]',
        "[[refuse]]",
        "[[think:Half]] [[cut]]",
        "[[fail:429]]",
        "Tell me anything; ünïcode ✓ \u2028 too.",
    ],
)
async def test_what_is_streamed_is_what_is_kept(browser: Browser, said: str) -> None:
    agent = await browser.post(
        "/api/agents",
        {
            "name": "A",
            "model": MODEL,
            "thinking": {"enabled": True, "level": "high"},
            "tools": ["list_files", "read_file"],
        },
    )
    talk = await browser.talk(agent_id=agent["id"])
    told = folded(await browser.say(talk, said))
    kept = (await browser.messages(talk))[-1]
    assert kept["id"] == told["id"]
    assert bare(told) == bare(kept)
    del told["metadata"]["run"]
    assert told["metadata"] == kept["metadata"]
    notes = [part for part in told["parts"] if part["type"] == "data-note"]
    assert sorted(map(str, notes)) == sorted(str(p) for p in kept["parts"] if p["type"] == "data-note")


async def test_an_answer_goes_on_when_its_reader_leaves(app: Served, browser: Browser) -> None:
    talk = await browser.talk()
    said = "[[think:First half.]] [[stall:0.3]] [[say:Said anyway.]]"
    await until(browser, talk, "reasoning-delta", {"message": {"text": said}})
    following = await app.web.runs.find(talk.rpartition("/")[2])
    assert following is not None
    async for _ in following.follow():
        pass
    kept = (await browser.messages(talk))[-1]
    assert kept["metadata"]["status"] == "complete"
    assert kept["parts"][-1]["text"] == "Said anyway."


async def test_a_second_reader_and_one_who_comes_back_see_the_same(browser: Browser) -> None:
    talk = await browser.talk()
    said = "[[think:A long thought in several pieces.]] [[stall:0.4]] [[say:And the answer to it.]]"
    first = await until(browser, talk, "reasoning-delta", {"message": {"text": said}})
    last = first[-1][0]

    async def rest(**more: Any) -> list[tuple[int, dict[str, Any]]]:
        async with browser.request("GET", f"{talk}/stream", **more) as reply:
            assert reply.status == 200
            return [pair async for pair in frames(reply)]

    whole, by_header, by_query = await asyncio.gather(
        rest(), rest(headers={"last-event-id": str(last)}), rest(params={"last-event-id": str(last)})
    )
    assert by_header[0][0] > last
    kept = (await browser.messages(talk))[-1]
    for seen in (whole, first + by_header, first + by_query):
        assert bare(folded([frame for _, frame in seen])) == bare(kept)


async def test_messages_and_stream_together_are_the_answer_in_the_making(browser: Browser) -> None:
    talk = await browser.talk()
    await until(browser, talk, "reasoning-delta")
    shown = await browser.get(f"{talk}/messages")
    last = shown["messages"][-1]
    assert (last["parts"], last["metadata"]["status"]) == ([], "streaming")
    assert shown["running"] == last["id"]
    assert (await browser.get(talk))["running"] is True
    assert [item["running"] for item in (await browser.get("/api/conversations"))["items"]] == [True]
    await browser.post(f"{talk}/stop")


async def test_an_answer_of_which_nothing_has_come_is_there_already(browser: Browser) -> None:
    talk = await browser.talk()
    await until(browser, talk, "start", {"message": {"text": "[[stall:5]] [[say:Late.]]"}})
    shown = await browser.get(f"{talk}/messages")
    said, answer = shown["messages"]
    assert (answer["parts"], answer["metadata"]["status"]) == ([], "streaming")
    assert answer["metadata"]["parent_id"] == said["id"]
    assert shown["running"] == answer["id"]
    await browser.post(f"{talk}/stop")
    kept = (await browser.messages(talk))[-1]
    assert (kept["id"], kept["metadata"]["status"]) == (answer["id"], "interrupted")


async def test_a_server_that_ends_keeps_what_it_was_making(
    simulator: Running, own_url: str, workspace: Path
) -> None:
    async with web_app(own_url, all_bases(simulator.url), workspace) as app:
        browser = await app.browser()
        talk = await browser.talk()
        await until(browser, talk, "reasoning-delta")
    async with web_app(own_url, all_bases(simulator.url), workspace) as app:
        browser = await app.browser()
        kept = (await browser.messages(talk))[-1]
        assert kept["metadata"]["status"] == "interrupted"
        assert kept["parts"][0]["text"].startswith("First")


async def test_stop_keeps_what_arrived_and_says_so_to_every_reader(browser: Browser) -> None:
    talk = await browser.talk()
    await until(browser, talk, "reasoning-delta")
    async with browser.request("GET", f"{talk}/stream") as reply:
        assert await browser.post(f"{talk}/stop") == {"stopped": True}
        told = [frame async for _, frame in frames(reply)]
    assert [frame["type"] for frame in told][-2:] == ["finish", "abort"]
    kept = (await browser.messages(talk))[-1]
    assert kept["metadata"]["status"] == "interrupted"
    assert "First half.".startswith(kept["parts"][0]["text"])
    assert kept["parts"][0]["text"]
    assert await browser.post(f"{talk}/stop") == {"stopped": False}
    assert (await browser.ask("GET", f"{talk}/stream")).status == 204


async def test_an_interrupted_answer_goes_on_as_the_same_message(browser: Browser) -> None:
    talk = await browser.talk()
    said = "[[think:Half.]] [[say:It is]] [[stall:5]]"
    await until(browser, talk, "text-delta", {"message": {"text": said}})
    await browser.post(f"{talk}/stop")
    before = (await browser.messages(talk))[-1]
    async with browser.request("POST", f"{talk}/chat", {"message": None}) as reply:
        assert reply.status == 200
        seen = [pair async for pair in frames(reply)]
        more = folded([frame for _, frame in seen])
    after = (await browser.messages(talk))[-1]
    assert after["id"] == before["id"] == more["id"]
    assert bare(before) + bare(more) == bare(after)
    assert len(await browser.messages(talk)) == 2


async def test_one_answer_at_a_time(browser: Browser) -> None:
    talk = await browser.talk()
    await until(browser, talk, "text-delta", {"message": {"text": "[[say:Half.]] [[stall:5]]"}})
    busy = await browser.ask("POST", f"{talk}/chat", {"message": {"text": "And?"}})
    assert (busy.status, busy.body["error"]["kind"]) == (409, "busy")
    await browser.post(f"{talk}/stop")
    assert folded(await browser.say(talk, "[[say:Now.]]"))["parts"][-1]["text"] == "Now."
    assert len(await browser.messages(talk)) == 4


async def test_two_at_once_make_one_answer(browser: Browser) -> None:
    talk = await browser.talk()
    body = {"message": {"text": "[[say:Once.]]"}}
    both = await asyncio.gather(*(browser.ask("POST", f"{talk}/chat", body) for _ in range(2)))
    assert sorted(answer.status for answer in both) == [200, 409]


async def test_edits_answers_made_again_and_branches(browser: Browser) -> None:
    talk = await browser.talk()
    await browser.say(talk, "[[say:One.]]")
    asked, one = await browser.messages(talk)
    await browser.say(talk, "", message=None, regenerate=one["id"])
    shown = await browser.get(f"{talk}/messages")
    again = shown["messages"][-1]
    assert shown["branches"] == {again["id"]: [one["id"], again["id"]]}

    await browser.say(talk, "[[say:More.]]")
    await browser.say(talk, "[[say:Edited.]]", parent_id=asked["metadata"]["parent_id"])
    shown = await browser.get(f"{talk}/messages")
    edited = shown["messages"][0]
    assert [text(message) for message in shown["messages"]] == ["[[say:Edited.]]", "Edited."]
    assert shown["branches"] == {edited["id"]: [asked["id"], edited["id"]]}

    await browser.patch(talk, {"head": asked["id"]})
    texts = [text(message) for message in await browser.messages(talk)]
    assert texts == ["[[say:One.]]", "One.", "[[say:More.]]", "More."], "the newest end of that branch"

    await browser.patch(talk, {"head": again["id"]})
    assert len(await browser.messages(talk)) == 2, "it goes on from a message that is shown"
    await browser.patch(talk, {"head": one["id"]})
    assert [message["id"] for message in await browser.messages(talk)] == [asked["id"], one["id"]]


async def test_a_branch_from_an_answer_with_tools_begins_after_all_of_it(browser: Browser) -> None:
    agent = await browser.post("/api/agents", {"name": "A", "model": MODEL, "tools": ["list_files"]})
    talk = await browser.talk(agent_id=agent["id"])
    await browser.say(talk, '[[call:list_files {"folder":"."}]] [[say:Seen.]]')
    answer = (await browser.messages(talk))[-1]
    await browser.say(talk, "[[say:First.]]")
    await browser.say(talk, "[[say:Second.]]", parent_id=answer["id"])
    messages = await browser.messages(talk)
    assert [text(message) for message in messages][1:] == ["Seen.", "[[say:Second.]]", "Second."]
    assert messages[1]["id"] == answer["id"]


async def test_a_tool_that_writes_asks_first(browser: Browser, workspace: Path) -> None:
    agent = await browser.post("/api/agents", {"name": "A", "model": MODEL, "tools": ["write_file"]})
    talk = await browser.talk(agent_id=agent["id"])
    said = '[[call:write_file {"path":"note.txt","content":"hello"}]] [[say:Done.]]'
    asked: list[dict[str, Any]] = []
    async with browser.request("POST", f"{talk}/chat", {"message": {"text": said}}) as reply:
        async for _, frame in frames(reply):
            if frame["type"] == "data-approval":
                asked.append(frame["data"])
                if frame["data"]["state"] == "asked":
                    assert not (workspace / "note.txt").exists()
                    decision = {"tool_call_id": frame["data"]["tool_call_id"], "decision": "yes"}
                    assert await browser.post(f"{talk}/approve", decision) == {"decided": True}
                    late = await browser.ask("POST", f"{talk}/approve", decision)
                    assert late.status == 409
    assert [each["state"] for each in asked] == ["asked", "yes"]
    assert asked[0]["input"] == {"path": "note.txt", "content": "hello"}
    assert (workspace / "note.txt").read_text() == "hello"


async def test_a_refused_tool_is_a_result_and_a_note(browser: Browser, workspace: Path) -> None:
    agent = await browser.post("/api/agents", {"name": "A", "model": MODEL, "tools": ["write_file"]})
    talk = await browser.talk(agent_id=agent["id"])
    said = '[[call:write_file {"path":"note.txt","content":"hello"}]] [[say:Then not.]]'
    async with browser.request("POST", f"{talk}/chat", {"message": {"text": said}}) as reply:
        async for _, frame in frames(reply):
            if frame["type"] == "data-approval" and frame["data"]["state"] == "asked":
                decision = {"tool_call_id": frame["data"]["tool_call_id"], "decision": "no"}
                await browser.post(f"{talk}/approve", decision)
    parts = (await browser.messages(talk))[-1]["parts"]
    assert [part["state"] for part in parts if part["type"] == "dynamic-tool"] == ["output-error"]
    assert [part["data"]["code"] for part in parts if part["type"] == "data-note"] == ["tool.refused"]
    assert not (workspace / "note.txt").exists()


async def test_a_missing_key_is_named_and_nothing_is_asked(
    simulator: Running, own_url: str, workspace: Path
) -> None:
    async with web_app(own_url, all_bases(simulator.url), workspace, keys=False) as app:
        browser = await app.browser()
        agent = await browser.post(
            "/api/agents",
            {"name": "A", "model": "claude-opus-4-5", "thinking": {"enabled": True, "budget": 8000}},
        )
        talk = await browser.talk(agent_id=agent["id"])
        told = await browser.say(talk, "Why?")
        assert told[-1]["type"] == "error"
        assert "ANTHROPIC_API_KEY" in told[-1]["errorText"]
        kept = (await browser.messages(talk))[-1]
        assert kept["role"] == "assistant"
        assert kept["metadata"]["failure"]["variable"] == "ANTHROPIC_API_KEY"
        assert kept["metadata"]["failure"]["kind"] == "missing_key"
        plan = await browser.post("/api/plan", {"model": "claude-opus-4-5", "thinking": {"enabled": True}})
        assert plan["has_key"] is False


async def test_titles_come_by_themselves_and_by_request(app: Served, browser: Browser) -> None:
    talk = await browser.talk()
    assert (await browser.ask("POST", f"{talk}/title", {})).status == 409
    await browser.say(talk, "[[say:Odd squares are odd.]]")
    while app.web._tasks:
        await asyncio.wait(app.web._tasks)
    assert (await browser.get(talk))["title"]
    await browser.patch(talk, {"title": "Mine"})
    await browser.say(talk, "[[say:More.]]")
    assert (await browser.get(talk))["title"] == "Mine"
    assert (await browser.post(f"{talk}/title"))["title"] == (await browser.get(talk))["title"] != "Mine"
