"""Requests come back as they were, up to what the package says is written in one way only."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    ENCRYPTED,
    LOOP,
    PICTURE,
    SIGNED,
    USER,
    assistant,
    call_entry,
    read,
    tool_message,
)
from thinkwire.dialects.openai_chat.request import decode_request, encode_request

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
    "tool loop": [USER, LOOP, tool_message(), assistant(content="Cold.")],
    "parallel results, then a user": [
        USER,
        assistant(content="", tool_calls=[call_entry(), call_entry("c2")]),
        tool_message(),
        tool_message("c2"),
        USER,
    ],
    "results then an empty user": [LOOP, tool_message(), {"role": "user", "content": ""}],
    "result with fields": [LOOP, tool_message(name="f", metadata={"x": 1})],
    "result parts": [
        LOOP,
        tool_message(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    ],
    "result with a picture": [
        LOOP,
        tool_message(content=[{"type": "image_url", "image_url": {"url": PICTURE}}]),
    ],
    "content empty beside calls": [assistant(content="", tool_calls=[call_entry()])],
    "content [] beside calls": [assistant(content=[], tool_calls=[call_entry()])],
    "empty assistant": [assistant(content="")],
    "call fields": [
        assistant(
            content=None, tool_calls=[call_entry(index=0, function={"name": "f", "arguments": "{}", "x": 1})]
        )
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
    "empty reasoning": [assistant(content=None, reasoning_content="", tool_calls=[call_entry()])],
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
    "a thought that is part of its tag": [assistant(content="<think>think</think>k")],
    "open tag": [assistant(content="<think>\n\nHm.")],
    "empty tags": [assistant(content="<think>\n\n</think>\n\nYes.")],
    "only tags": [assistant(content="<think></think>")],
    "stray closing tag": [assistant(content="</think>\nYes.")],
    "tags beside calls": [assistant(content="<think>Hm.</think>", tool_calls=[call_entry()])],
    "gemini's signature on a call": [
        assistant(
            content=None, tool_calls=[call_entry(extra_content={"google": {"thought_signature": "Q3NRQg=="}})]
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
        ([assistant(tool_calls=[call_entry()])], [LOOP]),
        ([assistant(content=None, tool_calls=[call_entry(arguments="")])], [LOOP]),
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
