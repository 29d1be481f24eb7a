"""Thinking inside the visible text."""

from __future__ import annotations

import pytest

from tests.dialects.openai_chat.support import (
    both,
    stream,
    whole,
)
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.messages import Text, Thinking

HM = "Hm, two cities."
YES = Text("Yes.")


@pytest.mark.parametrize(
    ("pieces", "field", "thought", "said"),
    [
        (["<think>", "\nHm", "\n</th", "ink>\n\nYes."], "tag:think", "Hm", "Yes."),
        ([" <mm:", "think>Hm</mm:think>Yes."], "tag:mm:think", "Hm", "Yes."),
        (["[THINK]Hm[/THINK]", "Yes."], "tag:THINK", "Hm", "Yes."),
        (["<thinking>Hm</thinking>\nYes."], "tag:thinking", "Hm", "Yes."),
        (["<think>Hm, unfinished"], "tag:think", "Hm, unfinished", ""),
    ],
)
def test_tags_at_the_start_are_thinking(pieces: list[str], field: str, thought: str, said: str) -> None:
    answer = stream(*({"content": piece} for piece in pieces))
    assert answer.turn.blocks == (Thinking(thought, field=field), *([Text(said)] if said else []))
    assert whole({"content": "".join(pieces)}).turn.blocks == answer.turn.blocks


@pytest.mark.parametrize("text", ["Use <think> tags.", "</div>", "<thin air"])
def test_tags_elsewhere_are_text(text: str) -> None:
    assert both({"content": text}) == (Text(text),)


def test_with_a_reasoning_field_tags_are_text_and_a_stray_closing_tag_is_dropped() -> None:
    assert both({"reasoning": HM, "content": "<think>x"}) == (
        Thinking(HM, field="reasoning"),
        Text("<think>x"),
    )
    assert both({"reasoning": HM, "content": "</think>\n\nYes."}) == (Thinking(HM, field="reasoning"), YES)


def test_tags_can_be_off_or_open_from_the_start() -> None:
    assert both({"content": "<think>a</think>b"}, quirks=Quirks(think_tags="off")) == (
        Text("<think>a</think>b"),
    )
    inside = both({"content": "Hm</think>Yes."}, quirks=Quirks(think_tags="inside"))
    assert inside == (Thinking("Hm", field="tag:think"), YES)
