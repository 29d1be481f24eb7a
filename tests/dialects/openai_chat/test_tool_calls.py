"""Tool calls, as servers send them in pieces (quirks Q24–Q28)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    DONE,
    GOOGLE,
    both,
    chunk,
    codes,
    events,
    said_by,
    sse,
    stop,
    stream,
    whole,
)
from thinkwire.dialects.openai_chat.stream_decoder import StreamDecoder
from thinkwire.dialects.shared import made_up_id
from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Event, collect
from thinkwire.messages import Opaque, Text, Thinking, ToolCall

OSLO, BERGEN = '{"city":"Oslo"}', '{"city":"Bergen"}'


def entry(index: Any = None, id_: Any = None, name: Any = None, arguments: Any = None) -> dict[str, Any]:
    """A call's entry in a delta; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    fields = {"index": index, "id": id_}
    known = {key: value for key, value in fields.items() if value is not None}
    return known | {"function": {key: value for key, value in function.items() if value is not None}}


def calls(*deltas: Any) -> tuple[Any, ...]:
    answer = stream(*({"tool_calls": delta} for delta in deltas), finish="tool_calls")
    assert answer.finish == "tool_calls"
    return tuple(block for block in answer.turn.blocks if isinstance(block, ToolCall))


ONE = (ToolCall("c1", "get_weather", OSLO),)
TWO = (ToolCall("c1", "get_weather", OSLO), ToolCall("c2", "get_weather", BERGEN))

