"""Plain answers are read at once, and amount to what the decoder makes of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from thinkwire.dialects.openai_chat.plain import read_plain
from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.stream_decoder import WholeDecoder
from thinkwire.events import collect
from thinkwire.messages import Text, Thinking, ToolCall

WORDS = st.sampled_from(
    ["Yes.", " Yes.", "", "  ", "<think>hm</think>Yes.", "<p>", "[1]", "</think>no", "ä\n"]
)
ODD = st.sampled_from([None, "", 0, 1, True, [], {}, ["x"], {"x": 1}, "word", 1.5])
COUNT = st.sampled_from([None, 0, 3, -1, "4", True])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def one(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with one of the fields."""
    return st.one_of([st.fixed_dictionaries({name: values}) for name, values in fields.items()])


USAGE = some(
    prompt_tokens=COUNT,
    completion_tokens=COUNT,
    total_tokens=COUNT,
    reasoning_tokens=COUNT,
    cost=ODD,
    prompt_tokens_details=some(cached_tokens=COUNT, audio_tokens=COUNT),
    completion_tokens_details=some(reasoning_tokens=COUNT, audio_tokens=COUNT),
)
USUAL_CALL: dict[str, Any] = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "f", "arguments": '{"a": 1}'},
}
CALL = st.just(USUAL_CALL) | one(
    index=st.sampled_from([1, None, "1"]),
    id=st.sampled_from(["call_2", " ", "", None, 7]),
    type=st.sampled_from(["custom", None]),
    function=some(
        name=st.sampled_from(["f", "g", " ", None]),
        arguments=st.sampled_from(["{}", "{", "", None, {"a": 1}]),
        strict=ODD,
    ),
    extra_content=ODD,
    custom=st.just({"name": "h", "input": "x"}),
).map(lambda odd: USUAL_CALL | odd)
MESSAGE = some(
    role=st.just("assistant"),
    content=WORDS | ODD,
    refusal=st.sampled_from([None, "", "no"]),
    reasoning_content=WORDS | ODD,
    reasoning=WORDS | st.none(),
    tool_calls=st.none() | st.lists(CALL, max_size=3),
    annotations=ODD,
    logprobs=ODD,
    function_call=st.sampled_from([None, {"name": "f", "arguments": "{}"}]),
    reasoning_details=st.sampled_from([None, [{"type": "reasoning.text", "text": "Hm."}]]),
)
CHOICE = some(
    index=st.sampled_from([None, 0, 1, "0"]),
    message=MESSAGE,
    finish_reason=st.sampled_from([None, "stop", "STOP", "end_turn", "length", "refusal", "tool_calls", 7]),
    logprobs=ODD,
    stop_reason=ODD,
    delta=st.sampled_from([None, {"content": "No."}]),
    usage=USAGE,
)
BODY = some(
    id=st.sampled_from(["chatcmpl-1", "", None, 7]),
    object=st.just("chat.completion"),
    created=st.sampled_from([0, None, 1_790_000_000]),
    created_at=st.sampled_from([None, 5]),
    model=st.sampled_from(["m", "", None, 7]),
    choices=st.lists(CHOICE, max_size=2),
    usage=st.none() | USAGE,
    system_fingerprint=ODD,
    error=st.sampled_from([None, {"message": "no"}]),
    x_groq=st.just({"usage": {"prompt_tokens": 1}}),
)
QUIRKS = st.sampled_from(
    [USUAL, Quirks(think_tags="off"), Quirks(think_tags="inside"), Quirks(answer_field="reasoning")]
)

SAID: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_790_000_000,
    "model": "m",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Yes.", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15},
}


def changed(body: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    """The usual answer with some of its fields replaced."""
    choice = SAID["choices"][0]
    return SAID | {"choices": [choice | {"message": choice["message"] | message}]} | body


def check(body: dict[str, Any], quirks: Quirks) -> None:
    plain = read_plain(body, quirks)
    if plain is not None:
        assert plain == collect(WholeDecoder(quirks=quirks).read(body))


@given(BODY, QUIRKS)
def test_whatever_is_read_as_plain_is_what_the_decoder_reads(body: dict[str, Any], quirks: Quirks) -> None:
    check(body, quirks)


@given(BODY.map(lambda body: {**body, "choices": SAID["choices"]}), MESSAGE, QUIRKS)
def test_near_the_usual_answer_too(body: dict[str, Any], message: dict[str, Any], quirks: Quirks) -> None:
    check(SAID | body, quirks)
    check(changed({}, message), quirks)


@given(st.lists(CALL, min_size=1, max_size=3), MESSAGE, one(stop_reason=ODD, finish_reason=ODD), QUIRKS)
def test_and_near_the_usual_calls(
    calls: list[dict[str, Any]], message: dict[str, Any], choice: dict[str, Any], quirks: Quirks
) -> None:
    asked = changed({}, {"tool_calls": calls})
    check(asked | {"choices": [asked["choices"][0] | choice]}, quirks)
    check(changed({}, message | {"tool_calls": calls}), quirks)


def test_the_usual_answer_is_plain() -> None:
    answer = read_plain(SAID, USUAL)
    assert answer is not None
    assert answer.turn.blocks == (Text("Yes."),)
    assert answer.extras == {"openai_chat": {"created": 1_790_000_000, "system_fingerprint": "fp_1"}}


def test_thinking_in_a_field_is_plain() -> None:
    answer = read_plain(changed({}, {"reasoning_content": "Hm."}), USUAL)
    assert answer is not None
    assert answer.turn.blocks == (Thinking("Hm.", field="reasoning_content"), Text("Yes."))


def test_calls_are_plain_with_and_without_words() -> None:
    function = {"name": "f", "arguments": '{"a": 1}'}
    calls = [{"index": at, "id": f"call_{at}", "type": "function", "function": function} for at in range(2)]
    called = (ToolCall("call_0", "f", '{"a": 1}'), ToolCall("call_1", "f", '{"a": 1}'))
    spoken = read_plain(changed({}, {"tool_calls": calls, "reasoning": "Hm."}), USUAL)
    silent = read_plain(changed({}, {"tool_calls": calls, "content": None}), USUAL)
    assert spoken is not None
    assert spoken.turn.blocks == (Thinking("Hm.", field="reasoning"), Text("Yes."), *called)
    assert spoken.finish == "tool_calls"
    assert silent is not None
    assert silent.turn.blocks == called


def test_fields_that_nobody_reads_are_kept_where_they_stood() -> None:
    body = changed({}, {"annotations": []})
    body["choices"] = [body["choices"][0] | {"stop_reason": None}]
    answer = read_plain(body, USUAL)
    assert answer is not None
    assert answer.turn.extras == {"openai_chat": {"annotations": []}}
    assert answer.extras["openai_chat"]["_choice"] == {"stop_reason": None}


def test_tags_odd_calls_and_errors_are_for_the_decoder() -> None:
    nameless = {"id": "call_1", "type": "function", "function": {"arguments": "{}"}}
    odd: list[dict[str, Any]] = [
        {"content": "<think>hm</think>Yes."},
        {"tool_calls": [nameless]},
        {"content": None},
    ]
    for message in odd:
        assert read_plain(changed({}, message), USUAL) is None
    assert read_plain(changed({"error": {"message": "no"}}, {}), USUAL) is None
    assert read_plain({"choices": "no"}, USUAL) is None
