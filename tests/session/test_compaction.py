"""Compaction: on what will be sent, of the oldest turns only, with nothing lost and everything said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.session.talk import client_of, ending, of, said, session_of
from thinkwire.client.engine import Client
from thinkwire.errors import Failure
from thinkwire.messages import Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.session import Compacted, SessionNote
from thinkwire.session.compaction import is_summary
from thinkwire.session.history import view
from thinkwire.session.persistence import InMemoryStore
from thinkwire.session.summary import _pieces, written
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio

LONG = "word " * 1_500


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    async with client_of(simulator) as client:
        yield client


MODELS = (
    "claude-opus-5-5/high",
    "claude-sonnet-4-5/low",
    "gpt-5.6-terra/high",
    "gemini-3.8-flash/high",
    "kimi-k2-thinking",
)


@pytest.mark.parametrize("model", MODELS)
async def test_a_conversation_that_outgrows_its_window_goes_on_with_a_summary(
    client: Client, model: str
) -> None:
    session = session_of(client, model=model, context__limit=6_000)
    happenings = []
    for number in range(5):
        happenings = await said(session, f"Tell me what you make of item {number}. {LONG}")
        assert ending(happenings).ending == "complete"
        if of(Compacted, happenings):
            break
    (done,) = of(Compacted, happenings)
    assert done.after < done.before
    assert [event.note.code for event in of(SessionNote, happenings)].count("context.compacted") == 1
    sent = (await session.view()).turns
    assert is_summary(sent[0])
    assert len(sent[0].text) < len(LONG)
    kept = (await session.conversation()).turns
    assert sum(LONG in turn.text for turn in kept if turn.role == "user") == number + 1
    assert ending(await said(session, "[[say:And on.]]")).ending == "complete"


@pytest.mark.parametrize("model", ["claude-opus-5-5/high", "gemini-3.8-flash/high", "kimi-k2-thinking"])
async def test_an_open_tool_loop_stays_whole(client: Client, model: str) -> None:
    session = session_of(client, model=model, context__limit=6_000)
    await said(session, f"What do you make of it? {LONG}")
    session.set("context.limit", 4_000)
    loop = (
        '[[think:Two.]] [[call:get_weather {"city":"Oslo"}]] '
        '[[think:Three.]] [[call:get_time {"city":"Oslo"}]] '
        f"[[say:Second.]] {LONG}"
    )
    happenings = await said(session, loop)
    assert of(Compacted, happenings)
    assert ending(happenings).ending == "complete"
    assert (await session.conversation()).turns[-1].text == "Second."


async def test_thinking_that_is_not_sent_does_not_trigger_it(client: Client) -> None:
    thoughts = "deep " * 4_000
    counted = session_of(
        client, model="kimi-k2-thinking", context__limit=6_000, reasoning__includeInContext=True
    )
    await said(counted, f"[[think:{thoughts}]][[say:Yes.]]")
    stripped = session_of(
        client, model="kimi-k2-thinking", context__limit=6_000, reasoning__stripFromContext="all"
    )
    await said(stripped, f"[[think:{thoughts}]][[say:Yes.]]")
    with_thinking, without = await counted.effective(), await stripped.effective()
    assert with_thinking.total > 6_000 * 0.85 > without.total
    assert without.raw_tokens > 6_000
    assert not of(Compacted, await said(stripped, "[[say:Go on.]]"))


async def test_a_summary_that_cannot_be_had_is_said_and_stops_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def overloaded(*_: Any, **__: Any) -> None:
        raise Failure("overloaded", "too busy").as_error()

    session = session_of(client, model="claude-opus-5-5/high", context__limit=3_000)
    await said(session, f"[[say:First.]] {LONG}")
    monkeypatch.setattr(client, "complete", overloaded)
    happenings = await said(session, f"[[say:Still here.]] {LONG}")
    assert [event.note.code for event in of(SessionNote, happenings)] == ["context.full"]
    assert ending(happenings).ending == "complete"


async def test_there_is_nothing_to_compact_in_a_single_exchange(client: Client) -> None:
    session = session_of(client, model="claude-opus-5-5/high", context__limit=500)
    happenings = await said(session, f"[[say:Long.]] {LONG}")
    assert not of(Compacted, happenings)
    assert [event.note.code for event in of(SessionNote, happenings)] == ["context.full"]
    assert await session.compact() is None


async def test_a_summary_covers_what_it_says_and_a_second_one_covers_the_first() -> None:
    memory = InMemoryStore()

    async def add(role: str, *blocks: object, **fields: object) -> str:
        return (await memory.append("", Turn(role, blocks), **fields)).id  # type: ignore[arg-type]

    first = await add("user", Text("one"))
    await add("assistant", Text("1"))
    await add("user", Text("two"))
    await add("user", Text("Summary A"), kind="summary", covers=first)
    shown = view(await memory.path(""))
    assert [line.turn.text for line in shown.lines] == ["Summary A", "1", "two"]
    assert [line.before_summary for line in shown.lines] == [False, True, True]
    last = await add("assistant", Text("2"))
    await add("user", Text("Summary B"), kind="summary", covers=last)
    await add("user", Text("three"))
    assert [line.turn.text for line in view(await memory.path("")).lines] == ["Summary B", "three"]


async def test_a_turn_of_thoughts_alone_is_kept_and_not_sent() -> None:
    memory = InMemoryStore()
    await memory.append("", Turn("user", (Text("why?"),)))
    await memory.append("", Turn("assistant", (Thinking("because"),)))
    path = await memory.path("")
    assert len(path) == 2
    assert [turn.role for turn in view(path).turns] == ["user"]


def test_what_a_summary_reads_has_everything_but_seals_and_bulk() -> None:
    call = ToolCall("c", "look", '{"path":"a"}')
    turns = [
        Turn("user", (Text("Find it."),)),
        Turn("assistant", (Thinking("Where?"), call)),
        Turn("user", (ToolResult("c", (Text("x" * 9_000),)),)),
    ]
    assert "Where?" in written(turns, thinking=True)
    text = written(turns, thinking=False)
    assert "Where?" not in text
    assert "Find it." in text
    assert '[called look] {"path":"a"}' in text
    assert len(text) < 3_000


@pytest.mark.parametrize("room", [1, 7, 100, 5_000])
def test_a_text_is_read_in_pieces_and_none_of_it_is_left_out(room: int) -> None:
    text = "\n\n".join(f"paragraph {number} " + "w" * number for number in range(60))
    pieces = _pieces(text, room)
    assert "".join(pieces).replace("\n", "") == text.replace("\n", "")