PIECES = {
    "as OpenAI sends it": [
        [entry(0, "c1", "get_weather", "")],
        [entry(0, arguments='{"city":')],
        [entry(0, arguments='"Oslo"}')],
    ],
    "Q24 id empty on continuations": [
        [entry(0, "c1", "get_weather", "")],
        [entry(0, "", arguments='{"city":')],
        [entry(0, "", "", '"Oslo"}')],
        [entry(0, "", arguments="")],
    ],
    "Q24 id on every delta": [
        [entry(0, "c1", "get_weather", '{"city":')],
        [entry(0, "c1", arguments='"Oslo"}')],
    ],
    "Q24 id and name on every delta": [
        [entry(0, "c1", "get_weather", '{"city":')],
        [entry(0, "c1", "get_weather", '"Oslo"}')],
    ],
    "Q24 id late": [
        [entry(0, None, "get_weather", '{"city":')],
        [entry(0, None, None, '"Os')],
        [entry(0, "c1", None, 'lo"}')],
    ],
    "Q25 no index": [[entry(None, "c1", "get_weather", '{"city":')], [entry(None, None, None, '"Oslo"}')]],
    "Q25 index null": [[entry(None, "c1", "get_weather", OSLO) | {"index": None}]],
    "Q25 index from 1": [[entry(1, "c1", "get_weather", "")], [entry(1, arguments=OSLO)]],
    "Q26 name in pieces": [
        [entry(0, "c1", "get_", "")],
        [entry(0, name="weather")],
        [entry(0, arguments=OSLO)],
    ],
    "Q26 name blank on continuations": [[entry(0, "c1", "get_weather")], [entry(0, name="", arguments=OSLO)]],
    "Q26 name after the arguments": [[entry(0, "c1", None, OSLO)], [entry(0, name="get_weather")]],
    "Q26 name again while there are no arguments": [
        [entry(0, "c1", "get_weather", "")],
        [entry(0, None, "get_weather", OSLO)],
    ],
    "Q27 whole": [[entry(0, "c1", "get_weather", OSLO)]],
    "Q27 an object": [[entry(0, "c1", "get_weather", {"city": "Oslo"})]],
    "Q27 arguments null first": [
        [entry(0, "c1", "get_weather") | {"function": {"name": "get_weather", "arguments": None}}],
        [entry(0, arguments=OSLO)],
    ],
    "Q28 empty lists between": [
        [],
        [entry(0, "c1", "get_weather", '{"city":')],
        [],
        [entry(0, arguments='"Oslo"}')],
        [],
    ],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
def test_one_call_in_any_pieces(pieces: list[list[Any]]) -> None:
    assert calls(*pieces) == ONE


PARALLEL = {
    "as OpenAI sends it": [
        [entry(0, "c1", "get_weather", "")],
        [entry(0, arguments=OSLO)],
        [entry(1, "c2", "get_weather", "")],
        [entry(1, arguments=BERGEN)],
    ],
    "interleaved": [
        [entry(0, "c1", "get_weather", ""), entry(1, "c2", "get_weather", "")],
        [entry(1, arguments='{"city":')],
        [entry(0, arguments=OSLO)],
        [entry(1, arguments='"Bergen"}')],
    ],
    "Q25 all of index 0": [[entry(0, "c1", "get_weather", OSLO)], [entry(0, "c2", "get_weather", BERGEN)]],
    "Q25 all of index 0, in pieces": [
        [entry(0, "c1", "get_weather", "")],
        [entry(0, arguments=OSLO)],
        [entry(0, "c2", "get_weather", "")],
        [entry(0, arguments=BERGEN)],
    ],
    "Q25 all of index 0 in one delta": [
        [entry(0, "c1", "get_weather", OSLO), entry(0, "c2", "get_weather", BERGEN)]
    ],
    "Q25 no index": [[entry(None, "c1", "get_weather", OSLO), entry(None, "c2", "get_weather", BERGEN)]],
    "Q25 no index, continued by id": [
        [entry(None, "c1", "get_weather", '{"city":'), entry(None, "c2", "get_weather", BERGEN)],
        [entry(None, "c1", None, '"Oslo"}')],
    ],
    "Q25 from 1": [[entry(1, "c1", "get_weather", OSLO)], [entry(2, "c2", "get_weather", BERGEN)]],
}


@pytest.mark.parametrize("pieces", PARALLEL.values(), ids=PARALLEL)
def test_parallel_calls_are_told_apart(pieces: list[list[Any]]) -> None:
    assert calls(*pieces) == TWO


@pytest.mark.parametrize(
    "pieces",
    [
        [[entry(0, "", "f", "{}")], [entry(0, "", "g", "{}")]],
        [[entry(None, None, "f", {}), entry(None, None, "g", {})]],
        [[entry(None, None, "f"), entry(None, None, "g")]],
    ],
    ids=["all of index 0", "objects", "no arguments"],
)
def test_q24_q25_calls_with_neither_id_nor_index_get_ids(pieces: list[list[Any]]) -> None:
    first, second = calls(*pieces)
    assert ((first.name, first.arguments), (second.name, second.arguments)) == (("f", "{}"), ("g", "{}"))
    assert first.id == made_up_id("chatcmpl-1", 0, "f", "" if "arguments" not in str(pieces) else "{}")
    assert first.id != second.id


def test_q24_a_made_up_id_is_said_and_the_same_in_stream_and_json() -> None:
    answer = stream({"tool_calls": [entry(0, "", "f", '{"a":1}')]})
    assert codes(answer.notes) == ["tool_call.id_generated"]
    assert whole({"tool_calls": [entry(None, "", "f", '{"a":1}')]}).turn.blocks == answer.turn.blocks


def test_q27_arguments_that_parse_early_are_not_the_end() -> None:
    (call,) = calls([entry(0, "c1", "f", "1")], [entry(0, arguments="2")], [entry(0, "c1", "f", "3")])
    assert call.arguments == "123"


@pytest.mark.parametrize("nothing", ["", None])
def test_q27_no_arguments_are_an_empty_object(nothing: Any) -> None:
    for message in ({"tool_calls": [entry(0, "c1", "f", nothing)]}, {"tool_calls": [entry(0, "c1", "f")]}):
        assert both(message) == (ToolCall("c1", "f", "{}"),)


def test_q28_empty_lists_do_not_end_the_thinking() -> None:
    answer = stream({"reasoning": "a", "tool_calls": []}, {"reasoning": "b", "tool_calls": None})
    assert answer.turn.blocks == (Thinking("ab", field="reasoning"),)


def test_a_call_is_announced_when_its_first_arguments_come_and_ended_with_the_answer() -> None:
    def told(frame: Any) -> list[Event]:
        return [event for event in decoder.feed(sse(frame)) if not isinstance(event, BlockEnded)]

    decoder = StreamDecoder()
    assert len(told(chunk({"tool_calls": [entry(0, "c1", "get_", "")]}))) == 1
    assert told(chunk({"tool_calls": [entry(0, name="weather")]})) == []
    assert told(chunk({"tool_calls": [entry(0, arguments="{")]})) == [
        BlockStarted(0, ToolCall("c1", "get_weather")),
        BlockGrew(0, "{"),
    ]
    assert told(chunk({"tool_calls": [entry(0, arguments="}")]})) == [BlockGrew(0, "}")]
    assert decoder.feed(sse(stop("tool_calls"))) == []
    assert BlockEnded(0) in decoder.feed(sse(DONE))


def test_calls_are_announced_in_their_order() -> None:
    first, second = calls(
        [entry(0, None, "f", "{}")], [entry(1, "c2", "g", "{}")], [entry(0, "c1", None, " ")]
    )
    assert (first.id, second.id) == ("c1", "c2")


def test_entries_that_say_nothing_are_no_calls() -> None:
    answer = stream({"content": "Yes.", "tool_calls": [{"index": 0}, None, {"function": None}]})
    assert (answer.turn.blocks, answer.finish) == ((Text("Yes."),), "stop")


def test_a_call_without_a_name_is_kept_and_said() -> None:
    answer = stream({"tool_calls": [entry(0, "c1", None, "{}")]})
    assert answer.turn.blocks == (ToolCall("c1", "", "{}"),)
    assert codes(answer.notes) == ["stream.irregular"]


def test_text_between_calls_and_after_them_keeps_its_place() -> None:
    answer = stream(
        {"tool_calls": [entry(0, "c1", "f", "{}")]},
        {"content": "Wait."},
        {"tool_calls": [entry(1, "c2", "g", "{}")]},
    )
    assert answer.turn.blocks == (ToolCall("c1", "f", "{}"), Text("Wait."), ToolCall("c2", "g", "{}"))


def test_the_old_function_call_is_a_call_and_goes_back_as_one() -> None:
    answer = stream(
        {"function_call": {"name": "get_weather", "arguments": ""}},
        {"function_call": {"arguments": '{"city":'}},
        {"function_call": {"arguments": '"Oslo"}'}},
        finish="function_call",
    )
    (call,) = answer.turn.blocks
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments, answer.finish) == ("get_weather", OSLO, "tool_calls")
    assert said_by(call)["function_call"] == {"name": "get_weather", "arguments": OSLO}
    assert "tool_calls" not in said_by(call)


