"""Hypothesis strategies and samples for Anthropic's dialect: what its wire carries without loss."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from tests import strategies
from tests.dialects.anthropic.support import RICH_STREAM, START, STOP, block, ended, said, sse, thought
from thinkwire.events import Answer, FinishReason
from thinkwire.jsonvalue import JsonObject, dump, dump_text
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
from thinkwire.wire.sse import frame

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


def streamed_answers() -> st.SearchStrategy[Answer]:
    return answers()


RICH_REQUEST: JsonObject = {
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
RICH_ANSWER: JsonObject = {
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


def unnamed(frames: Iterable[Any]) -> bytes:
    """A stream whose events have their name in their data only."""
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in frames)


def named(frames: Iterable[Any]) -> bytes:
    """A stream as the vendor writes it, where a frame has a name to write."""
    return b"".join(
        sse([event]) if isinstance(event, dict) and isinstance(event.get("type"), str) else unnamed([event])
        for event in frames
    )


def names_only(frames: Iterable[Any]) -> bytes:
    """A stream whose events do not have their name in their data."""
    return b"".join(
        frame(dump({key: value for key, value in event.items() if key != "type"}), event["type"])
        for event in frames
    )


FRAMINGS = {"named": named, "unnamed": unnamed}
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Ø"}}
STEPS = [
    START,
    *block(0, "thinking", *map(thought, "Høm")),
    *block(1, "text", *map(said, "Øslo")),
    ended(),
    STOP,
]
STEPS = [
    START,
    *block(0, "thinking", *map(thought, "Høm")),
    *block(1, "text", *map(said, "Øslo")),
    *block(2, "thinking", *map(thought, "Hm")),
    *block(3, "text", *map(said, "øl")),
    ended(),
    STOP,
]
"""Texts of the same form, with something else between them."""
STREAMS = {
    "rich": sse(RICH_STREAM),
    "unnamed": unnamed(RICH_STREAM),
    "crlf": sse(RICH_STREAM).replace(b"\n", b"\r\n"),
    "crlf, names only": names_only(RICH_STREAM).replace(b"\n", b"\r\n"),
    "names only": names_only(RICH_STREAM),
    "steps": sse(STEPS),
    "error": sse([*RICH_STREAM[:5], ERROR, *RICH_STREAM[5:]]),
    "cut": sse(RICH_STREAM)[:-700],
    "not json": sse(RICH_STREAM[:5]) + b"data: {\n\n" + sse(RICH_STREAM[5:]),
    "after the end": sse([*RICH_STREAM, *RICH_STREAM[:5]]),
}
ALLOWED_NOTES: frozenset[str] = frozenset()
ALWAYS_STARTS = False
