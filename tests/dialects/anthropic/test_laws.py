"""What is written is what is read, and nothing that is sent to us makes us fall over."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from tests.dialects.anthropic.support import RICH_STREAM, read, sse, write
from thinkwire.dialects.anthropic import ANTHROPIC
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, Failed, Finished, FinishReason, collect, events_of
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Origin,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice
from thinkwire.usage import Usage, measure

words, some_words, names = strategies.words, strategies.some_words, strategies.names
ids = st.from_regex(r"toolu_[a-zA-Z0-9]{1,8}", fullmatch=True)
objects = st.dictionaries(names, strategies.json_values, max_size=3)


def native(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """No extras, or some of the vendor's own fields."""
    return st.just({}) | st.fixed_dictionaries({}, optional=fields).map(
        lambda said: {"anthropic": said} if said else {}
    )


cached = native(cache_control=st.just({"type": "ephemeral"}))
citations = st.lists(objects, min_size=1, max_size=2)
texts = st.builds(Text, some_words, extras=native(cache_control=st.just({"type": "ephemeral"}), zz=words))
seals = st.builds(Seal, st.just("anthropic.signature"), some_words)
signed = st.builds(Thinking, some_words, seal=seals) | st.builds(Thinking, form=st.just("hidden"), seal=seals)
redacted = st.builds(
    Thinking, form=st.just("redacted"), seal=st.builds(Seal, st.just("anthropic.redacted"), some_words)
)
calls = st.builds(
    ToolCall,
    id=ids,
    name=names,
    arguments=objects.map(dump_text),
    extras=native(caller=st.just({"type": "direct"})),
)
opaques = objects.map(lambda fields: Opaque("anthropic", {**fields, "type": "zz_block"}))
images = st.builds(Image, media_type=st.just("image/png"), data=words, extras=cached) | st.builds(
    Image, url=st.just("https://example.org/a.png")
)
documents = st.builds(
    Document, media_type=st.just("text/plain"), text=words, name=st.none() | words
) | st.builds(Document, file_id=names, extras=cached)
result_content = st.lists(texts | images | documents | opaques, max_size=3).map(tuple)
results = st.builds(
    ToolResult,
    call_id=ids,
    content=result_content | st.just((Text(""),)),
    failed=st.booleans(),
    extras=cached,
)


def turn(role: Any, blocks: st.SearchStrategy[Any]) -> st.SearchStrategy[Turn]:
    listed = st.lists(blocks, min_size=1, max_size=4).map(tuple)
    return st.builds(Turn, st.just(role), listed, extras=native(zz=words))


turns = (
    turn("user", texts | results | images | documents | opaques)
    | turn("assistant", texts | signed | redacted | calls | opaques)
    | turn("system", texts)
)
tools = st.builds(
    Tool,
    name=names,
    description=st.none() | words,
    schema=objects.map(lambda fields: {**fields, "type": "object"}),
    strict=st.none() | st.booleans(),
    extras=native(type=st.just("custom"), defer_loading=st.booleans()),
)
server_tools = names.map(lambda name: Opaque("anthropic", {"type": f"{name}_20260101", "name": name}))


@st.composite
def requests(draw: st.DrawFn) -> Request:
    offered = tuple(draw(st.lists(tools | server_tools, max_size=3)))
    modes = st.sampled_from([ToolChoice("auto"), ToolChoice("any"), ToolChoice("any", ("f",))])
    choice = draw(st.none() | modes) if offered else None
    return Request(
        model=draw(words),
        turns=tuple(draw(st.lists(turns, max_size=4))),
        system=tuple(draw(st.lists(texts, max_size=2))),
        tools=offered,
        tool_choice=choice,
        parallel_tool_calls=draw(st.none() | st.booleans()) if choice else None,
        max_tokens=draw(st.none() | st.integers(0, 10**6)),
        temperature=draw(st.none() | st.floats(0, 1)),
        top_k=draw(st.none() | st.integers(0, 100)),
        stop=tuple(draw(st.lists(words, max_size=2))),
        output=draw(st.none() | st.builds(OutputFormat, objects)),
        stream=draw(st.none() | st.booleans()),
        extras=draw(native(thinking=objects, output_config=st.just({"effort": "low"}), metadata=objects)),
    )


@given(request=requests())
def test_a_request_is_read_as_it_was_written(request: Request) -> None:
    encoded = ANTHROPIC.encode_request(request)
    assert encoded.notes == ()
    assert ANTHROPIC.decode_request(encoded.body) == request
    assert ANTHROPIC.decode_request(json.loads(json.dumps(encoded.body))) == request


