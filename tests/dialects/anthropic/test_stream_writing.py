"""Streams as we send them to our clients."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.anthropic.support import FOREIGN, REDACTED, SIGNED, codes, frames, write
from thinkwire.dialects.anthropic import ANTHROPIC
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
    events_of,
)
from thinkwire.messages import Block, Extras, Image, Opaque, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.usage import Usage

USAGE = Usage(input_uncached=1, output_total=2)
DONE = Finished("stop", USAGE)


def written(*events: Event) -> list[dict[str, Any]]:
    return frames(write(events)[0])


def body_of(*events: Event) -> list[dict[str, Any]]:
    """What stands between the start of the message and its end."""
    found = written(Started("msg_1", "m"), *events, DONE)
    assert found[0]["type"] == "message_start"
    assert [event["type"] for event in found[-2:]] == ["message_delta", "message_stop"]
    return found[1:-2]


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def test_the_frame_around_an_answer() -> None:
    assert written(Started("msg_1", "m"), Noted(Note("finish.unknown", "x")), DONE) == [
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "stop_details": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        },
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None, "stop_details": None},
            "usage": {"input_tokens": 1, "output_tokens": 2},
        },
        {"type": "message_stop"},
    ]


@pytest.mark.parametrize(
    ("block", "native"),
    [
        (Text("Hi"), [start(0, type="text", text=""), delta(0, "text_delta", text="Hi"), stop(0)]),
        (Text(""), [start(0, type="text", text=""), stop(0)]),
        (
            Text("Hi", extras={"anthropic": {"citations": [{"url": "u"}]}}),
            [
                start(0, type="text", text="", citations=[]),
                delta(0, "text_delta", text="Hi"),
                delta(0, "citations_delta", citation={"url": "u"}),
                stop(0),
            ],
        ),
        (
            Thinking("Hm", seal=SIGNED),
            [
                start(0, type="thinking", thinking="", signature=""),
                delta(0, "thinking_delta", thinking="Hm"),
                delta(0, "signature_delta", signature=SIGNED.data),
                stop(0),
            ],
        ),
        (
            Thinking(form="hidden", seal=SIGNED),
            [
                start(0, type="thinking", thinking="", signature=""),
                delta(0, "signature_delta", signature=SIGNED.data),
                stop(0),
            ],
        ),
        (
            Thinking("Hm", form="summary"),
            [
                start(0, type="thinking", thinking="", signature=""),
                delta(0, "thinking_delta", thinking="Hm"),
                stop(0),
            ],
        ),
        (
            Thinking(form="redacted", seal=REDACTED),
            [start(0, type="redacted_thinking", data=REDACTED.data), stop(0)],
        ),
        (Thinking(form="redacted"), [start(0, type="thinking", thinking="", signature=""), stop(0)]),
        (
            ToolCall("t", "f", '{"a":1}', extras={"anthropic": {"caller": {"type": "direct"}}}),
            [
                start(0, type="tool_use", id="t", name="f", input={}, caller={"type": "direct"}),
                delta(0, "input_json_delta", partial_json=""),
                delta(0, "input_json_delta", partial_json='{"a":1}'),
                stop(0),
            ],
        ),
        (
            Opaque("anthropic", {"type": "compaction", "content": "…"}),
            [start(0, type="compaction", content="…"), stop(0)],
        ),
    ],
)
@pytest.mark.parametrize("whole", [False, True], ids=["grown", "in its start"])
def test_blocks(block: Block, native: list[dict[str, Any]], whole: bool) -> None:
    grown = list(events_of(Answer(Turn("assistant", (block,)))))[1:]
    events = [BlockStarted(0, block), BlockEnded(0)] if whole else grown
    assert body_of(*events) == native


@pytest.mark.parametrize(
    ("block", "types", "notes"),
    [
        (Text("a", seal=FOREIGN), ["start", "delta", "stop"], ["seal.dropped"]),
        (Text("", seal=FOREIGN), [], ["seal.dropped"]),
        (Text("a", refusal=True), ["start", "delta", "stop"], ["block.degraded"]),
        (Thinking("Hm", seal=FOREIGN), ["start", "delta", "stop"], ["seal.dropped"]),
        (Thinking("", form="redacted", seal=FOREIGN), ["start", "stop"], ["seal.dropped"]),
        (ToolCall("t", "f", "{}", seal=FOREIGN), ["start", "delta", "delta", "stop"], ["seal.dropped"]),
        (ToolCall("t", "f", "{"), ["start", "delta", "delta", "stop"], ["tool_call.arguments_invalid"]),
        (Opaque("gemini", {}), [], ["block.dropped"]),
        (Image(url="u"), [], ["block.dropped"]),
    ],
)
def test_what_others_wrote_is_shown(block: Block, types: list[str], notes: list[str]) -> None:
    stream, said = write(events_of(Answer(Turn("assistant", (block,)), "length", USAGE)))
    assert [event["type"].removeprefix("content_block_") for event in frames(stream)[1:-2]] == types
    assert codes(said) == notes
    assert FOREIGN.data not in stream.decode()


def test_a_delta_is_written_at_once() -> None:
    encoder = ANTHROPIC.stream_encoder()
    encoder.feed(Started("msg_1", "m"))
    encoder.feed(BlockStarted(0, Text()))
    first, second = (frames(encoder.feed(BlockGrew(0, text))) for text in ("a", "\n\n"))
    assert first == [start(0, type="text", text=""), delta(0, "text_delta", text="a")]
    assert second == [delta(0, "text_delta", text="\n\n")]


def test_blocks_that_overlap_are_written_one_after_the_other() -> None:
    events = body_of(
        BlockStarted(0, ToolCall("a", "f")),
        BlockStarted(1, ToolCall("b", "g")),
        BlockStarted(2, Text()),
        BlockGrew(1, '{"b"'),
        BlockGrew(0, "{"),
        BlockGrew(2, "Hi"),
        BlockEnded(1),
        BlockGrew(0, "}"),
        BlockEnded(0),
        BlockGrew(2, "!"),
        BlockEnded(2),
    )
    assert events == [
        start(0, type="tool_use", id="a", name="f", input={}),
        delta(0, "input_json_delta", partial_json=""),
        delta(0, "input_json_delta", partial_json="{"),
        delta(0, "input_json_delta", partial_json="}"),
        stop(0),
        start(1, type="tool_use", id="b", name="g", input={}),
        delta(1, "input_json_delta", partial_json=""),
        delta(1, "input_json_delta", partial_json='{"b"'),
        stop(1),
        start(2, type="text", text=""),
        delta(2, "text_delta", text="Hi"),
        delta(2, "text_delta", text="!"),
        stop(2),
    ]


def test_indices_have_no_gap_where_a_block_was_left_out() -> None:
    events = body_of(
        BlockStarted(3, Opaque("gemini", {})),
        BlockEnded(3),
        BlockStarted(5, Text("a")),
        BlockEnded(5),
    )
    assert [event["index"] for event in events] == [0, 0, 0]


def test_a_late_seal_is_written_before_the_end_of_its_block() -> None:
    events = body_of(
        BlockStarted(0, Thinking()),
        BlockGrew(0, "a"),
        BlockStarted(1, Text()),
        BlockSealed(0, SIGNED),
        BlockEnded(0),
        BlockEnded(1),
    )
    assert events[2:4] == [delta(0, "signature_delta", signature=SIGNED.data), stop(0)]


def test_citations_that_come_at_the_end_of_a_block_are_written() -> None:
    late: Extras = {"anthropic": {"citations": [{"url": "u"}], "novelty": 1}, "gemini": {"x": 1}}
    stream, notes = write([BlockStarted(0, Text("a")), BlockEnded(0, late), DONE])
    assert frames(stream)[3] == delta(0, "citations_delta", citation={"url": "u"})
    assert codes(notes) == ["field.dropped"]


def test_native_fields_stand_where_the_vendor_puts_them() -> None:
    first = {"anthropic": {"input_transformations": [], "container": {"id": "c"}, "context_management": {}}}
    last = {"anthropic": {"stop_reason": "stop_sequence", "stop_sequence": "END"}}
    begin, end, _ = written(Started("msg_1", "m", first), Finished("stop", USAGE, last))
    assert begin["message"]["input_transformations"] == []
    assert "container" not in begin["message"]
    assert end["context_management"] == {}
    assert end["delta"] == {
        "stop_reason": "stop_sequence",
        "stop_sequence": "END",
        "stop_details": None,
        "container": {"id": "c"},
    }


def test_a_failure_ends_the_stream_with_an_error() -> None:
    failure = Failure("overloaded", "Busy", request_id="req_1")
    stream, notes = write([Started("msg_1", "m"), BlockStarted(0, Text("a")), Failed(failure), DONE])
    assert frames(stream)[-1] == {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Busy"},
        "request_id": "req_1",
    }
    assert not any(event["type"] in ("content_block_stop", "message_stop") for event in frames(stream))
    assert notes == []


def test_what_waited_for_a_block_that_failed_is_said_to_be_lost() -> None:
    _, notes = write(
        [
            BlockStarted(0, Text("a")),
            BlockStarted(1, Text()),
            BlockGrew(1, "b"),
            Failed(Failure("protocol", "x")),
        ]
    )
    assert codes(notes) == ["block.dropped"]


def test_a_stream_that_was_never_finished_says_so() -> None:
    assert written()[-1]["error"]["type"] == "api_error"
    assert written(Started("msg_1", "m"), BlockStarted(0, Text("a")))[-1]["error"]["type"] == "api_error"


def test_blocks_that_were_never_ended_are_closed_without_their_seal() -> None:
    stream, notes = write([BlockStarted(0, Thinking("a")), BlockSealed(0, SIGNED), DONE])
    assert frames(stream)[3] == stop(0)
    assert codes(notes) == ["stream.irregular"]


def test_unknown_counts_are_zero_and_noted() -> None:
    stream, notes = write([Started(), Finished("stop")])
    assert frames(stream)[-2]["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert codes(notes) == ["field.changed"]
