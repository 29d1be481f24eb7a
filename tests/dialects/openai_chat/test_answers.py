"""Whole answers, read and written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    ENCRYPTED,
    FOREIGN,
    GOOGLE,
    NAME,
    SIGNED,
    body,
    codes,
    details,
    whole,
)
from thinkwire.dialects.openai_chat import OPENAI_CHAT
from thinkwire.dialects.openai_chat.response import decode_response, encode_response
from thinkwire.errors import Failure, MalformedInput
from thinkwire.events import Answer
from thinkwire.messages import Image, Opaque, Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.request import Request
from thinkwire.usage import measure

CALL = ToolCall("c1", "f", "{}")


def message_of(*blocks: Any, **options: Any) -> dict[str, Any]:
    encoded = encode_response(Answer(Turn("assistant", blocks), "stop"), **options)
    message: dict[str, Any] = encoded.body["choices"][0]["message"]
    return message


def notes_on(*blocks: Any) -> list[str]:
    return codes(encode_response(Answer(Turn("assistant", blocks), "stop")).notes)


def test_an_answer_has_the_shape_that_openai_gives_it() -> None:
    usage, _ = measure(input_total=9, cache_read=2, output_total=6, output_reasoning=4)
    turn = Turn("assistant", (Text("Yes."),), origin=Origin(model="m", response_id="chatcmpl-1"))
    assert encode_response(Answer(turn, "stop", usage)).body == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Yes.", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 6,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
    }


def test_an_answer_without_an_id_gets_one_that_is_the_same_each_time() -> None:
    answers = [Answer(Turn("assistant", (Text(text),)), "stop") for text in ("a", "a", "b")]
    ids = [encode_response(answer).body["id"] for answer in answers]
    assert ids[0].startswith("chatcmpl-")
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize(
    ("block", "present"),
    [
        (Thinking("Hm."), {"reasoning_content": "Hm."}),
        (Thinking("Hm.", field="reasoning"), {"reasoning": "Hm."}),
        (Thinking("Hm.", form="summary", seal=FOREIGN), {"reasoning_content": "Hm."}),
        (Thinking("Hm.", field="tag:think"), {"content": "<think>\nHm.\n</think>\n\nYes."}),
        (
            Thinking("Hm, two cities.", field="reasoning_details", seal=details(SIGNED)),
            {"reasoning_details": [SIGNED]},
        ),
        (
            Thinking("Hm.", field="reasoning_text", seal=Seal("copilot.opaque", "b3Bx")),
            {"reasoning_text": "Hm.", "reasoning_opaque": "b3Bx"},
        ),
        (
            Thinking("Hm.", field="content"),
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                    {"type": "text", "text": "Yes."},
                ]
            },
        ),
        (Thinking(form="redacted", seal=FOREIGN), {}),
    ],
)
def test_where_thinking_is_shown(block: Thinking, present: dict[str, Any]) -> None:
    expected = {"role": "assistant", "content": "Yes.", "refusal": None} | present
    assert message_of(block, Text("Yes.")) == expected


def test_where_thinking_is_shown_can_be_forced() -> None:
    thought = Thinking("Hm.", field="tag:think")
    assert message_of(thought, Text("Yes."), reasoning_field="reasoning")["reasoning"] == "Hm."
    assert message_of(thought, Text("Yes."), reasoning_field="reasoning")["content"] == "Yes."


@pytest.mark.parametrize(
    ("blocks", "notes"),
    [
        ((Thinking("Hm.", seal=FOREIGN), Text("Yes.")), ["seal.dropped"]),
        ((Thinking(form="hidden", seal=FOREIGN),), ["thinking.dropped"]),
        ((Text("Yes.", seal=GOOGLE),), ["seal.dropped"]),
        ((ToolCall("c1", "f", "{}", seal=GOOGLE),), ["seal.dropped"]),
        ((Text("a"), Text("b")), ["block.degraded"]),
        ((Text("a"), Thinking("Hm."), CALL), ["block.degraded"]),
        ((Thinking("Hm."), Thinking("Hm.")), ["block.degraded"]),
        ((Image(url="https://example.org/a.png"),), ["block.dropped"]),
        ((Opaque("gemini", {"executableCode": {}}),), ["block.dropped"]),
        ((Thinking("Hm."), Text("Yes."), CALL), []),
    ],
    ids=str,
)
def test_what_an_answer_cannot_say_is_said(blocks: tuple[Any, ...], notes: list[str]) -> None:
    assert notes_on(*blocks) == notes


def test_several_texts_are_one_string_for_a_client() -> None:
    assert message_of(Text("a"), Text("b"))["content"] == "ab"


def test_content_is_null_beside_calls() -> None:
    message = message_of(CALL)
    assert message["content"] is None
    assert message["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]


@pytest.mark.parametrize(
    ("finish", "native", "word"),
    [
        ("stop", None, "stop"),
        ("tool_calls", None, "tool_calls"),
        ("length", None, "length"),
        ("refusal", None, "content_filter"),
        ("continue", None, "length"),
        ("error", None, "error"),
        ("cancelled", None, "stop"),
        ("length", "model_length", "model_length"),
        ("stop", "because", "because"),
        ("tool_calls", "stop", "tool_calls"),
    ],
)
def test_finish_reasons_are_written_as_they_came_while_they_still_hold(
    finish: Any, native: Any, word: str
) -> None:
    extras = {NAME: {"_finish_reason": native}} if native else {}
    encoded = encode_response(Answer(Turn("assistant", (Text("Yes."),)), finish, extras=extras))
    assert encoded.body["choices"][0]["finish_reason"] == word


def test_a_refusal_has_its_own_field_and_openais_reason() -> None:
    answer = whole({"content": None, "refusal": "I can't."})
    assert answer.turn.blocks == (Text("I can't.", refusal=True),)
    assert answer.finish == "refusal"
    choice = encode_response(answer).body["choices"][0]
    assert (choice["message"]["refusal"], choice["finish_reason"]) == ("I can't.", "stop")


def test_fields_that_nobody_knows_are_kept_where_they_were() -> None:
    native = body(
        {"role": "assistant", "content": "Yes.", "annotations": [{"type": "url_citation"}], "name": "M"},
        created=1790000000,
        system_fingerprint=None,
        usage={"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, "cost": 0.1},
    )
    native["choices"][0] |= {"native_finish_reason": "end_turn", "logprobs": {"content": []}}
    answer = decode_response(native)
    assert answer.turn.extras == {NAME: {"annotations": [{"type": "url_citation"}], "name": "M"}}
    assert answer.extras == {
        NAME: {
            "created": 1790000000,
            "system_fingerprint": None,
            "_choice": {"native_finish_reason": "end_turn", "logprobs": {"content": []}},
        }
    }
    assert answer.usage is not None
    assert answer.usage.extras == {NAME: {"cost": 0.1}}
    again = encode_response(answer).body
    assert again | {
        "choices": [native["choices"][0] | {"message": again["choices"][0]["message"]}]
    } == native | {"choices": again["choices"]}
    assert decode_response(again) == answer


def test_totals_that_do_not_add_up_are_kept() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20}
    answer = decode_response(body({"content": "Yes."}, usage=usage))
    assert encode_response(answer).body["usage"] == usage


@pytest.mark.parametrize("usage", ["many", [1], 7])
def test_usage_that_cannot_be_read_is_unknown_and_said(usage: Any) -> None:
    answer = decode_response(body({"content": "Yes."}, usage=usage))
    assert (answer.usage, codes(answer.notes)) == (None, ["usage.impossible"])


def test_a_failed_answer_says_so_and_shows_what_there_was() -> None:
    turn = Turn("assistant", (Text("Ye", interrupted=True),))
    encoded = encode_response(Answer(turn, failure=Failure("overloaded", "busy"))).body
    assert encoded["error"]["message"] == "busy"
    assert encoded["choices"][0]["finish_reason"] == "error"
    failure = decode_response(encoded).failure
    assert failure is not None
    assert (failure.kind, failure.message) == ("overloaded", "busy")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], "$"),
        ({}, "choices"),
        ({"id": "x"}, "choices"),
        ({"choices": "none"}, "choices"),
        (body({"content": 7}), "choices[0].message.content"),
        (body({"content": [7]}), "choices[0].message.content"),
    ],
)
def test_what_is_no_answer_at_all_is_refused(value: Any, path: str) -> None:
    with pytest.raises(MalformedInput) as error:
        decode_response(value)
    assert error.value.path == path


def test_the_answer_of_index_0_is_kept() -> None:
    native = body({"content": "Yes."})
    native["choices"].insert(0, {"index": 1, "message": {"content": "No."}, "finish_reason": "stop"})
    answer = decode_response(native)
    assert (answer.turn.blocks, codes(answer.notes)) == ((Text("Yes."),), ["choices.dropped"])


def test_ollamas_own_body_is_read() -> None:
    call = {"function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
    answer = decode_response(
        {
            "model": "qwen3",
            "message": {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [call]},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 7,
            "eval_count": 5,
        }
    )
    thought, called = answer.turn.blocks
    assert thought == Thinking("Hm.", field="thinking")
    assert isinstance(called, ToolCall)
    assert (called.name, called.arguments, answer.finish) == ("f", '{"a":1}', "tool_calls")
    assert answer.usage is not None
    assert answer.usage.total == 12


def test_hidden_thinking_of_this_wire_is_shown_to_its_client() -> None:
    hidden = Thinking(form="hidden", field="reasoning_details", seal=details(ENCRYPTED))
    assert message_of(hidden, Text("Yes."))["reasoning_details"] == [ENCRYPTED]


def test_a_text_part_without_text_is_written_again() -> None:
    part = {"type": "text", "thinking": []}
    message = {"role": "assistant", "content": [part]}
    answer = OPENAI_CHAT.decode_response({"model": "m", "choices": [{"message": message}]})
    written = OPENAI_CHAT.encode_request(Request("m", (answer.turn,))).body
    assert written["messages"][-1]["role"] == "assistant"
