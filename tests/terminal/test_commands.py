"""Slash commands: the seeds' feedback lines, errors that say what to type, completion by letters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.talk import client_of, said, session_of
from thinkwire.client.engine import Client
from thinkwire.reasoning.levels import LEVELS
from thinkwire.reasoning.target import all_targets
from thinkwire.session import Session
from thinkwire.session.commands import (
    COMMANDS,
    Candidate,
    Choose,
    Continue,
    Copy,
    Export,
    Retry,
    complete,
    fuzzy,
    is_command,
    level_shown,
    next_level,
    run_command,
)
from thinkwire.session.commands.inspect import picture
from thinkwire.session.commands.thinking import level_ring
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    async with client_of(simulator) as client:
        yield client


@pytest.fixture
def session(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    return session_of(client, model="claude-opus-5-5/high")


async def told(session: Session, text: str) -> list[str]:
    reply = await run_command(session, text)
    assert not reply.failed, reply.lines
    return list(reply.lines)


async def refused(session: Session, text: str) -> str:
    reply = await run_command(session, text)
    assert reply.failed, reply.lines
    return "\n".join(reply.lines)


FEEDBACK = {
    "/model claude-sonnet-4-5/med": [
        "✓ Switched to Anthropic claude-sonnet-4-5",
        "  Thinking: medium (43,008 tokens)",
    ],
    "/model gemini-2.5-pro/high": [
        "✓ Switched to Google gemini-2.5-pro",
        "  Thinking: high (32,768 tokens)",
    ],
    "/model gemini-3-pro/none": [
        "✓ Switched to Google gemini-3-pro",
        "  ⚠ This model does not support disabling thinking",
        "  Thinking: LOW level (minimum)",
    ],
    "/model o3/med": [
        "✓ Switched to OpenAI o3 (Responses API)",
        "  Thinking: medium effort (~50% of output budget)",
        "  Recommended output buffer: 25,000 tokens",
    ],
    "/model o3-mini/none": [
        "✓ Switched to OpenAI o3-mini",
        "  ⚠ This model does not support disabling thinking",
        "  Thinking: medium effort (default)",
    ],
    "/model claude-sonnet-4-5/med --thinking-budget=50000": [
        "✓ Switched to Anthropic claude-sonnet-4-5",
        "  Thinking: 50,000 tokens",
    ],
    "/model claude-sonnet-4-5 --thinking-budget 20000": [
        "✓ Switched to Anthropic claude-sonnet-4-5",
        "  Thinking: 20,000 tokens",
    ],
}


@pytest.mark.parametrize("text", FEEDBACK)
async def test_model_answers_with_the_lines_of_the_seeds(session: Session, text: str) -> None:
    assert await told(session, text) == FEEDBACK[text]


SHOWN = {
    "claude-opus-5-5": "auto",
    "claude-opus-5-5/high": "high",
    "o3-mini/none": "none → medium",
    "gemini-3-pro/none": "none → low",
    "claude-sonnet-4-5/med": "med",
    "gemini-2.5-flash/none": "none",
    "gpt-4o/high": "high → off",
}


@pytest.mark.parametrize("name", SHOWN)
async def test_the_level_is_shown_as_asked_and_as_it_is(client: Client, name: str) -> None:
    assert level_shown(session_of(client, model=name).plan()) == SHOWN[name]


async def test_earlier_thinking_is_kept_then_dormant_then_back(session: Session) -> None:
    assert (await told(session, "/model claude-opus-5-5/high"))[2:] == []
    await said(session, "[[think:Mine.]] [[say:One.]]")
    assert (await told(session, "/model claude-opus-5-5/low"))[
        -1
    ] == "  Earlier thinking is kept (1 thought)."
    away = (await told(session, "/model gpt-5.6-terra"))[-1]
    assert away == "  Earlier thinking: 1 thought dormant, here and not sent until you switch back."
    await said(session, "[[think:Theirs.]] [[say:Two.]]")
    home = (await told(session, "/model claude-opus-5-5/high"))[-1]
    assert home.startswith("  Earlier thinking: 1 thought back; 1 thought dormant")


ERRORS = {
    "/modle x": "did you mean /model?",
    "/model claud-opus-5": "did you mean /model anthropic/claude-opus-5?",
    "/model a b": "write /model NAME[/LEVEL] [--thinking-budget=N]",
    "/model o3 --thinking-budget=lots": "takes a number of tokens",
    "/effort wild": "this model takes low, med, high, xhigh, max, auto",
    "/thinking maybe": "takes show or hide",
    "/set reasoning.effor high": "did you mean reasoning.effort?",
    "/set temperature hot": "it takes a number from 0 to 2",
    "/unset": "/unset KEY",
    "/profile": "",
    "/profile explode": "/profile takes save, load, list, delete, default",
    "/profile load": "/profile load NAME",
    "/profile load nobody": "there is no profile 'nobody'",
    "/export a.docx": "use .md, .json or .jsonl",
    "/copy that": "/copy takes nothing or `thinking`",
    "/theme pink": "there are dark, light, high-contrast",
    "/help nothing": "There is no command /nothing",
}


@pytest.mark.parametrize("text", [text for text, words in ERRORS.items() if words])
async def test_errors_say_what_to_type_instead(session: Session, text: str) -> None:
    await said(session, "[[say:Something.]]")
    assert ERRORS[text] in await refused(session, text)


@pytest.mark.parametrize("name", COMMANDS)
async def test_every_command_answers_alone(session: Session, name: str) -> None:
    reply = await run_command(session, f"/{name}")
    assert reply.lines or reply.action is not None
    assert reply.failed is (name == "unset")


async def test_settings_are_set_shown_and_taken_back(session: Session) -> None:
    assert await told(session, "/set reasoning.effort low") == [
        "reasoning.effort = low",
        "  Thinking: adaptive, low effort",
    ]
    assert "reasoning.effort  low  (session)" in await told(session, "/set")
    assert (await told(session, "/set reasoning.effort"))[0] == "reasoning.effort = low (session)"
    assert (await told(session, "/unset reasoning.effort"))[1] == "  Thinking: adaptive, high effort"
    assert await told(session, "/set reasoning.includeInContext=false") == [
        "reasoning.includeInContext = false"
    ]
    assert await told(session, "/thinking") == ["Thinking is hidden; it goes on, and is kept."]


async def test_profiles_bring_settings_back_over_what_was_said_since(session: Session) -> None:
    await told(session, "/set reasoning.effort low")
    await told(session, "/profile save deep")
    await told(session, "/model gpt-5.6-terra/high")
    await told(session, "/set temperature 0.5")
    assert "✓ Switched to Anthropic claude-opus-5-5" in await told(session, "/profile load deep")
    assert level_shown(session.plan()) == "low"
    assert session.settings.get("temperature") == 0.5
    await told(session, "/profile default deep")
    assert "deep  (default, loaded)" in await told(session, "/profile list")
    await told(session, "/profile default none")
    await told(session, "/profile delete deep")
    assert not any(line.startswith("deep") for line in await told(session, "/profile"))


async def test_context_cost_and_explain_tell_the_truth(session: Session) -> None:
    await said(session, "[[think:A thought.]] [[say:An answer.]]")
    context = await told(session, "/context")
    effective = await session.effective()
    assert context[0].startswith(f"Context: {effective.shown()} tokens")
    assert sum(effective.kinds.values()) == effective.total
    cost = await told(session, "/cost")
    assert cost[0].startswith("claude-opus-5-5: 1 answer, ")
    assert cost[0].endswith("$?")  # nobody gave this session prices
    explained = "\n".join(await told(session, "/explain"))
    assert '"effort": "high"' in explained
    assert '"messages": "(3 messages)"' in explained


async def test_looking_at_the_next_request_does_not_change_it(session: Session) -> None:
    await said(session, "[[say:One.]]")
    await told(session, "/model claude-opus-5-5/low")
    first = (await session.preview()).body
    assert (await session.preview()).body == first
    notes = (await session.asked()).notes
    assert [note.code for note in notes] == ["cache.lost"]


async def test_seals_and_long_values_are_not_printed(session: Session) -> None:
    await said(session, "[[think:Sealed.]] [[say:One.]]")
    turns = (await session.conversation()).turns
    seal = next(block.seal for block in turns[-1].blocks if getattr(block, "seal", None))  # type: ignore[union-attr]
    assert seal is not None
    await told(session, "/set system " + "x" * 500)
    for name in COMMANDS:
        shown = "\n".join((await run_command(session, f"/{name}")).lines)
        assert seal.data not in shown
    assert "(500 characters)" in "\n".join(await told(session, "/explain"))


async def test_actions_are_left_to_the_face(session: Session) -> None:
    await said(session, "[[think:Hidden.]] [[say:Shown.]]")
    assert (await run_command(session, "/retry")).action is None
    assert (await run_command(session, "/copy")).action == Copy("Shown.")
    assert (await run_command(session, "/copy thinking")).action == Copy("Hidden.")
    assert (await run_command(session, "/resume whales")).action == Continue("whales")
    for name, thinks in (("a.md", False), ("a.md --thinking", True), ("a.json", True), ("a.jsonl", True)):
        action = (await run_command(session, f"/export {name}")).action
        assert isinstance(action, Export)
        assert (b"Hidden." in action.data.split(b"[[say")[-1]) is thinks
    chosen = (await run_command(session, "/effort")).action
    assert isinstance(chosen, Choose)
    await said(session, "[[fail:400]]")
    assert (await run_command(session, "/retry")).action == Retry()
    assert Candidate("high", "adaptive, high effort") in chosen.options


async def test_nothing_to_do_is_said(session: Session) -> None:
    for text in ("/compact", "/export", "/copy", "/cost", "/retry"):
        assert (await told(session, text))[0]


COMPLETIONS = {
    "/": "/model",
    "/ef": "/effort",
    "/xpln": "/explain",
    "/model opus55": "anthropic/claude-opus-5-5",
    "/model claude-opus-5-5/": "claude-opus-5-5/low",
    "/model claude-opus-5-5/h": "claude-opus-5-5/high",
    "/model anthropic/claude-opus-5-5/xh": "anthropic/claude-opus-5-5/xhigh",
    "/model o3 --th": "--thinking-budget=",
    "/effort ma": "max",
    "/set stripF": "reasoning.stripFromContext",
    "/set reasoning.stripFromContext al": "all",
    "/unset mo": "model",
    "/profile lo": "load",
    "/profile load kimi": "kimi-k2-thinking",
    "/thinking h": "hide",
    "/theme hc": "high-contrast",
}


@pytest.mark.parametrize("text", COMPLETIONS)
async def test_the_first_completion_is_the_likely_one(session: Session, text: str) -> None:
    completion = complete(session, text)
    assert completion.candidates[0].text == COMPLETIONS[text]
    typed = text[completion.start :]
    assert text[: completion.start] + typed == text
    assert " " not in typed


async def test_levels_after_the_slash_say_what_they_come_to(session: Session) -> None:
    found = complete(session, "/model gemini-2.5-pro/").candidates
    assert [(level.text, level.detail) for level in found][:2] == [
        ("gemini-2.5-pro/low", "low (11,008 tokens)"),
        ("gemini-2.5-pro/med", "medium (21,888 tokens)"),
    ]


async def test_completion_never_fails(session: Session) -> None:
    for text in ("/", "/ ", "//", "/x y", "/set  ", "/model  x", "/set nothing ", "/profile x y z", "words"):
        assert complete(session, text).start <= len(text)


WORDS = ("/model x", "/help", "/?", "  /quit  ", "/set a b\nc")
NO_COMMANDS = ("/etc/passwd is a file", "// a comment", "a /model", "", "/1", "/usr/bin")


@pytest.mark.parametrize("text", WORDS)
def test_commands_are_recognised(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize("text", NO_COMMANDS)
def test_words_that_only_begin_like_commands_go_to_the_model(text: str) -> None:
    assert not is_command(text)


@given(st.text(max_size=6), st.lists(st.text(max_size=12), max_size=12))
def test_fuzzy_finds_exactly_what_has_the_letters_in_order(typed: str, texts: list[str]) -> None:
    found = [candidate.text for candidate in fuzzy(typed, [Candidate(text) for text in texts])]
    assert sorted(found) == sorted(text for text in texts if _in_order(typed.lower(), text.lower()))
    exact = [text for text in texts if text.lower() == typed.lower()]
    assert not typed or found[: len(exact)] == exact


def _in_order(wanted: str, text: str) -> bool:
    letters: Any = iter(text)
    return all(letter in letters for letter in wanted)


def test_every_model_has_levels_to_go_through() -> None:
    for target in all_targets():
        assert target.found is not None
        ring = level_ring(target.found.facts)
        assert ring
        assert set(ring) <= set(LEVELS)
        assert len(set(ring)) == len(ring)


async def test_going_through_the_levels_comes_round(client: Client) -> None:
    for name in ("claude-opus-5-5", "o3", "gemini-2.5-pro", "kimi-k2-thinking", "gpt-4o"):
        session = session_of(client, model=name)
        ring = level_ring(session.plan().facts)
        seen = []
        for _ in ring:
            session.set("reasoning.effort", next_level(session))
            seen.append(session.settings.get("reasoning.effort"))
        assert sorted(seen) == sorted(ring)


def test_an_unknown_window_has_no_share() -> None:
    from thinkwire.context import Effective

    shown = picture(Effective(total=10, kinds={"text": 10, "thinking": 0}, dormant=5, raw_tokens=15))
    assert shown[0] == "Context: 10/? tokens, by estimator"
    assert not any("free" in line or "thinking   " in line for line in shown[1:2])
    assert shown[-1].endswith("kept here, not sent")
