"""Plain answers are read at once, and amount to what the decoder makes of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from thinkwire.dialects.gemini.plain import read_plain
from thinkwire.dialects.gemini.response import decode_response
from thinkwire.dialects.gemini.stream_decoder import StreamDecoder
from thinkwire.events import Answer
from thinkwire.messages import Seal, Text, Thinking, ToolCall

WORDS = st.sampled_from(["Yes.", " ", "", "ä\n"])
ODD: st.SearchStrategy[Any] = st.sampled_from([None, "", 0, 1, True, [], {}, ["x"], "word"])
COUNT = st.sampled_from([None, 0, 3, 9, -1, "4"])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def one(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with one of the fields."""
    return st.one_of([st.fixed_dictionaries({name: values}) for name, values in fields.items()])


CALL: dict[str, Any] = {"id": "c1", "name": "f", "args": {"a": 1}}
CALLS = st.just(CALL) | one(id=ODD, name=ODD, args=ODD, willContinue=ODD, other=ODD).map(
    lambda odd: CALL | odd
)
PARTS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"text": WORDS}),
        st.fixed_dictionaries({"text": WORDS, "thought": st.sampled_from([True, False, None])}),
        st.fixed_dictionaries({"text": WORDS, "thoughtSignature": st.just("sig") | ODD}),
        st.fixed_dictionaries({"functionCall": CALLS}),
        st.fixed_dictionaries({"functionCall": CALLS, "thoughtSignature": st.just("sig") | ODD}),
        some(text=WORDS | ODD, thought=ODD, thoughtSignature=ODD, functionCall=CALLS, inline_data=ODD),
    ),
    max_size=4,
)
SAID: dict[str, Any] = {
    "candidates": [
        {"content": {"parts": [{"text": "Yes."}], "role": "model"}, "finishReason": "STOP", "index": 0}
    ],
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 6, "totalTokenCount": 15},
    "modelVersion": "m",
    "responseId": "r",
}
USAGE = some(
    promptTokenCount=COUNT,
    candidatesTokenCount=COUNT,
    thoughtsTokenCount=COUNT,
    totalTokenCount=COUNT,
    toolUsePromptTokenCount=COUNT,
    trafficType=ODD,
)
BODY = one(
    usageMetadata=USAGE | ODD, modelVersion=ODD, responseId=ODD, createTime=ODD, promptFeedback=ODD, error=ODD
)
CANDIDATE = one(
    finishReason=st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", "ODD", "FINISH_REASON_UNSPECIFIED"]) | ODD,
    index=ODD.filter(lambda index: index != 1),
    content=some(parts=PARTS, role=ODD),
    safetyRatings=ODD,
    finish_message=ODD,
    citationMetadata=ODD,
)


def with_parts(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    """The usual answer with other parts, and with other fields of its candidate."""
    usual: dict[str, Any] = SAID["candidates"][0]
    content = {"role": "model", "parts": [*parts]}
    return SAID | {"candidates": [usual | {"content": content} | candidate]}


def decoded(body: dict[str, Any]) -> Answer:
    decoder = StreamDecoder()
    decoder.take(body)
    return decoder.answer()


@given(PARTS, st.just({}) | BODY, st.just({}) | CANDIDATE)
def test_whatever_is_read_as_plain_is_what_the_decoder_reads(
    parts: list[dict[str, Any]], body: dict[str, Any], candidate: dict[str, Any]
) -> None:
    said = with_parts(*parts, **candidate) | body
    plain = read_plain(said)
    if plain is not None:
        assert plain == decoded(said)


def test_thoughts_words_and_calls_are_plain() -> None:
    said = with_parts(
        {"text": "Hm", "thought": True},
        {"text": ".", "thought": True},
        {"text": "Yes."},
        {"functionCall": CALL, "thoughtSignature": "sig"},
    )
    answer = read_plain(said)
    assert answer is not None
    call = ToolCall("c1", "f", '{"a":1}', seal=Seal("gemini.thought", "sig"))
    assert answer.turn.blocks == (Thinking("Hm.", form="summary"), Text("Yes."), call)
    assert answer.finish == "tool_calls"
    assert answer == decode_response(said) == decoded(said)


def test_a_signed_text_stands_alone() -> None:
    said = with_parts({"text": "Yes."}, {"text": "No.", "thoughtSignature": "sig"}, {"text": "Well."})
    answer = read_plain(said)
    assert answer is not None
    assert answer.turn.blocks == (
        Text("Yes."),
        Text("No.", seal=Seal("gemini.thought", "sig")),
        Text("Well."),
    )
    assert answer == decoded(said)


def test_what_stands_beside_is_kept() -> None:
    said = with_parts({"text": "Yes."}, finishMessage="done") | {"createTime": "now"}
    answer = read_plain(said)
    assert answer is not None
    assert answer.extras == {"gemini": {"createTime": "now", "candidate": {"finishMessage": "done"}}}
    assert answer == decoded(said)


def test_odd_calls_and_what_means_more_are_for_the_decoder() -> None:
    assert read_plain(SAID) is not None
    assert read_plain(with_parts({"text": "Hm.", "thought": True, "thoughtSignature": "sig"})) is None
    assert read_plain(with_parts({"functionCall": {"name": "f", "args": {}}})) is None
    assert read_plain(with_parts({"text": "Yes."}, finish_message="done")) is None
    assert read_plain(SAID | {"promptFeedback": {}}) is None
    assert read_plain(SAID | {"candidates": []}) is None
