"""A stream written as the server."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.dialects.gemini.wire import FOREIGN, SEAL, SIGNED, array, call, chunk, codes, events, sse
from thinkwire.dialects.gemini import GEMINI
from thinkwire.dialects.gemini.stream_encoder import StreamEncoder
from thinkwire.errors import Failure
from thinkwire.events import (
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
)
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Image, Opaque, Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.usage import Usage

START = Started("r1", "gemini-3.8-flash")
DONE = Finished("stop")
LAST = chunk({"text": ""}, finish="STOP")


def written(*stream: Event, encoder: StreamEncoder | None = None) -> list[JsonObject]:
    encoder = encoder or StreamEncoder()
    data = b"".join(encoder.feed(event) for event in stream) + encoder.close()
    return [json.loads(line.removeprefix(b"data: ")) for line in data.split(b"\n\n") if line]


def block(index: int, value: Block, *text: str) -> list[Event]:
    return [BlockStarted(index, value), *(BlockGrew(index, each) for each in text), BlockEnded(index)]


def test_every_piece_is_a_chunk_of_its_own_at_once() -> None:
    encoder = GEMINI.stream_encoder()
    assert encoder.feed(START) == b""
    assert encoder.feed(BlockStarted(0, Thinking())) == b""
    data = encoder.feed(BlockGrew(0, "hm"))
    assert data.startswith(b"data: {")
    assert data.endswith(b"}\n\n")
    assert json.loads(data[6:]) == chunk({"text": "hm", "thought": True})
    assert encoder.feed(BlockEnded(0)) == b""
    assert encoder.feed(BlockStarted(1, Text())) == b""
    assert json.loads(encoder.feed(BlockGrew(1, "é\n"))[6:]) == chunk({"text": "é\n"})


def test_the_last_chunk_says_how_it_ended_and_what_it_cost() -> None:
    usage = Usage(None, 2, None, 10, 5, 7, 12)
    stream = [START, *block(0, Text(), "a"), Finished("length", usage)]
    counts = {
        "promptTokenCount": 10,
        "candidatesTokenCount": 5,
        "cachedContentTokenCount": 2,
        "thoughtsTokenCount": 7,
        "totalTokenCount": 22,
    }
    assert written(*stream) == [chunk({"text": "a"}), chunk({"text": ""}, finish="MAX_TOKENS", usage=counts)]


def test_a_call_goes_out_whole_when_it_has_ended() -> None:
    encoder = GEMINI.stream_encoder()
    first: list[Event] = [
        START,
        BlockStarted(0, ToolCall("c", "f")),
        BlockGrew(0, '{"a'),
        BlockGrew(0, '":1}'),
    ]
    assert b"".join(encoder.feed(event) for event in [*first, BlockSealed(0, SEAL)]) == b""
    assert json.loads(encoder.feed(BlockEnded(0))[6:]) == chunk(
        {**call("f", {"a": 1}, id="c"), "thoughtSignature": SIGNED}
    )


WHOLE: dict[str, tuple[Block, JsonObject]] = {
    "image": (
        Image(media_type="image/png", data="aGk=", seal=SEAL),
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thoughtSignature": SIGNED},
    ),
    "opaque": (Opaque("gemini", {"executableCode": {}}), {"executableCode": {}}),
    "text with its seal known": (Text(seal=SEAL), {"text": "ab", "thoughtSignature": SIGNED}),
    "thought with its seal known": (
        Thinking(seal=SEAL),
        {"text": "ab", "thought": True, "thoughtSignature": SIGNED},
    ),
    "text with more fields": (
        Text(extras={"gemini": {"partMetadata": {}}}),
        {"text": "ab", "partMetadata": {}},
    ),
}


@pytest.mark.parametrize(("value", "part"), WHOLE.values(), ids=WHOLE)
def test_what_belongs_together_goes_out_together(value: Block, part: JsonObject) -> None:
    grown = ("a", "b") if isinstance(value, Text | Thinking) else ()
    assert written(START, *block(0, value, *grown), DONE) == [chunk(part), LAST]


def test_what_a_block_starts_with_is_written_first() -> None:
    assert written(START, *block(0, Text("a"), "b"), DONE) == [
        chunk({"text": "a"}),
        chunk({"text": "b"}),
        LAST,
    ]


def test_characters_that_some_take_for_line_ends_are_escaped() -> None:
    """Google's Python SDK splits a stream at every Unicode line end."""
    odd = "a\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029“z”"
    encoder = GEMINI.stream_encoder()
    data = b"".join(encoder.feed(event) for event in [START, *block(0, Text(), odd), DONE])
    assert len(data.decode().splitlines()) == 4
    assert collect(events(data)).turn.text == odd


def test_a_late_seal_follows_on_an_empty_part() -> None:
    cases: list[tuple[Block, JsonObject]] = [(Text(), {}), (Thinking(), {"thought": True})]
    for value, kind in cases:
        middle: list[Event] = [BlockStarted(0, value), BlockGrew(0, "a"), BlockSealed(0, SEAL)]
        assert written(START, *middle, BlockEnded(0), DONE) == [
            chunk({"text": "a", **kind}),
            chunk({"text": "", **kind, "thoughtSignature": SIGNED}),
            LAST,
        ]


