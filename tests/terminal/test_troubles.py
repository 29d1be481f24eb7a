"""Trouble on the way: what a provider asks to wait for, what was left unanswered, what cannot be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.terminal.stage import stage
from thinkwire.sim.app import Simulator
from thinkwire.sim.chaos import Chaos
from thinkwire.sim.server import running_simulator
from thinkwire.terminal.picker import Picker
from thinkwire.terminal.widgets.thinking import ThinkingView

pytestmark = pytest.mark.anyio


async def test_a_rate_limit_counts_down_and_one_key_asks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Simulator(chaos=Chaos(status=429, retry_after=90))
    with running_simulator(busy) as url:
        monkeypatch.setattr("thinkwire.sim.embedded.address", lambda: url)
        async with stage(tmp_path) as on:
            await on.say("[[say:At last.]]", wait=False)
            await on.sees("The provider asks to wait: 1 min 2")
            await on.sees("left, then F5.")
            await on.rest()
            await on.type("a draft")
            busy.chaos = None
            await on.press("f5")
            await on.rest()
            await on.sees("At last.\n")
            assert on.app.prompt.text == "a draft"


async def test_what_was_left_unanswered_can_be_asked_again_later(tmp_path: Path) -> None:
    async with stage(tmp_path, save=True) as on:
        # The simulator counts by the words of a request, so these are no other test's.
        await on.say("Later: [[fail:529 x3]] [[say:At last.]]")
        await on.sees("F5 asks again")
    async with stage(tmp_path, save=True, going_on="", model=None) as on:
        await on.sees("F5 asks again")
        await on.press("f5")
        await on.rest()
        await on.sees("At last.\n")
    async with stage(tmp_path, save=True, going_on="", model=None) as on:
        await on.sees("At last.\n")
        assert "F5" not in on.seen()
        assert not on.chatting.can_retry


async def test_looking_for_words_does_not_find_where_one_is(tmp_path: Path) -> None:
    async with stage(tmp_path, save=True) as on:
        await on.say("[[say:Whales are mammals.]]")
        await on.say("/resume whales")
        await on.sees("No other conversation has 'whales'.")
        assert "Whales are mammals." in on.seen()


async def test_thinking_that_is_partly_redacted_says_so_now_and_later(tmp_path: Path) -> None:
    async with stage(tmp_path, save=True) as on:
        await on.say("[[think:This can be read.]] [[redact:this not]] [[say:Done.]]")
        (thought,) = on.app.talk.query(ThinkingView)
        assert thought.heading().endswith("part of it redacted by the provider")
        await on.sees("This can be read.\n")
    async with stage(tmp_path, save=True, going_on="", model=None) as on:
        await on.sees("This can be read.\n")
        (thought,) = on.app.talk.query(ThinkingView)
        assert thought.heading().endswith("part of it redacted by the provider")


async def test_going_back_shows_where_the_words_are_and_what_the_last_turn_took(tmp_path: Path) -> None:
    async with stage(tmp_path, save=True) as on:
        for question in ("About whales", "About trees"):
            await on.say(question)
            await on.say("/new")
        await on.say("/resume received", wait=False)
        await on.until(lambda: isinstance(on.app.screen, Picker))
        await on.until(lambda: len(re.findall(r"claude-opus-5-5/high · .*it was receive", on.seen())) == 2)
        await on.press(*"whales")
        await on.until(lambda: "About trees" not in on.seen())
        await on.press("enter")
        await on.sees("You asked: “About whales”")
        taken = re.compile(r"turn [\d,]+ in \+ \d+ out \+ \d+ thinking = [\d,]+, \$")
        await on.until(lambda: taken.search(on.seen()), "the last turn")
