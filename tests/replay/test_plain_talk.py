"""A talk in which both sides only speak needs no plan, wherever it goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thinkwire.catalog import default_catalog
from thinkwire.messages import Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.replay import Destination, Replay, ReplaySettings, plan_replay
from thinkwire.replay.planner import _planned
from thinkwire.replay.policy import is_plain_talk

WORDS = st.sampled_from(["Why?", " a", "\n.", "…"]).map(Text)
ORIGINS = st.none() | st.sampled_from([Origin("anthropic", model="m"), Origin("openai", "https://x.test")])
SAID = st.lists(WORDS, min_size=1, max_size=2).map(tuple)
TALKS = st.lists(st.tuples(SAID, ORIGINS), max_size=5).map(
    lambda said: tuple(
        Turn("assistant" if at % 2 else "user", blocks, origin=origin if at % 2 else None)
        for at, (blocks, origin) in enumerate(said)
    )
)
DESTINATIONS = st.sampled_from(
    [
        Destination(facts.provider, facts.id, facts.dialect, facts, thinking=thinks)
        for facts in default_catalog()
        for thinks in (True, False)
    ]
)
SETTINGS = st.builds(
    ReplaySettings,
    strip=st.sampled_from(["none", "allButLast", "all"]),
    include=st.sampled_from([None, True, False]),
    carry=st.sampled_from(["none", "text"]),
    format=st.sampled_from(["native", "field"]),
    seals=st.booleans(),
)


@given(TALKS, DESTINATIONS, SETTINGS)
def test_a_plan_would_change_nothing(
    turns: tuple[Turn, ...], destination: Destination, settings: ReplaySettings
) -> None:
    assert is_plain_talk(turns)
    assert (
        _planned(turns, destination, settings) == Replay(turns) == plan_replay(turns, destination, settings)
    )


def test_what_is_not_plain_is_planned() -> None:
    asked, said = Turn("user", (Text("Why?"),)), Turn("assistant", (Text("So."),))
    odd = [
        (said, asked),
        (asked, asked),
        (asked, Turn("assistant")),
        (asked, Turn("assistant", (Text(" "),))),
        (asked, Turn("assistant", (Text("So.", seal=Seal("gemini.thought", "c2ln")),))),
        (asked, Turn("assistant", (Thinking("Hm."), Text("So.")))),
        (asked, Turn("assistant", (ToolCall("c", "f"),)), Turn("user", (ToolResult("c"),))),
        (asked, Turn("system", (Text("Be brief."),))),
    ]
    assert not any(map(is_plain_talk, odd))
    assert is_plain_talk((asked, said, asked))
