"""Laws: what is written is read as the same thing, and bad input never surprises."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.gemini.wire import SEAL, SIGNED, array, call, chunk, events, result, sse
from tests.strategies import json_values, names, some_words, words
from thinkwire.dialects.gemini import GEMINI
from thinkwire.dialects.gemini.encoder import StreamEncoder
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, FinishReason, collect, events_of
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice
from thinkwire.usage import measure

maybe_seal = st.sampled_from([None, SEAL])
objects = st.dictionaries(words, json_values, max_size=3)
texts = st.builds(Text, text=words, seal=maybe_seal)
thoughts = st.builds(Thinking, text=some_words, form=st.just("summary"), seal=maybe_seal) | st.just(
    Thinking(form="hidden", seal=SEAL)
)
calls = st.builds(ToolCall, id=names, name=names, arguments=objects.map(dump_text), seal=maybe_seal)
images = st.builds(Image, media_type=st.just("image/png"), data=st.just("aGk="), seal=maybe_seal) | st.builds(
    Image, media_type=st.just("image/webp"), url=st.just("gs://b/a"), seal=maybe_seal
)
documents = st.builds(
    Document, media_type=st.just("application/pdf"), data=st.just("aGk="), name=st.none() | words
) | st.builds(Document, media_type=st.just("text/plain"), text=words)
opaques = st.builds(Opaque, dialect=st.just("gemini"), data=st.fixed_dictionaries({"toolCall": objects}))
results = st.builds(
    ToolResult,
    call_id=names,
    name=names,
    failed=st.booleans(),
    content=st.tuples(
        st.lists(st.builds(Text, some_words), max_size=1),
        st.lists(st.just(Image(media_type="image/png", data="aGk=")) | documents | opaques, max_size=2),
    ).map(lambda two: (*two[0], *two[1])),
)


def turn(role: str, blocks: st.SearchStrategy[Sequence[Block]]) -> st.SearchStrategy[Turn]:
    return st.builds(Turn, role=st.just(role), blocks=blocks.map(tuple))


spoken: st.SearchStrategy[Sequence[Block]] = st.lists(
    texts | thoughts | images | documents | opaques, min_size=1, max_size=4
)
answered: st.SearchStrategy[Sequence[Block]] = st.tuples(
    st.lists(results, min_size=1, max_size=2), spoken
).map(lambda two: [*two[0], *two[1]])
exchange = st.tuples(
    turn("user", spoken | answered),
    turn("assistant", st.lists(texts | thoughts | calls | images, max_size=4)),
)
tools = st.builds(Tool, name=names, description=st.none() | words, schema=st.none() | objects)
requests = st.builds(
    Request,
    system=st.lists(texts, max_size=2).map(tuple),
    turns=st.lists(exchange, max_size=3).map(lambda pairs: tuple(each for pair in pairs for each in pair)),
    tools=st.lists(tools, max_size=3).map(tuple),
    tool_choice=st.none()
    | st.builds(ToolChoice, mode=st.sampled_from(["auto", "none", "any"]))
    | st.builds(ToolChoice, mode=st.just("any"), only=st.lists(names, min_size=1, max_size=2).map(tuple)),
    max_tokens=st.none() | st.integers(1, 10**6),
    temperature=st.none() | st.floats(0, 2),
    top_k=st.none() | st.integers(1, 100),
    stop=st.lists(words, max_size=2).map(tuple),
    output=st.none() | st.builds(OutputFormat, schema=st.none() | objects),
)


@given(requests)
def test_a_request_is_read_as_it_was_written(request: Request) -> None:
    encoded = GEMINI.encode_request(request)
    assert encoded.notes == ()
    assert GEMINI.decode_request(encoded.body) == request


counts = st.integers(0, 10**9)
usages = st.builds(
    lambda total, read, visible, reasoning: measure(
        input_total=total + (read or 0), cache_read=read, output_visible=visible, output_reasoning=reasoning
    )[0],
    counts,
    st.none() | counts,
    counts,
    st.none() | counts,
)


def canonical(blocks: Sequence[Block], *, streamed: bool) -> tuple[Block, ...]:
    """Without what this wire cannot tell apart: plain text after plain text, and unsigned empty text.

    In a stream a seal comes after the text is gone, so only a text without words is read back with one.
    """
    kept: list[Block] = []
    for block in blocks:
        if isinstance(block, Text | Thinking):
            neighbour = (
                bool(kept) and type(kept[-1]) is type(block) and getattr(kept[-1], "seal", None) is None
            )
            if block.seal is None and (neighbour or not block.text):
                continue
            if streamed and block.text and block.seal:
                continue
        kept.append(block)
    return tuple(kept)


@st.composite
def answers(draw: st.DrawFn, *, streamed: bool) -> Answer:
    drawn = draw(st.lists(texts | thoughts | calls | images | documents | opaques, max_size=6))
    blocks = canonical(drawn, streamed=streamed)
    called = any(isinstance(block, ToolCall) for block in blocks)
    normal: FinishReason = "tool_calls" if called else "stop"
    others: list[FinishReason] = ["length", "continue", "refusal", "error"]
    finish = draw(st.sampled_from([normal, *others]))
    origin = draw(st.none() | st.builds(Origin, model=some_words, response_id=st.none() | names))
    return Answer(Turn("assistant", blocks, origin=origin), finish, draw(st.none() | usages))


@given(answers(streamed=False))
def test_an_answer_is_read_as_it_was_written(answer: Answer) -> None:
    encoded = GEMINI.encode_response(answer)
    assert encoded.notes == ()
    assert GEMINI.decode_response(encoded.body) == answer


@pytest.mark.parametrize("framing", ["sse", "array"])
@given(answer=answers(streamed=True), data=st.data())
def test_a_stream_is_read_as_it_was_written(framing: Any, answer: Answer, data: st.DataObject) -> None:
    encoder = StreamEncoder(framing=framing)
    wire = b"".join(encoder.feed(event) for event in events_of(answer)) + encoder.close()
    assert encoder.notes == []
    size = data.draw(st.integers(1, len(wire)))
    assert collect(events(wire, size)) == answer


@given(answers(streamed=False))
def test_a_whole_answer_read_as_one_chunk_of_a_stream_is_the_same(answer: Answer) -> None:
    body = GEMINI.encode_response(answer).body
    assert collect(events(sse(body))) == collect(events(array(body))) == GEMINI.decode_response(body)


SAMPLES: list[Any] = [
    {
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "a"}, {"inlineData": {"mimeType": "text/plain", "data": "aGk="}}],
            },
            {
                "role": "model",
                "parts": [{"text": "b", "thought": True, "thoughtSignature": SIGNED}, call("f", {"a": 1})],
            },
            {
                "role": "user",
                "parts": [
                    result("f", {"a": {}}, parts=[{"fileData": {"mimeType": "image/png", "fileUri": "u"}}]),
                    {"text": "c"},
                ],
            },
        ],
        "systemInstruction": {"role": "user", "parts": [{"text": "a"}, {"x": 1}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {}}}}
                ],
                "codeExecution": {},
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {
            "topK": 1,
            "responseMimeType": "application/json",
            "responseSchema": {"type": "STRING"},
        },
    },
    chunk(
        {"text": "a", "thought": True},
        {"text": "b", "thoughtSignature": SIGNED},
        call("f", {"a": 1}, willContinue=True, partialArgs=[{"jsonPath": "$.a", "stringValue": "x"}]),
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        finish="STOP",
        usage={
            "promptTokenCount": 1,
            "candidatesTokenCount": 2,
            "totalTokenCount": 3,
            "thoughtsTokenCount": 0,
        },
        promptFeedback={"blockReason": "SAFETY"},
        createTime="t",
    ),
]
replacements: st.SearchStrategy[Any] = (
    st.sampled_from([None, 0, -1, 1.5, True, "", "x", [], {}, [None], [[]], [{}], {"a": None}]) | json_values
)


@st.composite
def spoiled(draw: st.DrawFn, sample: Any) -> Any:
    """The sample with one value somewhere in it replaced."""
    if not isinstance(sample, dict | list) or not sample or draw(st.integers(0, 5)) == 0:
        return draw(replacements)
    if isinstance(sample, list):
        index = draw(st.integers(0, len(sample) - 1))
        return [*sample[:index], draw(spoiled(sample[index])), *sample[index + 1 :]]
    key = draw(st.sampled_from(sorted(sample)))
    return {**sample, key: draw(spoiled(sample[key]))}


any_body = st.sampled_from(SAMPLES).flatmap(spoiled).flatmap(spoiled)


@given(any_body)
def test_spoiled_requests_are_refused_or_read(body: Any) -> None:
    with contextlib.suppress(MalformedInput):
        request = GEMINI.decode_request(body)
        GEMINI.decode_request(GEMINI.encode_request(request).body)


@given(any_body)
def test_spoiled_answers_are_refused_or_read(body: Any) -> None:
    with contextlib.suppress(MalformedInput):
        answer = GEMINI.decode_response(body)
        GEMINI.decode_response(GEMINI.encode_response(answer).body)


@given(st.lists(any_body, max_size=3), st.binary(max_size=5), st.integers(1, 50))
def test_spoiled_streams_never_raise(bodies: list[Any], noise: bytes, size: int) -> None:
    for data in (sse(*bodies), array(*bodies), sse(*bodies) + noise):
        found = events(data, size)
        encoder = GEMINI.stream_encoder()
        assert isinstance(b"".join(encoder.feed(event) for event in found) + encoder.close(), bytes)
        collect(found)


def nested(depth: int) -> Any:
    value: Any = {}
    for level in range(depth):
        value = {"items": value} if level % 2 else {"parts": [value]}
    return value


@pytest.mark.parametrize("depth", [500, 10_000])
def test_deep_nesting_is_refused_or_read(depth: int) -> None:
    deep = nested(depth)
    bodies: list[Any] = [
        {"contents": [{"parts": [call("f", deep)]}]},
        {"contents": [{"parts": [result("f", deep)]}]},
        {"contents": [deep], "systemInstruction": deep, "generationConfig": deep},
        {"tools": [{"functionDeclarations": [{"name": "f", "parameters": deep}]}]},
        {"generationConfig": {"responseMimeType": "application/json", "responseSchema": deep}},
    ]
    for body in bodies:
        with contextlib.suppress(MalformedInput):
            GEMINI.decode_request(body)
    for body in (chunk(call("f", deep)), chunk({"x": deep}), {"candidates": [deep]}, {"usageMetadata": deep}):
        with contextlib.suppress(MalformedInput):
            GEMINI.decode_response(body)
    events(b'data: {"candidates":[{"content":{"parts":[{"x":' + b"[" * depth + b"]" * depth + b"}]}}]}\n\n")
