"""The turn loop: tools until there is an answer, nothing lost on the way, never an empty success."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.session.talk import client_of, ending, of, said, session_of
from thinkwire.client.engine import Client
from thinkwire.errors import ConfigError, MissingKey
from thinkwire.events import BlockGrew, Failed, Noted
from thinkwire.messages import Image, Text, Thinking, ToolCall, ToolResult
from thinkwire.session import Busy, Session, SessionNote, ToolEnded, ToolStarted, TurnSaved
from thinkwire.session.tools import Spec, tool
from thinkwire.settings import Settings
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio

LOOP = (
    '[[think:First.]] [[call:get_weather {"city":"Oslo"}]] '
    '[[think:More.]] [[call:get_weather {"city":"Bergen"}]] & [[call:get_time {"city":"Oslo"}]] '
    "[[think:Enough.]] [[say:Cold and late.]]"
)
MODELS = (
    "claude-opus-5-5/high",
    "gpt-5.6-terra/high",
    "gemini-3.8-flash/high",
    "kimi-k2-thinking",
    "MiniMax-M3",
)


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    async with client_of(simulator) as client:
        yield client


@pytest.mark.parametrize("model", MODELS)
async def test_tools_are_run_until_the_model_answers(client: Client, model: str) -> None:
    session = session_of(client, model=model)
    happenings = await said(session, LOOP)
    assert ending(happenings).ending == "complete"
    assert ending(happenings).requests == 3
    assert [event.call.name for event in of(ToolStarted, happenings)] == [
        "get_weather",
        "get_weather",
        "get_time",
    ]
    assert [event.result.failed for event in of(ToolEnded, happenings)] == [False] * 3
    turns = (await session.conversation()).turns
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert turns[-1].text == "Cold and late."
    usage = ending(happenings).usage
    assert usage is not None
    assert usage.total is not None


async def test_a_tools_failure_goes_back_to_the_model_as_a_result(client: Client) -> None:
    @tool(effect="read")
    def broken() -> str:
        """Fails."""
        raise ValueError("no luck")

    session = session_of(client, [broken], model="claude-opus-5-5/high")
    happenings = await said(session, "[[call:broken {}]] [[call:nobody {}]] [[say:Sorry.]]")
    assert ending(happenings).ending == "complete"
    first, second = of(ToolEnded, happenings)
    assert first.result.failed
    assert "no luck" in str(first.result.content)
    assert second.result.failed
    assert "no tool called nobody" in str(second.result.content)


async def test_what_needs_approval_is_not_run_without_it(client: Client) -> None:
    ran: list[str] = []
    asked: list[str] = []

    @tool(effect="write", subject="name")
    def write(name: str) -> str:
        """Writes."""
        ran.append(name)
        return "written"

    async def ask(call: ToolCall, spec: Spec) -> Any:
        asked.append(call.arguments)
        return False

    session = session_of(client, [write], model="claude-opus-5-5/high")
    session.ask = ask
    happenings = await said(session, '[[call:write {"name":"x"}]] [[say:All right.]]')
    assert ending(happenings).ending == "complete"
    assert (ran, len(asked)) == ([], 1)
    assert "tool.refused" in [event.note.code for event in of(SessionNote, happenings)]
    session.set("tools.allow", ["write(x)"])
    await said(session, '[[call:write {"name":"x"}]] [[say:Done.]]')
    assert (ran, len(asked)) == (["x"], 1)


async def test_the_model_is_switched_inside_a_tool_loop_and_back(client: Client) -> None:
    session = session_of(client, model="claude-opus-5-5/high")
    assert ending(await said(session, LOOP)).ending == "complete"
    before = (await session.conversation()).turns
    for model in ("gemini-3.8-flash/high", "kimi-k3/high", "gpt-5.6-terra/high", "claude-opus-5-5/high"):
        session.use_model(model)
        happenings = await said(session, LOOP)
        assert ending(happenings).ending == "complete", model
    assert (await session.conversation()).turns[: len(before)] == before


async def test_the_model_is_not_switched_while_a_request_is_in_flight(client: Client) -> None:
    session = session_of(client, model="claude-opus-5-5/high")
    run = session.start("[[stall:5]][[say:late]]")
    with pytest.raises(Busy):
        session.use_model("kimi-k3")
    with pytest.raises(Busy):
        session.start("and?")
    await run.interrupt()
    session.use_model("kimi-k3")
    assert ending(await said(session, "[[say:Now.]]")).ending == "complete"


@pytest.mark.parametrize("model", MODELS)
async def test_an_interrupt_keeps_everything_that_arrived_and_blocks_nothing(
    client: Client, model: str
) -> None:
    session = session_of(client, model=model)
    run = session.start("[[think:Half a thought.]][[say:Half an answer]][[stall:5]]")
    async for event in run.follow():
        if isinstance(event, BlockGrew) and "answer" in event.text:
            break
    await run.interrupt()
    events = [event async for event in run.follow()]
    assert ending(events).ending == "interrupted"
    assert of(TurnSaved, events)[-1].status == "interrupted"
    last = (await session.conversation()).turns[-1]
    assert "answer" in last.text
    assert last.thinking == "Half a thought."
    assert ending(await said(session, "[[say:Go on.]]")).ending == "complete"


async def test_an_interrupt_during_a_tool_leaves_a_conversation_that_goes_on(client: Client) -> None:
    begun = asyncio.Event()

    @tool(effect="read")
    async def wait() -> str:
        """Waits."""
        begun.set()
        await asyncio.sleep(30)
        return "never"

    session = session_of(client, [wait], model="claude-opus-5-5/high")
    run = session.start("[[think:I wait.]][[call:wait {}]][[say:never]]")
    await asyncio.wait_for(begun.wait(), 5)
    await run.interrupt()
    happenings = await said(session, "[[say:Never mind.]]")
    assert ending(happenings).ending == "complete"
    assert "tool_result.added" in [event.note.code for event in of(Noted, happenings)]


async def test_a_failure_keeps_what_arrived_and_says_so(client: Client) -> None:
    session = session_of(client, model="claude-opus-5-5/high")
    happenings = await said(session, "[[think:Well.]][[say:The answer is]][[cut]]")
    assert ending(happenings).ending == "failed"
    assert of(Failed, happenings)[0].failure.kind == "connection_lost"
    assert of(TurnSaved, happenings)[-1].status == "failed"
    assert (await session.conversation()).turns[-1].text.startswith("The")
    assert ending(await said(session, "[[say:Again.]]")).ending == "complete"


async def test_the_conversation_goes_on_without_something_said(client: Client) -> None:
    session = session_of(client, model="claude-opus-5-5/high")
    assert ending(await said(session, "[[fail:529]]")).ending == "failed"
    assert ending(await said(session, None)).ending == "failed"
    assert [turn.role for turn in (await session.conversation()).turns].count("user") == 1


async def test_thinking_that_eats_the_whole_budget_is_asked_again_with_more_room(client: Client) -> None:
    session = session_of(client, model="deepseek-v4-pro/high", maxTokens=20)
    happenings = await said(session, "Explain at length how tides come about.")
    codes = [event.note.code for event in of(SessionNote, happenings)]
    assert codes[:1] == ["answer.continued"]
    assert ending(happenings).requests > 1
    assert ending(happenings).ending in ("complete", "lost")
    if ending(happenings).ending == "lost":
        assert codes[-1] == "answer.lost_to_thinking"


async def test_an_answer_that_never_comes_is_reported_and_not_shown_as_success(client: Client) -> None:
    session = session_of(client, model="kimi-k2-thinking")
    happenings = await said(session, "[[think:Only thoughts.]]")
    codes = [event.note.code for event in of(SessionNote, happenings)]
    assert codes == ["answer.continued"] * 3 + ["answer.lost_to_thinking"]
    assert ending(happenings).ending == "lost"
    assert ending(happenings).requests == 4
    turns = (await session.conversation()).turns
    assert sum(any(isinstance(block, Thinking) for block in turn.blocks) for turn in turns) == 4
    assert ending(await said(session, "[[say:At last.]]")).ending == "complete"


async def test_declining_is_an_answer(client: Client) -> None:
    happenings = await said(session_of(client, model="claude-opus-5-5/high"), "[[refuse]]")
    assert ending(happenings).ending in ("complete", "failed")
    assert ending(happenings).requests == 1


async def test_a_missing_key_is_raised_and_the_question_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with Client() as client:
        session = Session(client, Settings().set("session", "model", "claude-opus-5-5"))
        with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY"):
            await said(session, "Hello")
        (turn,) = (await session.conversation()).turns
        assert turn.text == "Hello"


async def test_without_a_model_nothing_is_sent(client: Client) -> None:
    with pytest.raises(ConfigError, match="which model"):
        await said(session_of(client), "Hello")


async def test_an_unknown_model_leaves_the_old_one(client: Client) -> None:
    session = session_of(client, model="claude-opus-5-5/high")
    with pytest.raises(ConfigError, match="nobody is known"):
        session.use_model("no-such-model-anywhere")
    assert session.model == "claude-opus-5-5/high"


async def test_attachments_go_along(client: Client) -> None:
    session = session_of(client, model="claude-opus-5-5/high")
    picture = Image(media_type="image/png", data="iVBORw0KGgo=")
    happenings = [event async for event in session.send("[[say:I see.]]", [picture])]
    assert ending(happenings).ending == "complete"
    assert (await session.conversation()).turns[0].blocks == (picture, Text("[[say:I see.]]"))


async def test_results_stay_in_the_order_of_the_calls(client: Client) -> None:
    @tool(effect="read")
    async def slow() -> str:
        """Slow."""
        await asyncio.sleep(0.05)
        return "slow"

    @tool(effect="read")
    async def fast() -> str:
        """Fast."""
        return "fast"

    session = session_of(client, [slow, fast], model="claude-opus-5-5/high")
    await said(session, "[[call:slow {}]] & [[call:fast {}]] [[say:Both.]]")
    results = (await session.conversation()).turns[2].blocks
    assert all(isinstance(block, ToolResult) for block in results)
    assert [block.name for block in results if isinstance(block, ToolResult)] == ["slow", "fast"]


@pytest.mark.parametrize(("model", "counts"), [("claude-opus-5-5/high", True), ("kimi-k2-thinking", False)])
async def test_the_vendor_is_asked_to_count_where_it_can(client: Client, model: str, counts: bool) -> None:
    session = session_of(client, model=model)
    await said(session, "[[think:Hm.]][[say:Yes.]]")
    counted, estimated = await session.counted(), (await session.effective()).total
    assert (counted is not None) is counts
    assert estimated > 0
