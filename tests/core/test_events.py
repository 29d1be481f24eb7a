"""The fold: what a stream of events amounts to, however it ends."""

from __future__ import annotations

from hypothesis import given

from tests import strategies
from thinkwire.errors import Failure
from thinkwire.events import (
    Answer,
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Failed,
    Finished,
    Noted,
    Started,
    collect,
    events_of,
)
from thinkwire.messages import Seal, Text, Thinking, ToolCall
from thinkwire.notes import Note

SEAL = Seal("anthropic.signature", "c2ln")
CUT = Failed(Failure("connection_lost", "cut"))


@given(strategies.answers)
def test_an_answer_told_as_events_is_the_same_answer(answer: Answer) -> None:
    assert collect(events_of(answer)) == answer


def test_growth_seal_and_late_fields_belong_to_their_block() -> None:
    events: list[Event] = [
        Started("r1", "m"),
        BlockStarted(0, Thinking(extras={"d": {"a": 1}})),
        BlockGrew(0, "one "),
        BlockStarted(1, ToolCall("c", "f")),
        BlockGrew(1, '{"x":'),
        BlockGrew(0, "two"),
        BlockSealed(0, SEAL),
        BlockEnded(0, {"d": {"b": 2}}),
        BlockGrew(1, "1}"),
        BlockEnded(1),
        Finished("tool_calls"),
    ]
    turn = collect(events).turn
    assert turn.blocks == (
        Thinking("one two", seal=SEAL, extras={"d": {"a": 1, "b": 2}}),
        ToolCall("c", "f", '{"x":1}'),
    )


def test_a_cut_stream_keeps_what_arrived_and_marks_it() -> None:
    answer = collect(
        [Started(), BlockStarted(0, Thinking()), BlockGrew(0, "half a th"), BlockSealed(0, SEAL), CUT]
    )
    assert answer.turn.blocks == (Thinking("half a th", interrupted=True),)
    assert answer.failure == CUT.failure
    assert answer.finish is None


def test_a_stream_cut_between_blocks_interrupts_only_the_open_one() -> None:
    answer = collect(
        [
            BlockStarted(0, Thinking()),
            BlockGrew(0, "done"),
            BlockSealed(0, SEAL),
            BlockEnded(0),
            BlockStarted(1, ToolCall("c", "f")),
            BlockGrew(1, '{"ci'),
            CUT,
        ]
    )
    assert answer.turn.blocks == (Thinking("done", seal=SEAL), ToolCall("c", "f", '{"ci', interrupted=True))


def test_events_that_just_stop_leave_an_interrupted_block() -> None:
    assert collect([BlockStarted(0, Text("a")), BlockGrew(0, "b")]).turn.blocks == (
        Text("ab", interrupted=True),
    )


def test_notes_are_collected_in_order() -> None:
    first, second = Note("usage.impossible", "a"), Note("finish.unknown", "b")
    assert collect([Started(), Noted(first), Finished("stop"), Noted(second)]).notes == (first, second)
