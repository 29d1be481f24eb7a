"""What servers do to this wire, one test for each known quirk (Q1–Q33, Q42, Q43), and what we make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    DONE,
    ENCRYPTED,
    SIGNED,
    both,
    chunk,
    codes,
    details,
    events,
    sse,
    stop,
    stream,
    whole,
)
from thinkwire.dialects.openai_chat import OPENAI_CHAT
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.response import decode_response
from thinkwire.errors import FailureKind
from thinkwire.events import BlockGrew, BlockStarted, Finished, Started, collect
from thinkwire.messages import Opaque, Seal, Text, Thinking, ToolCall

HM = "Hm, two cities."
YES = Text("Yes.")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text", "thinking"])
def test_q1_q2_q3_q5_reasoning_is_read_from_any_field(field: str) -> None:
    assert both({field: HM, "content": "Yes."}) == (Thinking(HM, field=field), YES)


def test_q3_reasoning_opaque_seals_the_text_beside_it() -> None:
    blocks = both({"reasoning_text": HM, "reasoning_opaque": "b3Bx", "content": "Yes."})
    assert blocks == (Thinking(HM, field="reasoning_text", seal=Seal("copilot.opaque", "b3Bx")), YES)


def test_q4_reasoning_details_are_text_and_seal() -> None:
    blocks = both({"reasoning_details": [SIGNED], "content": "Yes."})
    assert blocks == (Thinking(HM, field="reasoning_details", seal=details(SIGNED)), YES)


def test_q5_ollamas_own_lines_are_read() -> None:
    lines = [
        {
            "model": "qwen3",
            "created_at": "t",
            "message": {"role": "assistant", "content": "", "thinking": "Hm, "},
        },
        {"model": "qwen3", "message": {"role": "assistant", "content": "", "thinking": "two cities."}},
        {"model": "qwen3", "message": {"role": "assistant", "content": "Yes."}, "done": False},
        {
            "model": "qwen3",
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "length",
            "prompt_eval_count": 7,
            "eval_count": 5,
        },
    ]
    answer = collect(events("".join(json.dumps(line) + "\n" for line in lines).encode()))
    assert answer.turn.blocks == (Thinking(HM, field="thinking"), YES)
    assert answer.finish == "length"
    assert answer.usage is not None
    assert (answer.usage.input_total, answer.usage.output_total) == (7, 5)
    assert answer.extras == {"openai_chat": {"created_at": "t"}}


@pytest.mark.parametrize(
    "thinking", [HM, [{"type": "text", "text": "Hm, "}, {"type": "text", "text": "two cities."}]]
)
def test_q6_thinking_parts_in_the_content_list(thinking: Any) -> None:
    message = {"content": [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "Yes."}]}
    thought, said = both(message)
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.field, said) == (HM, "content", YES)


def test_q6_content_changes_its_type_in_mid_stream() -> None:
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, "}]}
    last = {"type": "thinking", "thinking": [{"type": "text", "text": "two cities."}], "closed": True}
    answer = stream(
        {"content": ""},
        {"content": [part]},
        {"content": [last, {"type": "text", "text": "Y"}]},
        {"content": "es."},
        {"content": ""},
    )
    extras = {"openai_chat": {"closed": True}}
    assert answer.turn.blocks == (Thinking(HM, field="content", extras=extras), YES)


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning": HM, "reasoning_content": HM},
        {"reasoning": HM, "reasoning_details": [SIGNED]},
        {"reasoning_content": HM, "reasoning": HM, "reasoning_details": [SIGNED]},
    ],
)
def test_q7_the_same_text_in_two_fields_counts_once(message: dict[str, Any]) -> None:
    thought, said = both(message | {"content": "Yes."})
    assert isinstance(thought, Thinking)
    assert (thought.text, said) == (HM, YES)


def test_q7_in_pieces_the_same_text_in_two_fields_counts_once() -> None:
    pieces = [{"reasoning": piece, "reasoning_content": piece} for piece in ("ha", "ha", " ha")]
    answer = stream(*pieces, {"content": "Yes."})
    assert answer.turn.thinking == "haha ha"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"reasoning": "one", "reasoning_content": "two"}, "two"),
        ({"reasoning": "one", "reasoning_content": "two", "reasoning_details": [SIGNED]}, HM),
        ({"reasoning": "one", "reasoning_details": [ENCRYPTED]}, "one"),
    ],
)
def test_q7_where_fields_differ_details_win_then_reasoning_content(
    message: dict[str, Any], text: str
) -> None:
    (thought,) = both(message)
    assert isinstance(thought, Thinking)
    assert thought.text == text


def test_q7_details_that_repeat_the_text_at_the_end_add_only_their_seal() -> None:
    answer = stream({"reasoning": "Hm, "}, {"reasoning": "two cities."}, {"reasoning_details": [SIGNED]})
    assert answer.turn.blocks == (Thinking(HM, field="reasoning", seal=details(SIGNED)),)


def test_q7_a_field_that_goes_on_where_another_fell_silent_is_not_lost() -> None:
    answer = stream({"reasoning": "Hm, "}, {"reasoning_content": "two "}, {"reasoning_content": "cities."})
    assert answer.turn.thinking == HM


def test_q8_reasoning_comes_before_content_of_the_same_delta() -> None:
    assert both({"content": "Yes.", "reasoning": HM}) == (Thinking(HM, field="reasoning"), YES)


def test_q9_reasoning_may_come_again_after_text_and_calls() -> None:
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = stream(
        {"reasoning_content": "one"},
        {"content": "two"},
        {"reasoning_content": "three"},
        {"tool_calls": [call]},
        {"reasoning_content": "four"},
        {"content": "five"},
    )
    thought = [Thinking(text, field="reasoning_content") for text in ("one", "three", "four")]
    call_block = ToolCall("c1", "f", "{}")
    assert answer.turn.blocks == (thought[0], Text("two"), thought[1], call_block, thought[2], Text("five"))


@pytest.mark.parametrize(
    "odd",
    [
        {"id": "", "model": "", "object": "", "created": 0, "choices": [], "prompt_filter_results": []},
        {"choices": None},
        {"object": "chat.completion.chunk"},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0}]},
        {"choices": [None]},
        {"choices": [{"delta": {}}]},
        {},
    ],
    ids=str,
)
def test_q10_empty_chunks_anywhere(odd: dict[str, Any]) -> None:
    answer = collect(
        events(sse(odd, chunk({"content": "Ye"}), odd, chunk({"content": "s."}), odd, stop(), odd, DONE))
    )
    assert answer.turn.blocks == (YES,)
    assert answer.finish == "stop"
    assert answer.turn.origin is not None
    assert (answer.turn.origin.response_id, answer.turn.origin.model) == ("chatcmpl-1", "m")


@pytest.mark.parametrize("roles", [[None, None], ["", ""], ["assistant", "assistant"], [7, "user"]])
def test_q11_role_is_not_needed(roles: list[Any]) -> None:
    answer = stream({"role": roles[0], "content": "Ye"}, {"role": roles[1], "content": "s."})
    assert answer.turn.blocks == (YES,)


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": HM},
        {"content": "", "reasoning_content": HM, "refusal": None},
        {"content": [], "reasoning_content": HM, "refusal": False},
        {"reasoning_content": HM, "refusal": ""},
    ],
)
def test_q12_content_null_empty_or_absent_and_refusal_false(message: dict[str, Any]) -> None:
    assert both(message) == (Thinking(HM, field="reasoning_content"),)


def test_q12_content_as_parts() -> None:
    assert both({"content": [{"type": "text", "text": "Yes."}]}) == (YES,)


USED = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


@pytest.mark.parametrize(
    "frames",
    [
        [chunk({"content": "Yes."}), stop(usage=USED)],
        [chunk({"content": "Yes."}, usage=None), stop(usage=None), {"choices": [], "usage": USED}],
        [chunk({"content": "Yes."}, usage={"prompt_tokens": 9, "completion_tokens": 1}), stop(usage=USED)],
        [stop(usage=USED), {"choices": [], "usage": None}, {"choices": []}],
        [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USED}]}],
        [stop(x_groq={"id": "req", "usage": USED})],
        [{"x_groq": {"usage": USED}}, stop()],
    ],
    ids=["finish", "own chunk", "every chunk", "then null", "in the choice", "x_groq", "x_groq first"],
)
def test_q13_usage_may_stand_anywhere_and_the_last_one_counts(frames: list[Any]) -> None:
    answer = collect(events(sse(*frames, DONE)))
    assert answer.usage is not None
    assert (answer.usage.input_total, answer.usage.output_total) == (9, 4)


def test_q13_no_usage_is_unknown_usage() -> None:
    assert stream({"content": "Yes."}).usage is None


def test_q14_xais_completion_leaves_reasoning_out_and_is_set_right() -> None:
    used = {"prompt_tokens": 307, "completion_tokens": 26, "total_tokens": 560}
    answer = decode_response(
        {
            "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
            "usage": used | {"completion_tokens_details": {"reasoning_tokens": 227}},
        }
    )
    assert answer.usage is not None
    assert (answer.usage.output_total, answer.usage.output_reasoning, answer.usage.output_visible) == (
        253,
        227,
        26,
    )


def test_q14_more_reasoning_than_output_is_said_and_not_made_up() -> None:
    used = USED | {"completion_tokens_details": {"reasoning_tokens": 11}}
    answer = collect(events(sse(stop(usage=used), DONE)))
    assert answer.usage is not None
    assert (answer.usage.output_total, answer.usage.output_reasoning, answer.usage.output_visible) == (
        4,
        11,
        None,
    )
    assert codes(answer.notes) == ["usage.impossible"]


@pytest.mark.parametrize(
    "cached",
    [
        {"prompt_tokens_details": {"cached_tokens": 3}},
        {"prompt_cache_hit_tokens": 3, "prompt_cache_miss_tokens": 6},
        {"cached_tokens": 3},
    ],
)
def test_q15_cached_tokens_have_three_names(cached: dict[str, Any]) -> None:
    answer = collect(events(sse(stop(usage=USED | cached), DONE)))
    assert answer.usage is not None
    assert (answer.usage.cache_read, answer.usage.input_uncached) == (3, 6)


@pytest.mark.parametrize(
    ("native", "reason", "noted"),
    [
        ("stop", "stop", False),
        ("end", "stop", False),
        ("STOP", "stop", False),
        ("length", "length", False),
        ("model_length", "length", False),
        ("model_context_window_exceeded", "length", False),
        ("tool_calls", "tool_calls", False),
        ("function_call", "tool_calls", False),
        ("content_filter", "refusal", False),
        ("sensitive", "refusal", False),
        ("guardrail_intervened", "refusal", False),
        ("error", "error", False),
        ("network_error", "error", False),
        ("insufficient_system_resource", "error", False),
        ("abort", "cancelled", False),
        ("", "stop", True),
        (None, "stop", True),
        ("because", "stop", True),
        (17, "stop", True),
    ],
)
def test_q16_finish_reasons(native: Any, reason: str, noted: bool) -> None:
    for answer in (stream({"content": "Yes."}, finish=native), whole({"content": "Yes."}, finish=native)):
        assert answer.finish == reason
        assert codes(answer.notes) == (["finish.unknown"] if noted else [])


def test_q16_finish_reason_may_be_absent_from_all_chunks_but_one() -> None:
    bare = {"choices": [{"index": 0, "delta": {"content": "Yes."}}]}
    answer = collect(
        events(sse(bare, {"choices": [{"delta": {}, "finish_reason": "length"}]}, bare | {"choices": []}))
    )
    assert (answer.finish, answer.turn.blocks) == ("length", (YES,))


@pytest.mark.parametrize("native", ["stop", "", None, "tool_calls", "function_call"])
def test_q17_calls_make_it_a_tool_turn_whatever_the_reason(native: Any) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}
    assert stream({"tool_calls": [call]}, finish=native).finish == "tool_calls"
    assert whole({"tool_calls": [call]}, finish=native).finish == "tool_calls"


def test_q17_but_not_when_the_answer_was_cut_short() -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{"}}
    assert stream({"tool_calls": [call]}, finish="length").finish == "length"


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
                "_message": {"index": 3},
            }
        },
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
    assert answer.extras == {"openai_chat": {"_message": {"audio": audio}}}


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


@pytest.mark.parametrize(
    ("pieces", "field", "thought", "said"),
    [
        (["<think>", "\nHm", "\n</th", "ink>\n\nYes."], "tag:think", "Hm", "Yes."),
        ([" <mm:", "think>Hm</mm:think>Yes."], "tag:mm:think", "Hm", "Yes."),
        (["[THINK]Hm[/THINK]", "Yes."], "tag:THINK", "Hm", "Yes."),
        (["<thinking>Hm</thinking>\nYes."], "tag:thinking", "Hm", "Yes."),
        (["<think>Hm, unfinished"], "tag:think", "Hm, unfinished", ""),
    ],
)
def test_tags_at_the_start_are_thinking(pieces: list[str], field: str, thought: str, said: str) -> None:
    answer = stream(*({"content": piece} for piece in pieces))
    assert answer.turn.blocks == (Thinking(thought, field=field), *([Text(said)] if said else []))
    assert whole({"content": "".join(pieces)}).turn.blocks == answer.turn.blocks


@pytest.mark.parametrize("text", ["Use <think> tags.", "</div>", "<thin air"])
def test_tags_elsewhere_are_text(text: str) -> None:
    assert both({"content": text}) == (Text(text),)


def test_with_a_reasoning_field_tags_are_text_and_a_stray_closing_tag_is_dropped() -> None:
    assert both({"reasoning": HM, "content": "<think>x"}) == (
        Thinking(HM, field="reasoning"),
        Text("<think>x"),
    )
    assert both({"reasoning": HM, "content": "</think>\n\nYes."}) == (Thinking(HM, field="reasoning"), YES)


def test_tags_can_be_off_or_open_from_the_start() -> None:
    assert both({"content": "<think>a</think>b"}, quirks=Quirks(think_tags="off")) == (
        Text("<think>a</think>b"),
    )
    inside = both({"content": "Hm</think>Yes."}, quirks=Quirks(think_tags="inside"))
    assert inside == (Thinking("Hm", field="tag:think"), YES)
