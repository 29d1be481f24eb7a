"""A stream read as a client."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.gemini.wire import SEAL, SIGNED, array, call, chunk, codes, events, sse, streamed
from thinkwire.dialects.gemini import GEMINI
from thinkwire.events import (
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Failed,
    Finished,
    Noted,
    Started,
    collect,
)
from thinkwire.jsonvalue import JsonObject, dump
from thinkwire.messages import Opaque, Text, Thinking, ToolCall
from thinkwire.usage import Usage

THINKS = [
    chunk({"text": "Plan", "thought": True}, usage={"promptTokenCount": 5, "thoughtsTokenCount": 3}),
    chunk({"text": "ning", "thought": True}, usage={"promptTokenCount": 5, "thoughtsTokenCount": 9}),
    chunk({"text": "Hé"}, usage={"promptTokenCount": 5, "candidatesTokenCount": 1, "thoughtsTokenCount": 9}),
    chunk({"text": "llo"}, {**call("f", {"a": 1}, id="c"), "thoughtSignature": SIGNED}),
    chunk(
        {"text": "", "thoughtSignature": SIGNED},
        finish="STOP",
        usage={"candidatesTokenCount": 4, "totalTokenCount": 18},
        createTime="t",
    ),
]


def test_events_come_in_order() -> None:
    assert events(sse(*THINKS)) == [
        Started("r1", "gemini-3.8-flash"),
        BlockStarted(0, Thinking(form="summary")),
        BlockGrew(0, "Plan"),
        BlockGrew(0, "ning"),
        BlockEnded(0),
        BlockStarted(1, Text()),
        BlockGrew(1, "Hé"),
        BlockGrew(1, "llo"),
        BlockEnded(1),
        BlockStarted(2, ToolCall("c", "f")),
        BlockGrew(2, '{"a":1}'),
        BlockSealed(2, SEAL),
        BlockEnded(2),
        BlockStarted(3, Text(seal=SEAL)),
        BlockSealed(3, SEAL),
        BlockEnded(3),
        Finished("tool_calls", Usage(None, None, None, 5, 4, 9, 13), {"gemini": {"createTime": "t"}}),
    ]


@pytest.mark.parametrize("framing", [sse, array])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_any_split_of_the_bytes_gives_the_same_events(framing: Any, size: int) -> None:
    data = framing(*THINKS)
    assert events(data, size) == events(sse(*THINKS))


def test_text_arrives_without_waiting_for_more() -> None:
    decoder = GEMINI.stream_decoder()
    decoder.feed(sse(chunk({"text": "a"})))
    assert decoder.feed(sse(chunk({"text": "b"}))) == [BlockGrew(0, "b")]


@pytest.mark.parametrize(
    "chunks",
    [
        THINKS,
        [
            chunk({"text": "a"}),
            chunk({"text": "b", "thoughtSignature": SIGNED}),
            chunk({"text": "c"}, finish="STOP"),
        ],
        [chunk(call("f", {"a": 1})), chunk(call("f", {"a": 1})), chunk({"text": ""}, finish="STOP")],
        [chunk({"text": " "}), chunk({"text": "\n"}), chunk({"inlineData": {}}), chunk(finish="MAX_TOKENS")],
    ],
)
def test_the_stream_and_the_whole_body_are_the_same_answer(chunks: list[JsonObject]) -> None:
    parts = [part for each in chunks for part in each["candidates"][0]["content"]["parts"]]
    counts: JsonObject = {}
    for each in chunks:
        counts |= each.get("usageMetadata", {})
    finish = chunks[-1]["candidates"][0]["finishReason"]
    whole = chunk(*parts, finish=finish, usage=counts)
    whole |= {key: value for key, value in chunks[-1].items() if key == "createTime"}
    assert streamed(*chunks) == GEMINI.decode_response(whole)


def test_a_signed_text_tells_its_seal_from_the_start() -> None:
    found = events(sse(chunk({"text": "a"}), chunk({"text": "b", "thoughtSignature": SIGNED}, finish="STOP")))
    assert found[4:8] == [
        BlockStarted(1, Text(seal=SEAL)),
        BlockGrew(1, "b"),
        BlockSealed(1, SEAL),
        BlockEnded(1),
    ]


def test_each_count_is_the_last_one_said() -> None:
    answer = streamed(
        chunk({"text": "a"}, usage={"trafficType": "ON_DEMAND"}),
        chunk({"text": "a"}, usage={"promptTokenCount": 9, "thoughtsTokenCount": 7}),
        chunk(
            finish="STOP",
            usage={"promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": None},
        ),
    )
    extras = {"gemini": {"trafficType": "ON_DEMAND"}}
    assert answer.usage == Usage(None, None, None, 10, 2, 7, 9, extras)


def test_what_comes_in_pieces_is_put_together() -> None:
    chunks = [chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]
    for number, each in enumerate(chunks):
        each["candidates"][0] |= {
            "citationMetadata": {"citationSources": [number]},
            "safetyRatings": [number],
            "tokenCount": None,
        }
    assert streamed(*chunks).extras == {
        "gemini": {"candidate": {"citationMetadata": {"citationSources": [0, 1]}, "safetyRatings": [1]}}
    }


def test_an_answer_without_its_end_is_cut() -> None:
    """Q18."""
    cut = events(sse(chunk({"text": "Hm", "thought": True}, usage={"promptTokenCount": 3})))
    assert isinstance(cut[-1], Failed)
    assert cut[-1].failure.kind == "connection_lost"
    assert cut[-1].usage is not None
    assert cut[-1].usage.input_total == 3
    assert collect(cut).turn.blocks == (Thinking("Hm", form="summary", interrupted=True),)


def test_no_bytes_at_all_are_a_cut() -> None:
    (only,) = events(b"")
    assert isinstance(only, Failed)
    assert only.failure.kind == "connection_lost"


def test_a_blocked_prompt_is_a_refusal() -> None:
    answer = streamed({"promptFeedback": {"blockReason": "OTHER"}, "responseId": "r1"})
    assert (answer.finish, answer.failure) == ("refusal", None)


ERRORS: dict[str, bytes] = {
    "as SSE": sse({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
    "as an array": array({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
    "as an object": dump({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
    "with candidates": sse(chunk({"text": "b"}, error={"code": 503, "message": "busy"})),
    "bare": sse({"message": "busy", "code": 503}),
}


@pytest.mark.parametrize("data", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("before", [b"", sse(chunk({"text": "a"}))], ids=["first", "later"])
def test_an_error_in_the_stream_is_a_failure(data: bytes, before: bytes) -> None:
    """Q21."""
    if before and not data.startswith(b"data:"):
        data = b"data: " + data.strip(b"[]\n") + b"\n\n"
    answer = collect(events(before + data))
    assert answer.failure is not None
    assert (answer.failure.message, answer.failure.kind) == ("busy", "overloaded")


@pytest.mark.parametrize(
    "data",
    [b"data: [1]\n\n", b"data: {\n\n", b"data: null\n\n", sse({"candidates": 5}), b"<html>no</html>\n\n"],
)
def test_what_is_not_this_wire_is_a_failure(data: bytes) -> None:
    assert isinstance(events(data)[-1], Failed)


def test_comments_pings_and_a_done_mark_are_survived() -> None:
    """Q19, Q20."""
    data = b": ping\r\n\r\n" + sse(chunk({"text": "a"}, finish="STOP")) + b"data: [DONE]\n\n"
    assert collect(events(data)).finish == "stop"


def test_only_the_first_candidate_is_followed() -> None:
    other = chunk({"text": "b"})
    other["candidates"][0]["index"] = 1
    answer = streamed(chunk({"text": "a"}), other, other, chunk({"text": "c"}, finish="STOP"))
    assert answer.turn.blocks == (Text("ac"),)
    assert codes(answer.notes) == ["choices.dropped"]


def test_snake_case_streams_are_read() -> None:
    snake = {
        "candidates": [{"content": {"parts": [{"text": "a"}]}, "finish_reason": "MAX_TOKENS"}],
        "usage_metadata": {"prompt_token_count": 3},
        "model_version": "m",
        "response_id": "r",
    }
    answer = streamed(snake)
    assert (answer.finish, answer.turn.origin and answer.turn.origin.model) == ("length", "m")
    assert answer.usage == Usage(input_total=3)
    assert answer.extras == {}


def pieces(*partial: JsonObject) -> list[JsonObject]:
    """A call as Vertex streams it: its name, its arguments bit by bit, and an empty call at the end."""
    first = chunk(
        {"functionCall": {"name": "f", "id": "c", "willContinue": True}, "thoughtSignature": SIGNED}
    )
    more = [chunk({"functionCall": {"partialArgs": [each], "willContinue": True}}) for each in partial]
    return [first, *more, chunk({"functionCall": {}}), chunk(finish="STOP")]


def test_arguments_in_pieces_are_put_together() -> None:
    answer = streamed(
        *pieces(
            {"jsonPath": "$.city", "stringValue": "New ", "willContinue": True},
            {"jsonPath": "$.city", "stringValue": "York"},
            {"jsonPath": "$.days[1].n", "numberValue": 2},
            {"jsonPath": "$.days[0]", "boolValue": False},
            {"jsonPath": "$['a b'].c", "nullValue": "NULL_VALUE"},
        )
    )
    arguments = '{"city":"New York","days":[false,{"n":2}],"a b":{"c":null}}'
    assert answer.turn.blocks == (ToolCall("c", "f", arguments, seal=SEAL),)
    assert answer.finish == "tool_calls"


@pytest.mark.parametrize("path", ["city", "$.a[", "$", None, "$[0]", "$.a[99999999]", "$" + ".a" * 1000])
def test_a_piece_without_a_readable_place_is_said(path: str | None) -> None:
    answer = streamed(*pieces({"jsonPath": path, "stringValue": "x"}, {"jsonPath": "$.b", "numberValue": 1}))
    assert '"b":1' in answer.turn.tool_calls[0].arguments
    assert codes(answer.notes) == ["stream.irregular"]


def test_a_call_in_pieces_ends_where_something_else_begins() -> None:
    chunks = pieces({"jsonPath": "$.a", "numberValue": 1})[:2]
    answer = streamed(*chunks, chunk({"text": "x"}), chunk(call("g", {}, id="d"), finish="STOP"))
    assert answer.turn.blocks == (
        ToolCall("c", "f", '{"a":1}', seal=SEAL),
        Text("x"),
        ToolCall("d", "g", "{}"),
    )


def test_a_call_that_was_cut_keeps_what_had_arrived() -> None:
    cut = streamed(*pieces({"jsonPath": "$.a", "numberValue": 1})[:2])
    assert cut.turn.blocks == (ToolCall("c", "f", '{"a":1}', interrupted=True),)


def test_parts_of_the_future_are_kept_whole() -> None:
    part = {"hologram": {"a": 1}, "thoughtSignature": SIGNED}
    assert streamed(chunk(part, finish="STOP")).turn.blocks == (Opaque("gemini", part),)


def test_nothing_but_a_note_follows_the_end() -> None:
    decoder = GEMINI.stream_decoder()
    decoder.feed(sse(chunk({"text": "a"}), {"error": {"message": "no"}}))
    after = decoder.feed(sse(chunk({"text": "b"}), chunk({"text": "c"})))
    assert [type(event) for event in after] == [Noted]
    assert decoder.close() == []
