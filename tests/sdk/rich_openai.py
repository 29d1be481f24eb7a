"""The same for OpenAI's two dialects."""

from __future__ import annotations

from tests.sdk.rich import PIXEL, RESULT_SCHEMA, SCHEMA, Rich
from tests.sdk.samples import PROOF
from thinkwire.messages import Image, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

CHAT = Rich(
    {
        "model": "gpt-5.6-luna",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "How is the weather there?"},
                    {
                        "type": "image_url",
                        "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": "Let me see.",
                "reasoning_content": "That is Oslo.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
                    },
                    {
                        "id": "call_2",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city":"Ås"}'},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "12 °C"},
            {"role": "tool", "tool_call_id": "call_2", "content": "no"},
            {"role": "user", "content": "And?"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "Weather.",
                    "parameters": SCHEMA,
                    "strict": True,
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
        "parallel_tool_calls": True,
        "max_completion_tokens": 4096,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["END", "FIN"],
        "seed": 7,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": RESULT_SCHEMA, "strict": True},
        },
        "reasoning_effort": "high",
        "user": "u-1",
    },
    Request(
        model="gpt-5.6-luna",
        system=(Text("Be brief.", extras={"openai_chat": {"role": "developer"}}),),
        turns=(
            Turn(
                "user",
                (
                    Text("How is the weather there?"),
                    Image(
                        media_type="image/png",
                        data=PIXEL,
                        extras={"openai_chat": {"image_url": {"detail": "low"}}},
                    ),
                ),
            ),
            Turn(
                "assistant",
                (
                    Thinking("That is Oslo.", field="reasoning_content"),
                    Text("Let me see."),
                    ToolCall("call_1", "get_weather", '{"city": "Oslo"}'),
                    ToolCall("call_2", "get_weather", '{"city":"Ås"}'),
                ),
            ),
            Turn(
                "user",
                (
                    ToolResult("call_1", (Text("12 °C"),)),
                    ToolResult("call_2", (Text("no"),)),
                    Text("And?"),
                ),
            ),
        ),
        tools=(Tool("get_weather", "Weather.", SCHEMA, strict=True),),
        tool_choice=ToolChoice("any", ("get_weather",)),
        parallel_tool_calls=True,
        max_tokens=4096,
        temperature=0.5,
        top_p=0.9,
        stop=("END", "FIN"),
        seed=7,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        output=OutputFormat(RESULT_SCHEMA, "answer", strict=True),
        extras={"openai_chat": {"reasoning_effort": "high", "user": "u-1"}},
    ),
)

RESPONSES = Rich(
    {
        "model": "gpt-6.1-sol",
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "How is the weather there?"},
                    {
                        "type": "input_image",
                        "image_url": f"data:image/png;base64,{PIXEL}",
                        "detail": "low",
                    },
                ],
            },
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "That is Oslo."}],
                "encrypted_content": PROOF,
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "get_weather",
                "arguments": '{"city": "Oslo"}',
                "status": "completed",
            },
            {
                "type": "function_call",
                "id": "fc_2",
                "call_id": "call_2",
                "name": "get_weather",
                "arguments": '{"city":"Ås"}',
                "status": "completed",
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "12 °C"},
            {"type": "function_call_output", "call_id": "call_2", "output": "no"},
            {"role": "user", "content": "And?"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "get_weather",
                "description": "Weather.",
                "parameters": SCHEMA,
                "strict": True,
            }
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_output_tokens": 4096,
        "temperature": 0.5,
        "top_p": 0.9,
        "text": {
            "format": {"type": "json_schema", "name": "answer", "schema": RESULT_SCHEMA, "strict": True},
            "verbosity": "low",
        },
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    },
    Request(
        model="gpt-6.1-sol",
        system=(Text("Be brief."),),
        turns=(
            Turn(
                "user",
                (
                    Text("How is the weather there?"),
                    Image(media_type="image/png", data=PIXEL, extras={"openai_responses": {"detail": "low"}}),
                ),
            ),
            Turn(
                "assistant",
                (
                    Thinking(
                        "That is Oslo.",
                        form="summary",
                        seal=Seal("openai.encrypted", PROOF),
                        extras={"openai_responses": {"id": "rs_1"}},
                    ),
                    Text(
                        "Let me see.",
                        extras={
                            "openai_responses": {"id": "msg_1", "status": "completed", "annotations": []}
                        },
                    ),
                    ToolCall(
                        "call_1",
                        "get_weather",
                        '{"city": "Oslo"}',
                        extras={"openai_responses": {"id": "fc_1", "status": "completed"}},
                    ),
                    ToolCall(
                        "call_2",
                        "get_weather",
                        '{"city":"Ås"}',
                        extras={"openai_responses": {"id": "fc_2", "status": "completed"}},
                    ),
                ),
            ),
            Turn(
                "user",
                (
                    ToolResult("call_1", (Text("12 °C"),)),
                    ToolResult("call_2", (Text("no"),)),
                    Text("And?"),
                ),
            ),
        ),
        tools=(Tool("get_weather", "Weather.", SCHEMA, strict=True),),
        tool_choice=ToolChoice("any"),
        parallel_tool_calls=False,
        max_tokens=4096,
        temperature=0.5,
        top_p=0.9,
        output=OutputFormat(RESULT_SCHEMA, "answer", strict=True),
        extras={
            "openai_responses": {
                "reasoning": {"effort": "high", "summary": "auto"},
                "include": ["reasoning.encrypted_content"],
                "store": False,
                "text": {"verbosity": "low"},
            }
        },
    ),
)
