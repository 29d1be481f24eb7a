"""Requests of clients: what they mean, that they come back as they were, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_chat.support import ENCRYPTED, GOOGLE, NAME, PICTURE, SIGNED, details
from thinkwire.dialects.openai_chat.request import decode_request, encode_request
from thinkwire.errors import MalformedInput
from thinkwire.messages import Document, Image, Opaque, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

USER = {"role": "user", "content": "Well?"}
ASKED = Turn("user", (Text("Well?"),))


def read(*messages: Any, **fields: Any) -> Request:
    return decode_request({"model": "m", "messages": list(messages)} | fields)


def turns(*messages: Any) -> tuple[Turn, ...]:
    return read(*messages).turns


def call(id_: str = "c1", name: str = "f", arguments: Any = "{}", **fields: Any) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} | fields


def tool(id_: Any = "c1", content: Any = "12 °C", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content} | fields


def assistant(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant"} | fields


LOOP = assistant(content=None, tool_calls=[call()])

SAME = {
    "text": [USER],
    "parts": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
    "marked text": [
        {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "x"}}]}
    ],
    "name": [USER | {"name": "ada", "x": None}],
    "empty": [{"role": "user", "content": ""}],
    "picture": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}}]}
    ],
    "linked picture": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b.png"}}]}
    ],
    "bare picture": [{"role": "user", "content": [{"type": "image_url", "image_url": "https://a/b.png"}]}],
    "odd data url": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,hi"}}]}],
    "file": [
        {
            "role": "user",
            "content": [
                {
                    "type": "file",
                    "file": {"file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"},
                },
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "file", "file": {"file_data": "aGk="}},
                {"type": "file", "file": {"file_data": "https://a/b.pdf", "filename": "b"}},
                {"type": "file", "file": {"file_data": "aGk=", "file_id": "file-1", "x": 1}, "y": 2},
            ],
        }
    ],
    "document": [{"role": "user", "content": [{"type": "document_url", "document_url": "https://a/b.pdf"}]}],
    "sound": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "aGk="}}]}],
    "system": [{"role": "system", "content": "Be brief."}, USER],
    "developer": [{"role": "developer", "content": "Be brief.", "name": "x"}, USER],
    "system parts": [
        {"role": "system", "content": [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": "b"}]}
    ],
    "empty system with a setting": [
        {"role": "system", "content": "", "configuration_update": {"reasoning": {}}},
        USER,
    ],
    "later systems": [
        {"role": "system", "content": "a"},
        {"role": "system", "content": "b"},
        USER,
        {"role": "developer", "content": "c", "x": 1},
    ],
    "tool loop": [USER, LOOP, tool(), assistant(content="Cold.")],
    "parallel results, then a user": [
        USER,
        assistant(content="", tool_calls=[call(), call("c2")]),
        tool(),
        tool("c2"),
        USER,
    ],
    "results then an empty user": [LOOP, tool(), {"role": "user", "content": ""}],
    "result with fields": [LOOP, tool(name="f", metadata={"x": 1})],
    "result parts": [LOOP, tool(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])],
    "result with a picture": [LOOP, tool(content=[{"type": "image_url", "image_url": {"url": PICTURE}}])],
    "content empty beside calls": [assistant(content="", tool_calls=[call()])],
    "content [] beside calls": [assistant(content=[], tool_calls=[call()])],
    "empty assistant": [assistant(content="")],
    "call fields": [
        assistant(content=None, tool_calls=[call(index=0, function={"name": "f", "arguments": "{}", "x": 1})])
    ],
    "object arguments without ids": [
        assistant(
            content="", tool_calls=[{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]
        ),
        {"role": "tool", "content": "12 °C", "tool_name": "f"},
    ],
    "custom call": [
        assistant(
            content=None, tool_calls=[{"id": "c1", "type": "custom", "custom": {"name": "x", "input": ""}}]
        )
    ],
    "old function": [
        assistant(content=None, function_call={"name": "f", "arguments": "{}"}),
        {"role": "function", "name": "f", "content": "12 °C"},
    ],
    "refusal": [assistant(content=None, refusal="I can't.")],
    "refusal part": [assistant(content=[{"type": "refusal", "refusal": "I can't."}])],
    "more fields": [assistant(content="Yes.", prefix=True, audio={"id": "a1"}, annotations=[])],
    "reasoning_content": [assistant(content="Yes.", reasoning_content="Hm.")],
    "reasoning": [assistant(content="Yes.", reasoning="Hm.")],
    "both": [assistant(content="Yes.", reasoning="Hm.", reasoning_content="Hm.")],
    "both, different": [assistant(content="Yes.", reasoning="Hm.", reasoning_content="Oh.")],
    "reasoning_text": [assistant(content="Yes.", reasoning_text="Hm.", reasoning_opaque="b3Bx")],
    "reasoning_opaque alone": [assistant(content="Yes.", reasoning_opaque="b3Bx")],
    "thinking": [assistant(content="Yes.", thinking="Hm.")],
    "empty reasoning": [assistant(content=None, reasoning_content="", tool_calls=[call()])],
    "empty beside full": [assistant(content="Yes.", reasoning_content="", reasoning="Hm.")],
    "details": [assistant(content="Yes.", reasoning_details=[SIGNED, ENCRYPTED])],
    "details and reasoning": [
        assistant(content="Yes.", reasoning="Hm, two cities.", reasoning_details=[SIGNED])
    ],
    "details and other reasoning": [assistant(content="Yes.", reasoning="Oh.", reasoning_details=[SIGNED])],
    "unmerged details": [
        assistant(content="Yes.", reasoning_details=[{"text": "a"}, {"text": "b"}, {"text": ""}])
    ],
    "no details": [assistant(content="Yes.", reasoning_details=[])],
    "blank details": [assistant(content="Yes.", reasoning_details=[{"type": "reasoning.text", "text": ""}])],
    "thinking parts": [
        assistant(
            content=[
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
                {
                    "type": "thinking",
                    "thinking": [{"type": "text", "text": "H"}, {"type": "text", "text": "m."}],
                },
                {"type": "thinking", "thinking": "Hm."},
                {"type": "thinking", "thinking": []},
                {"type": "text", "text": "Yes."},
            ]
        )
    ],
    "tags": [assistant(content="<think>\nHm.\n</think>\n\nYes.")],
    "tight tags": [assistant(content=" <think>Hm.</think>Yes.")],
    "open tag": [assistant(content="<think>\n\nHm.")],
    "empty tags": [assistant(content="<think>\n\n</think>\n\nYes.")],
    "only tags": [assistant(content="<think></think>")],
    "stray closing tag": [assistant(content="</think>\nYes.")],
    "tags beside calls": [assistant(content="<think>Hm.</think>", tool_calls=[call()])],
    "gemini's signature on a call": [
        assistant(
            content=None, tool_calls=[call(extra_content={"google": {"thought_signature": "Q3NRQg=="}})]
        )
    ],
    "gemini's signature on the message": [
        assistant(
            content="Yes.", extra_content={"google": {"thought": True, "thought_signature": "Q3NRQg=="}}
        )
    ],
    "another extra_content": [assistant(content="Yes.", extra_content={"x": 1})],
}


@pytest.mark.parametrize("messages", SAME.values(), ids=SAME)
def test_messages_come_back_as_they_were(messages: list[Any]) -> None:
    request = read(*messages)
    encoded = encode_request(request)
    assert encoded.body == {"model": "m", "messages": messages}
    assert decode_request(encoded.body) == request


FIELDS: list[dict[str, Any]] = [
    {"max_tokens": 5},
    {"max_completion_tokens": 5},
    {"max_tokens": 4, "max_completion_tokens": 5},
    {
        "temperature": 1,
        "top_p": 0.5,
        "top_k": 40,
        "seed": 7,
        "presence_penalty": 0.5,
        "frequency_penalty": -1,
    },
    {"stop": "END"},
    {"stop": ["END"]},
    {"stop": ["END", "\n"]},
    {"stream": True, "stream_options": {"include_usage": True}},
    {"n": 1, "logprobs": True, "store": False, "user": "ada", "metadata": {}, "service_tier": None},
    {
        "reasoning_effort": "high",
        "reasoning": {"effort": "high"},
        "thinking": {"type": "enabled"},
        "enable_thinking": True,
    },
    {"parallel_tool_calls": False},
    {"tools": [{"type": "function", "function": {"name": "f"}}]},
    {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "d",
                    "parameters": {"type": "object"},
                    "strict": True,
                    "x": 1,
                },
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "web_search"},
            {"type": "custom", "custom": {"name": "x"}},
        ]
    },
    {"functions": [{"name": "f"}], "function_call": "auto"},
    {"response_format": {"type": "json_object"}},
    {"response_format": {"type": "text"}},
    {"response_format": {"type": "grammar", "grammar": "x"}},
    {"response_format": {"type": "json_object", "schema": {"type": "object"}}},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}},
    {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "x", "strict": True, "description": "d"},
        }
    },
    *(
        {"tool_choice": choice}
        for choice in (
            "auto",
            "none",
            "required",
            "any",
            "validated",
            {"type": "function", "function": {"name": "f"}},
            {"type": "function", "name": "f"},
            {"type": "tool", "name": "f"},
            {"type": "custom", "custom": {"name": "f"}},
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
            },
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "f"}}],
                },
            },
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "mcp", "label": "x"}]},
            },
        )
    ),
]


@pytest.mark.parametrize("fields", FIELDS, ids=str)
def test_fields_come_back_as_they_were(fields: dict[str, Any]) -> None:
    request = read(USER, **fields)
    encoded = encode_request(request)
    assert encoded.body == {"model": "m", "messages": [USER]} | fields
    assert encoded.notes == ()
    assert decode_request(encoded.body) == request


@pytest.mark.parametrize(
    ("messages", "normal"),
    [
        ([{"role": "user", "content": [{"type": "text", "text": "a"}]}], [{"role": "user", "content": "a"}]),
        ([{"role": "user", "content": []}], [{"role": "user", "content": ""}]),
        ([{"role": "user", "content": None}], [{"role": "user", "content": ""}]),
        ([{"role": "system", "content": ""}, USER], [USER]),
        ([assistant(tool_calls=[call()])], [LOOP]),
        ([assistant(content=None, tool_calls=[call(arguments="")])], [LOOP]),
        ([assistant(content=None, tool_calls=[{"id": "c1", "function": {"name": "f"}}])], [LOOP]),
        ([assistant(content="Yes.", tool_calls=None, refusal=None)], [assistant(content="Yes.")]),
        ([assistant(content="Yes.", tool_calls=[], reasoning=None)], [assistant(content="Yes.")]),
        ([assistant()], [assistant(content="")]),
    ],
    ids=str,
)
def test_what_is_written_in_one_way_only(messages: list[Any], normal: list[Any]) -> None:
    request = read(*messages)
    assert encode_request(request).body["messages"] == normal
    assert read(*normal) == request


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
    loop = assistant(content=None, tool_calls=[call(), call("c2")])
    _, answered, _, again = turns(loop, tool(), tool("c2", "9 °C"), USER, LOOP, tool())[0:4]
    results = (ToolResult("c1", (Text("12 °C"),)), ToolResult("c2", (Text("9 °C"),)))
    assert turns(loop, tool(), tool("c2", "9 °C"), USER)[1] == Turn("user", (*results, Text("Well?")))
    assert answered.blocks == (*results, Text("Well?"))
    assert again.blocks == (ToolResult("c1", (Text("12 °C"),)),)


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
            assistant(content="a", refusal="b", tool_calls=[call()]),
            (Text("a"), Text("b", refusal=True), ToolCall("c1", "f", "{}")),
        ),
    ],
)
def test_blocks_of_an_assistant(message: dict[str, Any], blocks: tuple[Any, ...]) -> None:
    assert turns(message)[0].blocks == blocks


def test_geminis_signatures_are_seals() -> None:
    signed = {"google": {"thought_signature": GOOGLE.data}}
    (said,) = turns(assistant(content="Yes.", extra_content=signed, tool_calls=[call(extra_content=signed)]))
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
            {"messages": [assistant(tool_calls=[call(arguments=7)])]},
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
        ({"messages": [tool(7)]}, "messages[0].tool_call_id"),
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
