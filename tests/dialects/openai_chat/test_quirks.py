"""What servers do to this wire, one test for each known quirk, and what we make of it: Q1–Q17.

Q24–Q28 are in `test_tool_calls`, the others in `test_quirks_of_streams`; Q34–Q38 in `test_request_writing`.
"""

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
from thinkwire.dialects.openai_chat.response import decode_response
from thinkwire.events import collect
from thinkwire.messages import Seal, Text, Thinking, ToolCall

HM = "Hm, two cities."
YES = Text("Yes.")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text", "thinking"])
def test_q1_q2_q3_q5_reasoning_is_read_from_any_field(field: str) -> None:
    assert both({field: HM, "content": "Yes."}) == (Thinking(HM, field=field), YES)


def test_q3_reasoning_opaque_seals_the_text_beside_it() -> None:
    blocks = both({"reasoning_text": HM, "reasoning_opaque": "b3Bx", "content": "Yes."})
    assert blocks == (Thinking(HM, field="reasoning_text", seal=Seal("copilot.opaque", "b3Bx")), YES)


def test_q3_two_opaque_values_are_two_blocks() -> None:
    first = {"reasoning_text": HM, "reasoning_opaque": "b3Bx"}
    answer = stream(
        first, {"reasoning_opaque": None}, {"reasoning_opaque": "b3Bx"}, {"reasoning_opaque": "Mg=="}
    )
    assert [
        block.seal.data for block in answer.turn.blocks if isinstance(block, Thinking) and block.seal
    ] == [
        "b3Bx",
        "Mg==",
    ]


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
