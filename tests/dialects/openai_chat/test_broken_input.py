"""Nothing that is sent to us makes us fall over."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.openai_chat.support import (
    DONE,
    ENCRYPTED,
    RICH_STREAM,
    SIGNED,
    body,
    events,
    sse,
)
from thinkwire.dialects.openai_chat import OPENAI_CHAT
from thinkwire.errors import MalformedInput
from thinkwire.events import Failed, Finished, Noted, Started, collect
from thinkwire.jsonvalue import dump, parse
from thinkwire.request import Request

junk: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        0,
        -3,
        2.5,
        "",
        "x",
        "<think>",
        [],
        {},
        [None],
        [{}],
        {"type": "text"},
        True,
        {"a": {"b": []}},
        10**20,
    ]
)


@st.composite
def mutated(draw: st.DrawFn, original: Any) -> Any:
    """The same value with some of its insides replaced or gone."""
    value = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 4))):
        at: Any = value
        holder: Any = None
        key: Any = None
        while isinstance(at, dict | list) and at and (holder is None or draw(st.integers(0, 3))):
            holder = at
            key = (
                draw(st.sampled_from(sorted(at)))
                if isinstance(at, dict)
                else draw(st.integers(0, len(at) - 1))
            )
            at = holder[key]
        if isinstance(holder, dict) and draw(st.booleans()):
            del holder[key]
        elif holder is not None:
            holder[key] = copy.deepcopy(draw(junk))
    return value


CALLED = {
    "id": "c1",
    "type": "function",
    "function": {"name": "f", "arguments": "{}"},
    "extra_content": {"google": {}},
}
REQUEST = {
    "model": "m",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "a"}]},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}],
        },
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}],
            "reasoning": "a",
            "reasoning_details": [SIGNED, ENCRYPTED],
            "reasoning_opaque": "x",
            "tool_calls": [CALLED],
            "function_call": {"name": "f"},
            "refusal": "b",
            "extra_content": {"google": {"thought_signature": "s"}},
        },
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "file", "file": {"file_data": "aGk="}}]},
        {
            "role": "user",
            "content": [{"type": "document_url", "document_url": "u"}, {"type": "refusal", "refusal": "x"}],
        },
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}, {"type": "zz"}],
    "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [CALLED]}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
    "stop": ["a"],
    "max_tokens": 5,
    "max_completion_tokens": 6,
}
ANSWER = body(
    REQUEST["messages"][2] | {"role": "assistant"},  # type: ignore[index]
    usage={"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}},
    error=None,
)


@given(value=mutated(REQUEST))
def test_a_broken_request_is_refused_or_read_and_never_anything_else(value: Any) -> None:
    try:
        request = OPENAI_CHAT.decode_request(value)
    except MalformedInput:
        return
    encoded = OPENAI_CHAT.encode_request(request)
    assert OPENAI_CHAT.decode_request(parse(dump(encoded.body))) == request


@given(value=mutated(ANSWER))
def test_a_broken_answer_is_refused_or_read_and_never_anything_else(value: Any) -> None:
    try:
        answer = OPENAI_CHAT.decode_response(value)
    except MalformedInput:
        return
    dump(OPENAI_CHAT.encode_response(answer).body)
    dump(OPENAI_CHAT.encode_request(Request("m", (answer.turn,))).body)


@given(frames=mutated(RICH_STREAM))
def test_a_broken_stream_ends_exactly_once(frames: Any) -> None:
    told = events(sse(*frames, DONE))
    spoken = [event for event in told if not isinstance(event, Noted)]
    assert isinstance(spoken[0], Started)
    assert [type(event) for event in spoken].count(Started) == 1
    assert isinstance(spoken[-1], Finished | Failed)
    assert sum(isinstance(event, Finished | Failed) for event in spoken) == 1
    collect(told)


@pytest.mark.parametrize("depth", [100, 10_000])
@pytest.mark.parametrize("wrap", ['{"a":%s}', "[%s]"])
def test_deep_nesting_is_a_typed_failure_or_read(depth: int, wrap: str) -> None:
    opening, closing = wrap.split("%s")
    deep = opening * depth + "1" + closing * depth
    told = events(
        f'data: {{"choices":[{{"delta":{{"content":"a","x":{deep}}},"finish_reason":"stop"}}]}}\n\n'.encode()
    )
    assert isinstance(told[-1], Failed if depth > 1000 else Finished)
