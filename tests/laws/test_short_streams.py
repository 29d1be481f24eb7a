"""Short ways for what nearly every stream is: they say what the long way says."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from thinkwire import dialects
from thinkwire.dialects.anthropic.stream_encoder import StreamEncoder as ClaudeEncoder
from thinkwire.dialects.openai_chat import finish
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.stream_decoder import StreamDecoder as ChatDecoder
from thinkwire.dialects.openai_chat.stream_encoder import StreamEncoder as ChatEncoder
from thinkwire.dialects.openai_chat.stream_shapes import TextShape
from thinkwire.events import (
    BlockEnded,
    BlockGrew,
    BlockStarted,
    Collector,
    Event,
    Finished,
    FinishReason,
    Noted,
    Started,
    collect,
    events_of,
)
from thinkwire.gateway.ledger.matching import worth_keeping
from thinkwire.messages import Block, Extras, Text, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.usage import Usage
from thinkwire.wire.think_tags import Piece, split

REASONS: tuple[FinishReason, ...] = (
    "stop",
    "tool_calls",
    "length",
    "continue",
    "refusal",
    "error",
    "cancelled",
)
WORDS = ["native", "", None, "stop", "STOP", "end_turn", "length", "tool_calls", "refusal", "content_filter"]


def told(events: list[Event], encoder: Any) -> tuple[bytes, list[Note]]:
    """All bytes and Notes of a stream."""
    written = b"".join([encoder.feed(event) for event in events]) + encoder.close()
    return written, encoder.notes


def plain_stream(extras: Extras, texts: list[str], reason: FinishReason, usage: Usage | None) -> list[Event]:
    """Some texts one after the other; everything that may have extras has these."""
    events: list[Event] = [Started("x", "m", extras)]
    for index, text in enumerate(texts):
        events += [
            BlockStarted(index, Text(extras=extras)),
            BlockGrew(index, text),
            BlockEnded(index, extras),
        ]
    return [*events, Finished(reason, usage, extras, extras)]


@pytest.mark.parametrize(("name", "make"), [("anthropic", ClaudeEncoder), ("openai_chat", ChatEncoder)])
@given(
    texts=st.lists(st.text(max_size=8).filter(bool), max_size=3),
    reason=st.sampled_from(REASONS),
    usage=st.none() | strategies.usages(),
)
def test_an_answer_with_nothing_native_is_written_as_one_whose_native_fields_are_none(
    name: str, make: Any, texts: list[str], reason: FinishReason, usage: Usage | None
) -> None:
    short = told(plain_stream({}, texts, reason, usage), make())
    assert short == told(plain_stream({name: {}}, texts, reason, usage), make())


@pytest.mark.parametrize("make", [ClaudeEncoder, ChatEncoder])
def test_the_start_is_json_whatever_id_and_model_are(make: Any) -> None:
    for word in ('"', "\\", "\n", "what differs", "\ud800", "é😀"):
        written, _ = told([Started(word, word), Finished("stop", Usage())], make())
        first = json.loads(written.split(b"data: ")[1].split(b"\n")[0])
        message = first.get("message", first)
        shown = word.encode("utf-8", "replace").decode().replace("?", "\ufffd")
        assert (message["id"], message["model"]) == (shown, shown)


@given(strategies.extras)
def test_a_text_without_a_seal_has_no_last_words_in_chat(extras: Extras) -> None:
    assert TextShape([], Text()).close(None, extras) == []


@pytest.mark.parametrize("make", [ClaudeEncoder, ChatEncoder])
def test_a_note_is_not_written(make: Any) -> None:
    assert make().feed(Noted(Note("stream.irregular", "x"))) == b""


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("word", WORDS)
def test_a_finish_word_is_worth_keeping_if_it_would_not_be_found_again(
    word: str | None, refused: bool
) -> None:
    for reason in REASONS:
        usual = finish.write(reason, refused=refused)
        kept = finish.write(reason, native=word, refused=refused)
        assert finish.worth_keeping(word, reason, refused=refused) is bool(word and kept != usual)


def said(deltas: list[dict[str, Any]], quirks: Quirks) -> list[Event]:
    decoder = ChatDecoder(quirks=quirks)
    events: list[Event] = []
    for delta in deltas:
        chunk = {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        events += decoder.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events += decoder.feed(b"data: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n")
    return events + decoder.close()


DELTAS = st.lists(
    st.builds(
        lambda field, text: {field: text}, st.sampled_from(["content", "content", "reasoning"]), st.text()
    )
    | st.sampled_from(
        [
            {"role": "assistant", "content": ""},
            {"content": "<thi"},
            {"content": "nk>"},
            {"content": "</think>"},
            {"content": "word"},
            {"content": " \n"},
            {"content": "<thought>", "extra_content": {"google": {"thought": True}}},
            {"content": "</thought>So."},
            {"reasoning_opaque": "sealed"},
            {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]},
            {"refusal": "No."},
        ]
    ),
    max_size=6,
)
NULLS = dict.fromkeys(
    (
        "refusal",
        "tool_calls",
        "function_call",
        "reasoning_content",
        "reasoning_opaque",
        "extra_content",
        "audio",
    )
)


@given(deltas=DELTAS, tags=st.sampled_from(["auto", "inside", "off"]))
def test_a_delta_that_says_null_says_nothing(deltas: list[dict[str, Any]], tags: Any) -> None:
    quirks = Quirks(think_tags=tags)
    assert said([NULLS | delta for delta in deltas], quirks) == said(deltas, quirks)


@given(
    texts=st.lists(
        st.sampled_from(["<", "think>", "<think>", "</think>", "a", " ", "\n", "[", "é"]), max_size=6
    ),
    inside=st.booleans(),
)
def test_words_are_split_from_thinking_as_the_whole_text_is(texts: list[str], inside: bool) -> None:
    quirks = Quirks(think_tags="inside" if inside else "auto")
    blocks = collect(said([{"content": text} for text in texts], quirks)).turn.blocks
    shown = [Piece(type(block) is not Text, getattr(block, "text", "")) for block in blocks]
    assert shown == split("".join(texts), starts_inside=inside)


@given(strategies.model_blocks)
def test_an_answer_of_only_words_is_not_worth_keeping(blocks: tuple[Block, ...]) -> None:
    events = list(
        events_of(msgspec.structs.replace(collect([]), turn=Turn("assistant", blocks), finish="stop"))
    )
    collector = Collector()
    collector.take(events)
    if collector.only_words():
        assert worth_keeping(collector.answer().turn) is None
    plain = [isinstance(block, (Text, ToolCall)) and block.seal is None for block in blocks]
    assert collector.only_words() is all(plain)


@given(strategies.answers)
def test_events_amount_to_the_same_one_by_one_and_together(answer: Any) -> None:
    events = list(events_of(answer))
    one_by_one, together = Collector(), Collector()
    for event in events:
        one_by_one.add(event)
    together.take(events)
    assert one_by_one.answer() == together.answer()
    assert together.answer().turn.blocks == answer.turn.blocks


@pytest.mark.parametrize("dialect", ["openai-chat", "gemini"])
def test_the_frame_that_opens_a_block_is_already_a_pattern(dialect: str) -> None:
    frames: dict[str, list[Any]] = {
        "openai-chat": [
            {"id": "x", "choices": [{"index": 0, "delta": {"content": t}}]} for t in ("", "a", "b")
        ],
        "gemini": [{"candidates": [{"content": {"parts": [{"text": t}]}}]} for t in ("", "a", "b")],
    }
    decoder = dialects.get(dialect).stream_decoder()
    head, first, second = [b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames[dialect]]
    decoder.feed(head)
    assert decoder.repeats() is None
    decoder.feed(first)
    repeat = decoder.repeats()
    assert repeat is not None
    assert repeat.texts_in(second) == ["b"]
