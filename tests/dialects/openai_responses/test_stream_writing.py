"""Streams as the vendor writes them."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.dialects.openai_responses.wire import ENCRYPTED, GEMINI, SIGNED, codes, native, written
from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
from thinkwire.dialects.openai_responses.stream_encoder import StreamEncoder
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
from thinkwire.messages import Image, Opaque, Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.usage import Usage

STARTED = Started("resp_1", "m")
FINISHED = Finished("stop", Usage(5, 4, 1, 10, 3, 6, 9))
SEARCH = {
    "type": "web_search_call",
    "id": "ws_a",
    "status": "completed",
    "action": {"type": "search", "query": "q"},
}


def kinds(wire: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in wire]


def block(index: int, opened: Any, *grown: str, seal: Seal | None = None) -> list[Event]:
    sealed: list[Event] = [] if seal is None else [BlockSealed(index, seal)]
    return [
        BlockStarted(index, opened),
        *(BlockGrew(index, text) for text in grown),
        *sealed,
        BlockEnded(index),
    ]


RICH = [
    STARTED,
    *block(0, Thinking(form="summary"), "Hm", ".", seal=ENCRYPTED),
    *block(1, Thinking(form="hidden"), seal=Seal("openai.item", "rs_9")),
    *block(2, Thinking(extras=native(id="rs_raw")), "raw"),
    *block(3, Text(extras=native(phase="commentary")), "Let me ", "look 🌧"),
    *block(4, Text(refusal=True), "No."),
    *block(5, ToolCall("call_1", "look"), '{"city":', '"Ås"}'),
    *block(6, Opaque("openai_responses", SEARCH)),
    FINISHED,
]


def test_the_order_of_the_events() -> None:
    assert kinds(written(RICH)) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "output_item.done",
        "completed",
    ]


def test_events_are_numbered_from_zero() -> None:
    wire = written(RICH)
    assert [event["sequence_number"] for event in wire] == list(range(len(wire)))


def test_an_item_has_one_id_and_one_place_from_its_beginning_to_the_end_of_the_response() -> None:
    wire = written(RICH)
    ids: dict[int, set[str]] = {}
    for event in wire:
        if "output_index" in event:
            item_id = event["item"]["id"] if "item" in event else event["item_id"]
            ids.setdefault(event["output_index"], set()).add(item_id)
    output = wire[-1]["response"]["output"]
    assert [ids[place] for place in range(len(output))] == [{item["id"]} for item in output]
    assert len({item["id"] for item in output}) == 7
    assert {event["response"]["id"] for event in wire if "response" in event} == {"resp_1"}


def test_the_official_types_know_every_event() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    for event in written(RICH):
        adapter.validate_python(event)
    answer = Answer(Turn("assistant", (Thinking("Hm."), Text("Hi"), ToolCall("c", "f", "{}"))), "tool_calls")
    Response.model_validate(OPENAI_RESPONSES.encode_response(answer).body)


def test_a_stream_ends_with_the_same_response_as_a_whole_one() -> None:
    blocks = (
        Thinking("Hm.\n\nYes.", form="summary", seal=ENCRYPTED, extras=native(parts=[3, 4], id="rs_a")),
        Text("Hi", extras=native(annotations=[{"type": "url_citation", "url": "u"}])),
        Text(" you", extras=native(part=1)),
        ToolCall("call_1", "look", "{}", extras=native(namespace="n")),
        Opaque("openai_responses", SEARCH),
    )
    answer = Answer(
        Turn("assistant", blocks, origin=Origin(model="m", response_id="resp_1")),
        "tool_calls",
        usage=Usage(input_total=1, output_total=2),
        extras=native(created_at=7, service_tier="default"),
    )
    assert written(events_of(answer))[-1]["response"] == OPENAI_RESPONSES.encode_response(answer).body


def test_the_seal_is_only_in_the_finished_item() -> None:
    start, *_, end = (event for event in written(RICH) if event.get("output_index") == 0)
    assert "encrypted_content" not in start["item"]
    assert end["item"]["encrypted_content"] == ENCRYPTED.data


def test_the_parts_of_a_summary_are_parts_again_wherever_the_text_is_cut() -> None:
    thinking = Thinking(form="summary", extras=native(parts=[2, 0, 3]))
    for grown in (["ab\n\n\n\ncde"], list("ab\n\n\n\ncde"), ["ab\n", "\n\n", "\nc", "de"]):
        wire = written([STARTED, *block(0, thinking, *grown), FINISHED])
        done = [event for event in wire if event["type"] == "response.reasoning_summary_text.done"]
        assert [(event["summary_index"], event["text"]) for event in done] == [(0, "ab"), (1, ""), (2, "cde")]
        assert [part["text"] for part in wire[-1]["response"]["output"][0]["summary"]] == ["ab", "", "cde"]


def test_thinking_of_other_makers_is_shown_as_a_summary() -> None:
    encoder = StreamEncoder()
    for event in [
        STARTED,
        *block(0, Thinking(), "Hm.", seal=SIGNED),
        *block(1, Text(), "Hi", seal=GEMINI),
        FINISHED,
    ]:
        encoder.feed(event)
    assert codes(encoder.notes) == ["seal.dropped", "seal.dropped"]
    (thought, _) = written(
        [STARTED, *block(0, Thinking(), "Hm.", seal=SIGNED), *block(1, Text(), "Hi"), FINISHED]
    )[-1]["response"]["output"]
    assert thought["summary"] == [{"type": "summary_text", "text": "Hm."}]
    assert "encrypted_content" not in thought


def test_a_stored_items_id_that_comes_too_late_is_said_to_be_lost() -> None:
    encoder = StreamEncoder()
    for event in [
        STARTED,
        *block(0, Thinking(form="summary"), "Hm.", seal=Seal("openai.item", "rs_9")),
        FINISHED,
    ]:
        encoder.feed(event)
    assert codes(encoder.notes) == ["seal.dropped"]


def test_what_has_no_form_takes_no_place() -> None:
    image, foreign = Image("image/png", data="aGk="), Opaque("gemini", {"executableCode": {}})
    encoder = StreamEncoder()
    told = [STARTED, *block(0, image), *block(1, foreign), *block(2, Text(), "Hi"), FINISHED]
    for event in told:
        encoder.feed(event)
    assert codes(encoder.notes) == ["block.dropped", "block.dropped"]
    assert {event["output_index"] for event in written(told) if "output_index" in event} == {0}


def test_blocks_that_overlap_are_items_that_overlap() -> None:
    told: list[Event] = [
        STARTED,
        BlockStarted(0, Text()),
        BlockStarted(1, ToolCall("c", "f")),
        BlockGrew(0, "a"),
        BlockGrew(1, "{}"),
        BlockGrew(0, "b"),
        BlockEnded(1),
        BlockEnded(0),
        FINISHED,
    ]
    message, call = written(told)[-1]["response"]["output"]
    assert message["content"][0]["text"] == "ab"
    assert call["arguments"] == "{}"


def test_content_that_is_there_from_the_start_is_a_delta() -> None:
    wire = written([STARTED, *block(0, Text("Hi"), "!"), *block(1, ToolCall("c", "f", "{}")), FINISHED])
    assert [event["delta"] for event in wire if "delta" in event] == ["Hi", "!", "{}"]


def test_fields_that_come_late_are_in_the_finished_item() -> None:
    late = native(annotations=[{"url": "u"}], id="msg_late")
    told: list[Event] = [STARTED, BlockStarted(0, Text()), BlockGrew(0, "a"), BlockEnded(0, late), FINISHED]
    (item,) = written(told)[-1]["response"]["output"]
    assert item["content"][0]["annotations"] == [{"url": "u"}]
    assert item["id"] != "msg_late"


@pytest.mark.parametrize(
    ("end", "last", "status"),
    [
        (Finished("stop"), "completed", "completed"),
        (Finished("length"), "incomplete", "incomplete"),
        (Finished("refusal"), "incomplete", "incomplete"),
        (Finished("continue"), "incomplete", "incomplete"),
        (Finished("cancelled"), "incomplete", "cancelled"),
        (Finished("error"), "failed", "failed"),
        (Failed(Failure("overloaded", "Busy.")), "failed", "failed"),
        (None, "failed", "failed"),
    ],
    ids=str,
)
def test_how_streams_end(end: Event | None, last: str, status: str) -> None:
    told: list[Event] = [STARTED, BlockStarted(0, Text()), BlockGrew(0, "Hal")]
    wire = written(told if end is None else [*told, end])
    assert wire[-1]["type"] == f"response.{last}"
    assert wire[-1]["response"]["status"] == status
    assert (wire[-1]["response"]["error"] is not None) == (last == "failed")
    broken = end is None or isinstance(end, Failed)
    assert ("output_item.done" in kinds(wire)) == (not broken)


def test_nothing_is_written_after_the_end() -> None:
    encoder = StreamEncoder()
    for event in [STARTED, *block(0, Text(), "Hi"), FINISHED]:
        encoder.feed(event)
    after: list[Event] = [
        BlockGrew(0, "x"),
        BlockStarted(1, Text()),
        FINISHED,
        Failed(Failure("overloaded", "x")),
    ]
    assert b"".join([*map(encoder.feed, after), encoder.close()]) == b""


def test_a_stream_without_a_beginning_gets_one() -> None:
    for told in ([BlockStarted(0, Text())], [FINISHED], []):
        assert kinds(written(told))[:2] == ["created", "in_progress"]


def test_notes_are_not_written() -> None:
    note = Noted(Note("stream.irregular", "odd"))
    assert written([STARTED, note, FINISHED]) == written([STARTED, FINISHED])


def test_the_time_is_told_by_whoever_has_a_clock() -> None:
    encoder = StreamEncoder(created_at=1_794_000_000)
    assert b'"created_at":1794000000' in encoder.feed(STARTED)
    own = Started("resp_1", "m", native(created_at=5))
    assert b'"created_at":5' in StreamEncoder(created_at=1).feed(own)


def test_line_ends_and_odd_characters_stay_inside_their_frame() -> None:
    text = 'a\r\nb\n\n"c"\u2028\x85\ud800'
    wire = written([STARTED, *block(0, Text(), text), FINISHED])
    assert [event["delta"] for event in wire if "delta" in event] == [text.replace("\ud800", "\ufffd")]
