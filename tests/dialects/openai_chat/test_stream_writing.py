"""Streams for clients: the chunks that OpenAI would send, in its order."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.dialects.openai_chat.support import (
    DONE,
    ENCRYPTED,
    FOREIGN,
    GOOGLE,
    NAME,
    SIGNED,
    SUMMARY,
    codes,
    deltas,
    details,
    events,
    written,
)
from thinkwire.dialects.openai_chat.stream_encoder import StreamEncoder
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
from thinkwire.messages import Block, Image, Opaque, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.usage import measure

CALL = ToolCall("c1", "f", '{"a":1}')
USAGE, _ = measure(input_total=9, output_total=6, output_reasoning=4)


def answer(*blocks: Block, finish: Any = "stop", **fields: Any) -> Answer:
    return Answer(Turn("assistant", blocks), finish, **fields)


def notes_on(*blocks: Block) -> list[str]:
    encoder = StreamEncoder()
    for event in events_of(answer(*blocks)):
        encoder.feed(event)
    return codes(encoder.notes)


def test_a_stream_has_the_shape_that_openai_gives_it() -> None:
    told: list[Event] = [
        Started("chatcmpl-1", "m"),
        BlockStarted(0, Thinking()),
        BlockGrew(0, "Hm."),
        BlockEnded(0),
        BlockStarted(1, Text()),
        BlockGrew(1, "Yes"),
        BlockGrew(1, "."),
        BlockEnded(1),
        Finished("stop", USAGE),
    ]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "m"}

    def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    assert written(told, created=7) == [
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "Hm."}),
        chunk({"content": "Yes"}),
        chunk({"content": "."}),
        chunk({}, "stop"),
        head
        | {
            "choices": [],
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 6,
                "total_tokens": 15,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
        },
        DONE,
    ]


def test_usage_can_be_left_out() -> None:
    frames = written(answer(Text("Yes."), usage=USAGE), include_usage=False)
    assert not [frame for frame in frames if frame != DONE and "usage" in frame]


def test_calls_are_announced_and_may_overlap() -> None:
    told: list[Event] = [
        Started("x", "m"),
        BlockStarted(0, ToolCall("c1", "f")),
        BlockStarted(1, ToolCall("c2", "g")),
        BlockGrew(1, "{"),
        BlockGrew(0, "{}"),
        BlockGrew(1, "}"),
        BlockEnded(0),
        BlockEnded(1),
        Finished("tool_calls"),
    ]

    def first(index: int, id_: str, name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": ""}
        return {"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]}

    def more(index: int, text: str) -> dict[str, Any]:
        return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}

    assert deltas(written(told)) == [
        first(0, "c1", "f"),
        first(1, "c2", "g"),
        more(1, "{"),
        more(0, "{}"),
        more(1, "}"),
    ]


def test_a_call_without_arguments_gets_an_empty_object() -> None:
    assert deltas(written(answer(ToolCall("c1", "f"))))[-1] == {
        "tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]
    }


def test_content_that_is_there_from_the_start_is_a_delta() -> None:
    told: list[Event] = [
        BlockStarted(0, Thinking("Hm.")),
        BlockEnded(0),
        BlockStarted(1, CALL),
        BlockEnded(1),
        Finished("stop"),
    ]
    thought, announced, arguments = deltas(written(told))
    assert thought == {"reasoning_content": "Hm."}
    assert announced["tool_calls"][0]["function"] == {"name": "f", "arguments": ""}
    assert arguments["tool_calls"][0]["function"] == {"arguments": '{"a":1}'}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (Thinking("Hm."), [{"reasoning_content": "Hm."}]),
        (Thinking("Hm.", field="reasoning"), [{"reasoning": "Hm."}]),
        (Thinking("Hm.", field="musings"), [{"reasoning_content": "Hm."}]),
        (
            Thinking("Hm, two cities.", field="reasoning", seal=details(SIGNED)),
            [{"reasoning": "Hm, two cities."}, {"reasoning_details": [SIGNED]}],
        ),
        (
            Thinking("Hm, two cities.", field="reasoning_details", seal=details(SIGNED)),
            [{"reasoning_details": [SIGNED]}],
        ),
        (Thinking("Hm.", field="reasoning_details"), [{"reasoning_content": "Hm."}]),
        (Thinking(form="hidden", seal=details(ENCRYPTED)), [{"reasoning_details": [ENCRYPTED]}]),
        (
            Thinking("Two cities.", form="summary", field="reasoning", seal=details(SUMMARY)),
            [
                {"reasoning_details": [{"type": "reasoning.summary", "summary": ""}]},
                {"reasoning": "Two cities."},
                {"reasoning_details": [SUMMARY]},
            ],
        ),
        (
            Thinking("Hm.", field="reasoning_text", seal=Seal("copilot.opaque", "b3Bx")),
            [{"reasoning_text": "Hm."}, {"reasoning_opaque": "b3Bx"}],
        ),
        (
            Thinking("Hm.", field="tag:think"),
            [{"content": "<think>\n"}, {"content": "Hm."}, {"content": "\n</think>\n\n"}],
        ),
        (
            Thinking("Hm.", field="content", extras={NAME: {"closed": True}}),
            [
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
                {"content": [{"type": "thinking", "thinking": [], "closed": True}]},
            ],
        ),
        (
            Thinking("Hm.", field="content", extras={NAME: {"_bare": True}}),
            [{"content": [{"type": "thinking", "thinking": "Hm."}]}],
        ),
    ],
    ids=str,
)
def test_thinking_is_shown_as_it_came(block: Thinking, expected: list[Any]) -> None:
    assert deltas(written(answer(block, Text("Yes.")))) == [*expected, {"content": "Yes."}]
    assert notes_on(block) == []


def test_thinking_can_be_shown_in_other_fields() -> None:
    said = answer(Thinking("Hm.", field="tag:think"), Text("Yes."))
    assert deltas(written(said, reasoning_field="reasoning"))[0] == {"reasoning": "Hm."}
    both = deltas(written(said, reasoning_field="reasoning_content", also=("reasoning",)))
    assert both[0] == {"reasoning_content": "Hm.", "reasoning": "Hm."}
    sealed = answer(Thinking("Hm, two cities.", field="reasoning_details", seal=details(SIGNED)))
    assert deltas(written(sealed, reasoning_field="reasoning_content")) == [
        {"reasoning_content": "Hm, two cities."},
        {"reasoning_details": [SIGNED]},
    ]


def test_thinking_can_be_left_out() -> None:
    encoder = StreamEncoder(reasoning_field="omit")
    for event in events_of(answer(Thinking("Hm.", field="reasoning"), Text("Yes."))):
        assert b"Hm." not in encoder.feed(event)
    assert codes(encoder.notes) == ["thinking.dropped"]


def test_tags_that_would_come_after_text_are_not_written() -> None:
    said = deltas(written(answer(Text("a"), Thinking("Hm.", field="tag:think"), Text("b"))))
    assert said == [{"content": "a"}, {"reasoning_content": "Hm."}, {"content": "b"}]


@pytest.mark.parametrize(
    ("block", "notes"),
    [
        (Thinking("Hm.", seal=FOREIGN), ["seal.dropped"]),
        (Thinking(form="hidden", seal=FOREIGN), ["thinking.dropped"]),
        (Thinking(form="redacted", seal=FOREIGN), ["thinking.dropped"]),
        (Thinking("Hm.", seal=Seal("openrouter.details", "[")), ["seal.dropped"]),
        (Text("Yes.", seal=GOOGLE), ["seal.dropped"]),
        (ToolCall("c1", "f", "{}", seal=GOOGLE), ["seal.dropped"]),
        (Image(url="https://a/b"), ["block.dropped"]),
        (Opaque("gemini", {"x": 1}), ["block.dropped"]),
        (Opaque(NAME, {"type": "reference"}), []),
    ],
    ids=str,
)
def test_what_a_stream_cannot_say_is_said(block: Block, notes: list[str]) -> None:
    assert notes_on(block) == notes


def test_hidden_thinking_of_another_maker_leaves_no_trace() -> None:
    assert deltas(written(answer(Thinking(form="hidden", seal=FOREIGN), Text("Yes.")))) == [
        {"content": "Yes."}
    ]


def test_native_blocks_stay_native() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "x", "input": "y"}}
    reference = {"type": "reference", "reference_ids": [1]}
    said = deltas(written(answer(Text("a"), Opaque(NAME, reference), Opaque(NAME, custom), CALL)))
    assert said[1] == {"content": [reference]}
    assert said[2] == {"tool_calls": [{"index": 0} | custom]}
    assert said[3]["tool_calls"][0]["index"] == 1


def test_text_blocks_that_overlap_come_one_after_the_other() -> None:
    told: list[Event] = [
        BlockStarted(0, Thinking()),
        BlockGrew(0, "Hm"),
        BlockStarted(1, Text()),
        BlockGrew(1, "Ye"),
        BlockStarted(2, ToolCall("c1", "f")),
        BlockGrew(2, "{}"),
        BlockStarted(3, Text()),
        BlockGrew(0, "."),
        BlockSealed(0, details(SIGNED)),
        BlockEnded(0),
        BlockGrew(1, "s."),
        BlockGrew(3, "No."),
        BlockEnded(3),
        BlockEnded(1),
        BlockEnded(2),
        Finished("tool_calls"),
    ]
    said = [delta for delta in deltas(written(told)) if "tool_calls" not in delta]
    assert said == [
        {"reasoning_content": "Hm"},
        {"reasoning_content": "."},
        {"reasoning_details": [SIGNED]},
        {"content": "Ye"},
        {"content": "s."},
        {"content": "No."},
    ]


def test_blocks_that_were_still_waiting_come_before_the_end() -> None:
    told: list[Event] = [
        BlockStarted(0, Text()),
        BlockStarted(1, Thinking()),
        BlockGrew(1, "Hm."),
        BlockEnded(1),
        Finished("stop"),
    ]
    assert deltas(written(told)) == [{"reasoning_content": "Hm."}]


def test_native_fields_go_where_they_came_from() -> None:
    extras = {
        NAME: {
            "created": 9,
            "provider": "P",
            "_choice": {"native_finish_reason": "end"},
            "_finish_reason": "model_length",
        }
    }
    told = answer(Text("Yes."), finish="length", extras=extras)
    turn = msgspec.structs.replace(told.turn, extras={NAME: {"annotations": [1]}})
    frames = written(msgspec.structs.replace(told, turn=turn))
    assert (frames[0]["created"], frames[0]["provider"]) == (9, "P")
    assert frames[-3]["choices"][0]["delta"] == {"annotations": [1]}
    assert frames[-2]["choices"][0] == {
        "index": 0,
        "delta": {},
        "finish_reason": "model_length",
        "native_finish_reason": "end",
    }


def test_a_refusal_is_its_own_field() -> None:
    frames = written(answer(Text("I can't.", refusal=True), finish="refusal"))
    assert deltas(frames) == [{"refusal": "I can't."}]
    assert frames[-2]["choices"][0]["finish_reason"] == "stop"


def test_a_failure_is_an_error_chunk_and_no_end_mark() -> None:
    told: list[Event] = [Started("x", "m"), BlockStarted(0, Text()), BlockGrew(0, "Ye")]
    frames = written([*told, Failed(Failure("rate_limit", "slow down", code="slow"), usage=USAGE)])
    assert frames[-1] == {
        "error": {"message": "slow down", "type": "rate_limit_error", "param": None, "code": "slow"}
    }
    assert frames[-2]["usage"]["completion_tokens"] == 6
    unfinished = written(told)
    assert unfinished[-1]["error"]["message"] == "the stream ended before the answer did"


def test_a_stream_that_begins_oddly_still_begins() -> None:
    frames = written([Finished("stop")])
    assert frames[0]["choices"][0]["delta"]["role"] == "assistant"
    assert frames[0]["id"].startswith("chatcmpl-")
    assert written([Finished("stop")], response_id="chatcmpl-9")[0]["id"] == "chatcmpl-9"


def test_notes_are_not_written() -> None:
    encoder = StreamEncoder()
    encoder.feed(Started())
    assert encoder.feed(Noted(Note("choices.dropped", "x"))) == b""


def test_half_a_surrogate_pair_is_replaced_and_said() -> None:
    encoder = StreamEncoder()
    told: list[Event] = [
        BlockStarted(0, Text()),
        BlockGrew(0, "a\ud83d"),
        BlockGrew(0, "\ude00"),
        BlockEnded(0),
        Finished("stop"),
    ]
    wire = b"".join([*(encoder.feed(event) for event in told), encoder.close()])
    assert collect(events(wire)).turn.blocks == (Text("a\ufffd\ufffd"),)
    assert codes(encoder.notes) == ["text.repaired", "text.repaired"]
