"""Requests with everything in them, as programs give them to SDKs, and what they mean."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.sdk.samples import PROOF, PROOF_2
from thinkwire.messages import Image, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

PIXEL = "iVBORw0KGgo+/w=="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
RESULT_SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


class Rich(NamedTuple):
    """What the SDK is given, and the neutral request."""

    params: Any
    request: Request


ANTHROPIC = Rich(
    {
        "model": "claude-opus-4-6",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "How is the weather there?"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "That is Oslo.", "signature": PROOF},
                    {"type": "redacted_thinking", "data": PROOF_2},
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"city": "Ås"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "12 °C"},
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no", "is_error": True},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
        "tools": [{"name": "get_weather", "description": "Weather.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": False},
        "temperature": 1,
        "top_k": 40,
        "stop_sequences": ["END"],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": RESULT_SCHEMA}},
        "metadata": {"user_id": "u-1"},
    },
    Request(
        model="claude-opus-4-6",
        system=(Text("Be brief.", extras={"anthropic": {"cache_control": {"type": "ephemeral"}}}),),
        turns=(
            Turn("user", (Text("How is the weather there?"), Image(media_type="image/png", data=PIXEL))),
            Turn(
                "assistant",
                (
                    Thinking("That is Oslo.", seal=Seal("anthropic.signature", PROOF)),
                    Thinking(form="redacted", seal=Seal("anthropic.redacted", PROOF_2)),
                    Text("Let me see."),
                    ToolCall("toolu_1", "get_weather", '{"city":"Oslo"}'),
                    ToolCall("toolu_2", "get_weather", '{"city":"Ås"}'),
                ),
            ),
            Turn(
                "user",
                (
                    ToolResult("toolu_1", (Text("12 °C"),)),
                    ToolResult("toolu_2", (Text("no"),), failed=True),
                    Text("And?"),
                ),
            ),
        ),
        tools=(Tool("get_weather", "Weather.", SCHEMA),),
        tool_choice=ToolChoice("auto"),
        parallel_tool_calls=True,
        max_tokens=4096,
        temperature=1,
        top_k=40,
        stop=("END",),
        output=OutputFormat(RESULT_SCHEMA),
        extras={
            "anthropic": {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "high"},
                "metadata": {"user_id": "u-1"},
            }
        },
    ),
)


GEMINI = Rich(
    {
        "model": "gemini-3.8-flash",
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "How is the weather there?"},
                    {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "That is Oslo.", "thought": True},
                    {"text": "Let me see."},
                    {
                        "functionCall": {"id": "fc-1", "name": "get_weather", "args": {"city": "Oslo"}},
                        "thoughtSignature": PROOF,
                    },
                    {"functionCall": {"id": "fc-2", "name": "get_weather", "args": {"city": "Ås"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "fc-1",
                            "name": "get_weather",
                            "response": {"output": "12 °C"},
                        }
                    },
                    {"functionResponse": {"id": "fc-2", "name": "get_weather", "response": {"error": "no"}}},
                ],
            },
            {"role": "user", "parts": [{"text": "And?"}]},
        ],
        "config": {
            "systemInstruction": {"parts": [{"text": "Be brief."}], "role": "user"},
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "get_weather", "description": "Weather.", "parametersJsonSchema": SCHEMA}
                    ]
                }
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}},
            "temperature": 0.5,
            "topP": 0.9,
            "topK": 40,
            "maxOutputTokens": 4096,
            "stopSequences": ["END"],
            "seed": 7,
            "presencePenalty": 0.1,
            "frequencyPenalty": 0.2,
            "responseMimeType": "application/json",
            "responseJsonSchema": RESULT_SCHEMA,
            "thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True},
        },
    },
    Request(
        system=(Text("Be brief.", extras={"gemini": {"instruction": {"role": "user"}}}),),
        turns=(
            Turn("user", (Text("How is the weather there?"), Image(media_type="image/png", data=PIXEL))),
            Turn(
                "assistant",
                (
                    Thinking("That is Oslo.", form="summary"),
                    Text("Let me see."),
                    ToolCall("fc-1", "get_weather", '{"city":"Oslo"}', seal=Seal("gemini.thought", PROOF)),
                    ToolCall("fc-2", "get_weather", '{"city":"Ås"}'),
                ),
            ),
            Turn(
                "user",
                (
                    ToolResult("fc-1", (Text("12 °C"),), name="get_weather"),
                    ToolResult("fc-2", (Text("no"),), name="get_weather", failed=True),
                    Text("And?"),
                ),
            ),
        ),
        tools=(Tool("get_weather", "Weather.", SCHEMA),),
        tool_choice=ToolChoice("any", ("get_weather",)),
        max_tokens=4096,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        stop=("END",),
        seed=7,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        output=OutputFormat(RESULT_SCHEMA),
        extras={
            "gemini": {
                "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}}
            }
        },
    ),
)
