"""Whole responses, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_responses.wire import (
    ENCRYPTED,
    GEMINI,
    SIGNED,
    blocks_of,
    call,
    codes,
    message,
    native,
    raw_reasoning,
    reasoning,
    response,
    said_by,
)
from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
from thinkwire.errors import Failure, MalformedInput
from thinkwire.events import Answer, FinishReason
from thinkwire.messages import Image, Opaque, Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.usage import Usage

decode, encode = OPENAI_RESPONSES.decode_response, OPENAI_RESPONSES.encode_response
REFUSAL = {"type": "refusal", "refusal": "No."}


def test_items_become_blocks_in_their_order() -> None:
    search = {"type": "web_search_call", "id": "ws_a", "status": "completed"}
    answer = said_by(reasoning("Hm.", encrypted_content=ENCRYPTED.data), message("Wait."), search, call("{}"))
    assert answer.turn == Turn(
        "assistant",
        (
            Thinking("Hm.", form="summary", seal=ENCRYPTED, extras=native(id="rs_a")),
            Text("Wait.", extras=native(id="msg_a")),
            Opaque("openai_responses", search),
            ToolCall("call_1", "look", "{}", extras=native(id="fc_a")),
        ),
        origin=Origin(model="m", response_id="resp_1"),
    )
    assert answer.finish == "tool_calls"
    assert answer.notes == ()


@pytest.mark.parametrize(
    ("item", "blocks"),
    [
        (message("a", phase="final_answer"), (Text("a", extras=native(id="msg_a", phase="final_answer")),)),
        (message("a", status="incomplete"), (Text("a", extras=native(id="msg_a", status="incomplete")),)),
        (message("", content=[REFUSAL]), (Text("No.", refusal=True, extras=native(id="msg_a")),)),
        (message("", content="bare"), (Text("bare", extras=native(id="msg_a", string=True)),)),
        (
            message("", content=[{"type": "output_text", "text": None, "annotations": None}]),
            (Text("", extras=native(id="msg_a")),),
        ),
        (
            {"content": [{"type": "text", "text": "a"}]},
            (Text("a", extras=native(no_type=True, type="text")),),
        ),
        (
            message("", content=[{"type": "output_text", "text": "a", "annotations": [{"url": "u"}]}]),
            (Text("a", extras=native(id="msg_a", annotations=[{"url": "u"}])),),
        ),
        (raw_reasoning("a", "b"), (Thinking("a\n\nb", extras=native(parts=[1, 1], id="rs_a")),)),
        (
            {"type": "reasoning", "id": "rs_a", "summary": "bare"},
            (
                Thinking(
                    "bare",
                    form="summary",
                    seal=Seal("openai.item", "rs_a"),
                    extras=native(summary="bare", id="rs_a"),
                ),
            ),
        ),
        (call({"a": 1}), (ToolCall("call_1", "look", '{"a":1}', extras=native(id="fc_a")),)),
        (call(None), (ToolCall("call_1", "look", "", extras=native(id="fc_a")),)),
        (call("{}", call_id=None), (ToolCall("fc_a", "look", "{}", extras=native(id="fc_a")),)),
    ],
    ids=str,
)
def test_items_of_lookalikes(item: dict[str, Any], blocks: tuple[Any, ...]) -> None:
    assert blocks_of(item) == blocks


def test_a_call_without_any_id_gets_one_that_stays_the_same() -> None:
    item = {"type": "function_call", "name": "look", "arguments": "{}"}
    first, second = said_by(item), said_by(item)
    assert first == second
    assert first.turn.tool_calls[0].id
    assert codes(first.notes) == ["tool_call.id_generated"]


def test_an_item_that_is_nothing_is_noted() -> None:
    answer = said_by(None, message("a"))
    assert answer.turn.text == "a"
    assert codes(answer.notes) == ["block.dropped"]


@pytest.mark.parametrize(
    ("fields", "finish", "notes"),
    [
        ({"status": "completed"}, "stop", []),
        ({"status": None}, "stop", []),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length", []),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_messages"}}, "length", []),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "refusal", []),
        ({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, "cancelled", []),
        ({"status": "incomplete", "incomplete_details": {"reason": "boredom"}}, "length", ["finish.unknown"]),
        ({"status": "incomplete"}, "length", ["finish.unknown"]),
        ({"status": "cancelled"}, "cancelled", []),
        ({"status": "queued"}, None, []),
        ({"status": "in_progress"}, None, []),
        ({"status": "paused"}, "stop", ["finish.unknown"]),
    ],
    ids=str,
)
def test_how_it_ended(fields: dict[str, Any], finish: FinishReason | None, notes: list[str]) -> None:
    answer = said_by(message("Hi"), **fields)
    assert answer.finish == finish
    assert codes(answer.notes) == notes
    again = encode(answer).body
    native_end = [fields["status"] or "completed", fields.get("incomplete_details")]
    if fields != {"status": "incomplete"}:
        assert [again["status"], again["incomplete_details"]] == native_end


def test_a_refusal_is_an_end_unless_there_is_a_call() -> None:
    refusal = message("", content=[REFUSAL])
    assert said_by(refusal).finish == "refusal"
    assert said_by(refusal, call("{}")).finish == "tool_calls"


def test_a_failed_response_keeps_what_it_said() -> None:
    error = {"code": "rate_limit_exceeded", "message": "Slow down."}
    answer = said_by(message("Half"), status="failed", error=error)
    assert answer.turn.text == "Half"
    assert answer.finish is None
    assert answer.failure is not None
    assert (answer.failure.kind, answer.failure.message) == ("rate_limit", "Slow down.")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"code": 429, "message": "m"}}, "rate_limit"),
        ({"code": "invalid-argument", "error": "Incorrect API key provided."}, "auth"),
        (response(status="completed", error={"code": "server_error", "message": "m"}), "overloaded"),
        (response(status="failed", error=None, error_type="provider_overloaded"), "overloaded"),
    ],
    ids=["Q22 an error in a 200", "of xAI", "with no output", "Q22 the skin of OpenRouter"],
)
def test_an_error_in_place_of_an_answer_is_a_failure(body: dict[str, Any], kind: str) -> None:
    failure = decode(body).failure
    assert failure is not None
    assert failure.kind == kind


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"object": "chat.completion", "choices": [{"message": {"content": "Hi"}}]}, "choices"),
        ({}, "output"),
        ({"output": "text"}, "output"),
        ([], "$"),
        (None, "$"),
    ],
    ids=["Azure once answered in Chat", "nothing", "a string", "a list", "null"],
)
def test_what_is_no_response_is_refused(body: Any, path: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        decode(body)
    assert caught.value.path == path


def test_what_the_response_says_beyond_its_output_is_kept() -> None:
    echo = {"created_at": 7, "service_tier": "default", "reasoning": {"effort": "low"}, "unheard_of": None}
    defaults: dict[str, Any] = {
        "tools": [],
        "metadata": {},
        "temperature": None,
        "completed_at": None,
        "error": None,
    }
    answer = said_by(**echo, **defaults)
    assert answer.extras == native(**echo)
    body = encode(answer).body
    assert body | echo == body


@pytest.mark.parametrize(
    ("native_usage", "usage", "notes"),
    [
        (
            {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 6},
                "total_tokens": 19,
            },
            Usage(5, 4, 1, 10, 3, 6, 9),
            [],
        ),
        (
            {"input_tokens": 10, "output_tokens": 9, "input_tokens_details": None},
            Usage(input_total=10, output_total=9),
            [],
        ),
        (
            {"input_tokens": 3, "input_tokens_details": {"cached_tokens": 5}, "output_tokens": 1},
            Usage(cache_read=5, input_total=3, output_total=1),
            ["usage.impossible"],
        ),
        (
            {"input_tokens": {}, "output_tokens": -9, "total_tokens": -9},
            Usage(extras=native(total_tokens=-9)),
            ["usage.impossible"],
        ),
        (
            {
                "input_tokens": 1,
                "output_tokens": 1,
                "cost_in_usd_ticks": 5,
                "output_tokens_details": {"audio": 2},
            },
            Usage(
                input_total=1,
                output_total=1,
                extras=native(cost_in_usd_ticks=5, output_tokens_details={"audio": 2}),
            ),
            [],
        ),
        ("many", None, []),
    ],
    ids=["in full", "in part", "xAI: more cached than put in", "negative", "with more", "a word"],
)
def test_usage(native_usage: Any, usage: Usage | None, notes: list[str]) -> None:
    answer = said_by(usage=native_usage)
    assert answer.usage == usage
    assert codes(answer.notes) == notes
    assert decode(encode(answer).body).usage == usage


def test_unknown_counts_are_numbers_on_the_wire_and_are_said_to_be_unknown() -> None:
    usage = encode(Answer(Turn("assistant"), "stop", usage=Usage(input_total=3, output_total=4))).body[
        "usage"
    ]
    assert usage == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 7,
        "unknown_tokens": ["cached_tokens", "cache_write_tokens", "reasoning_tokens"],
    }


def test_a_response_in_the_vendors_form() -> None:
    blocks = (Thinking("Hm.", seal=SIGNED), Text("Hi"), ToolCall("toolu_1", "look", "{}"))
    encoded = encode(
        Answer(Turn("assistant", blocks, origin=Origin(model="m", response_id="resp_1")), "tool_calls")
    )
    thought, said, asked = encoded.body["output"]
    assert thought == {
        "type": "reasoning",
        "id": thought["id"],
        "summary": [{"type": "summary_text", "text": "Hm."}],
    }
    assert said == {
        "type": "message",
        "id": said["id"],
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}],
    }
    assert asked == {
        "type": "function_call",
        "call_id": "toolu_1",
        "name": "look",
        "arguments": "{}",
        "id": asked["id"],
        "status": "completed",
    }
    for item, prefix in ((thought, "rs_"), (said, "msg_"), (asked, "fc_")):
        assert item["id"].startswith(prefix)
        assert len(item["id"]) == len(prefix) + 32
    assert codes(encoded.notes) == ["seal.dropped"]


@pytest.mark.parametrize(
    ("block", "item", "notes"),
    [
        (Thinking(form="redacted", seal=Seal("anthropic.redacted", "x")), {"summary": []}, ["seal.dropped"]),
        (Thinking(form="hidden", seal=Seal("openai.item", "rs_9")), {"id": "rs_9", "summary": []}, []),
        (Thinking(form="hidden", seal=ENCRYPTED), {"summary": [], "encrypted_content": ENCRYPTED.data}, []),
        (
            Thinking("raw", extras=native(id="rs_9")),
            {"id": "rs_9", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]},
            [],
        ),
        (Text("Hi", seal=GEMINI), {"status": "completed"}, ["seal.dropped"]),
        (Text("Hal", interrupted=True), {"status": "incomplete"}, []),
        (ToolCall("c", "f", '{"a', interrupted=True), {"status": "incomplete"}, []),
        (Opaque("openai_responses", {"type": "compaction"}), {"type": "compaction"}, []),
        (Opaque("gemini", {"executableCode": {}}), None, ["block.dropped"]),
        (Image("image/png", data="aGk="), None, ["block.dropped"]),
    ],
    ids=str,
)
def test_blocks_of_all_makes(block: Any, item: dict[str, Any] | None, notes: list[str]) -> None:
    encoded = encode(Answer(Turn("assistant", (block,)), "stop"))
    assert codes(encoded.notes) == notes
    if item is None:
        assert encoded.body["output"] == []
    else:
        assert encoded.body["output"][0] | item == encoded.body["output"][0]


@pytest.mark.parametrize(
    ("answer", "status", "details"),
    [
        (Answer(Turn("assistant"), "length"), "incomplete", {"reason": "max_output_tokens"}),
        (Answer(Turn("assistant"), "refusal"), "incomplete", {"reason": "content_filter"}),
        (Answer(Turn("assistant", (Text("No.", refusal=True),)), "refusal"), "completed", None),
        (Answer(Turn("assistant"), "cancelled"), "cancelled", None),
        (Answer(Turn("assistant"), "continue"), "incomplete", {"reason": "max_output_tokens"}),
        (Answer(Turn("assistant"), "error"), "failed", None),
        (Answer(Turn("assistant"), failure=Failure("overloaded", "busy")), "failed", None),
        (Answer(Turn("assistant")), "in_progress", None),
    ],
    ids=lambda value: value.finish if isinstance(value, Answer) else None,
)
def test_ends_of_all_makes(answer: Answer, status: str, details: Any) -> None:
    encoded = encode(answer)
    assert encoded.body["status"] == status
    assert encoded.body["incomplete_details"] == details
    assert (encoded.body["error"] is not None) == (status == "failed")
    assert codes(encoded.notes) == (["field.changed"] if answer.finish == "continue" else [])
