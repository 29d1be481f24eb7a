"""Whole answers, read and written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.gemini.wire import FOREIGN, SEAL, SIGNED, call, chunk, codes
from thinkwire.dialects.gemini import GEMINI
from thinkwire.errors import Failure, MalformedInput
from thinkwire.events import Answer
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Image, Opaque, Origin, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.usage import Usage, measure

ORIGIN = Origin(model="gemini-3.8-flash", response_id="r1")
CODE = {"executableCode": {"code": "1"}, "thoughtSignature": SIGNED}


def test_an_answer_is_read() -> None:
    body = chunk(
        {"text": "Planning", "thought": True},
        {**call("f", {"a": 1}, id="c1"), "thoughtSignature": SIGNED},
        call("f", {"a": 2}, id="c2"),
        finish="STOP",
        usage={
            "promptTokenCount": 90,
            "cachedContentTokenCount": 10,
            "candidatesTokenCount": 24,
            "thoughtsTokenCount": 210,
            "totalTokenCount": 324,
            "promptTokensDetails": [],
        },
    )
    assert GEMINI.decode_response(body) == Answer(
        Turn(
            "assistant",
            (
                Thinking("Planning", form="summary"),
                ToolCall("c1", "f", '{"a":1}', seal=SEAL),
                ToolCall("c2", "f", '{"a":2}'),
            ),
            origin=ORIGIN,
        ),
        finish="tool_calls",
        usage=Usage(80, 10, None, 90, 24, 210, 234, extras={"gemini": {"promptTokensDetails": []}}),
    )


PARTS: dict[str, tuple[list[JsonObject], tuple[Block, ...]]] = {
    "plain texts are one": ([{"text": "a"}, {"text": "b"}], (Text("ab"),)),
    "thoughts are one": (
        [{"text": "a", "thought": True}, {"text": "b", "thought": True}, {"text": "c", "thought": False}],
        (Thinking("ab", form="summary"), Text("c")),
    ),
    "a signed text stays apart": (
        [{"text": "a"}, {"text": "b", "thoughtSignature": SIGNED}, {"text": "c"}, {"text": "d"}],
        (Text("a"), Text("b", seal=SEAL), Text("cd")),
    ),
    "a signed empty text is kept": (
        [{"text": "a"}, {"text": "", "thoughtSignature": SIGNED}],
        (Text("a"), Text("", seal=SEAL)),
    ),
    "an empty text is nothing": ([{"text": "a"}, {"text": ""}, {"text": "b"}], (Text("ab"),)),
    "an empty part is nothing": ([{"text": "a"}, {}, {"text": "b"}], (Text("ab"),)),
    "nulls are nothing": ([{"text": "a", "thought": None, "thoughtSignature": None}], (Text("a"),)),
    "white space is something": ([{"text": " \n"}, {"text": "\t"}], (Text(" \n\t"),)),
    "a text with more fields stays apart": (
        [{"text": "a"}, {"text": "b", "novel": 1}],
        (Text("a"), Text("b", extras={"gemini": {"novel": 1}})),
    ),
    "a signed thought": (
        [{"text": "a", "thought": True, "thoughtSignature": SIGNED}, {"text": "b", "thought": True}],
        (Thinking("a", form="summary", seal=SEAL), Thinking("b", form="summary")),
    ),
    "image": (
        [{"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thoughtSignature": SIGNED}],
        (Image(media_type="image/png", data="aGk=", seal=SEAL),),
    ),
    "code": ([CODE], (Opaque("gemini", CODE),)),
    "snake case": (
        [{"function_call": {"name": "f", "id": "c", "args": {}}, "thought_signature": SIGNED}],
        (ToolCall("c", "f", "{}", seal=SEAL),),
    ),
    "arguments left out": ([call("f", id="c")], (ToolCall("c", "f", "{}"),)),
    "arguments as text": ([call("f", '{"a":', id="c")], (ToolCall("c", "f", '{"a":'),)),
    "a call that is a thought": (
        [{**call("f", {}, id="c"), "thought": True}],
        (ToolCall("c", "f", "{}", extras={"gemini": {"thought": True}}),),
    ),
    "a call without a name": ([{"functionCall": {}}], (Opaque("gemini", {"functionCall": {}}),)),
    "a part of wrong types": ([{"text": 5}], (Opaque("gemini", {"text": 5}),)),
    "a result has no place here": (
        [{"functionResponse": {"name": "f"}}],
        (Opaque("gemini", {"functionResponse": {"name": "f"}}),),
    ),
}


@pytest.mark.parametrize(("parts", "expected"), PARTS.values(), ids=PARTS)
def test_parts_of_an_answer(parts: list[JsonObject], expected: tuple[Block, ...]) -> None:
    assert GEMINI.decode_response(chunk(*parts, finish="STOP")).turn.blocks == expected


def test_calls_without_ids_get_one_each_and_it_is_said() -> None:
    body = chunk(call("f", {}), call("f", {}), finish="STOP")
    answer = GEMINI.decode_response(body)
    first, second = answer.turn.tool_calls
    assert first.id != second.id
    assert first.extras == {"gemini": {"no_id": True}}
    assert codes(answer.notes) == ["tool_call.id_generated", "tool_call.id_generated"]
    assert GEMINI.decode_response(body) == answer, "the same answer gets the same ids"
    written = GEMINI.encode_response(answer).body["candidates"][0]["content"]["parts"]
    assert written == [call("f", {}), call("f", {})]


FINISHES = [
    ("STOP", "stop"),
    ("MAX_TOKENS", "length"),
    ("CONTINUATION", "continue"),
    ("SAFETY", "refusal"),
    ("RECITATION", "refusal"),
    ("LANGUAGE", "refusal"),
    ("BLOCKLIST", "refusal"),
    ("PROHIBITED_CONTENT", "refusal"),
    ("SPII", "refusal"),
    ("IMAGE_SAFETY", "refusal"),
    ("IMAGE_OTHER", "refusal"),
    ("OTHER", "error"),
    ("MALFORMED_FUNCTION_CALL", "error"),
    ("UNEXPECTED_TOOL_CALL", "error"),
    ("TOO_MANY_TOOL_CALLS", "error"),
    ("MALFORMED_RESPONSE", "error"),
]


@pytest.mark.parametrize(("native", "finish"), FINISHES)
def test_finish_reasons_are_read_and_come_back(native: str, finish: str) -> None:
    answer = GEMINI.decode_response(chunk({"text": "a"}, finish=native))
    assert answer.finish == finish
    assert answer.notes == ()
    assert GEMINI.encode_response(answer).body["candidates"][0]["finishReason"] == native


@pytest.mark.parametrize("native", ["STOP", "PUP_LIMITED_DISABLED", None, "", "FINISH_REASON_UNSPECIFIED"])
def test_a_normal_end_with_calls_is_tool_calls(native: str | None) -> None:
    """Q17: the wire has no finish reason for tool calls."""
    answer = GEMINI.decode_response(chunk(call("f", {}, id="c"), finish=native))
    assert answer.finish == "tool_calls"


@pytest.mark.parametrize("native", ["PUP_LIMITED_DISABLED", None, "", "FINISH_REASON_UNSPECIFIED"])
def test_unknown_and_missing_finish_reasons_are_said(native: str | None) -> None:
    """Q16."""
    answer = GEMINI.decode_response(chunk({"text": "a"}, finish=native))
    assert answer.finish == "stop"
    assert codes(answer.notes) == ["finish.unknown"]


def test_a_native_error_with_a_call_is_an_error() -> None:
    answer = GEMINI.decode_response(chunk(call("f", {}, id="c"), finish="UNEXPECTED_TOOL_CALL"))
    assert answer.finish == "error"


def test_a_blocked_prompt_is_a_refusal() -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"trafficType": "ON_DEMAND"}}
    answer = GEMINI.decode_response(body)
    assert (answer.finish, answer.turn.blocks) == ("refusal", ())
    assert answer.extras == {"gemini": {"promptFeedback": {"blockReason": "SAFETY"}}}
    assert GEMINI.encode_response(answer).body == body


@pytest.mark.parametrize("content", [None, {}, {"role": "model"}, {"parts": None}, {"parts": []}])
def test_an_answer_that_was_all_thinking_has_no_parts(content: Any) -> None:
    """MAX_TOKENS while thinking leaves out the parts, or the whole content."""
    answer = GEMINI.decode_response({"candidates": [{"content": content, "finishReason": "MAX_TOKENS"}]})
    assert (answer.finish, answer.turn.blocks) == ("length", ())


def test_everything_else_is_kept_and_written_again() -> None:
    body = chunk({"text": "a"}, finish="STOP", createTime="2026-01-01", promptFeedback={"safetyRatings": []})
    body["candidates"][0] |= {"finishMessage": "m", "avgLogprobs": -1.5, "groundingMetadata": {"a": [1]}}
    answer = GEMINI.decode_response(body)
    assert answer.extras == {
        "gemini": {
            "createTime": "2026-01-01",
            "promptFeedback": {"safetyRatings": []},
            "candidate": {"finishMessage": "m", "avgLogprobs": -1.5, "groundingMetadata": {"a": [1]}},
        }
    }
    assert GEMINI.encode_response(answer).body == body


@pytest.mark.parametrize("numbered", [True, False])
def test_only_the_first_candidate_is_kept(numbered: bool) -> None:
    body = chunk({"text": "a"}, finish="STOP")
    other = chunk({"text": "b"}, finish="STOP")["candidates"][0]
    if numbered:
        other["index"] = 1
        body["candidates"] = [other, *body["candidates"]]
    else:
        del other["index"]
        body["candidates"] = [*body["candidates"], other]
    answer = GEMINI.decode_response(body)
    assert answer.turn.text == "a"
    assert codes(answer.notes) == ["choices.dropped"]


def test_an_array_of_chunks_is_read_as_one_answer() -> None:
    chunks: Any = [chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]
    assert GEMINI.decode_response(chunks).turn.blocks == (Text("ab"),)


def test_an_error_in_a_200_is_a_failure() -> None:
    """Q22."""
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    bodies: list[Any] = [error, [error], {**chunk({"text": "a"}), **error}]
    for body in bodies:
        answer = GEMINI.decode_response(body)
        assert answer.failure is not None
        assert (answer.failure.kind, answer.failure.status, answer.finish) == ("overloaded", 503, None)


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"choices": []},
        {"candidates": 5},
        {"candidates": [5]},
        {"candidates": [{"content": 5}]},
        {"candidates": [{"content": {"parts": 5}}]},
        {"candidates": [{"content": {"parts": [5]}}]},
    ],
)
def test_what_is_no_answer_is_refused(body: Any) -> None:
    with pytest.raises(MalformedInput):
        GEMINI.decode_response(body)


COUNTS: dict[str, tuple[JsonObject, dict[str, int], list[str]]] = {
    "candidates exclude the thoughts": (
        {
            "promptTokenCount": 88,
            "candidatesTokenCount": 21,
            "thoughtsTokenCount": 193,
            "totalTokenCount": 302,
        },
        {"input_total": 88, "output_visible": 21, "output_reasoning": 193, "output_total": 214},
        [],
    ),
    "candidates that include the thoughts": (
        {"promptTokenCount": 10, "candidatesTokenCount": 30, "thoughtsTokenCount": 20, "totalTokenCount": 40},
        {"input_total": 10, "output_visible": 10, "output_reasoning": 20, "output_total": 30},
        [],
    ),
    "server tools read input": (
        {
            "promptTokenCount": 10,
            "toolUsePromptTokenCount": 5,
            "candidatesTokenCount": 1,
            "thoughtsTokenCount": 2,
            "totalTokenCount": 18,
        },
        {"input_total": 15, "output_visible": 1, "output_reasoning": 2, "output_total": 3},
        [],
    ),
    "what was cached": (
        {
            "promptTokenCount": 10,
            "cachedContentTokenCount": 4,
            "candidatesTokenCount": 1,
            "totalTokenCount": 11,
        },
        {"input_total": 10, "cache_read": 4, "input_uncached": 6, "output_visible": 1, "output_total": 1},
        [],
    ),
    "only thoughts": (
        {"promptTokenCount": 15, "thoughtsTokenCount": 2, "totalTokenCount": 17},
        {"input_total": 15, "output_visible": 0, "output_reasoning": 2, "output_total": 2},
        [],
    ),
    "no total": (
        {"promptTokenCount": 15, "thoughtsTokenCount": 2},
        {"input_total": 15, "output_reasoning": 2},
        [],
    ),
    "nothing countable": ({"trafficType": "ON_DEMAND"}, {}, []),
    "a total that does not add up": (
        {"promptTokenCount": 17, "candidatesTokenCount": 492, "totalTokenCount": 61},
        {"input_total": 17, "output_visible": 492, "output_total": 492},
        ["usage.impossible"],
    ),
    "negative": (
        {"promptTokenCount": -1, "candidatesTokenCount": 5},
        {"output_visible": 5, "output_total": 5},
        ["usage.impossible"],
    ),
}


@pytest.mark.parametrize(("counts", "expected", "said"), COUNTS.values(), ids=COUNTS)
def test_usage_adds_up(counts: JsonObject, expected: dict[str, int], said: list[str]) -> None:
    answer = GEMINI.decode_response(chunk({"text": "a"}, finish="STOP", usage=counts))
    assert answer.usage is not None
    found = {name: getattr(answer.usage, name) for name in Usage.__struct_fields__ if name != "extras"}
    assert {name: count for name, count in found.items() if count is not None} == expected
    assert codes(answer.notes) == said
    if not said:
        again = GEMINI.decode_response(GEMINI.encode_response(answer).body)
        assert again == answer


def test_usage_of_other_dialects_is_written() -> None:
    usage, _ = measure(input_uncached=10, cache_read=3, cache_write=2, output_total=9, output_reasoning=4)
    encoded = GEMINI.encode_response(Answer(Turn("assistant", (Text("a"),)), "stop", usage))
    assert encoded.body["usageMetadata"] == {
        "promptTokenCount": 15,
        "candidatesTokenCount": 5,
        "cachedContentTokenCount": 3,
        "thoughtsTokenCount": 4,
        "totalTokenCount": 24,
    }
    assert codes(encoded.notes) == ["field.dropped"], "this wire has no count for what was written to a cache"


WRITTEN: dict[str, tuple[Block, list[JsonObject], list[str]]] = {
    "thinking": (Thinking("hm"), [{"text": "hm", "thought": True}], []),
    "sealed thinking": (
        Thinking("hm", seal=SEAL),
        [{"text": "hm", "thought": True, "thoughtSignature": SIGNED}],
        [],
    ),
    "thinking with a foreign seal": (
        Thinking("hm", seal=FOREIGN),
        [{"text": "hm", "thought": True}],
        ["seal.dropped"],
    ),
    "foreign thinking without text": (Thinking(form="redacted", seal=FOREIGN), [], ["thinking.dropped"]),
    "hidden thinking of its own": (
        Thinking(form="hidden", seal=SEAL),
        [{"text": "", "thought": True, "thoughtSignature": SIGNED}],
        [],
    ),
    "thinking of nothing": (Thinking(form="hidden"), [], []),
    "empty text": (Text(""), [], []),
    "sealed empty text": (Text("", seal=SEAL), [{"text": "", "thoughtSignature": SIGNED}], []),
    "foreign seal on empty text": (Text("", seal=FOREIGN), [], ["seal.dropped"]),
    "call with a foreign seal": (
        ToolCall("c", "f", "{}", seal=FOREIGN),
        [call("f", {}, id="c")],
        ["seal.dropped"],
    ),
    "own opaque block": (Opaque("gemini", CODE), [CODE], []),
    "foreign opaque block": (Opaque("anthropic", {"type": "x"}), [], ["block.dropped"]),
    "tool result": (ToolResult("c"), [], ["block.dropped"]),
}


@pytest.mark.parametrize(("block", "parts", "said"), WRITTEN.values(), ids=WRITTEN)
def test_blocks_are_shown_to_the_client(block: Block, parts: list[JsonObject], said: list[str]) -> None:
    encoded = GEMINI.encode_response(Answer(Turn("assistant", (block,), origin=ORIGIN), "stop"))
    assert encoded.body == chunk(*parts, finish="STOP")
    assert codes(encoded.notes) == said


def test_a_failed_answer_is_written_with_what_arrived() -> None:
    failure = Failure("overloaded", "busy")
    body = GEMINI.encode_response(Answer(Turn("assistant", (Text("a"),)), failure=failure)).body
    assert body["candidates"][0]["content"]["parts"] == [{"text": "a"}]
    assert body["error"] == {"code": 503, "message": "busy", "status": "UNAVAILABLE"}
    assert GEMINI.encode_response(Answer(Turn("assistant"), failure=failure)).body == {"error": body["error"]}
