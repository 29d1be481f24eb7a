"""Prediction: a change is said before it costs a cache or the thinking that was bound to a prefix."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.context.samples import PROSE
from tests.strategies import turns as any_turns
from thinkwire.catalog import Facts, default_catalog
from thinkwire.context import Fingerprint, predict
from thinkwire.messages import Seal, Text, Thinking, Turn
from thinkwire.request import Tool

LONG = PROSE * 40
SYSTEM = (Text(LONG),)
TOOLS = (Tool("look", LONG),)


def facts_of(provider: str, model: str) -> Facts:
    found = default_catalog().find(provider, model)
    assert found is not None
    return found.facts


OPUS = facts_of("anthropic", "claude-opus-5-5")


def said(number: int, *, thinking: bool = True) -> tuple[Turn, Turn]:
    thought = Thinking(f"thought {number}", seal=Seal("anthropic.signature", f"seal-{number}"))
    blocks = (thought, Text(f"answer {number}")) if thinking else (Text(f"answer {number}"),)
    return Turn("user", (Text(f"{number}: {LONG}"),)), Turn("assistant", blocks)


TALK = (*said(0), *said(1), *said(2))


def fingerprint(**changes: Any) -> Fingerprint:
    fields = {
        "model": "claude-opus-5-5",
        "provider": "anthropic",
        "dialect": "anthropic",
        "system": SYSTEM,
        "tools": TOOLS,
        "plan_patch": {"thinking": {"type": "adaptive", "display": "summarized"}},
        "turns": TALK,
    }
    return Fingerprint.of(**fields | changes)


def codes(before: Fingerprint | None, after: Fingerprint, facts: Facts | None = OPUS) -> list[str]:
    return [note.code for note in predict(before, after, facts)]


def anew(before: Fingerprint, after: Fingerprint) -> int:
    return next(note for note in predict(before, after, None) if note.code == "cache.lost").detail["tokens"]


def test_a_conversation_that_only_grows_loses_nothing() -> None:
    assert codes(fingerprint(), fingerprint(turns=(*TALK, *said(3)))) == []


def test_the_first_request_and_another_provider_have_nothing_to_lose() -> None:
    assert codes(None, fingerprint()) == []
    assert codes(fingerprint(provider="bedrock"), fingerprint()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tools": ()}, "the tools"),
        ({"system": (Text("other"),)}, "the system text"),
        ({"model": "claude-sonnet-5"}, "the model"),
        ({"plan_patch": {"thinking": {"type": "disabled"}}}, "the thinking parameters"),
        ({"turns": (Turn("user", (Text("edited"),)), *TALK[1:])}, "turn 0"),
    ],
    ids=["tools", "system", "model", "thinking", "turn"],
)
def test_every_change_that_loses_the_cache_is_named(change: dict[str, Any], words: str) -> None:
    note = predict(fingerprint(), fingerprint(**change), None)[0]
    assert note.code == "cache.lost"
    assert note.message.startswith(f"{words} changed; the provider reads about ")
    assert f"{note.detail['tokens']:,} tokens" in note.message


def test_how_much_is_read_anew_follows_the_vendors_order() -> None:
    before = fingerprint()
    tools = anew(before, fingerprint(tools=()))
    system = anew(before, fingerprint(system=()))
    thinking = anew(before, fingerprint(plan_patch={}))
    last = anew(before, fingerprint(turns=(*TALK[:-1], Turn("assistant", (Text("edited"),)))))
    assert tools > system > thinking > last > 0


def test_how_thinking_is_shown_makes_no_difference() -> None:
    shown = {"thinking": {"type": "adaptive", "display": "omitted"}}
    assert codes(fingerprint(), fingerprint(plan_patch=shown)) == []


def test_a_short_conversation_was_never_cached() -> None:
    short = {"system": (Text("Be brief."),), "tools": (), "turns": (Turn("user", (Text("hi"),)),)}
    assert codes(fingerprint(**short), fingerprint(**short | {"system": ()}), None) == []


def test_thinking_parameters_cost_the_cache_only_where_that_is_documented() -> None:
    for dialect, expected in (("openai-responses", ["cache.lost"]), ("gemini", []), ("openai-chat", [])):
        wire = {"dialect": dialect, "model": "some-model"}
        assert codes(fingerprint(**wire), fingerprint(**wire, plan_patch={}), None) == expected


@pytest.mark.parametrize(
    "change",
    [{"tools": ()}, {"system": ()}, {"turns": (Turn("user", (Text("edited"),)), *TALK[1:])}],
    ids=["tools", "system", "turn"],
)
def test_a_change_before_bound_thinking_breaks_its_prefix(change: dict[str, Any]) -> None:
    assert "prefix.broken" in codes(fingerprint(), fingerprint(**change))
    assert "prefix.broken" not in codes(fingerprint(), fingerprint(**change), None)


def test_effort_and_what_stands_after_the_thinking_are_not_bound() -> None:
    effort = fingerprint(plan_patch={"output_config": {"effort": "low"}})
    draft = fingerprint(turns=(*TALK, Turn("user", (Text("draft"),))))
    final = fingerprint(turns=(*TALK, Turn("user", (Text("final"),))))
    assert codes(fingerprint(), effort) == ["cache.lost"]
    assert codes(draft, final) == ["cache.lost"]


@pytest.mark.parametrize(
    ("kept", "broken"),
    [((0, 1, 2), False), ((1, 2), False), ((0, 1), False), ((), False), ((0, 2), True)],
)
def test_thoughts_may_go_from_either_end_but_not_from_between(kept: tuple[int, ...], broken: bool) -> None:
    turns = tuple(turn for number in range(3) for turn in said(number, thinking=number in kept))
    assert ("prefix.broken" in codes(fingerprint(), fingerprint(turns=turns))) is broken


def test_a_thought_that_was_left_out_must_not_come_back() -> None:
    without = tuple(turn for number in range(3) for turn in said(number, thinking=number > 0))
    assert "prefix.broken" in codes(fingerprint(turns=without), fingerprint())


@settings(max_examples=25)
@given(st.lists(any_turns, max_size=4).map(tuple), st.lists(any_turns, max_size=2).map(tuple))
def test_growing_never_warns_whatever_the_turns(talk: tuple[Turn, ...], more: tuple[Turn, ...]) -> None:
    assert codes(fingerprint(turns=talk), fingerprint(turns=talk + more)) == []


def test_a_fingerprint_keeps_no_content_and_survives_json() -> None:
    print_ = fingerprint()
    data = msgspec.json.encode(print_)
    assert b"harbour" not in data
    assert b"seal-" not in data
    assert b"thought" not in data
    assert msgspec.json.decode(data, type=Fingerprint) == print_


def test_marks_that_a_wire_puts_around_a_block_are_no_edit() -> None:
    marked = Text("hi " + LONG, extras={"anthropic": {"cache_control": {"type": "ephemeral"}}})
    plain = Text("hi " + LONG)
    assert (
        codes(fingerprint(turns=(Turn("user", (marked,)),)), fingerprint(turns=(Turn("user", (plain,)),)))
        == []
    )