def test_an_empty_function_call_beside_the_answer_is_nothing() -> None:
    assert both({"content": "Yes.", "function_call": {"name": "", "arguments": ""}}) == (Text("Yes."),)


def test_custom_calls_are_kept_as_they_are() -> None:
    native = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    assert both({"tool_calls": [native]}) == (Opaque("openai_chat", native),)
    pieces = [
        {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "shell", "input": ""}},
        {"index": 0, "custom": {"input": "l"}},
        {"index": 0, "custom": {"input": "s"}},
    ]
    answer = stream(*({"tool_calls": [piece]} for piece in pieces))
    assert (answer.turn.blocks, answer.finish) == ((Opaque("openai_chat", native),), "tool_calls")
    assert said_by(*answer.turn.blocks)["tool_calls"] == [native]


def test_a_gemini_signature_on_a_call_is_its_seal_and_goes_back_to_its_place() -> None:
    extra = {"google": {"thought_signature": GOOGLE.data, "x": 1}}
    (call,) = both({"tool_calls": [entry(0, "c1", "f", "{}") | {"extra_content": extra}]})
    assert isinstance(call, ToolCall)
    assert call.seal == GOOGLE
    assert said_by(call)["tool_calls"][0]["extra_content"] == extra


def test_a_gemini_signature_on_the_message_seals_the_call_else_the_text() -> None:
    extra = {"google": {"thought": True, "thought_signature": GOOGLE.data}}
    (call,) = both({"tool_calls": [entry(0, "c1", "f", "{}")], "extra_content": extra})
    (text,) = both({"content": "Yes.", "extra_content": extra})
    for block in (call, text):
        assert isinstance(block, Text | ToolCall)
        assert block.seal == GOOGLE
        assert said_by(block)["extra_content"] == extra


def test_a_gemini_signature_without_text_is_an_empty_sealed_text() -> None:
    extra = {"google": {"thought_signature": GOOGLE.data}}
    (text,) = both({"extra_content": extra})
    assert isinstance(text, Text)
    assert (text.text, text.seal) == ("", GOOGLE)
    assert said_by(text) == {"role": "assistant", "content": "", "extra_content": extra}


def test_gemini_thoughts_are_marked_and_wrapped() -> None:
    thought = {"google": {"thought": True}}
    answer = stream(
        {"content": "<thought>Hm, ", "extra_content": thought},
        {"content": "rain.", "extra_content": thought},
        {"content": "</thought>Yes."},
    )
    assert answer.turn.blocks == (Thinking("Hm, rain.", field="tag:thought"), Text("Yes."))
    message = {"content": "<thought>Hm, rain.</thought>Yes.", "extra_content": thought}
    assert whole(message).turn.blocks == answer.turn.blocks


def test_a_cut_stream_keeps_a_call_that_had_no_id_yet() -> None:
    answer = collect(events(sse(chunk({"tool_calls": [entry(0, None, "f", '{"a"')]}))))
    (call,) = answer.turn.blocks
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments, call.interrupted) == ("f", '{"a"', True)
