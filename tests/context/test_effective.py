"""Effective tokens: what will be sent, and nothing else, decides when to compact."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import conversations
from thinkwire.catalog import Facts, default_catalog
from thinkwire.context import Calibration, Effective, effective_tokens, should_compress
from thinkwire.messages import Conversation, Origin, Seal, Text, Thinking, Turn
from thinkwire.replay import Destination, ReplaySettings
from thinkwire.replay.policy import Strip


def facts_of(provider: str, model: str) -> Facts:
    found = default_catalog().find(provider, model)
    assert found is not None
    return found.facts


KIMI = Destination("moonshot", "kimi-k2-thinking", "openai-chat", facts_of("moonshot", "kimi-k2-thinking"))
OPUS = Destination("anthropic", "claude-opus-5-5", "anthropic", facts_of("anthropic", "claude-opus-5-5"))
GPT = Destination("openai", "gpt-5.2", "openai-responses", facts_of("openai", "gpt-5.2"))
GEMINI = Destination("google", "gemini-3-pro-preview", "gemini", facts_of("google", "gemini-3-pro-preview"))
UNKNOWN = Destination("nobody", "nothing-1", "openai-chat")
DESTINATIONS = (KIMI, OPUS, GPT, GEMINI, UNKNOWN)


def thought_through(*lengths: int, origin: Origin | None = None) -> Conversation:
    turns = []
    for length in lengths:
        turns.append(Turn("user", (Text("and then?"),)))
        thought = Thinking("one more thought " * length, field="reasoning_content")
        turns.append(Turn("assistant", (thought, Text("then this")), origin))
    return Conversation((Text("Be brief."),), (*turns, Turn("user", (Text("and now?"),))))


def total(conversation: Conversation, destination: Destination, **settings: object) -> int:
    return effective_tokens(conversation, ReplaySettings(**settings), destination).total  # type: ignore[arg-type]


def test_all_thinking_counts_when_it_is_included_and_not_stripped() -> None:
    said = effective_tokens(thought_through(100, 100), ReplaySettings(include=True), KIMI)
    assert said.kinds["thinking"] > 500
    assert said.dormant == 0
    assert said.total == said.raw_tokens == sum(said.kinds.values())


@pytest.mark.parametrize("include", [True, False, None])
@pytest.mark.parametrize("strip", ["none", "allButLast", "all"])
def test_thinking_that_is_stripped_or_left_out_is_not_counted(strip: Strip, include: bool | None) -> None:
    first, last = 300, 100
    said = effective_tokens(thought_through(first, last), ReplaySettings(strip, include), KIMI)
    whole = effective_tokens(thought_through(first, last), ReplaySettings(include=True), KIMI)
    only_last = effective_tokens(thought_through(0, last), ReplaySettings(include=True), KIMI)
    if strip == "all" or include is False:
        assert said.kinds["thinking"] == 0
    elif strip == "allButLast":
        assert said.kinds["thinking"] == only_last.kinds["thinking"]
    else:
        assert said.kinds["thinking"] == whole.kinds["thinking"]
    assert said.kinds["thinking"] + said.dormant == whole.kinds["thinking"]


@settings(max_examples=25)
@given(conversations, st.sampled_from(DESTINATIONS), st.sampled_from([True, False, None]))
def test_the_more_is_stripped_the_less_is_counted(
    conversation: Conversation, destination: Destination, include: bool | None
) -> None:
    nothing, most, everything = (
        total(conversation, destination, strip=strip, include=include)
        for strip in ("none", "allButLast", "all")
    )
    assert 0 < everything <= most <= nothing


@settings(max_examples=25)
@given(conversations, st.sampled_from(DESTINATIONS))
def test_what_sleeps_and_what_is_sent_are_never_negative(
    conversation: Conversation, destination: Destination
) -> None:
    said = effective_tokens(conversation, ReplaySettings(), destination)
    assert min(said.kinds.values()) >= 0
    assert said.dormant >= 0
    assert said.raw_tokens > 0


def test_another_makers_thinking_sleeps_and_wakes_on_the_way_back() -> None:
    seal = Seal("anthropic.signature", "s" * 3250)
    origin = Origin("anthropic", model="claude-opus-5-5")
    there = Turn("assistant", (Thinking(seal=seal), Text("hello")), origin)
    conversation = Conversation(turns=(Turn("user", (Text("hi"),)), there, Turn("user", (Text("and?"),))))
    away = effective_tokens(conversation, ReplaySettings(), GPT)
    back = effective_tokens(conversation, ReplaySettings(), OPUS)
    assert (away.kinds["sealed"], away.dormant) == (0, 500)
    assert (back.kinds["sealed"], back.dormant) == (500, 0)


def test_only_the_effective_count_decides_about_compaction() -> None:
    conversation = thought_through(2000, 2000)
    limit = 10_000
    stripped, included = (
        effective_tokens(conversation, ReplaySettings(strip, True), KIMI, limit=limit)
        for strip in ("all", "none")
    )
    assert stripped.raw_tokens == included.raw_tokens > limit * 0.85
    assert not should_compress(stripped)
    assert should_compress(included)


@pytest.mark.parametrize(("used", "expected"), [(849, False), (850, False), (851, True)])
def test_the_threshold_itself_is_not_too_much(used: int, expected: bool) -> None:
    assert should_compress(weighing(used, 1000)) is expected


def test_an_unknown_limit_never_compacts() -> None:
    assert not should_compress(weighing(10**9, None))
    assert effective_tokens(thought_through(1), ReplaySettings(), UNKNOWN).limit is None


def test_the_limit_is_the_models_unless_one_is_given() -> None:
    assert OPUS.facts is not None
    assert effective_tokens(thought_through(1), ReplaySettings(), OPUS).limit == OPUS.facts.context
    assert effective_tokens(thought_through(1), ReplaySettings(), OPUS, limit=500).limit == 500


@pytest.mark.parametrize(("limit", "shown"), [(212_000, "123,000/212,000"), (None, "123,000/?")])
def test_the_count_is_shown_beside_its_limit(limit: int | None, shown: str) -> None:
    assert weighing(123_000, limit).shown() == shown


def test_a_calibrated_count_is_the_estimate_times_what_was_learnt() -> None:
    calibration = Calibration()
    for _ in range(30):
        calibration = calibration.learned("moonshot", "kimi-k2-thinking", 1000, 1500)
    plain = effective_tokens(thought_through(200), ReplaySettings(), KIMI)
    said = effective_tokens(thought_through(200), ReplaySettings(), KIMI, calibration=calibration)
    assert said.total == pytest.approx(plain.total * 1.5, rel=0.05)
    assert said.total == sum(said.kinds.values())


def test_a_claude_whose_thinking_is_off_is_billed_for_none() -> None:
    thought = Thinking("word " * 50, seal=Seal("anthropic.signature", "s" * 1450))
    turns = (Turn("user", (Text("hi"),)), Turn("assistant", (thought, Text("yes"))))
    off = msgspec.structs.replace(OPUS, thinking=False)
    said = effective_tokens(Conversation(turns=turns), ReplaySettings(), off)
    assert said.kinds["thinking"] + said.kinds["sealed"] == 0
    assert said.dormant == pytest.approx(200, abs=1)


def weighing(used: int, limit: int | None) -> Effective:
    return Effective(total=used, kinds={"text": used}, dormant=0, raw_tokens=used, limit=limit)
