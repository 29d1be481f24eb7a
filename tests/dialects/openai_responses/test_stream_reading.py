"""Streams of the vendor and of its lookalikes, read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_responses.wire import (
    CREATED,
    ENCRYPTED,
    RICH_STREAM,
    added,
    blocks_of,
    call,
    codes,
    completed,
    delta,
    done,
    events,
    message,
    native,
    raw_reasoning,
    read,
    reasoning,
    response,
    said_by,
    text_delta,
)
from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
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
from thinkwire.messages import Opaque, Origin, Seal, Text, Thinking, ToolCall
from thinkwire.usage import Usage

ADDED = added(0, type="message", id="msg_a", role="assistant", status="in_progress", content=[])
PART = {"type": "response.content_part.added", "output_index": 0, "item_id": "msg_a", "content_index": 0}
EMPTY_PART = PART | {"part": {"type": "output_text", "text": "", "annotations": []}}
REASONING = added(0, type="reasoning", id="rs_a", summary=[])
CALL = added(0, type="function_call", id="fc_a", call_id="call_1", name="look", arguments="")


def summary_delta(text: str, part: int = 0) -> dict[str, Any]:
    return delta("reasoning_summary_text", 0, "rs_a", text, summary_index=part)


def raw_delta(text: str, part: int = 0) -> dict[str, Any]:
    return delta("reasoning_text", 0, "rs_a", text, content_index=part)


def test_a_stream_is_told_as_it_comes() -> None:
    assert events(*RICH_STREAM) == [
        Started("resp_1", "m"),
        BlockStarted(0, Thinking(form="summary", extras=native(id="rs_a"))),
        BlockGrew(0, "**Øslo**"),
        BlockGrew(0, "\n\nCold."),
        BlockGrew(0, "\n\n"),
        BlockGrew(0, "Sure."),
        BlockSealed(0, ENCRYPTED),
        BlockEnded(0, native(parts=[15, 5], id="rs_a")),
        BlockStarted(1, Text(extras=native(id="msg_a", phase="commentary"))),
        BlockGrew(1, "Let me "),
        BlockGrew(1, "look 🌧"),
        BlockEnded(1, native(id="msg_a", phase="commentary")),
        BlockStarted(2, ToolCall("call_1", "look", extras=native(id="fc_a"))),
        BlockGrew(2, '{"city":'),
        BlockGrew(2, '"Ås"}'),
        BlockEnded(2, native(id="fc_a")),
        BlockStarted(
            3, Opaque("openai_responses", {"type": "web_search_call", "id": "ws_a", "status": "completed"})
        ),
        BlockEnded(3),
        Finished("tool_calls", Usage(input_total=9, output_total=4)),
    ]


def test_it_amounts_to_the_whole_response() -> None:
    items = [event["item"] for event in RICH_STREAM if event["type"] == "response.output_item.done"]
    whole = said_by(*items, usage={"input_tokens": 9, "output_tokens": 4, "total_tokens": 13})
    assert read(*RICH_STREAM) == whole


def test_names_of_events_are_not_needed() -> None:
    assert events(*RICH_STREAM, named=False) == events(*RICH_STREAM)


def test_types_of_events_are_not_needed_where_they_have_names() -> None:
    wire = b'event: response.created\ndata: {"response":{"id":"resp_1","model":"m"}}\n\n'
    assert OPENAI_RESPONSES.stream_decoder().feed(wire) == [Started("resp_1", "m")]


@pytest.mark.parametrize(
    ("middle", "item"),
    [
        ([ADDED, EMPTY_PART, text_delta("Hi")], message("Hi")),
        ([ADDED, text_delta(""), text_delta("Hi"), text_delta("")], message("Hi")),
        ([ADDED, EMPTY_PART], message("")),
        ([ADDED], message("Hi")),
        ([], message("Hi")),
        ([ADDED, text_delta("H")], message("Hi")),
        ([ADDED, {**PART, "type": "response.output_text.done", "text": "Hi"}], message("Hi")),
        ([ADDED, PART | {"part": {"type": "output_text", "text": "H"}}, text_delta("i")], message("Hi")),
        ([ADDED, PART | {"part": {"type": "output_text", "text": "Hi"}}, text_delta("H")], message("Hi")),
        (
            [
                ADDED,
                text_delta("H"),
                {**PART, "type": "response.content_part.done", "part": message("Hi")["content"][0]},
            ],
            message("Hi"),
        ),
        (
            [ADDED, delta("refusal", 0, "msg_a", "No", content_index=0)],
            message("", content=[{"type": "refusal", "refusal": "No."}]),
        ),
        (
            [ADDED, {**PART, "type": "response.refusal.done", "refusal": "No."}],
            message("", content=[{"type": "refusal", "refusal": "No."}]),
        ),
        (
            [ADDED, text_delta("a"), text_delta("b", part=1)],
            message("", content=[{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}]),
        ),
        (
            [ADDED, text_delta("a")],
            message("", content=[{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}]),
        ),
        ([ADDED], message("", content=[])),
        ([REASONING], reasoning()),
        ([REASONING], reasoning(encrypted_content="gAAA", content=[])),
        ([REASONING, summary_delta("a"), summary_delta("b", 1)], reasoning("a", "b", "c")),
        ([REASONING], reasoning("a", "b")),
        (
            [REASONING, {**summary_delta("a"), "type": "response.reasoning_summary_text.done", "text": "ab"}],
            reasoning("ab", "c"),
        ),
        ([REASONING, raw_delta("a"), raw_delta("b")], raw_reasoning("ab", status="completed")),
        (
            [
                REASONING,
                {
                    **PART,
                    "type": "response.reasoning_part.added",
                    "item_id": "rs_a",
                    "part": {"type": "reasoning_text"},
                },
                raw_delta("a"),
                {
                    **PART,
                    "type": "response.reasoning_part.done",
                    "item_id": "rs_a",
                    "part": {"type": "reasoning_text", "text": "ab"},
                },
            ],
            raw_reasoning("ab"),
        ),
        ([REASONING, raw_delta("a")], raw_reasoning("a", summary=[{"type": "summary_text", "text": "s"}])),
        ([CALL, delta("function_call_arguments", 0, "fc_a", "{}")], call("{}")),
        ([CALL], call("{}")),
        (
            [
                CALL,
                {
                    "type": "response.function_call_arguments.done",
                    "output_index": 0,
                    "item_id": "fc_a",
                    "arguments": "{}",
                },
            ],
            call("{}"),
        ),
        ([added(0, **call("{}"))], call("{}")),
        ([added(0, **call("{}")), delta("function_call_arguments", 0, "fc_a", "{}")], call("{}")),
        (
            [added(0, type="function_call", id="fc_a"), delta("function_call_arguments", 0, "fc_a", "{}")],
            call("{}"),
        ),
        (
            [added(0, type="mcp_call", id="mcp_a", arguments="")],
            {"type": "mcp_call", "id": "mcp_a", "arguments": "{}"},
        ),
    ],
    ids=[
        "plain",
        "empty deltas",
        "an empty part",
        "no deltas",
        "nothing but done",
        "half the deltas",
        "only text.done",
        "a part with text in it",
        "a part whose text is repeated",
        "the rest in part.done",
        "a refusal",
        "only refusal.done",
        "two parts",
        "a part that never streamed",
        "no parts at all",
        "hidden",
        "sealed only",
        "a summary part that never streamed",
        "a summary that never streamed",
        "only summary_text.done",
        "raw text",
        "Bedrock: reasoning_part",
        "raw text beside a summary",
        "a call",
        "a call without deltas",
        "LM Studio: only arguments.done",
        "arguments in added",
        "arguments in added and again",
        "a call whose name comes last",
        "an unknown item",
    ],
)
def test_an_item_is_the_same_however_it_was_streamed(middle: list[Any], item: dict[str, Any]) -> None:
    answer = read(CREATED, *middle, done(0, **item), completed(item))
    assert answer.turn.blocks == blocks_of(item)
    assert answer.notes == ()


@pytest.mark.parametrize(
    ("middle", "item"),
    [
        ([text_delta("Hi")], message("Hi")),
        ([summary_delta("a")], reasoning("a")),
        ([delta("function_call_arguments", 0, "fc_a", "{}")], call("{}")),
    ],
    ids=["text", "thinking", "a call"],
)
def test_an_item_that_was_never_announced(middle: list[Any], item: dict[str, Any]) -> None:
    answer = read(CREATED, *middle, done(0, **item), completed())
    assert answer.turn.blocks == blocks_of(item)
    assert codes(answer.notes) == ["stream.irregular"]


@pytest.mark.parametrize(
    "middle",
    [
        [],
        [ADDED],
        [ADDED, EMPTY_PART, text_delta("H")],
        [added(0, **call("{}"))],
    ],
    ids=["nothing", "an item", "half an item", "an item of another kind"],
)
def test_the_end_tells_what_the_stream_left_out(middle: list[Any]) -> None:
    item = call("{}") if middle and middle[0]["item"]["type"] == "function_call" else message("Hi")
    answer = read(CREATED, *middle, completed(item))
    assert answer.turn.blocks == blocks_of(item)


def test_the_end_does_not_repeat_what_was_streamed_under_another_id_or_place() -> None:
    stream = [CREATED, REASONING, raw_delta("a"), done(0, **raw_reasoning("a"))]
    answer = read(*stream, completed(message("Hi"), raw_reasoning("a", item_id="rs_z")))
    assert [type(block) for block in answer.turn.blocks] == [Thinking, Text]
    assert answer.turn.thinking == "a"


def test_final_text_that_differs_does_not_take_back_what_was_said() -> None:
    answer = read(CREATED, ADDED, text_delta("Hello"), done(0, **message("Goodbye")), completed())
    assert answer.turn.text == "Hello"
    assert codes(answer.notes) == ["stream.irregular"]


def test_final_text_that_is_missing_is_no_contradiction() -> None:
    answer = read(CREATED, ADDED, text_delta("Hello"), done(0, **message("")), completed())
    assert answer.turn.text == "Hello"
    assert answer.notes == ()


def test_only_the_seal_of_a_finished_item_counts() -> None:
    early = added(0, type="reasoning", id="rs_a", summary=[], encrypted_content="early")
    answer = read(CREATED, early, done(0, **reasoning(encrypted_content="late")), completed())
    assert answer.turn.blocks == (
        Thinking(form="hidden", seal=Seal("openai.encrypted", "late"), extras=native(id="rs_a")),
    )
    (open_block,) = read(CREATED, early, summary_delta("Hm")).turn.blocks
    assert isinstance(open_block, Thinking)
    assert open_block.interrupted
    assert open_block.seal is None


def test_items_may_be_open_side_by_side() -> None:
    """OpenRouter finishes the reasoning after the message."""
    answer = read(
        CREATED,
        REASONING,
        raw_delta("Th"),
        added(1, type="message", id="msg_a", content=[]),
        text_delta("4", 1),
        raw_delta("ink"),
        done(1, **message("4")),
        done(0, **raw_reasoning("Think")),
        completed(),
        "[DONE]",
    )
    assert answer.turn.blocks == blocks_of(raw_reasoning("Think"), message("4"))
    assert answer.notes == ()


def test_an_item_keeps_its_place_however_late_it_is_known() -> None:
    search = {"type": "web_search_call", "id": "ws_a", "status": "completed"}
    answer = read(
        CREATED,
        added(0, type="web_search_call", id="ws_a", status="in_progress"),
        added(1, type="message", id="msg_a", content=[]),
        text_delta("Hi", 1),
        done(1, **message("Hi")),
        done(0, **search),
        completed(),
    )
    assert answer.turn.blocks == blocks_of(search, message("Hi"))


def test_ids_that_change_with_every_event() -> None:
    """Copilot does this; the place in the output is what stays."""
    answer = read(
        CREATED,
        ADDED,
        text_delta("H", item_id="x1"),
        text_delta("i", item_id="x2"),
        done(0, **message("Hi", "x3")),
        completed(),
    )
    assert answer.turn.text == "Hi"
    assert len(answer.turn.blocks) == 1


def test_places_that_are_all_the_same() -> None:
    first, second = call("1", "fc_1", call_id="c1"), call("2", "fc_2", call_id="c2")
    answer = read(
        CREATED,
        added(0, **first | {"arguments": ""}),
        added(0, **second | {"arguments": ""}),
        delta("function_call_arguments", 0, "fc_1", "1"),
        delta("function_call_arguments", 0, "fc_2", "2"),
        done(0, **first),
        done(0, **second),
        completed(),
    )
    assert answer.turn.blocks == blocks_of(first, second)


def test_a_place_that_is_used_again_without_a_word() -> None:
    answer = read(
        CREATED,
        ADDED,
        text_delta("a"),
        done(0, **message("a")),
        text_delta("b", item_id="msg_b"),
        done(0, **message("b", "msg_b")),
        completed(),
    )
    assert answer.turn.blocks == blocks_of(message("a"), message("b", "msg_b"))


def test_no_places_at_all() -> None:
    stream = [ADDED, text_delta("Hi"), done(0, **message("Hi"))]
    bare = [{key: value for key, value in event.items() if key != "output_index"} for event in stream]
    assert read(CREATED, *bare, completed()).turn.blocks == blocks_of(message("Hi"))


def test_annotations_of_their_own_events() -> None:
    note = {"type": "url_citation", "url": "u"}
    event = {**PART, "type": "response.output_text.annotation.added", "annotation": note}
    answer = read(CREATED, ADDED, text_delta("Hi"), event, done(0, **message("Hi")), completed())
    assert answer.turn.blocks == (Text("Hi", extras=native(id="msg_a", annotations=[note])),)


def test_late_growth_is_noted_and_ignored() -> None:
    answer = read(CREATED, ADDED, text_delta("Hi"), done(0, **message("Hi")), text_delta("!"), completed())
    assert answer.turn.text == "Hi"
    assert codes(answer.notes) == ["stream.irregular"]


def test_an_item_without_an_end_in_an_answer_with_one() -> None:
    answer = read(CREATED, REASONING, summary_delta("Hm"), completed())
    (thinking,) = answer.turn.blocks
    assert thinking == Thinking("Hm", form="summary", extras=native(id="rs_a"))
    assert codes(answer.notes) == ["stream.irregular"]


def test_a_second_beginning_is_noted() -> None:
    again = CREATED | {"response": {"id": "resp_2", "model": "n"}}
    answer = read(CREATED, again, completed())
    assert answer.turn.origin == Origin(model="m", response_id="resp_1")
    assert codes(answer.notes) == ["stream.irregular"]


def test_a_stream_without_a_beginning_has_one_for_us() -> None:
    first, *_ = events(text_delta("Hi"))
    assert first == Started()


@pytest.mark.parametrize(
    ("end", "finish"),
    [
        (completed(), "stop"),
        (completed(kind="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (completed(kind="incomplete", incomplete_details={"reason": "content_filter"}), "refusal"),
        ({"type": "response.completed"}, "stop"),
        ({"type": "response.done", "response": {}}, "stop"),
        ({"type": "response.cancelled", "response": {}}, "cancelled"),
        (completed(status="in_progress"), "stop"),
        (completed(call("{}")), "tool_calls"),
        (completed(message("", content=[{"type": "refusal", "refusal": "No."}])), "refusal"),
    ],
    ids=str,
)
def test_how_streams_end(end: dict[str, Any], finish: str) -> None:
    assert read(CREATED, end).finish == finish


def test_the_beginning_and_the_end_say_what_the_whole_response_says() -> None:
    begun = CREATED | {"response": response(status="in_progress", created_at=7, service_tier="auto")}
    answer = read(begun, completed(created_at=7, service_tier="default", completed_at=9))
    assert answer.extras == native(created_at=7, service_tier="default", completed_at=9)


ERROR = {"code": "insufficient_quota", "message": "No credit.", "param": None}


@pytest.mark.parametrize(
    ("wire", "kind", "message"),
    [
        ([CREATED, {"type": "error", **ERROR}], "quota", "No credit."),
        ([CREATED, {"type": "error", "error": ERROR}], "quota", "No credit."),
        ([{"type": "error", "error": ERROR}], "quota", "No credit."),
        ([CREATED, completed(kind="failed", error=ERROR)], "quota", "No credit."),
        ([CREATED, completed(kind="completed", status="failed", error=ERROR)], "quota", "No credit."),
        (
            [CREATED, completed(kind="failed", error=None) | {"error_type": "provider_overloaded"}],
            "overloaded",
            None,
        ),
        ([CREATED, {"error": {"message": "Busy.", "code": 503}}], "overloaded", "Busy."),
        ([CREATED, {"error": "Busy."}], "protocol", "Busy."),
        ([{"object": "chat.completion.chunk", "choices": []}], "protocol", None),
        ([CREATED, "{broken"], "protocol", None),
        ([CREATED, ADDED, text_delta("Hal")], "connection_lost", None),
        ([CREATED, "[DONE]"], "connection_lost", None),
        ([], "connection_lost", None),
    ],
    ids=[
        "an error event",
        "an error event with an object",
        "nothing but an error",
        "failed",
        "completed and failed",
        "failed, by OpenRouter",
        "Q21 an error object",
        "Q21 an error string",
        "Chat on this route",
        "broken JSON",
        "a cut",
        "[DONE] and no end",
        "silence",
    ],
)
def test_how_streams_break(wire: list[Any], kind: str, message: str | None) -> None:
    told = events(*wire)
    last = told[-1]
    assert isinstance(told[0], Started)
    assert isinstance(last, Failed)
    assert last.failure.kind == kind
    assert message is None or last.failure.message == message


def test_an_error_and_then_a_failed_response_are_one_failure() -> None:
    told = events(CREATED, {"type": "error", "error": ERROR}, completed(kind="failed", error=ERROR))
    assert [type(event) for event in told] == [Started, Failed]


def test_a_failed_response_tells_what_it_cost() -> None:
    last = events(
        CREATED, completed(kind="failed", error=ERROR, usage={"input_tokens": 3, "output_tokens": 0})
    )[-1]
    assert isinstance(last, Failed)
    assert last.usage == Usage(input_total=3, output_total=0)


def test_what_was_said_before_a_cut_is_kept_and_marked() -> None:
    answer = read(CREATED, ADDED, EMPTY_PART, text_delta("Hal"))
    assert answer.turn.blocks == (Text("Hal", interrupted=True, extras=native(id="msg_a")),)


def test_a_stream_that_goes_on_after_its_end() -> None:
    told = events(CREATED, completed(), CREATED, completed())
    assert [type(event) for event in told] == [Started, Finished, Noted]


def test_a_server_that_does_not_stream_at_all() -> None:
    whole = response(message("Hi"), usage={"input_tokens": 1, "output_tokens": 2})
    assert collect(events(whole)) == said_by(message("Hi"), usage={"input_tokens": 1, "output_tokens": 2})


def test_frames_that_are_no_objects_and_unknown_events_are_passed_over() -> None:
    noise: list[Any] = ["null", "[]", '"ping"', {"type": "response.unheard_of"}, {"type": "keepalive"}, {}]
    answer = read(*noise, CREATED, ADDED, *noise, text_delta("Hi"), done(0, **message("Hi")), completed())
    assert answer.turn.blocks == blocks_of(message("Hi"))
    assert answer.notes == ()
