"""Streams as the vendor and its imitators send them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.anthropic.support import (
    REDACTED,
    RICH_STREAM,
    SIGNED,
    START,
    STOP,
    answer_of,
    block,
    codes,
    ended,
    read,
    said,
    sse,
    thought,
)
from thinkwire.dialects.anthropic import ANTHROPIC
from thinkwire.dialects.frame_decoder import CUT
from thinkwire.errors import Failure
from thinkwire.events import (
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Failed,
    Finished,
    Started,
    collect,
)
from thinkwire.messages import Block, Opaque, Origin, Text, Thinking, ToolCall
from thinkwire.usage import Usage

SIGNATURE = {"type": "signature_delta", "signature": SIGNED.data}


def test_every_kind_of_block_is_told() -> None:
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"q": "rain"}}
    assert read(sse(RICH_STREAM)) == [
        Started("msg_1", "claude-opus-5-5"),
        BlockStarted(0, Thinking()),
        BlockGrew(0, "Hm, "),
        BlockGrew(0, "Øslo…"),
        BlockSealed(0, SIGNED),
        BlockEnded(0),
        BlockStarted(1, Thinking(form="redacted", seal=REDACTED)),
        BlockEnded(1),
        BlockStarted(2, Text()),
        BlockGrew(2, "It is\r\n 🌧 "),
        BlockGrew(2, " "),
        BlockEnded(2, {"anthropic": {"citations": [{"url": "u"}]}}),
        BlockStarted(3, Opaque("anthropic", search)),
        BlockEnded(3),
        BlockStarted(4, ToolCall("toolu_1", "look")),
        BlockGrew(4, '{"a":1}'),
        BlockEnded(4),
        Finished(
            "tool_calls",
            Usage(12, 3, None, 15, 10, 30, 40),
            {"anthropic": {"context_management": {"applied_edits": []}}},
        ),
    ]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (block(0, "text", text=""), Text("")),
        (block(0, "text", said(""), said(" "), text=""), Text(" ")),
        (block(0, "text", said("b"), text="a"), Text("ab")),
        (block(0, "thinking", SIGNATURE, thinking=""), Thinking(form="hidden", seal=SIGNED)),
        (block(0, "thinking", thought(""), SIGNATURE), Thinking(form="hidden", seal=SIGNED)),
        (block(0, "thinking", SIGNATURE, thought("late")), Thinking("late", seal=SIGNED)),
        (block(0, "thinking", thinking="a", signature=SIGNED.data), Thinking("a", seal=SIGNED)),
        (block(0, "thinking", thought("a"), {"type": "signature_delta", "signature": ""}), Thinking("a")),
        (block(0, "thinking", {"type": "thinking_delta", "text": "a"}), Thinking("a")),
        (block(0, "thinking"), Thinking(form="hidden")),
        (block(0, "tool_use", id="t", name="f", input={}), ToolCall("t", "f", "{}")),
        (block(0, "tool_use", id="t", name="f", input={"a": 1}), ToolCall("t", "f", '{"a":1}')),
        (
            block(0, "tool_use", {"type": "input_json_delta", "partial_json": '{"b": 2}'}, id="t", name="f"),
            ToolCall("t", "f", '{"b": 2}'),
        ),
        (
            block(0, "compaction", {"type": "compaction_delta", "content": "…"}, content=None),
            Opaque("anthropic", {"type": "compaction", "content": "…"}),
        ),
        (
            block(
                0, "novelty", {"type": "x", "a": "2", "b": [2]}, {"type": "y", "citation": 1}, a="1", b=[1]
            ),
            Opaque("anthropic", {"type": "novelty", "a": "12", "b": [1, 2], "citations": [1]}),
        ),
        (
            block(0, "advisor_tool_result", content={"type": "advisor_result"}),
            Opaque("anthropic", {"type": "advisor_tool_result", "content": {"type": "advisor_result"}}),
        ),
    ],
)
def test_a_block_reads_as_it_would_in_json(events: list[Any], expected: Block) -> None:
    answer = answer_of(START, *events, ended("pause_turn"), STOP)
    assert answer.turn.blocks == (expected,)
    assert answer.notes == ()


def test_thinking_is_not_told_before_it_is_known_to_have_text() -> None:
    decoder = ANTHROPIC.stream_decoder()
    start, delta = block(0, "thinking", thought("Hm"))[:2]
    assert decoder.feed(sse([START, start])) == [Started("msg_1", "claude-opus-5-5")]
    assert decoder.feed(sse([delta])) == [BlockStarted(0, Thinking()), BlockGrew(0, "Hm")]


def test_counts_are_cumulative_and_the_last_ones_count() -> None:
    usage = answer_of(START, ended(None, input_tokens=400), ended(output_tokens=9), STOP).usage
    assert usage == Usage(400, 3, None, 403, None, None, 9)


def test_broken_arguments_of_an_unknown_block_are_kept_and_noted() -> None:
    events = block(0, "mcp_tool_use", {"type": "input_json_delta", "partial_json": '{"a'}, input={})
    answer = answer_of(START, *events, ended(), STOP)
    assert answer.turn.blocks == (
        Opaque("anthropic", {"type": "mcp_tool_use", "input": {"invalid_arguments": '{"a'}}),
    )
    assert codes(answer.notes) == ["tool_call.arguments_invalid"]


HELLO = block(0, "text", said("Hello"))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([START, {"type": "novelty"}, *HELLO, ended(), STOP], id="unknown events"),
        pytest.param([START, *HELLO, ended(), {**STOP, "type": "message_stop"}], id="nothing odd"),
    ],
)
def test_what_is_allowed_to_be_there_is_no_irregularity(events: list[Any]) -> None:
    answer = answer_of(*events)
    assert (answer.turn.text, answer.finish, answer.notes) == ("Hello", "stop", ())


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([START, *HELLO, ended()], id="Q44 no message_stop"),
        pytest.param([START, START, *HELLO, ended(), STOP], id="Q44 message_start twice"),
        pytest.param([*HELLO, ended(), STOP], id="Q44 no message_start"),
        pytest.param([START, *block(7, "text", said("Hello")), ended(), STOP], id="Q44 odd index"),
        pytest.param([START, *block(None, "text", said("Hello")), ended(), STOP], id="Q44 no index"),
        pytest.param([START, *HELLO[:2], ended(), STOP], id="Q44 no content_block_stop"),
        pytest.param([START, *HELLO[1:], ended(), STOP], id="Q44 no content_block_start"),
        pytest.param([START, *HELLO, HELLO[2], ended(), STOP], id="content_block_stop twice"),
        pytest.param([START, *HELLO, {**HELLO[1], "delta": 3}, ended(), STOP], id="no delta"),
        pytest.param(
            [START, *HELLO, {"type": "content_block_start", "index": 1}, ended(), STOP], id="no block"
        ),
        pytest.param(
            [START, *HELLO[:2], {**HELLO[1], "delta": SIGNATURE}, HELLO[2], ended(), STOP],
            id="a signature on text",
        ),
        pytest.param(
            [
                START,
                *HELLO,
                {
                    "type": "content_block_delta",
                    "index": 1,
                    "delta": {"type": "input_json_delta", "partial_json": "{}"},
                },
                ended(),
                STOP,
            ],
            id="arguments of no call",
        ),
    ],
)
def test_irregular_streams_are_read_and_noted(events: list[Any]) -> None:
    answer = answer_of(*events)
    assert (answer.turn.text, answer.finish) == ("Hello", "stop")
    assert codes(answer.notes) == ["stream.irregular"]
    assert [getattr(block, "interrupted", False) for block in answer.turn.blocks] == [False]


def test_q44_blocks_that_never_stop_end_when_the_next_one_begins() -> None:
    events = [*block(0, "thinking", thought("a"), SIGNATURE)[:-1], *block(1, "text", said("b"))[:-1]]
    answer = answer_of(START, *events, ended(), STOP)
    assert answer.turn.blocks == (Thinking("a", seal=SIGNED), Text("b"))
    assert codes(answer.notes) == ["stream.irregular"] * 2


def test_text_that_strays_into_a_thinking_block_gets_a_block_of_its_own() -> None:
    answer = answer_of(START, *block(0, "thinking", thought("a"), said("b"), said("c")), ended(), STOP)
    assert answer.turn.blocks == (Thinking("a"), Text("bc"))
    assert set(codes(answer.notes)) == {"stream.irregular"}


def test_q25_parallel_calls_with_the_same_index_are_two_calls() -> None:
    calls = [*block(0, "tool_use", id="a", name="f"), *block(0, "tool_use", id="b", name="g")]
    answer = answer_of(START, *calls, ended("tool_use"), STOP)
    assert answer.turn.tool_calls == (ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}"))


def test_q24_a_call_without_an_id_gets_the_one_it_would_get_in_json() -> None:
    body = {**START["message"], "content": [{"type": "tool_use", "name": "f"}], "stop_reason": "tool_use"}
    answer = answer_of(START, *block(0, "tool_use", name="f"), ended("tool_use"), STOP)
    assert answer.turn == ANTHROPIC.decode_response(body).turn
    assert codes(answer.notes) == ["tool_call.id_generated"]


@pytest.mark.parametrize(
    ("calls", "reason", "finish", "notes"),
    [
        (False, "end_turn", "stop", []),
        (True, "end_turn", "tool_calls", []),
        (False, "novelty", "stop", ["finish.unknown"]),
        (True, None, "tool_calls", ["finish.unknown"]),
    ],
)
def test_q16_finish(calls: bool, reason: Any, finish: str, notes: list[str]) -> None:
    events = block(0, "tool_use", id="t", name="f") if calls else HELLO
    answer = answer_of(START, *events, ended(reason), STOP)
    assert answer.finish == finish
    assert codes(answer.notes) == notes


def test_q19_done_may_stand_for_message_stop() -> None:
    answer = collect(read(sse([START, *HELLO, ended()]) + b"data: [DONE]\n\n"))
    assert (answer.turn.text, answer.finish) == ("Hello", "stop")


@pytest.mark.parametrize("kept", range(len(RICH_STREAM) - 2))
def test_q18_a_cut_stream_fails_and_leaves_no_unfinished_thinking_sealed(kept: int) -> None:
    events = read(sse(RICH_STREAM[:kept]))
    assert events[-1] == Failed(Failure("connection_lost", CUT))
    answer = collect(events)
    ended_blocks = sum(event["type"] == "content_block_stop" for event in RICH_STREAM[:kept])
    finished = [block for block in answer.turn.blocks if not getattr(block, "interrupted", False)]
    assert len(finished) == ended_blocks
    for interrupted in answer.turn.blocks[ended_blocks:]:
        assert getattr(interrupted, "seal", None) is None


def test_q18_a_cut_inside_a_frame_is_a_lost_connection_too() -> None:
    data = sse(RICH_STREAM)
    for cut in range(0, len(sse(RICH_STREAM[:-2])), 7):
        assert read(data[:cut])[-1] == Failed(Failure("connection_lost", CUT))


def test_q21_an_error_inside_the_stream_is_a_failure() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    events = read(sse([START, *HELLO[:2], error, *HELLO[2:]]))
    failed = next(event for event in events if isinstance(event, Failed))
    assert (failed.failure.kind, failed.failure.code) == ("overloaded", "overloaded_error")
    assert collect(events).turn.blocks == (Text("Hello", interrupted=True),)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'data: {"error": {"message": "no", "type": "api_error"}}\n\n', "overloaded"),
        (b'{"type":"error","error":{"type":"not_found_error","message":"model: x"}}', "not_found"),
        (b"event: message_start\ndata: {\n\n", "protocol"),
        (b"data: []\n\n", "protocol"),
        (b"data: " + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"\n\n", "protocol"),
        (b"<html>Bad gateway</html>", "connection_lost"),
        (b"", "connection_lost"),
    ],
)
def test_q21_what_is_no_stream_is_a_failure(data: bytes, kind: str) -> None:
    failed = read(data)[-1]
    assert isinstance(failed, Failed)
    assert failed.failure.kind == kind


def test_a_whole_message_instead_of_a_stream_is_read() -> None:
    body = {**START["message"], "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}
    answer = collect(read(sse([body])))
    assert answer.turn.text == "Hi"
    assert answer.turn.origin == Origin(model="claude-opus-5-5", response_id="msg_1")
    assert (answer.finish, answer.notes) == ("stop", ())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (sse([START, *HELLO, ended(), STOP]).replace(b"\n", b"\r\n"), "Hello"),
        (b": ping\n\n" + sse([START, *HELLO, ended(), STOP]), "Hello"),
        (b"\xef\xbb\xbf" + sse([START, *HELLO, ended(), STOP])[:-2], "Hello"),
        (
            b"".join(
                line for line in sse([START, *HELLO, ended(), STOP]).splitlines(True) if line[:1] != b"e"
            ),
            "Hello",
        ),
        (b'event: ping\ndata: {"no": "type"}\n\n' + sse([START, *HELLO, ended(), STOP]), "Hello"),
    ],
    ids=["CRLF", "comments", "BOM and no last blank line", "no event names", "no type"],
)
def test_q20_framing_of_any_kind_is_read(data: bytes, text: str) -> None:
    answer = collect(read(data))
    assert (answer.turn.text, answer.finish, answer.notes) == (text, "stop", ())


def test_what_follows_the_end_is_noted_once() -> None:
    answer = answer_of(START, *HELLO, ended(), STOP, *HELLO, STOP)
    assert answer.turn.text == "Hello"
    assert codes(answer.notes) == ["stream.after_end"]


def test_native_fields_are_kept() -> None:
    start = {**START, "message": {**START["message"], "input_transformations": [1], "container": None}}
    delta = {**ended("stop_sequence"), "novelty": 1}
    delta["delta"] = {"stop_reason": "stop_sequence", "stop_sequence": "END", "container": {"id": "c"}}
    answer = answer_of(start, delta, {**STOP, "amazon-bedrock-invocationMetrics": {}})
    assert answer.extras == {
        "anthropic": {
            "input_transformations": [1],
            "stop_reason": "stop_sequence",
            "stop_sequence": "END",
            "container": {"id": "c"},
            "novelty": 1,
            "amazon-bedrock-invocationMetrics": {},
        }
    }


def events_in_pieces(data: bytes, cuts: list[int]) -> list[Event]:
    decoder = ANTHROPIC.stream_decoder()
    events: list[Event] = []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        events += decoder.feed(data[start:end])
    return events + decoder.close()


def test_cuts_do_not_matter() -> None:
    data = sse(RICH_STREAM)
    whole = read(data)
    for cut in range(len(data)):
        assert events_in_pieces(data, [cut]) == whole
    assert events_in_pieces(data, list(range(1, len(data)))) == whole
