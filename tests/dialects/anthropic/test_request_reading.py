"""Requests that clients send us."""

from __future__ import annotations

from typing import Any

import pytest

from thinkwire.dialects.anthropic import ANTHROPIC
from thinkwire.errors import MalformedInput
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
SIGNATURE = Seal("anthropic.signature", "EpUC")


def asked(**fields: Any) -> Request:
    return ANTHROPIC.decode_request({"model": "claude-opus-5-5", "messages": [], **fields})


def only_block(native: dict[str, Any], role: str = "user") -> Block:
    (turn,) = asked(messages=[{"role": role, "content": [native]}]).turns
    (block,) = turn.blocks
    return block


@pytest.mark.parametrize(
    ("native", "neutral"),
    [
        ({"type": "text", "text": "Hi"}, Text("Hi")),
        ({"type": "text", "text": "Hi", "cache_control": None, "citations": None}, Text("Hi")),
        (
            {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}},
            Text("Hi", extras={"anthropic": {"cache_control": {"type": "ephemeral"}}}),
        ),
        (
            {"type": "text", "text": "Hi", "novelty": None},
            Text("Hi", extras={"anthropic": {"novelty": None}}),
        ),
        ({"type": "thinking", "thinking": "Hm", "signature": "EpUC"}, Thinking("Hm", seal=SIGNATURE)),
        ({"type": "thinking", "text": "Hm", "signature": "EpUC"}, Thinking("Hm", seal=SIGNATURE)),
        (
            {"type": "thinking", "thinking": "", "signature": "EpUC"},
            Thinking(form="hidden", seal=SIGNATURE),
        ),
        ({"type": "thinking", "thinking": "Hm", "signature": ""}, Thinking("Hm")),
        (
            {"type": "redacted_thinking", "data": "EmwK"},
            Thinking(form="redacted", seal=Seal("anthropic.redacted", "EmwK")),
        ),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
            ToolCall("toolu_1", "f", '{"a":1}'),
        ),
        (
            {"type": "tool_use", "id": "t", "name": "f", "input": {}, "caller": {"type": "direct"}},
            ToolCall("t", "f", "{}", extras={"anthropic": {"caller": {"type": "direct"}}}),
        ),
        ({"type": "tool_result", "tool_use_id": "t"}, ToolResult("t")),
        ({"type": "tool_result", "tool_use_id": "t", "content": []}, ToolResult("t")),
        ({"type": "tool_result", "tool_use_id": "t", "content": "5"}, ToolResult("t", (Text("5"),))),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True},
            ToolResult("t", (Text("no"),), failed=True),
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "is_error": False},
            ToolResult("t", extras={"anthropic": {"is_error": False}}),
        ),
        (
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [
                    {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
                    {"type": "search_result", "title": "x"},
                ],
            },
            ToolResult(
                "t",
                (
                    Image(url="https://example.org/a.png"),
                    Opaque("anthropic", {"type": "search_result", "title": "x"}),
                ),
            ),
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            Image(media_type="image/png", data="aGk="),
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "file_1"}}, Image(file_id="file_1")),
        (
            {"type": "image", "source": {"type": "url", "url": "u", "novelty": 1}},
            Image(url="u", extras={"anthropic": {"source": {"novelty": 1}}}),
        ),
        (
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "Once"},
                "title": "Tale",
                "context": None,
                "citations": {"enabled": True},
            },
            Document(
                media_type="text/plain",
                text="Once",
                name="Tale",
                extras={"anthropic": {"citations": {"enabled": True}}},
            ),
        ),
        ({"type": "document", "source": {"type": "url", "url": "u"}}, Document(url="u")),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, Document(file_id="f")),
    ],
)
def test_blocks_are_understood(native: dict[str, Any], neutral: Block) -> None:
    assert only_block(native) == neutral


@pytest.mark.parametrize(
    "native",
    [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {"type": "compaction", "content": "…"},
        {"type": "document", "source": {"type": "content", "content": []}, "title": "x"},
        {"type": "image", "source": {"type": "hologram"}},
    ],
)
def test_what_the_neutral_format_has_no_word_for_is_kept_whole(native: dict[str, Any]) -> None:
    assert only_block(native) == Opaque("anthropic", native)


def test_a_document_in_a_models_turn_is_kept_whole() -> None:
    native = {"type": "document", "source": {"type": "url", "url": "u"}}
    assert only_block(native, "assistant") == Opaque("anthropic", native)


