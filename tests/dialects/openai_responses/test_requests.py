"""Requests, both ways: what is present, what is absent, what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_responses.wire import GEMINI, codes, native
from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
from thinkwire.errors import MalformedInput
from thinkwire.messages import Opaque, Text, Turn
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
decode, encode = OPENAI_RESPONSES.decode_request, OPENAI_RESPONSES.encode_request

FULL: dict[str, Any] = {
    "model": "gpt-6.1-sol",
    "instructions": "Be brief.",
    "input": [{"role": "user", "content": "Hi"}],
    "tools": [
        {"type": "function", "name": "look", "description": "Looks.", "parameters": SCHEMA, "strict": True},
        {"type": "function", "name": "wait", "defer_loading": True},
        {"type": "web_search", "filters": {"allowed_domains": ["a.org"]}},
    ],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "max_output_tokens": 4096,
    "temperature": 0.5,
    "top_p": 0.9,
    "text": {
        "format": {
            "type": "json_schema",
            "name": "city",
            "schema": SCHEMA,
            "strict": True,
            "description": "d",
        },
        "verbosity": "low",
    },
    "stream": True,
    "reasoning": {"effort": "high", "summary": "auto", "context": "all_turns"},
    "include": ["reasoning.encrypted_content"],
    "store": False,
    "previous_response_id": None,
    "truncation": "auto",
    "prompt_cache_key": "k",
}


def test_everything_that_is_asked_for_is_read() -> None:
    request = decode(FULL)
    assert request == Request(
        model="gpt-6.1-sol",
        system=(Text("Be brief."),),
        turns=(Turn("user", (Text("Hi"),)),),
        tools=(
            Tool("look", "Looks.", SCHEMA, strict=True),
            Tool("wait", extras=native(defer_loading=True)),
            Opaque("openai_responses", FULL["tools"][2]),
        ),
        tool_choice=ToolChoice("any"),
        parallel_tool_calls=False,
        max_tokens=4096,
        temperature=0.5,
        top_p=0.9,
        output=OutputFormat(SCHEMA, "city", strict=True, extras=native(description="d")),
        stream=True,
        extras=native(
            reasoning=FULL["reasoning"],
            include=FULL["include"],
            store=False,
            previous_response_id=None,
            truncation="auto",
            prompt_cache_key="k",
            text={"verbosity": "low"},
        ),
    )


def test_and_written_as_it_was() -> None:
    encoded = encode(decode(FULL))
    assert encoded.body == FULL
    assert encoded.notes == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "Hi"},
        {"input": ""},
        {"input": [{"role": "user", "content": "Hi"}]},
        {"input": [], "instructions": ""},
        {"input": [], "text": {"format": {"type": "text"}}},
        {"input": [], "text": {"format": {"type": "json_object"}, "verbosity": "low"}},
        {"input": [], "text": {"format": {"type": "grammar", "syntax": "lark"}}},
        {"input": [], "text": {"format": {"type": "json_schema", "name": "response", "schema": {}}}},
        {"input": [], "tool_choice": {"type": "function", "name": "f"}},
        {"input": [], "tool_choice": {"type": "web_search"}},
        {"input": [], "tool_choice": {"type": "mcp", "server_label": "s", "name": "n"}},
        {"input": [], "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp"}]}},
        {
            "input": [],
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "f"}],
            },
        },
        {"input": [], "instructions": [{"type": "message", "role": "developer", "content": "Be brief."}]},
        {"input": [], "stop": ["a"], "seed": 1, "unheard_of": None},
        {"input": [], "tools": [{"type": "function", "name": "add", "function": {"name": "add"}}]},
    ],
    ids=str,
)
def test_a_request_comes_back_as_it_was(fields: dict[str, Any]) -> None:
    body = {"model": "m", **fields}
    encoded = encode(decode(body))
    assert encoded.body == body
    assert encoded.notes == ()


@pytest.mark.parametrize(
    ("fields", "normal"),
    [
        ({"tools": [], "input": []}, {"input": []}),
        ({"temperature": None, "tools": None, "instructions": None, "text": None}, {"input": []}),
        (
            {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]},
            {"input": [{"role": "user", "content": "Hi"}]},
        ),
    ],
    ids=["an empty list", "nulls and no input", "one plain text"],
)
def test_what_is_normalised(fields: dict[str, Any], normal: dict[str, Any]) -> None:
    assert encode(decode({"model": "m", **fields})).body == {"model": "m", **normal}


@pytest.mark.parametrize(
    ("native_choice", "choice"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("any")),
        ({"type": "function", "name": "f"}, ToolChoice("any", ("f",))),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "f"}, {"type": "function", "name": "g"}],
            },
            ToolChoice("any", ("f", "g")),
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            ToolChoice("auto", ("f",)),
        ),
    ],
    ids=str,
)
def test_the_choice_of_tools_both_ways(native_choice: Any, choice: ToolChoice) -> None:
    assert decode({"input": [], "tool_choice": native_choice}) == Request(tool_choice=choice)
    assert encode(Request(tool_choice=choice)).body == {"input": [], "tool_choice": native_choice}


def test_a_native_choice_gives_way_to_a_changed_one() -> None:
    native_choice = {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "f"}],
    }
    request = Request(tool_choice=ToolChoice("auto"), extras=native(tool_choice=native_choice))
    assert encode(request).body["tool_choice"] == "auto"


def test_listed_instructions_are_system_text_for_everyone_else() -> None:
    listed = [
        {
            "role": "developer",
            "content": [{"type": "input_text", "text": "Be"}, {"type": "input_text", "text": "it."}],
        }
    ]
    request = decode({"input": [], "instructions": listed})
    assert request.system == (Text("Be"), Text("it."))
    assert encode(request).body["instructions"] == listed
    changed = Request(system=(Text("No."),), extras=request.extras)
    assert encode(changed).body["instructions"] == "No."


def test_several_system_texts_are_one_instruction() -> None:
    encoded = encode(Request(system=(Text("Be brief."), Text("Be kind.", seal=GEMINI))))
    assert encoded.body["instructions"] == "Be brief.\n\nBe kind."
    assert codes(encoded.notes) == ["seal.dropped"]


def test_what_the_wire_has_no_field_for_is_noted() -> None:
    request = Request(
        "m",
        stop=("a",),
        top_k=3,
        seed=4,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        tools=(Opaque("anthropic", {"type": "bash_20250124"}),),
        extras={"anthropic": {"thinking": {"type": "enabled"}}},
    )
    encoded = encode(request)
    assert encoded.body == {"model": "m", "input": []}
    assert codes(encoded.notes) == ["block.dropped", *["field.dropped"] * 6]
    assert {note.path for note in encoded.notes} >= {
        "stop",
        "top_k",
        "seed",
        "presence_penalty",
        "frequency_penalty",
    }


def test_a_string_that_is_the_whole_input_is_only_one_while_it_is() -> None:
    (turn,) = decode({"input": "Hi"}).turns
    assert encode(Request(turns=(turn,))).body["input"] == "Hi"
    assert encode(Request(turns=(turn, turn))).body["input"] == [{"role": "user", "content": "Hi"}] * 2


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], "$"),
        ({"input": 3}, "input"),
        ({"input": [3]}, "input[0]"),
        ({"input": [{}]}, "input[0]"),
        ({"input": [{"type": 3}]}, "input[0].type"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": None}]}, "input[0].content"),
        ({"input": [{"role": "tool", "content": ""}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": [{"text": "x"}]}]}, "input[0].content[0].type"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": {"url": "u"}}]}]},
            "input[0].content[0].image_url",
        ),
        ({"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}, "input[0].call_id"),
        (
            {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]},
            "input[0].arguments",
        ),
        ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "input[0].output"),
        (
            {"input": [{"type": "reasoning", "summary": [{"type": "summary_text"}]}]},
            "input[0].summary[0].text",
        ),
        ({"input": [{"type": "reasoning", "encrypted_content": 1}]}, "input[0].encrypted_content"),
        ({"input": "", "instructions": 1}, "instructions"),
        ({"input": "", "tools": [{"type": "function"}]}, "tools[0].name"),
        ({"input": "", "tools": [{"name": "f"}]}, "tools[0].type"),
        ({"input": "", "tool_choice": 1}, "tool_choice"),
        ({"input": "", "max_output_tokens": "9"}, "max_output_tokens"),
        ({"input": "", "text": {"format": {"type": "json_schema", "name": "n"}}}, "text.format.schema"),
        ({"input": "", "stream": "yes"}, "stream"),
        ({"input": "", "model": 4}, "model"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_with_its_place(body: Any, path: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        decode(body)
    assert caught.value.path == path
