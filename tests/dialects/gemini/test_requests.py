"""The rest of a request: system text, configuration, tools, and what only this wire knows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.dialects.gemini.wire import FOREIGN, codes, read, rewritten, user
from thinkwire.dialects.gemini import GEMINI
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Image, Opaque, Text, Turn
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

HI = user({"text": "hi"})
OLD_SCHEMA = {
    "type": "OBJECT",
    "properties": {
        "type": {"type": "STRING", "nullable": True, "format": "enum", "enum": ["A"]},
        "tags": {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "1"},
        "any": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}], "nullable": True},
    },
    "required": ["type"],
    "propertyOrdering": ["type", "tags"],
}
NEW_SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"type": ["string", "null"], "enum": ["A", None]},
        "tags": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "any": {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"type": "null"}]},
    },
    "required": ["type"],
}

EXACT: dict[str, JsonObject] = {
    "nothing else": {},
    "system": {"systemInstruction": {"parts": [{"text": "a"}, {"text": "b", "thought": False}]}},
    "system with a role": {"systemInstruction": {"role": "user", "parts": [{"text": "a"}]}},
    "system with a picture": {
        "systemInstruction": {
            "role": "x",
            "parts": [{"text": "a"}, {"inlineData": {"mimeType": "image/png", "data": ""}}],
        }
    },
    "shared configuration": {
        "generationConfig": {
            "maxOutputTokens": 10,
            "temperature": 0.5,
            "topP": 1,
            "topK": 40,
            "stopSequences": ["a", "b"],
            "seed": 7,
            "presencePenalty": 0.1,
            "frequencyPenalty": -0.1,
        }
    },
    "configuration of its own": {
        "generationConfig": {
            "thinkingConfig": {"thinking_budget": 0},
            "responseModalities": ["TEXT"],
            "candidateCount": 1,
            "novel": None,
        }
    },
    "any JSON": {"generationConfig": {"responseMimeType": "application/json"}},
    "JSON of a schema": {
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": NEW_SCHEMA}
    },
    "JSON of an older schema": {
        "generationConfig": {"responseMimeType": "application/json", "responseSchema": OLD_SCHEMA}
    },
    "JSON of two schemas": {
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseSchema": OLD_SCHEMA,
            "responseJsonSchema": {"type": "object"},
        }
    },
    "an enum": {
        "generationConfig": {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING"}}
    },
    "a schema without a type": {"generationConfig": {"responseSchema": OLD_SCHEMA}},
    "the newer response format": {"generationConfig": {"responseFormat": [{"text": {}}]}},
    "tools": {
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "a", "description": "", "parametersJsonSchema": NEW_SCHEMA},
                    {"name": "b", "parameters": OLD_SCHEMA, "behavior": "BLOCKING"},
                    {"name": "c", "parameters": {"type": "object"}, "response": {"type": "STRING"}},
                    {
                        "name": "d",
                        "parameters": {"type": "OBJECT"},
                        "parametersJsonSchema": {"type": "object"},
                    },
                    {"name": "e"},
                ]
            }
        ]
    },
    "tools in groups": {
        "tools": [
            {"functionDeclarations": [{"name": "a"}, {"name": "b"}], "codeExecution": {}},
            {"googleSearch": {}},
            {"functionDeclarations": [{"name": "c"}]},
            {"urlContext": {}},
            {"fileSearch": {"file_search_store_names": ["x"]}, "functionDeclarations": [{"name": "d"}]},
        ]
    },
    "auto": {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
    "none": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
    "any": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}}},
    "validated": {
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["a"]}}
    },
    "auto with names": {
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["a"]}}
    },
    "more tool configuration": {
        "toolConfig": {
            "functionCallingConfig": {"mode": "ANY", "streamFunctionCallArguments": True},
            "includeServerSideToolInvocations": True,
        }
    },
    "only other tool configuration": {"toolConfig": {"retrievalConfig": {"latLng": {}}}},
    "top-level fields": {
        "safetySettings": [{"category": "A"}],
        "cachedContent": "cachedContents/x",
        "labels": {"a_b": "c"},
        "model": "models/gemini-x",
        "continuationToken": "t",
        "novel": None,
    },
}


@pytest.mark.parametrize("more", EXACT.values(), ids=EXACT)
def test_a_request_is_written_as_it_was_read(more: JsonObject) -> None:
    body = {"contents": [HI], **more}
    assert rewritten(body) == body


NORMALISED: dict[str, tuple[JsonObject, JsonObject]] = {
    "snake case": (
        {
            "system_instruction": {"parts": [{"text": "a"}]},
            "generation_config": {"max_output_tokens": 5, "thinking_config": {"thinking_level": "LOW"}},
            "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["a"]}},
            "tools": [
                {"function_declarations": [{"name": "a", "parameters_json_schema": {"type": "object"}}]}
            ],
            "safety_settings": [],
        },
        {
            "systemInstruction": {"parts": [{"text": "a"}]},
            "generationConfig": {"maxOutputTokens": 5, "thinkingConfig": {"thinking_level": "LOW"}},
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a"]}},
            "tools": [{"functionDeclarations": [{"name": "a", "parametersJsonSchema": {"type": "object"}}]}],
            "safetySettings": [],
        },
    ),
    "known nulls": (
        {
            "safetySettings": None,
            "systemInstruction": None,
            "toolConfig": None,
            "tools": None,
            "labels": None,
        },
        {},
    ),
    "nulls further down": (
        {
            "generationConfig": {"temperature": None, "thinkingConfig": None},
            "tools": [{"codeExecution": None, "functionDeclarations": [{"name": "a", "description": None}]}],
        },
        {"tools": [{"functionDeclarations": [{"name": "a"}]}]},
    ),
    "empty": (
        {
            "generationConfig": {"stopSequences": []},
            "toolConfig": {},
            "tools": [],
            "systemInstruction": {"parts": []},
        },
        {},
    ),
    "system as a string": ({"systemInstruction": "a"}, {"systemInstruction": {"parts": [{"text": "a"}]}}),
    "system as a list": (
        {"systemInstruction": ["a", {"text": "b"}]},
        {"systemInstruction": {"parts": [{"text": "a"}, {"text": "b"}]}},
    ),
    "mode in lower case": (
        {"toolConfig": {"functionCallingConfig": {"mode": "any"}}},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
    ),
}


@pytest.mark.parametrize(("more", "expected"), NORMALISED.values(), ids=NORMALISED)
def test_the_documented_normalisations(more: JsonObject, expected: JsonObject) -> None:
    assert rewritten({"contents": [HI], **more}) == {"contents": [HI], **expected}


def test_neutral_fields_are_read() -> None:
    request = read(
        HI,
        systemInstruction={"parts": [{"text": "a"}]},
        generationConfig={
            "maxOutputTokens": 10.0,
            "topK": 40,
            "topP": 0.9,
            "stopSequences": ["x"],
            "seed": 1,
            "responseMimeType": "application/json",
            "responseSchema": OLD_SCHEMA,
            "thinkingConfig": {"thinkingLevel": "LOW"},
        },
        tools=[
            {"functionDeclarations": [{"name": "f", "description": "d", "parameters": OLD_SCHEMA}]},
            {"googleSearch": {}},
        ],
        toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    )
    assert request == Request(
        system=(Text("a"),),
        turns=(Turn("user", (Text("hi"),)),),
        max_tokens=10,
        top_k=40,
        top_p=0.9,
        stop=("x",),
        seed=1,
        output=OutputFormat(schema=NEW_SCHEMA, extras={"gemini": {"responseSchema": OLD_SCHEMA}}),
        tools=(
            Tool("f", "d", NEW_SCHEMA, extras={"gemini": {"parameters": OLD_SCHEMA}}),
            Opaque("gemini", {"googleSearch": {}}),
        ),
        tool_choice=ToolChoice("any", ("f",)),
        extras={"gemini": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}},
    )


def test_a_neutral_request_is_written_in_the_newer_words() -> None:
    schema = {"type": "object"}
    request = Request(
        model="gemini-3.8-flash",
        stream=True,
        system=(Text("a"),),
        turns=(Turn("user", (Text("hi"),)),),
        tools=(Tool("f", "d", schema), Tool("g")),
        tool_choice=ToolChoice("none"),
        output=OutputFormat(schema=schema),
    )
    assert GEMINI.encode_request(request) == (
        {
            "contents": [HI],
            "systemInstruction": {"parts": [{"text": "a"}]},
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "f", "description": "d", "parametersJsonSchema": schema},
                        {"name": "g"},
                    ]
                }
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
            "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema},
        },
        (),
    )


def test_a_changed_schema_does_not_go_out_as_it_came() -> None:
    (tool,) = read(HI, tools=[{"functionDeclarations": [{"name": "f", "parameters": OLD_SCHEMA}]}]).tools
    assert isinstance(tool, Tool)
    changed = msgspec.structs.replace(tool, schema={"type": "object"})
    body = GEMINI.encode_request(Request(tools=(changed,))).body
    assert body["tools"] == [
        {"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]}
    ]


def test_a_model_named_in_the_body_follows_the_request() -> None:
    request = read(HI, model="models/a")
    assert request.model == "models/a"
    moved = msgspec.structs.replace(request, model="models/b")
    assert GEMINI.encode_request(moved).body["model"] == "models/b"


def test_system_turns_move_to_the_instruction() -> None:
    request = Request(
        system=(Text("a"),),
        turns=(
            Turn("system", (Text("b"),)),
            Turn("user", (Text("hi"),)),
            Turn("system", (Text("c"), Image(media_type="image/png", data=""))),
        ),
    )
    encoded = GEMINI.encode_request(request)
    assert encoded.body == {
        "contents": [HI],
        "systemInstruction": {"parts": [{"text": "a"}, {"text": "b"}, {"text": "c"}]},
    }
    assert codes(encoded.notes) == ["system.moved", "system.moved", "block.dropped"]


def test_a_content_of_role_system_is_a_system_turn() -> None:
    request = read({"role": "system", "parts": [{"text": "a"}]}, HI)
    assert request.turns[0] == Turn("system", (Text("a"),))


NOTED: dict[str, tuple[Request, list[str], JsonObject]] = {
    "parallel_tool_calls": (Request(parallel_tool_calls=False), ["field.dropped"], {}),
    "fields of another dialect": (
        Request(extras={"anthropic": {"thinking": {}}, "gemini": {"labels": {}}}),
        ["field.dropped"],
        {"labels": {}},
    ),
    "a tool of another dialect": (
        Request(tools=(Opaque("anthropic", {"type": "bash"}),)),
        ["block.dropped"],
        {},
    ),
    "a strict tool": (
        Request(tools=(Tool("f", strict=True),)),
        ["field.dropped"],
        {"tools": [{"functionDeclarations": [{"name": "f"}]}]},
    ),
    "an optional choice among some": (
        Request(tool_choice=ToolChoice("auto", ("f",))),
        ["field.changed"],
        {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["f"]}}},
    ),
    "sealed system text": (
        Request(system=(Text("a", seal=FOREIGN),)),
        ["seal.dropped"],
        {"systemInstruction": {"parts": [{"text": "a"}]}},
    ),
}


@pytest.mark.parametrize(("request_", "said", "body"), NOTED.values(), ids=NOTED)
def test_what_cannot_be_said_is_noted(request_: Request, said: list[str], body: JsonObject) -> None:
    encoded = GEMINI.encode_request(request_)
    assert codes(encoded.notes) == said
    assert encoded.body == {"contents": [], **body}


MALFORMED: dict[str, tuple[Any, str]] = {
    "not an object": ([], "$"),
    "contents": ({"contents": {}}, "contents"),
    "a content": ({"contents": ["hi"]}, "contents[0]"),
    "role": ({"contents": [{"role": 1}]}, "contents[0].role"),
    "bad role": ({"contents": [{"role": "assistant"}]}, "contents[0].role"),
    "parts": ({"contents": [{"parts": "hi"}]}, "contents[0].parts"),
    "a part": ({"contents": [{"parts": ["hi"]}]}, "contents[0].parts[0]"),
    "text": ({"contents": [HI, {"parts": [{"text": 5}]}]}, "contents[1].parts[0].text"),
    "signature": (
        {"contents": [user({"text": "", "thoughtSignature": 5})]},
        "contents[0].parts[0].thoughtSignature",
    ),
    "call": ({"contents": [user({"functionCall": 5})]}, "contents[0].parts[0].functionCall"),
    "call name": ({"contents": [user({"functionCall": {}})]}, "contents[0].parts[0].functionCall.name"),
    "call arguments": (
        {"contents": [user({"functionCall": {"name": "f", "args": "x"}})]},
        "contents[0].parts[0].functionCall.args",
    ),
    "response": (
        {"contents": [user({"functionResponse": {"name": "f", "response": "x"}})]},
        "contents[0].parts[0].functionResponse.response",
    ),
    "media of a response": (
        {"contents": [user({"functionResponse": {"name": "f", "parts": [{"inlineData": 1}]}})]},
        "contents[0].parts[0].functionResponse.parts[0].inlineData",
    ),
    "bytes": ({"contents": [user({"inlineData": {"data": 5}})]}, "contents[0].parts[0].inlineData.data"),
    "file": ({"contents": [user({"fileData": {}})]}, "contents[0].parts[0].fileData.fileUri"),
    "system": ({"systemInstruction": 5}, "systemInstruction"),
    "system part": ({"systemInstruction": {"parts": [5]}}, "systemInstruction.parts[0]"),
    "temperature": ({"generationConfig": {"temperature": "hot"}}, "generationConfig.temperature"),
    "top k": ({"generationConfig": {"topK": 1.5}}, "generationConfig.topK"),
    "schema": (
        {"generationConfig": {"responseMimeType": "application/json", "responseSchema": []}},
        "generationConfig.responseSchema",
    ),
    "tool": ({"tools": [5]}, "tools[0]"),
    "declaration": ({"tools": [{"functionDeclarations": [{}]}]}, "tools[0].functionDeclarations[0].name"),
    "mode": ({"toolConfig": {"functionCallingConfig": {"mode": 1}}}, "toolConfig.functionCallingConfig.mode"),
    "model": ({"model": 5}, "model"),
}


@pytest.mark.parametrize(("body", "path"), MALFORMED.values(), ids=MALFORMED)
def test_wrong_types_are_refused_with_their_place(body: Any, path: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        GEMINI.decode_request(body)
    assert caught.value.path == path


@pytest.mark.parametrize("group", [[1], {"a": 1}, "one", None])
def test_a_declaration_may_have_a_field_of_any_name(group: object) -> None:
    body = {"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "group": group}]}]}
    written = GEMINI.encode_request(GEMINI.decode_request(body)).body["tools"]
    assert [tool["functionDeclarations"][0]["name"] for tool in written] == ["f"]
