"""Requests that we send to the vendor."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.dialects.anthropic.support import FOREIGN, REDACTED, SIGNED, codes
from thinkwire.dialects.anthropic import ANTHROPIC
from thinkwire.dialects.anthropic.request import encode_request
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Role,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
TOOLS = (Tool("f", schema=SCHEMA), Tool("g", schema=SCHEMA), Tool("h", schema=SCHEMA))


def said(role: Role, *blocks: Block) -> tuple[list[dict[str, Any]], list[str]]:
    encoded = ANTHROPIC.encode_request(Request(turns=(Turn(role, blocks),)))
    return encoded.body["messages"], codes(encoded.notes)


@pytest.mark.parametrize(
    ("block", "native"),
    [
        (
            Thinking("Hm", seal=SIGNED),
            {"type": "thinking", "thinking": "Hm", "signature": SIGNED.data},
        ),
        (
            Thinking(form="hidden", seal=SIGNED),
            {"type": "thinking", "thinking": "", "signature": SIGNED.data},
        ),
        (Thinking(form="redacted", seal=REDACTED), {"type": "redacted_thinking", "data": REDACTED.data}),
        (
            Opaque("anthropic", {"type": "compaction", "content": "…"}),
            {"type": "compaction", "content": "…"},
        ),
        (ToolCall("t", "f"), {"type": "tool_use", "id": "t", "name": "f", "input": {}}),
    ],
)
def test_what_came_from_the_vendor_goes_back_to_it(block: Block, native: dict[str, Any]) -> None:
    assert said("assistant", block) == ([{"role": "assistant", "content": [native]}], [])


@pytest.mark.parametrize(
    ("block", "code"),
    [
        (Thinking("Hm"), "thinking.dropped"),
        (Thinking("Hm", interrupted=True), "thinking.dropped"),
        (Thinking("Hm", form="summary", seal=Seal("openai.encrypted", "gA")), "thinking.dropped"),
        (Thinking(form="redacted"), "thinking.dropped"),
        (Text(""), "block.dropped"),
        (Opaque("gemini", {"executableCode": {}}), "block.dropped"),
        (Opaque("anthropic", "not a block"), "block.dropped"),
        (Image(media_type="image/png", data="aGk="), "block.dropped"),
        (Document(url="https://example.org/a.pdf"), "block.dropped"),
    ],
)
def test_what_the_vendor_would_refuse_in_a_models_turn_is_left_out_and_said(block: Block, code: str) -> None:
    kept = {"role": "assistant", "content": "Yes."}
    assert said("assistant", block, Text("Yes.")) == ([kept], [code])
    assert said("assistant", block) == ([], [code]), "no empty message is left behind"


@pytest.mark.parametrize("block", [Text("a", seal=FOREIGN), ToolCall("t", "f", "{}", seal=FOREIGN)])
def test_another_makers_seal_is_left_off_and_said(block: Block) -> None:
    (message,), notes = said("assistant", block)
    assert notes == ["seal.dropped"]
    assert FOREIGN.data not in str(message)


def test_unsigned_thinking_goes_to_vendors_that_want_it() -> None:
    request = Request(turns=(Turn("assistant", (Thinking("Hm"), Thinking("Ha", seal=FOREIGN), Text("a"))),))
    encoded = partial(encode_request, unsigned_thinking=True)(request)
    assert encoded.body["messages"][0]["content"] == [
        {"type": "thinking", "thinking": "Hm", "signature": ""},
        {"type": "text", "text": "a"},
    ]
    assert codes(encoded.notes) == ["thinking.dropped"]


def test_ids_that_the_vendor_refuses_are_changed_alike_in_calls_and_results() -> None:
    encoded = ANTHROPIC.encode_request(
        Request(
            turns=(
                Turn("assistant", (ToolCall("call:1.a", "f"), ToolCall("call_2", "f"))),
                Turn("user", (ToolResult("call:1.a"), ToolResult("call_2"))),
            )
        )
    )
    calls, results = (message["content"] for message in encoded.body["messages"])
    assert calls[0]["id"] == results[0]["tool_use_id"] != "call:1.a"
    assert calls[0]["id"].replace("_", "").replace("-", "").isalnum()
    assert calls[1]["id"] == results[1]["tool_use_id"] == "call_2"
    assert codes(encoded.notes) == ["field.changed"]


def test_broken_arguments_travel_as_text() -> None:
    messages, notes = said("assistant", ToolCall("t", "f", '{"a": '))
    assert messages[0]["content"][0]["input"] == {"invalid_arguments": '{"a": '}
    assert notes == ["tool_call.arguments_invalid"]


@pytest.mark.parametrize(
    ("result", "native", "notes"),
    [
        (ToolResult("t"), {}, []),
        (ToolResult("t", (Text("5"),), name="f"), {"content": "5"}, []),
        (ToolResult("t", (Text(""),)), {"content": ""}, []),
        (ToolResult("t", (Text("5"),), failed=True), {"content": "5", "is_error": True}, []),
        (
            ToolResult("t", (Text("a"), Text(""), Text("b"))),
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            ["block.dropped"],
        ),
        (ToolResult("t", (Opaque("openai_responses", {"type": "x"}),)), {}, ["block.dropped"]),
        (
            ToolResult("t", (Image(media_type="image/png", data="aGk="),)),
            {
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    }
                ]
            },
            [],
        ),
    ],
)
def test_tool_results(result: ToolResult, native: dict[str, Any], notes: list[str]) -> None:
    content = [{"type": "tool_result", "tool_use_id": "t", **native}]
    assert said("user", result) == ([{"role": "user", "content": content}], notes)


@pytest.mark.parametrize(
    ("block", "source", "notes"),
    [
        (Image(url="https://example.org/a"), {"type": "url", "url": "https://example.org/a"}, []),
        (
            Image(url="data:image/gif;base64,aGk="),
            {"type": "base64", "media_type": "image/gif", "data": "aGk="},
            [],
        ),
        (Image(file_id="f"), {"type": "file", "file_id": "f"}, []),
        (Image(file_id="f", seal=FOREIGN), {"type": "file", "file_id": "f"}, ["seal.dropped"]),
        (Document(text="Once"), {"type": "text", "media_type": "text/plain", "data": "Once"}, []),
        (Document(data="JVBE"), {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}, []),
    ],
)
def test_media(block: Image | Document, source: dict[str, Any], notes: list[str]) -> None:
    kind = "image" if isinstance(block, Image) else "document"
    assert said("user", block) == (
        [{"role": "user", "content": [{"type": kind, "source": source}]}],
        notes,
    )


@pytest.mark.parametrize("block", [Image(data="aGk="), Image(), Document()])
def test_media_that_cannot_be_sent_are_left_out_and_said(block: Block) -> None:
    assert said("user", block) == ([], ["block.dropped"])


def test_an_empty_turn_is_not_sent_and_said() -> None:
    assert said("assistant") == ([], ["block.dropped"])


def test_system_turns_keep_their_place_and_fields() -> None:
    effort = {"output_config": {"effort": "low"}}
    turns = (Turn("system", (Text("Now in French."),)), Turn("system", (), extras={"anthropic": effort}))
    encoded = ANTHROPIC.encode_request(Request(system=(Text("Be brief."),), turns=turns))
    assert encoded == (
        {
            "system": "Be brief.",
            "messages": [
                {"role": "system", "content": "Now in French."},
                {"role": "system", "content": [], **effort},
            ],
        },
        (),
    )


@pytest.mark.parametrize(
    ("request_", "present", "notes"),
    [
        (Request(), {}, []),
        (
            Request(max_tokens=5, stop=("x",), top_k=2),
            {"max_tokens": 5, "stop_sequences": ["x"], "top_k": 2},
            [],
        ),
        (Request(seed=1, presence_penalty=0.5), {}, ["field.dropped"]),
        (Request(extras={"openai_chat": {"reasoning_effort": "low"}}), {}, ["field.dropped"]),
        (
            Request(extras={"anthropic": {"thinking": {"type": "adaptive"}}}),
            {"thinking": {"type": "adaptive"}},
            [],
        ),
        (
            Request(output=OutputFormat(SCHEMA), extras={"anthropic": {"output_config": {"effort": "low"}}}),
            {"output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}},
            [],
        ),
        (
            Request(output=OutputFormat(SCHEMA, name="city", strict=True)),
            {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            ["field.dropped"],
        ),
        (
            Request(output=OutputFormat(SCHEMA, strict=False)),
            {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            ["field.changed"],
        ),
        (Request(output=OutputFormat()), {}, ["field.dropped"]),
        (Request(system=(Text(""), Text("a"))), {"system": "a"}, ["block.dropped"]),
        (Request(tools=(Tool("f"),)), {"tools": [{"name": "f", "input_schema": {"type": "object"}}]}, []),
        (
            Request(tools=(Tool("f", schema={"anyOf": []}),)),
            {"tools": [{"name": "f", "input_schema": {"type": "object", "anyOf": []}}]},
            ["field.changed"],
        ),
        (Request(tools=(Opaque("gemini", {"googleSearch": {}}),)), {}, ["block.dropped"]),
        (Request(tool_choice=ToolChoice("auto"), parallel_tool_calls=True), {}, ["field.dropped"]),
    ],
)
def test_fields(request_: Request, present: dict[str, Any], notes: list[str]) -> None:
    encoded = ANTHROPIC.encode_request(request_)
    assert encoded.body == {"messages": [], **present}, "and nothing that nobody asked for"
    assert codes(encoded.notes) == notes


@pytest.mark.parametrize(
    ("choice", "parallel", "native", "tools", "notes"),
    [
        (None, None, None, "fgh", []),
        (ToolChoice("auto"), None, {"type": "auto"}, "fgh", []),
        (ToolChoice("none"), None, {"type": "none"}, "fgh", []),
        (ToolChoice("none"), False, {"type": "none"}, "fgh", ["field.dropped"]),
        (ToolChoice("any"), True, {"type": "any", "disable_parallel_tool_use": False}, "fgh", []),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}, "fgh", []),
        (ToolChoice("any", ("g",)), None, {"type": "tool", "name": "g"}, "fgh", []),
        (ToolChoice("any", ("g", "h")), None, {"type": "any"}, "gh", ["field.changed"]),
        (ToolChoice("auto", ("g",)), None, {"type": "auto"}, "g", ["field.changed"]),
        (ToolChoice("any", ("x", "y")), None, None, "", ["field.changed", "field.dropped"]),
    ],
)
def test_tool_choice(
    choice: ToolChoice | None, parallel: bool | None, native: Any, tools: str, notes: list[str]
) -> None:
    request = Request(tools=TOOLS, tool_choice=choice, parallel_tool_calls=parallel)
    encoded = ANTHROPIC.encode_request(request)
    assert encoded.body.get("tool_choice") == native
    assert "".join(tool["name"] for tool in encoded.body.get("tools", ())) == tools
    assert codes(encoded.notes) == notes


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_choice": {"type": "auto", "novelty": 1}, "tools": [{"name": "f", "input_schema": SCHEMA}]},
        {"tool_choice": {"type": "telepathy"}},
        {"output_format": {"type": "json_schema", "schema": SCHEMA, "novelty": 1}},
        {"output_format": {"type": "poem"}},
        {"output_config": {}},
        {"output_config": {"effort": "max", "format": {"type": "json_schema", "schema": SCHEMA, "x": 1}}},
        {"tools": [{"type": "custom", "name": "f", "input_schema": SCHEMA, "cache_control": {"ttl": "1h"}}]},
        {"system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"stream": False, "temperature": 0, "speed": None, "anthropic_version": "vertex-2023-10-16"},
    ],
)
def test_a_native_request_comes_out_as_it_went_in(fields: dict[str, Any]) -> None:
    body = {"messages": [{"role": "user", "content": "a", "novelty": 1}], **fields}
    assert ANTHROPIC.encode_request(ANTHROPIC.decode_request(body)) == (body, ())


def test_a_native_block_with_the_fields_of_text_stays_what_it_is() -> None:
    native = {"type": "note", "text": "not for the model"}
    body = {"model": "m", "messages": [{"role": "user", "content": [native]}]}
    assert ANTHROPIC.encode_request(ANTHROPIC.decode_request(body)).body == body
