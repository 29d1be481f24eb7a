"""A whole answer is sealed at once, and amounts to its events sealed one by one."""

from __future__ import annotations

from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from thinkwire.events import Answer, collect, events_of
from thinkwire.gateway.common.secret_box import SecretBox
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.gateway.seals.payload import CarrierPayload
from thinkwire.gateway.seals.sealer import Sealer
from thinkwire.messages import Block, Image, Origin, Seal, Text, Thinking, ToolCall, Turn

DIALECTS = ["anthropic", "openai-chat", "openai-responses", "gemini"]
CARRIER = Carrier(bytes(range(32)))

broken_off = (strategies.texts | strategies.thoughts | strategies.tool_calls).map(
    lambda block: msgspec.structs.replace(block, interrupted=True)
)
pictures = st.builds(Image, data=st.just("aGk="), seal=strategies.maybe_seal)
native = st.builds(
    Thinking,
    text=strategies.words,
    seal=strategies.maybe_seal,
    extras=st.just({"openai_responses": {"id": "rs_1"}}),
)
blocks = st.lists(
    st.one_of(
        *(strategies.texts, strategies.thoughts, strategies.tool_calls, strategies.opaques),
        *(broken_off, pictures, native, st.just(Text())),
    ),
    max_size=5,
).map(tuple)


def shown(box: SecretBox, carried: CarrierPayload, tenant: str) -> str:
    """A carrier that can be compared."""
    return repr((carried, [kept.block.seal and kept.block.seal.data for kept in carried.kept], tenant))


def sealer(dialect: str, whole: bool | None = None) -> Sealer:
    return CARRIER.sealer("t", dialect, Origin("p", None, "m"), whole=whole)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(before=blocks, thought=strategies.thoughts, after=blocks, whole=st.sampled_from([None, True, False]))
def test_a_whole_answer_is_sealed_as_its_events_are(
    dialect: str, before: tuple[Block, ...], thought: Thinking, after: tuple[Block, ...], whole: bool | None
) -> None:
    answer = Answer(Turn("assistant", (*before, thought, *after)), "stop")
    with (
        patch("thinkwire.gateway.seals.sealer.new_turn", return_value=b"turn"),
        patch("thinkwire.gateway.seals.sealer.write", shown),
    ):
        at_once, by_events = sealer(dialect, whole), sealer(dialect, whole)
        told = at_once.answer(answer)
        assert told.turn.blocks == collect(by_events.feed(list(events_of(answer)))).turn.blocks
    assert at_once.items == by_events.items
    assert told == msgspec.structs.replace(answer, turn=told.turn)


def test_the_first_thought_carries_the_seals_of_the_calls() -> None:
    thought, call = Thinking("Hm."), ToolCall("c", "f", "{}", seal=Seal("gemini.thought", "sig"))
    with patch("thinkwire.gateway.seals.sealer.write", shown):
        told = sealer("anthropic").answer(Answer(Turn("assistant", (thought, call)), "tool_calls"))
    first, second = told.turn.blocks
    assert isinstance(first, Thinking)
    assert first.seal is not None
    assert "'sig'" in first.seal.data
    assert second == ToolCall("c", "f", "{}")
