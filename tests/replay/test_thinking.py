"""The six small functions of the terminal's seed."""

from __future__ import annotations

import pytest

from thinkwire.messages import Seal, Text, Thinking, Turn
from thinkwire.replay import thinking
from thinkwire.replay.policy import Strip

SIGNED = Thinking("one", seal=Seal("anthropic.signature", "c2ln"))
REDACTED = Thinking(form="redacted", seal=Seal("anthropic.redacted", "cmVk"))
PLAIN = Thinking("two", field="reasoning_content")
HIDDEN = Thinking(form="hidden", seal=Seal("gemini.thought", "Z2Vt"))
TURN = Turn("assistant", (SIGNED, Text("visible"), PLAIN))


def test_thinking_is_taken_out_in_order() -> None:
    assert thinking.extract_thinking(TURN) == (SIGNED, PLAIN)
    assert thinking.extract_thinking(Turn("user", (Text("hi"),))) == ()


@pytest.mark.parametrize(("strip", "left"), [("none", [2, 1]), ("allButLast", [0, 1]), ("all", [0, 0])])
def test_the_policy_decides_what_stays(strip: Strip, left: list[int]) -> None:
    turns = (
        TURN,
        Turn("user", (Text("?"),)),
        Turn("assistant", (PLAIN, Text("!"))),
        Turn("user", (Text("ok"),)),
    )
    kept = thinking.filter_thinking(turns, strip)
    assert [len(thinking.extract_thinking(turn)) for turn in kept if turn.role == "assistant"] == left
    assert [turn.text for turn in kept] == [turn.text for turn in turns]


def test_the_reasoning_field_is_the_readable_text() -> None:
    assert thinking.to_reasoning_field([SIGNED, HIDDEN, PLAIN]) == "one\ntwo"
    assert thinking.to_reasoning_field([HIDDEN]) is None


def test_anthropic_gets_what_it_signed() -> None:
    assert thinking.to_anthropic_blocks([SIGNED, REDACTED, PLAIN, HIDDEN]) == [
        {"type": "thinking", "thinking": "one", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "cmVk"},
    ]


def test_gemini_gets_thought_parts() -> None:
    assert thinking.to_gemini_parts([PLAIN, HIDDEN, REDACTED]) == [
        {"text": "two", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": "Z2Vt"},
    ]


def test_tokens_are_estimated_upwards() -> None:
    assert thinking.estimate_thinking_tokens([]) == 0
    assert thinking.estimate_thinking_tokens([SIGNED, PLAIN]) == 2
