"""The laws of putting back: nothing is said that the client did not say, and nothing called."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from thinkwire.gateway.ledger.matching import canonical, facts_of, place_of, restored
from thinkwire.messages import Block, Opaque, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn

ORIGIN = Origin("google", model="gemini-3.8-flash")
marks = st.sampled_from([{}, {"gemini": {"no_id": True}}])
seals = st.sampled_from([None, Seal("gemini.thought", "s1"), Seal("anthropic.signature", "s2")])
thoughts = st.builds(Thinking, text=strategies.words, field=st.sampled_from([None, "reasoning"]), seal=seals)
texts = st.builds(Text, text=strategies.words, refusal=st.booleans(), seal=seals, extras=marks)
spellings = st.sampled_from(["", "{}", '{"a": 1}', '{"a":1}', '{"b": [1, 2], "a": 1}', '{"a": '])
calls = st.builds(
    ToolCall,
    id=st.sampled_from("abcdef"),
    name=st.sampled_from(["ls", "rm"]),
    arguments=spellings,
    seal=seals,
    extras=marks,
)
distinct_calls = st.lists(calls, max_size=3, unique_by=lambda call: call.id)


@st.composite
def originals(draw: st.DrawFn) -> Turn:
    """An answer as a model gives it: ids are distinct, and text is no empty shell unless it is sealed."""
    blocks: list[Block] = list(draw(distinct_calls))
    blocks += draw(st.lists(thoughts | texts, max_size=4))
    return Turn("assistant", tuple(draw(st.permutations(blocks))), origin=ORIGIN)


def as_a_chat_client_returns_it(turn: Turn) -> Turn:
    """Text joined into one, then the calls."""
    text = turn.text
    calls = (ToolCall(call.id, call.name, call.arguments) for call in turn.tool_calls)
    return Turn("assistant", (*((Text(text),) if text else ()), *calls))


@given(original=originals())
def test_a_turn_without_its_thinking_becomes_the_turn_that_it_was(original: Turn) -> None:
    dropped = as_a_chat_client_returns_it(original)
    if not dropped.blocks:
        return
    assert restored(dropped, original, set()) == original


@given(client=originals(), original=originals(), bare=st.booleans())
def test_words_and_calls_stay_the_clients(client: Turn, original: Turn, bare: bool) -> None:
    turn = as_a_chat_client_returns_it(client) if bare else client
    mended = restored(turn, original, set())
    assert mended.text == turn.text
    assert said(mended) == said(turn)


def said(turn: Turn) -> list[tuple[str, str, str]]:
    """The calls, whose order may become the model's again."""
    return sorted((call.id, call.name, canonical(call.arguments)) for call in turn.tool_calls)


@given(original=originals())
def test_restoring_again_changes_nothing(original: Turn) -> None:
    once = restored(as_a_chat_client_returns_it(original), original, set())
    assert restored(once, original, set()) == once


@given(original=originals())
def test_what_a_turn_is_known_by_survives_a_client(original: Turn) -> None:
    dropped = as_a_chat_client_returns_it(original)
    assert sorted(facts_of(dropped)) == sorted(facts_of(original))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ('{"a": 1, "b": [1, 2]}', '{"b":[1,2],"a":1}', True),
        ('{"a": 1}', '{"a": 2}', False),
        ('{"a":"ü"}', '{"a":"\\u00fc"}', True),
        ('{"a": ', '{"a":', True),
        ("", "{}", False),
    ],
)
def test_arguments_are_compared_by_what_they_mean(first: str, second: str, same: bool) -> None:
    assert (canonical(first) == canonical(second)) is same


def test_the_original_spelling_of_arguments_comes_back_and_changed_ones_stay() -> None:
    call = ToolCall("c", "ls", '{"a": 1}', seal=Seal("gemini.thought", "s"))
    original = Turn("assistant", (call,), origin=ORIGIN)
    respelled = restored(Turn("assistant", (ToolCall("c", "ls", '{"a":1}'),)), original, set())
    assert respelled.blocks == (call,)
    changed = restored(Turn("assistant", (ToolCall("c", "ls", '{"a":2}'),)), original, set())
    assert changed.blocks == (ToolCall("c", "ls", '{"a":2}'),)


def test_a_call_of_another_name_is_another_call() -> None:
    original = Turn("assistant", (Thinking("Hm."), ToolCall("c", "ls")), origin=ORIGIN)
    turn = Turn("assistant", (ToolCall("c", "rm"),))
    assert restored(turn, original, set()) is turn


def test_native_blocks_come_back_unless_they_wait_for_a_result() -> None:
    searched = Opaque("openai_responses", {"type": "web_search_call", "id": "ws_1"})
    custom = Opaque("openai_responses", {"type": "custom_tool_call", "call_id": "c", "name": "x"})
    thought = Thinking("Hm.", seal=Seal("openai.encrypted", "e"))
    original = Turn("assistant", (thought, searched, Text("Found."), custom), origin=ORIGIN)
    mended = restored(Turn("assistant", (Text("Found."),)), original, set())
    assert mended.blocks == (thought, searched, Text("Found."))
    kept = restored(Turn("assistant", (Text("Found."), custom)), original, set())
    assert kept.blocks == (thought, searched, Text("Found."), custom)


def test_marks_of_the_client_stay_on_its_text() -> None:
    marked = {"anthropic": {"cache_control": {"type": "ephemeral"}}}
    original = Turn("assistant", (Thinking("Hm."), Text("Yes.", seal=Seal("x", "y"))), origin=ORIGIN)
    mended = restored(Turn("assistant", (Text("Yes.", extras=marked),)), original, set())
    assert mended.blocks == (Thinking("Hm."), Text("Yes.", seal=Seal("x", "y"), extras=marked))


def test_in_an_edited_turn_thinking_stands_before_the_call_that_it_led_to() -> None:
    one, two = ToolCall("1", "ls"), ToolCall("2", "ls")
    original = Turn("assistant", (Thinking("a"), one, Thinking("b"), two, Thinking("c")), origin=ORIGIN)
    edited = Turn("assistant", (Text("New."), one, Text("More."), two))
    mended = restored(edited, original, set())
    assert mended.blocks == (Text("New."), Thinking("a"), one, Text("More."), Thinking("b"), two)


def test_a_place_is_what_the_user_said_last() -> None:
    said = Turn("user", (ToolResult("c", (Text("a  b"),)), Text("Go on.")))
    again = msgspec.structs.replace(said, extras={"anthropic": {"cache_control": {}}})
    system = Turn("system", (Text("Be brief."),))
    assert place_of((said, system), 2) == place_of((system, again), 2) is not None
    assert place_of((said,), 1) != place_of((Turn("user", (Text("Go on."),)),), 1)
    assert place_of((system,), 1) is None