counts = st.integers(0, 10**6)
maybe = st.none() | counts


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    total = draw(counts)
    usage, notes = measure(
        draw(native(service_tier=words, cache_creation=objects)),
        input_uncached=draw(counts),
        cache_read=draw(maybe),
        cache_write=draw(maybe),
        output_total=total,
        output_reasoning=draw(st.none() | st.integers(0, total)),
    )
    assert notes == ()
    return usage


answer_texts = st.builds(Text, words, extras=native(citations=citations, zz=words))
unsigned = st.builds(Thinking, some_words, extras=native(zz=words)) | st.just(Thinking(form="hidden"))


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    blocks: tuple[Block, ...] = tuple(
        draw(st.lists(answer_texts | signed | unsigned | redacted | calls | opaques, max_size=5))
    )
    called = any(isinstance(block, ToolCall) for block in blocks)
    reasons: list[FinishReason] = ["length", "continue", "refusal", "tool_calls" if called else "stop"]
    return Answer(
        turn=Turn("assistant", blocks, origin=Origin(model=draw(some_words), response_id=draw(some_words))),
        finish=draw(st.sampled_from(reasons)),
        usage=draw(usages()),
        extras=draw(native(container=objects, stop_details=objects, context_management=objects, zz=words)),
    )


@given(answer=answers())
def test_an_answer_is_read_as_it_was_written(answer: Answer) -> None:
    encoded = ANTHROPIC.encode_response(answer)
    assert encoded.notes == ()
    assert ANTHROPIC.decode_response(encoded.body) == answer


@given(answer=answers())
def test_a_stream_is_read_as_it_was_written(answer: Answer) -> None:
    stream, notes = write(events_of(answer))
    assert notes == []
    assert collect(read(stream)) == answer


RICH_REQUEST = {
    "model": "claude-opus-5-5",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                {"type": "document", "source": {"type": "url", "url": "u"}, "title": "t"},
                {"type": "text", "text": "Hi"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm", "signature": "EpUC"},
                {"type": "redacted_thinking", "data": "EmwK"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1]}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "5"}]}
            ],
        },
    ],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}, {"type": "web_search_20250305"}],
    "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    "output_format": {"type": "json_schema", "schema": {}},
    "stop_sequences": ["x"],
}
RICH_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "Hm", "signature": "EpUC"},
        {"type": "redacted_thinking", "data": "EmwK"},
        {"type": "text", "text": "Hi", "citations": [{}]},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        {"type": "server_tool_use", "input": {}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 2, "output_tokens_details": {"thinking_tokens": 1}},
    "error": None,
}
JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 0.5, 10**30, "", "x", [], [None], {}, {"type": "text"}, {"a": [{}]}]
)


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """The value with junk, or nothing, in a few places."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        holder: Any = [value]
        key: Any = 0
        while isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 5)):
            holder = holder[key]
            key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
        if holder == [value]:
            continue
        if draw(st.booleans()):
            holder[key] = copy.deepcopy(draw(JUNK))
        else:
            del holder[key]
    return value


@given(body=damaged(RICH_REQUEST) | strategies.json_values)
def test_a_damaged_request_is_read_or_refused(body: Any) -> None:
    try:
        request = ANTHROPIC.decode_request(body)
    except MalformedInput:
        return
    ANTHROPIC.encode_request(request)


@given(body=damaged(RICH_MESSAGE) | strategies.json_values)
def test_a_damaged_answer_is_read_or_refused(body: Any) -> None:
    try:
        answer = ANTHROPIC.decode_response(body)
    except MalformedInput:
        return
    ANTHROPIC.encode_response(answer)
    write(events_of(answer))


@given(events=damaged(RICH_STREAM), order=st.none() | st.randoms())
def test_a_damaged_stream_ends_once_whatever_it_holds(events: list[Any], order: Any) -> None:
    if order is not None:
        order.shuffle(events)
    data = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    told = read(data)
    assert sum(isinstance(event, Finished | Failed) for event in told) == 1
    answer = collect(told)
    write(events_of(answer))


@given(data=st.binary(max_size=200), at=st.integers(0, 2000))
def test_garbage_in_a_stream_ends_it_at_worst(data: bytes, at: int) -> None:
    stream = sse(RICH_STREAM)
    told = read(stream[:at] + data + stream[at:])
    assert sum(isinstance(event, Finished | Failed) for event in told) == 1
    collect(told)