def test_messages_are_turns_one_to_one() -> None:
    request = asked(
        messages=[
            {"role": "user", "content": "a"},
            {"role": "user", "content": "b"},
            {"role": "system", "content": [], "output_config": {"effort": "low"}},
            {"role": "assistant", "content": [{"type": "text", "text": "c"}]},
        ]
    )
    assert request.turns == (
        Turn("user", (Text("a"),)),
        Turn("user", (Text("b"),)),
        Turn("system", (), extras={"anthropic": {"output_config": {"effort": "low"}}}),
        Turn("assistant", (Text("c"),)),
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"system": "Be brief."}, Request(system=(Text("Be brief."),))),
        ({"system": ""}, Request()),
        ({"system": None, "tools": None, "stop_sequences": [], "temperature": None}, Request()),
        ({"max_tokens": 0, "top_k": 40.0}, Request(max_tokens=0, top_k=40)),
        ({"stop_sequences": ["a"], "stream": False}, Request(stop=("a",), stream=False)),
        (
            {"thinking": {"type": "adaptive"}, "metadata": None},
            Request(extras={"anthropic": {"thinking": {"type": "adaptive"}, "metadata": None}}),
        ),
        (
            {"tools": [{"name": "f", "input_schema": SCHEMA, "strict": True}]},
            Request(tools=(Tool("f", schema=SCHEMA, strict=True),)),
        ),
        (
            {"tools": [{"type": "custom", "name": "f", "description": "", "defer_loading": True}]},
            Request(
                tools=(
                    Tool(
                        "f", description="", extras={"anthropic": {"type": "custom", "defer_loading": True}}
                    ),
                )
            ),
        ),
        (
            {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
            Request(
                tools=(Opaque("anthropic", {"type": "web_search_20250305", "name": "web_search"}),),
            ),
        ),
        ({"tool_choice": {"type": "any"}}, Request(tool_choice=ToolChoice("any"))),
        ({"tool_choice": {"type": "tool", "name": "f"}}, Request(tool_choice=ToolChoice("any", ("f",)))),
        (
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
            Request(tool_choice=ToolChoice("auto"), parallel_tool_calls=False),
        ),
        (
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
            Request(tool_choice=ToolChoice("auto"), parallel_tool_calls=True),
        ),
        (
            {"tool_choice": {"type": "telepathy", "name": "f"}},
            Request(extras={"anthropic": {"tool_choice": {"type": "telepathy", "name": "f"}}}),
        ),
        (
            {"output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}}},
            Request(output=OutputFormat(SCHEMA), extras={"anthropic": {"output_config": {"effort": "high"}}}),
        ),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            Request(output=OutputFormat(SCHEMA)),
        ),
        (
            {"output_config": {"format": {"type": "poem"}}},
            Request(extras={"anthropic": {"output_config": {"format": {"type": "poem"}}}}),
        ),
    ],
)
def test_fields_are_understood(fields: dict[str, Any], expected: Request) -> None:
    assert ANTHROPIC.decode_request({"messages": [], **fields}) == expected


def test_the_older_output_format_means_the_same() -> None:
    output = asked(output_format={"type": "json_schema", "schema": SCHEMA}).output
    assert output is not None
    assert output.schema == SCHEMA


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"model": "m"}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "tool", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": 3}]}]}, "messages[0].content[0].type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 3}]}]},
            "messages[0].content[0].text",
        ),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "thinking", "signature": "x"}]}]},
            "messages[0].content[0].thinking",
        ),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": "{}"}],
                    }
                ]
            },
            "messages[0].content[0].input",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": 1}]}]},
            "messages[0].content[0].tool_use_id",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text"}]}
                        ],
                    }
                ]
            },
            "messages[0].content[0].content[0].text",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}]},
            "messages[0].content[0].source.url",
        ),
        ({"messages": [], "system": 3}, "system"),
        ({"messages": [], "system": [{"type": "image"}]}, "system[0].type"),
        ({"messages": [], "max_tokens": "many"}, "max_tokens"),
        ({"messages": [], "tools": [{"input_schema": {}}]}, "tools[0].name"),
        ({"messages": [], "tools": [{"name": "f", "input_schema": []}]}, "tools[0].input_schema"),
        ({"messages": [], "tool_choice": "auto"}, "tool_choice"),
        ({"messages": [], "tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"messages": [], "output_config": "high"}, "output_config"),
        ([], "$"),
    ],
)
def test_the_place_of_a_mistake_is_named(body: Any, path: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        ANTHROPIC.decode_request(body)
    assert caught.value.path == path


def test_arguments_nested_too_deeply_are_a_mistake() -> None:
    deep: Any = {}
    for _ in range(10_000):
        deep = {"a": deep}
    call = {"type": "tool_use", "id": "t", "name": "f", "input": deep}
    with pytest.raises(MalformedInput, match="nested too deeply"):
        asked(messages=[{"role": "assistant", "content": [call]}])
