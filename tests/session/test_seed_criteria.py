"""The seven success criteria of the seed on reasoning settings, each against strict simulators."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.session.talk import client_of, ending, of, said, session_of
from thinkwire.cli.printer import Printer
from thinkwire.client.engine import Client
from thinkwire.config import Profiles, load_settings
from thinkwire.context import should_compress
from thinkwire.events import Noted
from thinkwire.session import Compacted, Session
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio

LOOP = (
    '[[think:I look it up.]] [[call:get_weather {"city":"Oslo"}]] '
    '[[think:And the time.]] [[call:get_time {"city":"Oslo"}]] [[think:Good.]] [[say:Rain at noon.]]'
)


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    async with client_of(simulator) as client:
        yield client


async def answers(session: Session) -> list[str]:
    return [turn.text for turn in (await session.conversation()).turns if turn.role == "assistant"]


async def test_1_kimi_completes_conversations_of_several_turns_with_tools(client: Client) -> None:
    session = session_of(client, model="kimi-k2-thinking")
    for _ in range(3):
        assert ending(await said(session, LOOP)).ending == "complete"
    assert (await answers(session))[-1] == "Rain at noon."


async def test_2_the_reasoning_of_minimax_flows_through(client: Client) -> None:
    session = session_of(client, model="MiniMax-M2")
    for _ in range(2):
        assert ending(await said(session, LOOP)).ending == "complete"
    thoughts = [turn.thinking for turn in (await session.conversation()).turns if turn.thinking]
    assert thoughts == ["I look it up.", "And the time.", "Good."] * 2


async def test_3_thinking_is_visible_apart_from_the_answer(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    for shown in (True, False):
        session = session_of(client, model="kimi-k2-thinking")
        printer = Printer(thinking=shown)
        for happening in await said(session, "[[think:Let me see.]][[say:Seen.]]"):
            printer.show(happening)
        out, err = capsys.readouterr()
        assert out == "Seen.\n"
        assert ("Let me see." in err) is shown


async def test_4_include_in_context_makes_kimi_work_and_its_lack_breaks_it(client: Client) -> None:
    works = session_of(client, model="kimi-k2-thinking")
    works.set("reasoning.includeInContext", True)
    assert ending(await said(works, LOOP)).ending == "complete"
    assert (await answers(works))[-1] == "Rain at noon."
    broken = session_of(client, model="kimi-k2-thinking")
    broken.set("reasoning.includeInContext", False)
    happenings = await said(broken, LOOP)
    assert (await answers(broken))[-1] != "Rain at noon."
    assert "replay.refusable" in [event.note.code for event in of(Noted, happenings)]


async def test_5_the_context_display_is_what_will_be_sent(client: Client) -> None:
    session = session_of(client, model="kimi-k2-thinking", context__limit=212_000)
    await said(session, f"[[think:{'deep ' * 2_000}]][[say:Yes.]]")
    session.set("reasoning.includeInContext", True)
    everything = await session.effective()
    session.set("reasoning.stripFromContext", "all")
    stripped = await session.effective()
    session.unset("reasoning.stripFromContext")
    session.set("reasoning.includeInContext", False)
    excluded = await session.effective()
    assert everything.total > stripped.total + 1_500
    assert stripped.total == excluded.total
    assert everything.shown() == f"{everything.total:,}/212,000"
    assert stripped.raw_tokens == everything.raw_tokens


async def test_6_compression_triggers_on_the_effective_count(client: Client) -> None:
    session = session_of(client, model="kimi-k2-thinking", reasoning__includeInContext=True)
    await said(session, "Why do tides come twice a day?")
    with_thinking = await session.effective()
    session.set("reasoning.stripFromContext", "all")
    stripped = await session.effective()
    assert with_thinking.total > stripped.total + 100
    session.set("context.limit", int((with_thinking.total + stripped.total) / 2 / 0.85))
    assert not should_compress(await session.effective())
    assert not of(Compacted, await said(session, "[[say:No need.]]"))
    session.set("reasoning.stripFromContext", "none")
    assert should_compress(await session.effective())
    assert of(Compacted, await said(session, "[[say:Now.]]"))


async def test_7_profiles_keep_reasoning_settings_over_a_change_of_provider(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    session = session_of(client, model="kimi-k2-thinking")
    session.set("reasoning.includeInContext", True)
    session.set("reasoning.stripFromContext", "allButLast")
    Profiles().save("mine", session.settings.saved())
    again = Session(client, load_settings(tmp_path, profile="mine"))
    assert again.model == "kimi-k2-thinking"
    again.use_model("claude-opus-5-5/high")
    for key in ("reasoning.includeInContext", "reasoning.stripFromContext"):
        assert again.settings.get(key) == session.settings.get(key)
        assert again.settings.origin(key) == "profile"


@pytest.mark.parametrize(
    ("name", "thinks"),
    [("kimi-k2-thinking", True), ("claude-sonnet-4", False), ("gemini-2.5-flash", True), ("gpt-4o", False)],
)
async def test_the_example_profiles_work_as_they_come(client: Client, name: str, thinks: bool) -> None:
    session = Session(client, load_settings(Path("/"), profile=name))
    assert ending(await said(session, "[[think:Hm.]][[say:Yes.]]")).ending == "complete"
    assert ending(await said(session, "[[say:Again.]]")).ending == "complete"
    assert any(turn.thinking for turn in (await session.conversation()).turns) is thinks
