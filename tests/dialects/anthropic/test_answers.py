"""Whole answers, as the vendor and its imitators send them and as we send them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.anthropic.support import FOREIGN, REDACTED, SIGNED, codes
from thinkwire.dialects.anthropic import ANTHROPIC
from thinkwire.errors import Failure, MalformedInput
from thinkwire.events import Answer, FinishReason
from thinkwire.messages import Block, Image, Opaque, Origin, Text, Thinking, ToolCall, Turn
from thinkwire.usage import Usage

CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}


def message(*content: Any, **fields: Any) -> dict[str, Any]:
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return {**base, "content": list(content), **fields}


def test_an_answer_is_understood() -> None:
    body = message(
        {"type": "thinking", "thinking": "", "signature": SIGNED.data},
        {"type": "redacted_thinking", "data": REDACTED.data},
        {"type": "text", "text": "\n\n", "citations": None},
        {"type": "server_tool_use", "id": "s", "name": "n", "input": {}},
        {**CALL, "caller": {"type": "direct"}},
        stop_reason="tool_use",
        stop_sequence=None,
        stop_details=None,
        container={"id": "c"},
        usage={
            "input_tokens": 12,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 2048,
            "output_tokens": 530,
            "output_tokens_details": {"thinking_tokens": 410, "other_tokens": 1},
            "service_tier": "standard",
        },
    )
    assert ANTHROPIC.decode_response(body) == Answer(
        turn=Turn(
            "assistant",
            (
                Thinking(form="hidden", seal=SIGNED),
                Thinking(form="redacted", seal=REDACTED),
                Text("\n\n"),
                Opaque("anthropic", {"type": "server_tool_use", "id": "s", "name": "n", "input": {}}),
                ToolCall("toolu_1", "f", "{}", extras={"anthropic": {"caller": {"type": "direct"}}}),
            ),
            origin=Origin(model="m", response_id="msg_1"),
        ),
        finish="tool_calls",
        usage=Usage(
            input_uncached=12,
            cache_read=2048,
            cache_write=0,
            input_total=2060,
            output_visible=120,
            output_reasoning=410,
            output_total=530,
            extras={"anthropic": {"service_tier": "standard", "output_tokens_details": {"other_tokens": 1}}},
        ),
        extras={"anthropic": {"container": {"id": "c"}}},
    )


@pytest.mark.parametrize(
    ("native", "content", "finish", "kept"),
    [
        ("end_turn", (), "stop", {}),
        ("stop_sequence", (), "stop", {"stop_reason": "stop_sequence"}),
        ("tool_use", (CALL,), "tool_calls", {}),
        ("end_turn", (CALL,), "tool_calls", {"stop_reason": "end_turn"}),
        ("max_tokens", (), "length", {}),
        ("max_tokens", (CALL,), "length", {}),
        ("model_context_window_exceeded", (), "length", {"stop_reason": "model_context_window_exceeded"}),
        ("pause_turn", (), "continue", {}),
        ("compaction", (), "continue", {"stop_reason": "compaction"}),
        ("refusal", (), "refusal", {}),
    ],
)
def test_stop_reasons(native: str, content: Any, finish: FinishReason, kept: dict[str, Any]) -> None:
    body = message(*content, stop_reason=native)
    answer = ANTHROPIC.decode_response(body)
    assert answer.finish == finish
    assert answer.extras.get("anthropic", {}) == kept
    assert answer.notes == ()
    assert ANTHROPIC.encode_response(answer).body["stop_reason"] == native


@pytest.mark.parametrize(
    ("native", "content", "finish"),
    [("bored", (), "stop"), (None, (), "stop"), (None, (CALL,), "tool_calls"), (["?"], (), "stop")],
)
def test_q16_an_unknown_stop_reason_is_noted(native: Any, content: Any, finish: FinishReason) -> None:
    answer = ANTHROPIC.decode_response(message(*content, stop_reason=native))
    assert answer.finish == finish
    assert codes(answer.notes) == ["finish.unknown"]


@pytest.mark.parametrize(
    ("native", "neutral"),
    [
        ({"type": "thinking", "text": "Hm"}, Thinking("Hm")),
        ({"type": "thinking", "thinking": "Hm", "signature": ""}, Thinking("Hm")),
        ({"type": "thinking", "thinking": None}, Thinking(form="hidden")),
        ({"type": "text", "text": None}, Text("")),
        ({**CALL, "input": '{"a": 1}'}, ToolCall("toolu_1", "f", '{"a": 1}')),
        ({**CALL, "input": None}, ToolCall("toolu_1", "f", "{}")),
        ({"novelty": 1}, Opaque("anthropic", {"novelty": 1})),
    ],
)
def test_q44_imperfect_blocks_are_read(native: dict[str, Any], neutral: Block) -> None:
    assert ANTHROPIC.decode_response(message(native)).turn.blocks == (neutral,)


def test_q24_a_tool_call_without_an_id_gets_one_that_stays() -> None:
    nameless = {**CALL, "id": None}
    first, second = (ANTHROPIC.decode_response(message(nameless, nameless)) for _ in range(2))
    one, other = first.turn.tool_calls
    assert one.id != other.id
    assert first == second
    assert codes(first.notes) == ["tool_call.id_generated"] * 2


@pytest.mark.parametrize(
    ("body", "blocks", "notes"),
    [
        ({"role": "assistant", "content": "Hi", "stop_reason": "end_turn"}, (Text("Hi"),), []),
        ({"type": "message", "stop_reason": "end_turn"}, (), []),
        ({"content": None, "stop_reason": "end_turn", "id": 3, "model": ""}, (), []),
        ({"content": [None, "x"], "stop_reason": "end_turn"}, (), ["block.dropped"] * 2),
    ],
)
def test_imperfect_messages_are_read(body: Any, blocks: tuple[Block, ...], notes: list[str]) -> None:
    answer = ANTHROPIC.decode_response(body)
    assert answer.turn == Turn("assistant", blocks)
    assert codes(answer.notes) == notes


@pytest.mark.parametrize("body", [[], {}, {"choices": []}, message() | {"content": 3}])
def test_what_is_no_message_is_refused(body: Any) -> None:
    with pytest.raises(MalformedInput):
        ANTHROPIC.decode_response(body)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
)
def test_q22_an_error_with_status_200_is_a_failure(body: Any) -> None:
    failure = ANTHROPIC.decode_response(body).failure
    assert failure is not None
    assert (failure.kind, failure.message) == ("overloaded", "Overloaded")


@pytest.mark.parametrize(
    ("usage", "expected", "notes"),
    [
        (None, None, []),
        ({}, None, []),
        ({"input_tokens": 3, "output_tokens": 0}, Usage(3, None, None, 3, None, None, 0), []),
        ({"output_tokens": 3, "thinking_tokens": 2}, Usage(None, None, None, None, 1, 2, 3), []),
        ({"input_tokens": -1, "output_tokens": "many"}, Usage(), ["usage.impossible"]),
        ({"input_tokens": [[]], "output_tokens_details": 3}, Usage(), ["usage.impossible"]),
    ],
)
def test_usage(usage: Any, expected: Usage | None, notes: list[str]) -> None:
    answer = ANTHROPIC.decode_response(message(usage=usage))
    assert answer.usage == expected
    assert codes(answer.notes) == notes


@pytest.mark.parametrize(
    ("usage", "native", "notes"),
    [
        (None, {"input_tokens": 0, "output_tokens": 0}, ["field.changed"]),
        (
            Usage(input_total=9, cache_read=4),
            {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 0},
            ["field.changed"],
        ),
        (
            Usage(input_uncached=1, output_visible=2, output_reasoning=3),
            {"input_tokens": 1, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 3}},
            [],
        ),
        (
            Usage(input_uncached=1, output_total=2, extras={"openai_chat": {"x": 1}, "anthropic": {"y": 1}}),
            {"input_tokens": 1, "output_tokens": 2, "y": 1},
            [],
        ),
    ],
)
def test_usage_is_written(usage: Usage | None, native: dict[str, Any], notes: list[str]) -> None:
    encoded = ANTHROPIC.encode_response(Answer(Turn("assistant"), "stop", usage))
    assert encoded.body["usage"] == native
    assert codes(encoded.notes) == notes


USAGE = Usage(input_uncached=1, output_total=2)


@pytest.mark.parametrize(
    ("block", "native", "notes"),
    [
        (Text("a", seal=FOREIGN), [{"type": "text", "text": "a"}], ["seal.dropped"]),
        (Text("", seal=FOREIGN), [], ["seal.dropped"]),
        (Text("No.", refusal=True), [{"type": "text", "text": "No."}], ["block.degraded"]),
        (Thinking("Hm"), [{"type": "thinking", "thinking": "Hm", "signature": ""}], []),
        (
            Thinking("Hm", form="summary", seal=FOREIGN),
            [{"type": "thinking", "thinking": "Hm", "signature": ""}],
            ["seal.dropped"],
        ),
        (
            Thinking(form="redacted", seal=FOREIGN),
            [{"type": "thinking", "thinking": "", "signature": ""}],
            ["seal.dropped"],
        ),
        (
            Thinking("Hm", seal=REDACTED),
            [{"type": "thinking", "thinking": "Hm", "signature": ""}],
            ["seal.dropped"],
        ),
        (ToolCall("a:b", "f", "", seal=FOREIGN), [{**CALL, "id": "a:b"}], ["seal.dropped"]),
        (
            ToolCall("toolu_1", "f", "[]"),
            [{**CALL, "input": {"invalid_arguments": "[]"}}],
            ["tool_call.arguments_invalid"],
        ),
        (Image(url="u"), [], ["block.dropped"]),
        (Opaque("gemini", {}), [], ["block.dropped"]),
    ],
)
def test_what_others_wrote_is_shown(block: Block, native: list[Any], notes: list[str]) -> None:
    encoded = ANTHROPIC.encode_response(Answer(Turn("assistant", (block,)), "length", USAGE))
    assert encoded.body["content"] == native
    assert codes(encoded.notes) == notes


def test_an_answer_without_a_name_gets_one_that_stays() -> None:
    first, second, other = (
        ANTHROPIC.encode_response(Answer(Turn("assistant", (Text(text),)), "stop", USAGE)).body
        for text in ("a", "a", "b")
    )
    assert first == second
    assert first["id"] != other["id"]
    assert first["id"].startswith("msg_")
    assert first["model"] == ""


@pytest.mark.parametrize("finish", ["error", "cancelled"])
def test_a_finish_that_the_wire_does_not_know_is_noted(finish: FinishReason) -> None:
    encoded = ANTHROPIC.encode_response(Answer(Turn("assistant"), finish, USAGE))
    assert encoded.body["stop_reason"] == "end_turn"
    assert codes(encoded.notes) == ["field.changed"]


def test_a_failed_answer_is_written_as_an_error() -> None:
    answer = Answer(Turn("assistant", (Text("a"),)), failure=Failure("overloaded", "Busy"))
    encoded = ANTHROPIC.encode_response(answer)
    assert encoded.body["error"] == {"type": "overloaded_error", "message": "Busy"}
    assert codes(encoded.notes) == ["block.dropped"]
