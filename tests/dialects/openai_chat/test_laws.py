"""What is written is what is read, and nothing that is sent to us makes us fall over."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from tests.dialects.openai_chat.support import DONE, ENCRYPTED, SIGNED, body, chunk, events, sse, stop
from thinkwire.dialects.openai_chat import OPENAI_CHAT
from thinkwire.dialects.openai_chat.encoder import StreamEncoder
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, Failed, Finished, FinishReason, Noted, Started, collect, events_of
from thinkwire.jsonvalue import dump, dump_text, parse
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

some_words, names = strategies.some_words, strategies.names
objects = st.dictionaries(names, strategies.json_values, max_size=3)
plain_words = some_words.filter(
    lambda text: text.strip("\r\n ") == text and "<" not in text and "[" not in text
)
"""Words that no tag rule touches."""


def native(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """No extras, or some native fields."""
    return st.just({}) | st.fixed_dictionaries({}, optional=fields).map(
        lambda said: {"openai_chat": said} if said else {}
    )


marked = native(cache_control=st.just({"type": "ephemeral"}))
signatures = st.builds(Seal, st.just("gemini.thought"), some_words)


def signed(at: str | None) -> dict[str, Any]:
    place = {"extra_content": {"google": {"thought": True}}}
    return {"openai_chat": place | ({"_at": at} if at else {})}


texts = st.builds(Text, plain_words)
calls = st.builds(ToolCall, names, names, objects.map(dump_text)) | st.builds(
    ToolCall, names, names, objects.map(dump_text), seal=signatures, extras=st.just(signed(None))
)
customs = st.builds(
    lambda name, text: Opaque(
        "openai_chat", {"id": "c", "type": "custom", "custom": {"name": name, "input": text}}
    ),
    names,
    some_words,
)
entries = st.fixed_dictionaries(
    {"type": st.just("reasoning.text"), "text": some_words, "index": st.integers(0, 9)},
    optional={"signature": some_words, "format": st.just("anthropic-claude-v1")},
)
summaries = st.fixed_dictionaries({"type": st.just("reasoning.summary"), "summary": some_words})


def sealed(given: list[dict[str, Any]], field: str | None) -> Thinking:
    text = "".join(entry.get("text", entry.get("summary", "")) for entry in given)
    form: Any = "summary" if given[0]["type"] == "reasoning.summary" else "full"
    if not text:
        field, form = None, "hidden"
    seal = Seal("openrouter.details", dump_text(given))
    return Thinking(text, form=form, field=field or "reasoning_details", seal=seal)


plain_fields = st.sampled_from(["reasoning_content", "reasoning", "reasoning_text", "thinking"])
thoughts = st.one_of(
    st.builds(Thinking, some_words, field=plain_fields),
    st.builds(
        Thinking,
        some_words,
        field=st.just("reasoning_text"),
        seal=st.builds(Seal, st.just("copilot.opaque"), some_words),
    ),
    st.builds(sealed, st.lists(entries, min_size=1, max_size=2), st.none() | plain_fields),
    st.builds(lambda entry: sealed([entry, ENCRYPTED], "reasoning"), summaries),
    st.just(sealed([ENCRYPTED], None)),
    st.builds(Thinking, plain_words, field=st.sampled_from(["tag:think", "tag:mm:think", "tag:THINK"])),
    st.builds(Thinking, plain_words, field=st.just("content"), extras=native(closed=st.just(True))),
)


def said(thinking: Thinking | None, text: Text | None, more: list[Block]) -> tuple[Block, ...]:
    return (*((thinking,) if thinking else ()), *((text,) if text else ()), *more)


spoken = st.builds(
    said, st.none() | thoughts, st.none() | texts, st.lists(calls | customs, max_size=2)
).filter(bool)
refused = st.builds(lambda text: (Text(text, refusal=True),), some_words)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    blocks = draw(spoken | refused)
    called = any(not isinstance(block, Text | Thinking) for block in blocks)
    declined = any(isinstance(block, Text) and block.refusal for block in blocks)
    usual: FinishReason = "tool_calls" if called else "refusal" if declined else "stop"
    usage: Usage | None = None
    if draw(st.booleans()):
        usage, _ = measure(
            input_total=draw(st.integers(100, 999)),
            cache_read=draw(st.none() | st.integers(0, 50)),
            cache_write=draw(st.none() | st.integers(0, 50)),
            output_total=draw(st.integers(100, 999)),
            output_reasoning=draw(st.none() | st.integers(0, 99)),
        )
    return Answer(
        Turn("assistant", blocks, origin=Origin(model=draw(names), response_id=draw(names))),
        draw(st.sampled_from([usual, "length", "error"])),
        usage,
        extras=draw(native(provider=some_words, created=st.integers(1, 9), _choice=st.just({"seed": 1}))),
    )


@given(answer=answers())
def test_a_whole_answer_is_read_as_it_was_written(answer: Answer) -> None:
    encoded = OPENAI_CHAT.encode_response(answer)
    assert encoded.notes == ()
    assert OPENAI_CHAT.decode_response(parse(dump(encoded.body))) == answer


@given(answer=answers())
def test_a_stream_is_read_as_it_was_written(answer: Answer) -> None:
    encoder = StreamEncoder()
    wire = b"".join([*(encoder.feed(event) for event in events_of(answer)), encoder.close()])
    assert encoder.notes == []
    assert collect(events(wire)) == answer


results = st.builds(
    ToolResult,
    names,
    st.lists(st.builds(Text, some_words, extras=marked), max_size=2).map(tuple),
    extras=native(metadata=objects),
)
media = (
    st.builds(Image, st.just("image/png"), st.just("aGk="), extras=marked)
    | st.builds(Image, url=st.just("https://example.org/a.png"))
    | st.builds(Document, st.just("application/pdf"), st.just("aGk="), name=st.none() | names)
    | st.builds(Document, file_id=names, extras=marked)
)
opaques = objects.map(lambda fields: Opaque("openai_chat", fields | {"type": "zz"}))
users = st.lists(st.builds(Text, some_words, extras=marked) | media | opaques, max_size=3).map(tuple)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    turns: list[Turn] = []
    for _ in range(draw(st.integers(0, 3))):
        answered = draw(st.lists(results, max_size=2)) if turns else []
        asked = draw(users)
        extras = draw(native(name=names)) if asked or not answered else {}
        turns.append(Turn("user", (*answered, *asked), extras=extras))
        turns.append(Turn("assistant", draw(spoken | refused), extras=draw(native(prefix=st.booleans()))))
        if draw(st.booleans()):
            turns.append(
                Turn("system", (Text(draw(some_words)),), extras=draw(native(role=st.just("developer"))))
            )
    schema = st.none() | st.just({"type": "object"})
    return Request(
        model=draw(names),
        system=tuple(draw(st.lists(st.builds(Text, some_words, extras=marked), max_size=2))),
        turns=tuple(turns),
        tools=tuple(
            draw(st.lists(st.builds(Tool, names, st.none() | some_words, schema, extras=marked), max_size=2))
        ),
        tool_choice=draw(
            st.none()
            | st.builds(ToolChoice, st.sampled_from(["auto", "none", "any"]))
            | st.builds(
                ToolChoice,
                st.sampled_from(["auto", "any"]),
                st.lists(names, min_size=1, max_size=2).map(tuple),
            )
        ),
        max_tokens=draw(st.none() | st.integers(1, 9)),
        top_k=draw(st.none() | st.integers(1, 9)),
        stop=tuple(draw(st.lists(some_words, max_size=2))),
        output=draw(st.none() | st.just(OutputFormat()) | st.builds(OutputFormat, st.just({"a": 1}), names)),
        extras=draw(native(reasoning_effort=some_words, thinking=objects)),
    )


@given(request=requests())
def test_a_request_is_read_as_it_was_written(request: Request) -> None:
    encoded = OPENAI_CHAT.encode_request(request)
    assert encoded.notes == ()
    assert OPENAI_CHAT.decode_request(parse(dump(encoded.body))) == request


CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"Ø":'}}
RICH_STREAM = [
    chunk({"role": "assistant", "content": "", "reasoning": None}, provider="P"),
    chunk({"reasoning": "Hm, Øslo…", "reasoning_details": [SIGNED | {"text": "Hm, Øslo…", "signature": ""}]}),
    chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "c2ln"}]}),
    chunk({"content": "It is\r\n 🌧 "}),
    chunk({"content": [{"type": "text", "text": " "}, {"type": "zz"}]}),
    chunk({"tool_calls": [CALL]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}], "refusal": "no"}),
    chunk(
        {
            "function_call": {"name": "g", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "s"}},
        }
    ),
    stop("tool_calls", x_groq={"usage": {"prompt_tokens": 1}}),
    chunk(
        None,
        usage={
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    ),
]
TAGGED_STREAM = [
    chunk({"content": piece}) for piece in ("\n<th", "ink>\nHm", "\n\n</think", ">\n\nØ ", "<think>")
]
OLLAMA = b"\n".join(
    dump(line)
    for line in (
        {"model": "m", "message": {"content": "", "thinking": "Hmø"}, "done": False},
        {"model": "m", "message": {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}},
        {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 3},
    )
)
STREAMS = {
    "rich": sse(*RICH_STREAM, DONE),
    "tags": sse(*TAGGED_STREAM, stop(), DONE),
    "crlf": sse(*RICH_STREAM, DONE).replace(b"\n", b"\r\n"),
    "ollama": OLLAMA,
    "error": sse(*RICH_STREAM[:4], {"error": {"message": "Ø"}}, DONE),
    "cut": sse(*RICH_STREAM)[:-700],
    "not json": sse(RICH_STREAM[0], "{", RICH_STREAM[1], DONE),
    "after the end": sse(chunk({"content": "Ø"}), stop(), DONE, RICH_STREAM[0], RICH_STREAM[1]),
}


@pytest.mark.parametrize("data", STREAMS.values(), ids=STREAMS)
@given(cuts=st.lists(st.integers(0, 3000), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_events(data: bytes, cuts: list[int]) -> None:
    decoder = OPENAI_CHAT.stream_decoder()
    told = []
    start = 0
    for end in [*sorted(min(cut, len(data)) for cut in cuts), len(data)]:
        told += decoder.feed(data[start:end])
        start = end
    assert [*told, *decoder.close()] == events(data)


@pytest.mark.parametrize("data", STREAMS.values(), ids=STREAMS)
def test_byte_by_byte_gives_the_same_events(data: bytes) -> None:
    decoder = OPENAI_CHAT.stream_decoder()
    told = [event for byte in data for event in decoder.feed(bytes([byte]))]
    assert [*told, *decoder.close()] == events(data)


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
