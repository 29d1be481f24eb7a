"""Contents and turns, tool results and their calls."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.dialects.gemini.wire import call, codes, content, model, read, result, rewritten, user
from thinkwire.dialects.gemini import GEMINI
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Document, Image, Opaque, ResultContent, Text, ToolCall, ToolResult, Turn
from thinkwire.request import Request

HI = {"text": "hi"}
GO_ON = {"text": "go on"}


@pytest.mark.parametrize(
    ("native", "role"), [("user", "user"), ("model", "assistant"), ("function", "user"), (None, "user")]
)
def test_roles_come_back_as_they_were(native: str | None, role: str) -> None:
    body = {"contents": [content(native, HI)]}
    assert GEMINI.decode_request(body).turns[0].role == role
    assert rewritten(body) == body


def test_unknown_fields_of_a_content_come_back() -> None:
    body = {"contents": [{**user(HI), "novel": 1}, {"role": "user", "parts": []}]}
    assert rewritten(body) == body


def test_results_and_the_content_after_them_are_one_turn() -> None:
    body = {"contents": [model(call(id="c1")), user(result(id="c1")), user(GO_ON, HI)]}
    turns = GEMINI.decode_request(body).turns
    assert turns[1] == Turn("user", (ToolResult("c1", (Text("5"),), "add"), Text("go on"), Text("hi")))
    assert len(turns) == 2
    assert rewritten(body) == body


JOINED: dict[str, tuple[list[JsonObject], int]] = {
    "results only": ([user(result(id="c"))], 1),
    "results of role function, then text": ([content("function", result(id="c")), user(HI)], 1),
    "results with more fields, then text": ([{**user(result(id="c")), "novel": 1}, content(None, HI)], 1),
    "results in two contents": ([user(result(id="c")), user(result(id="d"))], 2),
    "results in two contents, then text": ([user(result(id="c")), user(result(id="d")), user(HI)], 2),
    "results, then the model": ([user(result(id="c")), model(HI)], 2),
    "results, then results with text": ([user(result(id="c")), user(result(id="d"), HI)], 2),
    "results with text in one content": ([user(result(id="c"), HI)], 1),
    "results with text, then text": ([user(result(id="c"), HI), user(HI)], 2),
    "text, then results": ([user(HI), user(result(id="c"))], 2),
    "a result from the model": ([model(HI, result(id="c"), HI)], 1),
}


@pytest.mark.parametrize(("contents", "turns"), JOINED.values(), ids=JOINED)
def test_the_split_into_contents_survives(contents: list[JsonObject], turns: int) -> None:
    assert len(read(*contents).turns) == turns
    assert rewritten({"contents": contents})["contents"] == contents


def test_results_come_first_in_their_turn() -> None:
    (turn,) = read(user(HI, result(id="c"))).turns
    assert [type(block) for block in turn.blocks] == [ToolResult, Text]
    assert rewritten({"contents": [user(HI, result(id="c"))]})["contents"] == [user(result(id="c"), HI)]


def test_a_turn_with_results_and_more_is_written_as_two_contents() -> None:
    request = Request(turns=(Turn("user", (ToolResult("c", (Text("5"),), "add"), Text("go on"))),))
    assert GEMINI.encode_request(request).body["contents"] == [user(result(id="c")), user(GO_ON)]


def test_results_without_ids_are_matched_by_name_and_order() -> None:
    contents = [
        model(call("add"), call("sub"), call("add")),
        user(result("add"), result("add"), result("sub")),
        model(call("add")),
        user(result("add")),
    ]
    turns = read(*contents).turns
    add, sub, add_again = (block.id for block in turns[0].tool_calls)
    assert [block.call_id for block in turns[1].blocks if isinstance(block, ToolResult)] == [
        add,
        add_again,
        sub,
    ]
    assert turns[3].blocks == (ToolResult(turns[2].tool_calls[0].id, (Text("5"),), "add"),)
    assert rewritten({"contents": contents})["contents"] == contents


def test_a_result_without_an_id_finds_a_call_that_has_one() -> None:
    contents = [model(call(id="c1")), user(result())]
    assert read(*contents).turns[1].blocks == (
        ToolResult("c1", (Text("5"),), "add", extras={"gemini": {"no_id": True}}),
    )
    assert rewritten({"contents": contents})["contents"] == contents


def test_an_unanswered_call_of_an_earlier_step_is_not_matched() -> None:
    turns = read(model(call()), user(HI), model(call()), user(result())).turns
    (block,) = turns[3].blocks
    assert isinstance(block, ToolResult)
    assert block.call_id == turns[2].tool_calls[0].id


def test_a_result_without_any_call_still_comes_back() -> None:
    contents = [user(result("f"), result("f"))]
    first, second = read(*contents).turns[0].blocks
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolResult)
    assert first.call_id != second.call_id
    assert rewritten({"contents": contents})["contents"] == contents


def test_our_own_result_goes_without_an_id_when_its_call_had_none() -> None:
    asked = read(model(call("add", {"a": 1})))
    made_up = asked.turns[0].tool_calls[0].id
    request = Request(turns=(*asked.turns, Turn("user", (ToolResult(made_up, (Text("5"),)),))))
    encoded = GEMINI.encode_request(request)
    assert encoded.body["contents"] == [model(call("add", {"a": 1})), user(result("add"))]
    assert made_up not in str(encoded.body)


def test_the_name_of_a_result_is_that_of_its_call() -> None:
    turns = (Turn("assistant", (ToolCall("c", "add", "{}"),)), Turn("user", (ToolResult("c", (Text("5"),)),)))
    encoded = GEMINI.encode_request(Request(turns=turns))
    assert encoded.body["contents"][1] == user(result("add", id="c"))
    assert encoded.notes == ()


def test_a_result_nobody_called_for_is_said() -> None:
    encoded = GEMINI.encode_request(Request(turns=(Turn("user", (ToolResult("c", (Text("5"),)),)),)))
    assert encoded.body["contents"] == [user(result("unknown", id="c"))]
    assert codes(encoded.notes) == ["tool_result.name_unknown"]


RESPONSES: dict[str, tuple[Any, tuple[Text, ...], bool]] = {
    "output": ({"output": "5"}, (Text("5"),), False),
    "no output": ({"output": ""}, (), False),
    "error": ({"error": "timeout"}, (Text("timeout"),), True),
    "empty error": ({"error": ""}, (), True),
    "structured output": ({"output": {"c": 12}}, (Text('{"c":12}'),), False),
    "structured error": ({"error": {"code": 5}}, (Text('{"code":5}'),), True),
    "error with more": ({"error": "no", "code": 5}, (Text('{"error":"no","code":5}'),), True),
    "output with an error field": (
        {"output": "a", "error": "b"},
        (Text('{"output":"a","error":"b"}'),),
        False,
    ),
    "any other object": ({"result": [1, None]}, (Text('{"result":[1,null]}'),), False),
    "null output": ({"output": None}, (Text("null"),), False),
    "empty object": ({}, (), False),
}


@pytest.mark.parametrize(("response", "texts", "failed"), RESPONSES.values(), ids=RESPONSES)
def test_responses_are_read_as_text_and_come_back(
    response: Any, texts: tuple[Text, ...], failed: bool
) -> None:
    part = {"functionResponse": {"id": "c", "name": "add", "response": response}}
    (block,) = read(user(part)).turns[0].blocks
    assert isinstance(block, ToolResult)
    assert (block.content, block.failed, block.name) == (texts, failed, "add")
    assert rewritten({"contents": [user(part)]})["contents"] == [user(part)]


def test_a_changed_result_does_not_go_out_as_it_came() -> None:
    (turn,) = read(user(result(response={"result": "a" * 100}, id="c"))).turns
    (block,) = turn.blocks
    assert isinstance(block, ToolResult)
    short = msgspec.structs.replace(block, content=(Text("cut"),))
    body = GEMINI.encode_request(Request(turns=(Turn("user", (short,)),))).body
    assert body["contents"] == [user(result(response={"output": "cut"}, id="c"))]


def test_a_result_without_a_response_comes_back_without_one() -> None:
    part = {"functionResponse": {"id": "c", "name": "f", "willContinue": True, "scheduling": "SILENT"}}
    assert rewritten({"contents": [user({**part, "thought": False})]})["contents"] == [
        user({**part, "thought": False})
    ]


MEDIA = [
    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
    {"inlineData": {"mimeType": "application/pdf", "data": "aGk=", "displayName": "a.pdf"}},
    {"fileData": {"mimeType": "image/png", "fileUri": "gs://b/a"}},
    {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
    {"novel": 1},
]


def test_media_in_results_come_back() -> None:
    contents = [user(result(id="c", parts=MEDIA))]
    (block,) = read(*contents).turns[0].blocks
    assert isinstance(block, ToolResult)
    assert [type(item) for item in block.content] == [Text, Image, Document, Image, Opaque, Opaque]
    assert rewritten({"contents": contents})["contents"] == contents


def test_linked_media_in_a_result_follow_it() -> None:
    linked = Image(media_type="image/png", url="https://example.org/a.png")
    inline = Image(media_type="image/png", data="aGk=")
    content: tuple[ResultContent, ...] = (Text("5"), linked, inline)
    request = Request(turns=(Turn("user", (ToolResult("c", content, "add"), Text("hi"))),))
    encoded = GEMINI.encode_request(request)
    assert encoded.body["contents"] == [
        user(result(id="c", parts=[{"inlineData": {"mimeType": "image/png", "data": "aGk="}}])),
        user({"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}}, HI),
    ]
    assert codes(encoded.notes) == ["block.degraded"]


def test_what_a_result_cannot_hold_is_said() -> None:
    content: tuple[ResultContent, ...] = (Opaque("anthropic", {"type": "x"}), Image(file_id="f"), Text("5"))
    encoded = GEMINI.encode_request(Request(turns=(Turn("user", (ToolResult("c", content, "add"),)),)))
    assert encoded.body["contents"] == [user(result(id="c"))]
    assert codes(encoded.notes) == ["block.dropped", "block.dropped"]


def test_several_texts_of_a_result_are_joined_by_lines() -> None:
    block = ToolResult("c", (Text("a"), Text("b")), "add", failed=True)
    body = GEMINI.encode_request(Request(turns=(Turn("user", (block,)),))).body
    assert body["contents"] == [user(result(response={"error": "a\nb"}, id="c"))]