SEALED: dict[str, tuple[Block, list[str], list[JsonObject], list[str]]] = {
    "foreign on text": (Text(), ["a"], [{"text": "a"}], ["seal.dropped"]),
    "foreign on thinking": (Thinking(), ["a"], [{"text": "a", "thought": True}], ["seal.dropped"]),
    "foreign alone": (Thinking(form="hidden"), [], [], ["thinking.dropped"]),
    "foreign on a call": (ToolCall("c", "f"), ["{}"], [call("f", {}, id="c")], ["seal.dropped"]),
}


@pytest.mark.parametrize(("value", "text", "parts", "said"), SEALED.values(), ids=SEALED)
def test_foreign_seals_stay_here(
    value: Block, text: list[str], parts: list[JsonObject], said: list[str]
) -> None:
    encoder = StreamEncoder()
    grown = [BlockGrew(0, each) for each in text]
    sealed = BlockSealed(0, FOREIGN)
    assert written(START, BlockStarted(0, value), *grown, sealed, BlockEnded(0), DONE, encoder=encoder) == [
        *map(chunk, parts),
        LAST,
    ]
    assert codes(encoder.notes) == said


def test_blocks_that_overlap_go_out_one_after_the_other() -> None:
    stream: list[Event] = [
        START,
        BlockStarted(0, ToolCall("c", "f")),
        BlockStarted(1, Text()),
        BlockGrew(1, "x"),
        BlockStarted(2, ToolCall("d", "g")),
        BlockGrew(2, '{"b":'),
        BlockGrew(0, "{}"),
        BlockEnded(1),
        BlockGrew(2, "2}"),
        BlockEnded(2),
        BlockEnded(0),
        DONE,
    ]
    assert written(*stream) == [
        chunk(call("f", {}, id="c")),
        chunk({"text": "x"}),
        chunk(call("g", {"b": 2}, id="d")),
        LAST,
    ]


def test_blocks_still_open_at_the_end_are_written() -> None:
    stream: list[Event] = [
        START,
        BlockStarted(0, ToolCall("c", "f")),
        BlockStarted(1, Text()),
        BlockGrew(1, "x"),
    ]
    assert written(*stream, DONE) == [chunk(call("f", id="c")), chunk({"text": "x"}), LAST]


def test_a_failure_is_an_error_chunk() -> None:
    encoder = StreamEncoder()
    failed = Failed(Failure("rate_limit", "slow down", retry_after=2), Usage(input_total=3))
    stream: list[Event] = [
        START,
        BlockStarted(0, Text()),
        BlockGrew(0, "a"),
        BlockStarted(1, ToolCall("c", "f")),
    ]
    chunks = written(*stream, BlockGrew(1, "{"), failed, encoder=encoder)
    assert chunks == [
        chunk({"text": "a"}),
        {
            "error": {
                "code": 429,
                "message": "slow down",
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}],
            },
            "usageMetadata": {"promptTokenCount": 3},
        },
    ]
    assert codes(encoder.notes) == ["block.dropped"], "half a call cannot be said"


def test_a_stream_that_never_finished_says_so() -> None:
    chunks = written(START, BlockStarted(0, Text()), BlockGrew(0, "a"))
    assert chunks[0] == chunk({"text": "a"})
    assert chunks[1]["error"]["status"] == "UNAVAILABLE"


def test_nothing_is_written_after_the_end() -> None:
    late: list[Event] = [*block(1, Text(), "b"), Finished("stop"), Noted(Note("stream.irregular", "x"))]
    assert written(START, *block(0, Text(), "a"), DONE, *late) == [chunk({"text": "a"}), LAST]


def test_native_fields_of_the_answer_are_on_every_chunk() -> None:
    start = Started("r1", "gemini-3.8-flash", {"gemini": {"createTime": "t"}, "anthropic": {"x": 1}})
    end = Finished("stop", extras={"gemini": {"candidate": {"finishMessage": "m"}, "novel": 1}})
    first, last = written(start, *block(0, Text(), "a"), end)
    assert first == chunk({"text": "a"}, createTime="t")
    assert last["candidates"][0]["finishMessage"] == "m"
    assert (last["createTime"], last["novel"]) == ("t", 1)


def test_a_blocked_prompt_has_no_candidate() -> None:
    feedback = {"promptFeedback": {"blockReason": "SAFETY"}}
    assert written(START, Finished("refusal", extras={"gemini": feedback})) == [
        {"modelVersion": "gemini-3.8-flash", "responseId": "r1", **feedback}
    ]


@pytest.mark.parametrize("stream", [[], [START, DONE], [START, *block(0, Text(), "a", "b"), DONE]])
def test_the_array_framing_is_one_json_array(stream: list[Event]) -> None:
    encoder = StreamEncoder(framing="array")
    data = b"".join(encoder.feed(event) for event in stream) + encoder.close()
    assert json.loads(data) == written(*stream)


@pytest.mark.parametrize("framing", [sse, array])
def test_a_signed_text_survives_being_read_and_written(framing: Callable[..., bytes]) -> None:
    """Part boundaries and signatures are the same on both sides."""
    chunks = [
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "a"}),
        chunk({"text": "b", "thoughtSignature": SIGNED}),
        chunk({"text": "c"}),
        chunk({**call("f", {}, id="c"), "thoughtSignature": SIGNED}),
        chunk({"text": "", "thoughtSignature": SIGNED}),
        LAST,
    ]
    read = events(framing(*chunks))
    assert written(*read) == chunks
    assert collect(events(sse(*written(*read)))) == collect(read)
