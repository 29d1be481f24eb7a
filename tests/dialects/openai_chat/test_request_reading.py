"""Requests of clients: what they mean, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    ASKED,
    GOOGLE,
    LOOP,
    NAME,
    PICTURE,
    SIGNED,
    USER,
    assistant,
    call_entry,
    details,
    read,
    tool_message,
    turns,
)
from thinkwire.dialects.openai_chat.request import decode_request, encode_request
from thinkwire.errors import MalformedInput
from thinkwire.messages import Document, Image, Opaque, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice


def test_null_and_empty_fields_are_left_out() -> None:
    request = read(
        USER, temperature=None, tools=None, stop=None, tool_choice=None, response_format=None, stream=None
    )
    assert request == read(USER, tools=[], stop=[]) == Request("m", (ASKED,))
    assert encode_request(request).body == {"model": "m", "messages": [USER]}


def test_a_request_need_not_name_its_model() -> None:
    request = decode_request({"messages": [USER]})
    assert request == Request(turns=(ASKED,))
    assert encode_request(request).body == {"messages": [USER]}


def test_the_first_system_message_is_the_systems_others_are_turns() -> None:
    request = read({"role": "system", "content": "a"}, {"role": "developer", "content": "b"}, USER)
    assert request.system == (Text("a"),)
    assert request.turns == (Turn("system", (Text("b"),), extras={NAME: {"role": "developer"}}), ASKED)
    assert read({"role": "developer", "content": "a"}).system == (
        Text("a", extras={NAME: {"role": "developer"}}),
    )
    assert read(USER, {"role": "system", "content": "a"}).system == ()


def test_results_in_a_row_and_the_user_after_them_are_one_turn() -> None:
    loop = assistant(content=None, tool_calls=[call_entry(), call_entry("c2")])
    other = tool_message("c2", "9 °C")
    _, answered, _, again = turns(loop, tool_message(), other, USER, LOOP, tool_message())
    first, second = ToolResult("c1", (Text("12 °C"),)), ToolResult("c2", (Text("9 °C"),))
    assert answered == Turn("user", (first, second, Text("Well?")))
    assert again == Turn("user", (first,))


def test_results_without_ids_find_their_calls_by_name_then_by_order() -> None:
    bare = [{"function": {"name": name, "arguments": "{}"}} for name in ("f", "g", "f")]
    results = [
        {"role": "tool", "content": "1", "name": "g"},
        {"role": "tool", "content": "2"},
        {"role": "tool", "content": "3"},
    ]
    said, answered = turns(assistant(tool_calls=bare), *results)
    ids = [block.id for block in said.blocks if isinstance(block, ToolCall)]
    assert len(set(ids)) == 3
    assert [block.call_id for block in answered.blocks if isinstance(block, ToolResult)] == [
        ids[1],
        ids[0],
        ids[2],
    ]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        ({"type": "image_url", "image_url": {"url": PICTURE}}, Image("image/png", "iVBORw0KGgo=")),
        ({"type": "image_url", "image_url": {"url": "https://a/b"}}, Image(url="https://a/b")),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"}},
            Document("application/pdf", "aGk=", name="a.pdf"),
        ),
        ({"type": "file", "file": {"file_id": "file-1"}}, Document(file_id="file-1")),
        ({"type": "file", "file": {"file_data": "https://a/b"}}, Document(url="https://a/b")),
        ({"type": "zz", "x": 1}, Opaque(NAME, {"type": "zz", "x": 1})),
    ],
)
def test_parts_of_a_user(part: dict[str, Any], block: Any) -> None:
    assert turns({"role": "user", "content": [part, {"type": "text", "text": "Well?"}]})[0].blocks == (
        block,
        Text("Well?"),
    )


@pytest.mark.parametrize(
    ("message", "blocks"),
    [
        (assistant(content="Yes.", reasoning="Hm."), (Thinking("Hm.", field="reasoning"), Text("Yes."))),
        (
            assistant(content="Yes.", reasoning_details=[SIGNED]),
            (Thinking("Hm, two cities.", field="reasoning_details", seal=details(SIGNED)), Text("Yes.")),
        ),
        (
            assistant(content=None, reasoning_opaque="b3Bx"),
            (Thinking(form="hidden", field="reasoning_text", seal=Seal("copilot.opaque", "b3Bx")),),
        ),
        (
            assistant(content="<think>\nHm.\n</think>\n\nYes."),
            (Thinking("Hm.", field="tag:think"), Text("Yes.")),
        ),
        (
            assistant(content="<think>Hm.</think>Yes.", reasoning="Oh."),
            (Thinking("Oh.", field="reasoning"), Text("<think>Hm.</think>Yes.")),
        ),
        (
            assistant(content="a", refusal="b", tool_calls=[call_entry()]),
            (Text("a"), Text("b", refusal=True), ToolCall("c1", "f", "{}")),
        ),
    ],
)
def test_blocks_of_an_assistant(message: dict[str, Any], blocks: tuple[Any, ...]) -> None:
    assert turns(message)[0].blocks == blocks


def test_geminis_signatures_are_seals() -> None:
    signed = {"google": {"thought_signature": GOOGLE.data}}
    (said,) = turns(
        assistant(content="Yes.", extra_content=signed, tool_calls=[call_entry(extra_content=signed)])
    )
    text, called = said.blocks
    assert isinstance(text, Text)
    assert isinstance(called, ToolCall)
    assert (text.seal, called.seal) == (GOOGLE, GOOGLE)


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("any")),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("any", ("f",))),
        ({"type": "tool", "name": "f"}, ToolChoice("any", ("f",))),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
            },
            ToolChoice("auto", ("f",)),
        ),
        ({"type": "custom", "custom": {"name": "f"}}, None),
    ],
)
def test_tool_choices(value: Any, choice: ToolChoice | None) -> None:
    assert read(USER, tool_choice=value).tool_choice == choice


def test_tools_and_output() -> None:
    schema = {"type": "object"}
    request = read(
        USER,
        tools=[
            {
                "type": "function",
                "function": {"name": "f", "description": "d", "parameters": schema, "strict": True},
            }
        ],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "x", "schema": schema, "strict": False},
        },
    )
    assert request.tools == (Tool("f", "d", schema, strict=True),)
    assert request.output == OutputFormat(schema, "x", strict=False)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], "$"),
        ({}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": [7]}, "messages[0]"),
        ({"messages": [{}]}, "messages[0].role"),
        ({"messages": [{"role": "wizard"}]}, "messages[0].role"),
        ({"messages": [{"role": None}]}, "messages[0].role"),
        ({"messages": [USER, {"role": "user", "content": 7}]}, "messages[1].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": ["a"]}]}, "messages[0].content[0]"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": 7}]}]},
            "messages[0].content[0].image_url",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "messages[0].content[0].image_url.url",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": 7}}]}]},
            "messages[0].content[0].file.file_id",
        ),
        (
            {"messages": [assistant(content=[{"type": "thinking", "thinking": 7}])]},
            "messages[0].content[0].thinking",
        ),
        (
            {"messages": [assistant(tool_calls=[{"id": "c1", "type": "function"}])]},
            "messages[0].tool_calls[0].function",
        ),
        (
            {"messages": [assistant(tool_calls=[{"id": "c1", "function": {}}])]},
            "messages[0].tool_calls[0].function.name",
        ),
        (
            {"messages": [assistant(tool_calls=[call_entry(arguments=7)])]},
            "messages[0].tool_calls[0].function.arguments",
        ),
        (
            {"messages": [assistant(tool_calls=[{"id": "c1", "type": "mcp"}])]},
            "messages[0].tool_calls[0].mcp",
        ),
        ({"messages": [assistant(tool_calls={})]}, "messages[0].tool_calls"),
        ({"messages": [assistant(reasoning=7)]}, "messages[0].reasoning"),
        ({"messages": [assistant(reasoning_details={})]}, "messages[0].reasoning_details"),
        ({"messages": [assistant(reasoning_details=[7])]}, "messages[0].reasoning_details[0]"),
        ({"messages": [assistant(refusal=False)]}, "messages[0].refusal"),
        ({"messages": [tool_message(7)]}, "messages[0].tool_call_id"),
        ({"messages": [USER], "model": 7}, "model"),
        ({"messages": [USER], "temperature": "hot"}, "temperature"),
        ({"messages": [USER], "max_tokens": 1.5}, "max_tokens"),
        ({"messages": [USER], "stop": [7]}, "stop[0]"),
        ({"messages": [USER], "stream": "yes"}, "stream"),
        ({"messages": [USER], "tools": [{"type": "function"}]}, "tools[0].function"),
        (
            {"messages": [USER], "tools": [{"function": {"name": "f", "parameters": []}}]},
            "tools[0].function.parameters",
        ),
        ({"messages": [USER], "tool_choice": 7}, "tool_choice"),
        ({"messages": [USER], "response_format": "json"}, "response_format"),
        ({"messages": [USER], "response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(body: Any, path: str) -> None:
    with pytest.raises(MalformedInput) as error:
        decode_request(body)
    assert error.value.path == path
