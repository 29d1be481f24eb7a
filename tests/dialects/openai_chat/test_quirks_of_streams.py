"""What servers do to this wire, one test for each known quirk: Q18–Q23, Q29–Q33, Q42, Q43, and a few more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    DONE,
    both,
    chunk,
    codes,
    details,
    events,
    sse,
    stop,
    stream,
)
from thinkwire.dialects.openai_chat import OPENAI_CHAT
from thinkwire.dialects.openai_chat.response import decode_response
from thinkwire.errors import FailureKind
from thinkwire.events import BlockGrew, BlockStarted, Finished, Started, collect
from thinkwire.messages import Opaque, Text, Thinking, ToolCall

HM = "Hm, two cities."
YES = Text("Yes.")
USED = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


@pytest.mark.parametrize("sent", [{"content": "Ye"}, {"reasoning": "Hm"}])
def test_q18_a_stream_that_just_ends_is_a_lost_connection(sent: dict[str, Any]) -> None:
    answer = collect(events(sse(chunk(sent))))
    assert answer.failure is not None
    assert answer.failure.kind == "connection_lost"
    (block,) = answer.turn.blocks
    assert isinstance(block, Text | Thinking)
    assert block.interrupted


def test_q18_a_call_in_flight_is_kept_as_interrupted() -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a":'}}
    answer = collect(events(sse(chunk({"tool_calls": [call]}))))
    assert answer.failure is not None
    assert answer.turn.blocks == (ToolCall("c1", "f", '{"a":', interrupted=True),)


@pytest.mark.parametrize(
    ("tail", "notes"),
    [
        (b"", []),
        (b"data:[DONE]\n\n", []),
        (b"data: [DONE]", []),
        (b"data: [DONE]\n\ndata: [DONE]\n\n", []),
        (b"data: [DONE]\n\n" + sse(chunk({"content": "more"})), ["stream.after_end"]),
    ],
)
def test_q19_the_end_mark_may_be_missing_odd_or_early(tail: bytes, notes: list[str]) -> None:
    answer = collect(events(sse(chunk({"content": "Yes."}), stop()) + tail))
    assert (answer.finish, answer.turn.blocks) == ("stop", (YES,))
    assert codes(answer.notes) == notes


def test_q19_an_end_mark_without_a_reason_ends_the_answer_with_a_note() -> None:
    answer = collect(events(sse(chunk({"content": "Yes."}), DONE)))
    assert (answer.finish, codes(answer.notes)) == ("stop", ["finish.unknown"])


def test_q20_comments_blank_lines_crlf_bom_and_event_lines() -> None:
    plain = sse(chunk({"content": "Yes."}), stop(), DONE)
    odd = b"\xef\xbb\xbf: OPENROUTER PROCESSING\r\n\r\n\r\n: ping\r\n" + plain.replace(
        b"\n\ndata", b"\r\n\r\n: keep-alive\r\n\r\nevent: message\r\nid: 7\r\ndata"
    )
    assert events(odd) == events(plain)


@pytest.mark.parametrize(
    ("frame", "message", "kind"),
    [
        ({"error": {"message": "boom", "code": 429}}, "boom", "rate_limit"),
        ({"error": "boom"}, "boom", "protocol"),
        ({"object": "error", "message": "boom", "code": 400}, "boom", "bad_request"),
        ({"detail": "boom"}, "boom", "protocol"),
        (
            chunk({"content": ""}, finish="error", error={"code": "server_error", "message": "boom"}),
            "boom",
            "overloaded",
        ),
        ({"choices": [{"index": 0, "error": {"code": 502, "message": "boom"}}]}, "boom", "overloaded"),
        (
            {"choices": [], "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
            "",
            "quota",
        ),
    ],
)
def test_q21_an_error_inside_the_stream(frame: dict[str, Any], message: str, kind: FailureKind) -> None:
    answer = collect(events(sse(chunk({"content": "Ye"}), frame)))
    assert answer.failure is not None
    assert message in answer.failure.message
    assert answer.failure.kind == kind
    assert answer.turn.blocks == (Text("Ye", interrupted=True),)


@pytest.mark.parametrize("data", [b'{"error":{"message":"boom"}}', b'{"message":"boom"}', b"boom"])
def test_q21_an_error_event(data: bytes) -> None:
    answer = collect(events(sse(chunk({"content": "Ye"})) + b"event: error\ndata: " + data + b"\n\n"))
    assert answer.failure is not None
    assert answer.failure.message == "boom"


def test_q21_an_error_keeps_the_usage_that_came_with_it() -> None:
    answer = collect(events(sse(chunk({"content": ""}, error={"code": 400, "message": "limit"}, usage=USED))))
    assert answer.failure is not None
    assert answer.usage is not None
    assert answer.usage.output_total == 4


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "boom", "code": 502}},
        {"error": "boom"},
        {"object": "error", "message": "boom"},
        {"detail": [{"loc": ["body", "x"], "msg": "boom"}]},
        {"choices": [{"message": {"content": ""}, "finish_reason": "error", "error": {"message": "boom"}}]},
        {"choices": None, "base_resp": {"status_code": 1, "status_msg": "boom"}},
    ],
)
def test_q22_a_body_of_status_200_that_is_an_error(body: dict[str, Any]) -> None:
    answer = decode_response(body)
    assert answer.failure is not None
    assert "boom" in answer.failure.message
    assert answer.finish is None


@pytest.mark.parametrize("choices", [[], None])
def test_q22_a_body_without_an_answer(choices: Any) -> None:
    answer = decode_response({"id": "gen-1", "choices": choices, "error": None})
    assert answer.failure is not None
    assert answer.failure.kind == "protocol"


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, b'{"error":{"message":"boom"}}', "boom"),
        (400, b'{"message":"boom"}', "boom"),
        (400, b'{"code":"x","error":"boom"}', "boom"),
        (422, b'{"detail":"boom"}', "boom"),
        (422, b'{"detail":[{"loc":["body",0],"msg":"boom"}]}', "body.0: boom"),
        (500, b'data: {"error":{"message":"boom"}}\n\n', "boom"),
        (502, b"<html><body>boom</body></html>", "boom"),
        (413, b"", "HTTP 413 with no explanation"),
        (429, b'{"error":{"code":1302,"message":"boom"}}', "boom"),
    ],
)
def test_q23_error_bodies(status: int, body: bytes, message: str) -> None:
    failure = OPENAI_CHAT.decode_error(status, {}, body)
    assert (failure.message, failure.status) == (message, status)


def test_q29_calls_written_as_text_stay_text() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert both({"content": text}) == (Text(text),)


def test_q30_arguments_encoded_twice_stay_as_they_came() -> None:
    arguments = '{"filter":"{\\"city\\":\\"Oslo\\"}"}'
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": arguments}}
    assert both({"tool_calls": [call]}) == (ToolCall("c1", "f", arguments),)


def test_q31_q32_unknown_fields_are_kept_and_known_ones_may_be_absent() -> None:
    first = {
        "choices": [
            {"delta": {"role": "assistant", "index": 3, "content": "Yes."}, "native_finish_reason": None}
        ],
        "created": None,
        "provider": "Groq",
        "service_tier": 3,
        "obfuscation": "x9",
    }
    last = {
        "choices": [{"finish_reason": "stop", "delta": {}, "logprobs": [1], "native_finish_reason": "end"}],
        "provider": "Groq",
        "perf_metrics": {"ttft": 0.1},
        "metadata": None,
    }
    told = events(sse(first, last))
    assert told[0] == Started(extras={"openai_chat": {"provider": "Groq", "service_tier": 3}})
    assert told[-1] == Finished(
        "stop",
        extras={
            "openai_chat": {
                "perf_metrics": {"ttft": 0.1},
                "metadata": None,
                "_choice": {"logprobs": [1], "native_finish_reason": "end"},
            }
        },
        turn={"openai_chat": {"index": 3}},
    )


def test_q33_cumulative_details_are_told_from_incremental_ones() -> None:
    pieces = ["The user", "The user wants", "The user wants rain."]
    answer = stream(*({"reasoning_details": [{"type": "reasoning.text", "text": piece}]} for piece in pieces))
    seal = details({"type": "reasoning.text", "text": "The user wants rain."})
    assert answer.turn.blocks == (Thinking("The user wants rain.", field="reasoning_details", seal=seal),)


@pytest.mark.parametrize(
    "pieces",
    [
        ["ha", "ha", "haha"],
        ["a", "an", " answer"],
        ["\n", "\n\n", "Hm"],
        ["1", "1", "11"],
        ["Hm.", "Hm.", " Hm."],
    ],
)
def test_q33_repetition_is_not_taken_for_accumulation(pieces: list[str]) -> None:
    answer = stream(*({"reasoning_details": [{"type": "reasoning.text", "text": piece}]} for piece in pieces))
    assert answer.turn.thinking == "".join(pieces)


def test_q33_a_short_beginning_is_doubled_at_most_once() -> None:
    pieces = ["I", "I see", "I see it", "I see it all."]
    answer = stream(*({"reasoning_details": [{"type": "reasoning.text", "text": piece}]} for piece in pieces))
    seal = details({"type": "reasoning.text", "text": "I see it all."})
    assert answer.turn.blocks == (Thinking("II see it all.", field="reasoning_details", seal=seal),)


@pytest.mark.parametrize("text", ["\n\n", "  "])
def test_q42_blank_text_before_calls_survives_in_its_place(text: str) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}
    assert both({"content": text, "tool_calls": [call]}) == (Text(text), ToolCall("c1", "f", "{}"))


def test_q42_empty_text_is_no_block() -> None:
    told = events(sse(chunk({"content": ""}), chunk({"content": "", "reasoning": ""}), stop(), DONE))
    assert not [event for event in told if isinstance(event, BlockStarted | BlockGrew)]


def test_q43_half_a_surrogate_pair_is_replaced() -> None:
    answer = collect(
        events(b'data: {"choices":[{"delta":{"content":"a\\ud83d b"},"finish_reason":"stop"}]}\n\n')
    )
    assert answer.turn.blocks == (Text("a\ufffd b"),)


@pytest.mark.parametrize(
    "kind", ["message beside delta", "message alone", "message in pieces", "message at the end"]
)
def test_a_message_in_place_of_a_delta_does_not_double(kind: str) -> None:
    """Perplexity repeats the message beside each delta; others send it alone, growing or not."""

    def frame(message: str | None, delta: str | None) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": 0, "finish_reason": None}
        if message is not None:
            choice["message"] = {"role": "assistant", "content": message}
        if delta is not None:
            choice["delta"] = {"content": delta}
        return {"object": "chat.completion", "choices": [choice]}

    frames = {
        "message beside delta": [frame("Well, y", "Well, y"), frame("Well, yes.", "es.")],
        "message alone": [frame("Well, y", None), frame("Well, yes.", None), frame("Well, yes.", None)],
        "message in pieces": [frame("Well, y", None), frame("es.", None)],
        "message at the end": [frame(None, "Well, y"), frame(None, "es."), frame("Well, yes.", None)],
    }[kind]
    answer = collect(events(sse(*frames, stop(), DONE)))
    assert answer.turn.blocks == (Text("Well, yes."),)


def test_a_whole_answer_where_a_stream_was_asked_for() -> None:
    body = {"id": "x", "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}], "usage": USED}
    answer = collect(events(json.dumps(body, indent=2).encode()))
    assert (answer.turn.blocks, answer.finish) == ((YES,), "stop")


def test_only_the_first_of_several_answers_is_kept() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "No."}, "finish_reason": "length"}]}
    answer = collect(
        events(sse(chunk({"content": "Ye"}), other, chunk({"content": "s."}), other, stop(), DONE))
    )
    assert (answer.turn.blocks, answer.finish, codes(answer.notes)) == ((YES,), "stop", ["choices.dropped"])


def test_sound_that_comes_in_pieces_is_put_together() -> None:
    answer = stream(
        {"audio": {"id": "a1", "transcript": "Ye"}},
        {"audio": {"data": "UklG"}},
        {"audio": {"transcript": "s.", "data": "Rg=="}},
    )
    audio = {"id": "a1", "transcript": "Yes.", "data": "UklGRg=="}
    assert answer.turn.extras == {"openai_chat": {"audio": audio}}


def test_logprobs_of_all_chunks_are_kept() -> None:
    frames = [chunk({"content": piece}) for piece in ("Ye", "s.")]
    for number, frame in enumerate(frames):
        frame["choices"][0]["logprobs"] = {"content": [{"token": number}]}
    answer = collect(events(sse(*frames, stop(), DONE)))
    assert answer.extras["openai_chat"]["_choice"] == {"logprobs": {"content": [{"token": 0}, {"token": 1}]}}


def test_a_part_that_nobody_knows_is_kept_in_its_place() -> None:
    reference = {"type": "reference", "reference_ids": [1]}
    blocks = both({"content": [{"type": "text", "text": "Yes."}, reference, {"type": "text", "text": "No."}]})
    assert blocks == (YES, Opaque("openai_chat", reference), Text("No."))
