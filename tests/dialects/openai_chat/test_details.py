"""`reasoning_details`: put together from pieces, and given back whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    DONE,
    ENCRYPTED,
    SIGNED,
    SUMMARY,
    both,
    chunk,
    details,
    events,
    said_by,
    sse,
    stop,
    stream,
    whole,
)
from thinkwire.events import BlockEnded, BlockSealed, collect
from thinkwire.messages import Block, Text, Thinking, ToolCall

CALL = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", "text": words, "index": 0} | fields


def entries(block: Block) -> Any:
    assert isinstance(block, Thinking)
    assert block.seal is not None
    assert block.seal.scheme == "openrouter.details"
    return json.loads(block.seal.data)


def from_stream(*pieces: Any) -> tuple[Block, ...]:
    return stream(*({"reasoning_details": piece} for piece in pieces)).turn.blocks


@pytest.mark.parametrize(
    ("pieces", "merged"),
    [
        ([[text("a")], [text("b")]], [text("ab")]),
        (
            [
                [text("", signature="", format="v1")],
                [text("a")],
                [{"type": "reasoning.text", "index": 0, "signature": "s"}],
            ],
            [text("a", signature="s", format="v1")],
        ),
        ([[text("a")], [text("b", index=1)]], [text("a"), text("b", index=1)]),
        ([[text("a", id="x")], [text("b", id="y")]], [text("a", id="x"), text("b", id="y")]),
        ([[text("a", id="x")], [text("b", id=None)]], [text("ab", id="x")]),
        ([[text("a", index=None)], [text("b", index=None)]], [text("ab", index=None)]),
        ([[text("a", signature="s")], [text("b")]], [text("a", signature="s"), text("b")]),
        ([[text("a")], [ENCRYPTED], [text("b")]], [text("ab"), ENCRYPTED]),
        ([[text("a")], [ENCRYPTED], [ENCRYPTED]], [text("a"), ENCRYPTED, ENCRYPTED]),
        ([[text("a"), text("b")]], [text("a"), text("b")]),
        ([[text("a")], [text("b"), text("c")]], [text("abc")]),
        (
            [[text("a")], [{"type": "reasoning.server_tool_call", "tool_name": "x"}]],
            [text("a"), {"type": "reasoning.server_tool_call", "tool_name": "x"}],
        ),
    ],
    ids=[
        "text grows",
        "a signature comes later",
        "other index",
        "other id",
        "no id",
        "no index",
        "signed text is closed",
        "encrypted with the same index",
        "encrypted never merges",
        "one delta never merges",
        "two go on with one",
        "unknown types stay",
    ],
)
def test_entries_are_merged_by_type_index_and_id(pieces: list[Any], merged: list[Any]) -> None:
    (block,) = from_stream(*pieces)
    assert entries(block) == merged
    assert isinstance(block, Thinking)
    assert block.text == "".join(entry.get("text", "") for entry in merged)


@pytest.mark.parametrize(
    ("given", "form", "readable"),
    [
        ([SIGNED], "full", "Hm, two cities."),
        ([SUMMARY], "summary", "Two cities."),
        ([SUMMARY, ENCRYPTED], "summary", "Two cities."),
        ([SIGNED, SUMMARY], "full", "Hm, two cities.Two cities."),
        ([ENCRYPTED], "hidden", ""),
    ],
)
def test_the_form_tells_what_can_be_read(given: list[Any], form: str, readable: str) -> None:
    (block,) = both({"reasoning_details": given})
    assert isinstance(block, Thinking)
    assert (block.form, block.text, entries(block)) == (form, readable, given)


def test_plain_details_are_sealed_too_so_that_they_go_back_unchanged() -> None:
    given = [
        {"type": "reasoning.text", "id": "reasoning-text-1", "format": "MiniMax-response-v1", "text": "Hm."}
    ]
    (block,) = both({"reasoning_details": given})
    assert said_by(block) == {"role": "assistant", "content": "", "reasoning_details": given}


def test_text_that_came_in_a_field_beside_the_details_goes_back_in_both() -> None:
    message = {"reasoning": "Hm, two cities.", "reasoning_details": [SIGNED]}
    (block,) = both(message)
    assert block == Thinking("Hm, two cities.", field="reasoning", seal=details(SIGNED))
    assert said_by(block) == {"role": "assistant", "content": ""} | message


def test_the_seal_comes_when_the_thinking_ends() -> None:
    told = events(sse(chunk({"reasoning_details": [SIGNED]}), chunk({"content": "Yes."}), stop(), DONE))
    at = told.index(BlockSealed(0, details(SIGNED)))
    assert told[at + 1] == BlockEnded(0)


def test_thinking_that_was_cut_has_no_seal() -> None:
    answer = collect(events(sse(chunk({"reasoning_details": [SIGNED]}))))
    assert answer.turn.blocks == (Thinking("Hm, two cities.", field="reasoning_details", interrupted=True),)


def test_entries_after_the_thinking_are_a_hidden_block_of_their_own() -> None:
    answer = stream(
        {"reasoning": "Hm.", "reasoning_details": [text("Hm.")]},
        {"content": "Yes."},
        {"tool_calls": [CALL], "reasoning_details": [ENCRYPTED]},
    )
    hidden = Thinking(form="hidden", field="reasoning_details", seal=details(ENCRYPTED))
    thought = Thinking("Hm.", field="reasoning", seal=details(text("Hm.")))
    assert answer.turn.blocks == (thought, Text("Yes."), hidden, ToolCall("c1", "f", "{}"))
    assert said_by(*answer.turn.blocks)["reasoning_details"] == [text("Hm."), ENCRYPTED]


def test_encrypted_entries_do_not_cut_the_text_in_two() -> None:
    answer = stream({"content": "Ye"}, {"reasoning_details": [ENCRYPTED]}, {"content": "s."})
    hidden = Thinking(form="hidden", field="reasoning_details", seal=details(ENCRYPTED))
    assert answer.turn.blocks == (Text("Yes."), hidden)


def test_a_summary_after_its_encrypted_entry_is_one_block() -> None:
    (block,) = from_stream([ENCRYPTED], [SUMMARY])
    assert isinstance(block, Thinking)
    assert (block.text, entries(block)) == ("Two cities.", [ENCRYPTED, SUMMARY])


def test_a_late_signature_goes_to_the_text_that_it_signs() -> None:
    late = {"type": "reasoning.text", "index": 0, "signature": "s"}
    answer = stream({"reasoning_details": [text("Hm.")]}, {"content": "Yes."}, {"reasoning_details": [late]})
    assert said_by(*answer.turn.blocks)["reasoning_details"] == [text("Hm.", signature="s")]


def test_entries_that_say_nothing_open_no_block() -> None:
    assert from_stream([text("", signature="")], []) == ()
    assert whole({"content": "Yes.", "reasoning_details": []}).turn.blocks == (Text("Yes."),)


def test_entries_that_are_no_objects_are_kept() -> None:
    (block,) = from_stream(["odd", None, text("Hm.")])
    assert entries(block) == ["odd", None, text("Hm.")]
