"""Frames that repeat one another are read without parsing them, and say the same as if they were parsed."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire import dialects
from thinkwire.dialects import frame_decoder as stream
from thinkwire.dialects.delta_template import DeltaTemplate, render_around
from thinkwire.events import BlockGrew, Event

TEXTS = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        " ",
        "",
        ",",
        ":",
        '"',
        "\\",
        "\n",
        "content",
        "text",
        "é",
        "😀",
        "<think>",
        "x",
        "m",
        '","',
    ]
)
Chunk = dict[str, Any]


def chat_chunks(delta: Callable[[str], Chunk], choice: Chunk, top: Chunk, texts: list[str]) -> list[Chunk]:
    return [
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta(text)} | choice]} | top
        for text in texts
    ]


CALL = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]}
DELTAS: list[Callable[[str], Chunk]] = [
    lambda said: {"content": said},
    lambda said: {"role": "assistant", "content": said, "refusal": None},
    lambda said: {"reasoning_content": said},
    lambda said: {"content": None, "reasoning_content": said, "tool_calls": None},
    lambda said: {"content": "", "reasoning": said, "reasoning_content": None},
    lambda said: {"reasoning_content": said, "reasoning": said},
    lambda said: {"reasoning_content": "a", "reasoning": said},
    lambda said: {"content": said, "annotations": ["b"]},
    lambda said: {"content": said, "audio": {"data": said}},
    lambda said: CALL,
]
CHAT = st.builds(
    chat_chunks,
    st.sampled_from(DELTAS),
    st.sampled_from([{}, {}, {"logprobs": None}, {"logprobs": {"content": [1]}}, {"finish_reason": "stop"}]),
    st.sampled_from([{}, {}, {}, {"usage": {"prompt_tokens": 1}}, {"system_fingerprint": "x"}]),
    st.lists(TEXTS, min_size=1, max_size=4),
)


def claude_delta(index: int, kind: str, field: str, said: str) -> Chunk:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, field: said}}


CLAUDE: st.SearchStrategy[Chunk] = (
    st.builds(claude_delta, st.just(0), st.just("text_delta"), st.just("text"), TEXTS)
    | st.builds(claude_delta, st.just(0), st.just("thinking_delta"), st.just("thinking"), TEXTS)
    | st.builds(claude_delta, st.just(0), st.just("signature_delta"), st.just("signature"), TEXTS)
    | st.sampled_from(
        [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "thinking", "thinking": ""},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "ping"},
        ]
    )
)


def gemini_chunk(said: str, part: Chunk, more: Chunk) -> Chunk:
    content = {"role": "model", "parts": [{"text": said} | part]}
    return {"candidates": [{"content": content, "index": 0} | more], "modelVersion": "m", "responseId": "x"}


GEMINI = st.builds(
    gemini_chunk,
    TEXTS,
    st.sampled_from([{}, {}, {"thought": True}, {"thoughtSignature": "c2ln"}]),
    st.sampled_from([{}, {}, {"finishReason": "STOP"}, {"citationMetadata": {"citations": [1]}}]),
)

STREAMS: dict[str, st.SearchStrategy[list[Chunk]]] = {
    "openai-chat": st.lists(CHAT, max_size=5).map(lambda runs: [chunk for run in runs for chunk in run]),
    "anthropic": st.lists(CLAUDE, max_size=12),
    "gemini": st.lists(GEMINI, max_size=12),
}


def read(dialect: str, frames: list[bytes]) -> list[Event]:
    decoder = dialects.get(dialect).stream_decoder()
    events = [event for data in frames for event in decoder.feed(b"data: " + data + b"\n\n")]
    return events + decoder.close()


@pytest.mark.parametrize("dialect", STREAMS)
@given(data=st.data(), plain=st.booleans())
def test_repeated_frames_say_what_parsed_ones_say(dialect: str, data: st.DataObject, plain: bool) -> None:
    chunks = data.draw(STREAMS[dialect])
    frames = [json.dumps(chunk, ensure_ascii=plain).encode() for chunk in chunks]
    told = read(dialect, frames)
    with patch.object(stream, "render_around", lambda data, text: None):
        assert told == read(dialect, frames)


def read_pieces(dialect: str, pieces: list[bytes]) -> list[Event]:
    """As whoever reads the texts of a piece that only repeats, and feeds the others."""
    decoder = dialects.get(dialect).stream_decoder()
    events: list[Event] = []
    for piece in pieces:
        repeat = decoder.repeats()
        texts = repeat.texts_in(piece) if repeat is not None else None
        if repeat is not None and texts is not None:
            events += [BlockGrew(repeat.index, text) for text in texts]
        else:
            events += decoder.feed(piece)
    return events + decoder.close()


@pytest.mark.parametrize("dialect", STREAMS)
@given(data=st.data(), plain=st.booleans(), ending=st.sampled_from([b"\n", b"\r\n"]), named=st.booleans())
def test_a_piece_of_repeats_says_what_its_frames_say(
    dialect: str, data: st.DataObject, plain: bool, ending: bytes, named: bool
) -> None:
    """However the stream is cut, within its frames too."""
    frames = [json.dumps(chunk, ensure_ascii=plain).encode() for chunk in data.draw(STREAMS[dialect])]
    event = b"event: said" + ending if named else b""
    events = [event + b"data: " + frame + ending + ending for frame in frames]
    whole = b"".join(events)
    ends = list(accumulate(map(len, events), initial=0))
    cuts = data.draw(st.lists(st.sampled_from(ends) | st.integers(0, len(whole)), max_size=12))
    places = sorted({0, len(whole), *cuts})
    pieces = [whole[a:b] for a, b in pairwise(places)]
    decoder = dialects.get(dialect).stream_decoder()
    told = [said for piece in pieces for said in decoder.feed(piece)] + decoder.close()
    assert read_pieces(dialect, pieces) == told


def test_a_piece_of_repeats_needs_no_frames() -> None:
    decoder = dialects.get("openai-chat").stream_decoder()
    assert decoder.repeats() is None
    for word in (b'"Yes"', b'", it"'):
        decoder.feed(b"data: " + CHUNK % word + b"\n\n")
    repeat = decoder.repeats()
    assert repeat is not None
    piece = b"".join([b"data: " + CHUNK % word + b"\n\n" for word in (b'" is"', b'"\\n\\nso"')])
    assert repeat.texts_in(piece) == [" is", "\n\nso"]
    for other in (piece[:-1], piece[1:], piece + b": x\n\n", piece + b"data: [DONE]\n\n", b"\n\n", b""):
        assert repeat.texts_in(other) is None
    decoder.feed(piece[:-1])
    assert decoder.repeats() is None, "the next piece begins within a frame"
    decoder.feed(piece[-1:])
    assert decoder.repeats() is not None


def test_a_dialect_knows_what_was_read_past_it() -> None:
    """A field that repeats all thinking at the end says nothing new."""
    fields = [{"reasoning_content": word} for word in "abc"] + [{"reasoning": "abc"}]
    chunks = [{"id": "x", "model": "m", "choices": [{"index": 0, "delta": said}]} for said in fields]
    told = read_pieces("openai-chat", [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks])
    assert [event.text for event in told if isinstance(event, BlockGrew)] == ["a", "b", "c"]


CHUNK = b'{"id":"x","model":"m","choices":[{"index":0,"delta":{"content":%b},"finish_reason":null}]}'


def test_what_repeats_is_not_parsed() -> None:
    decoder = dialects.get("openai-chat").stream_decoder()
    for word in (b'"Yes"', b'", it"'):
        decoder.feed(b"data: " + CHUNK % word + b"\n\n")
    with patch("thinkwire.dialects.openai_chat.stream_decoder.parse", side_effect=AssertionError("parsed")):
        said = decoder.feed(b"data: " + CHUNK % b'" \\"is\\" \\u00e9"' + b"\n\n")
    assert said == [BlockGrew(0, ' "is" é')]


def test_a_string_is_found_only_where_it_is_certain() -> None:
    assert render_around(b'{"a":"b"}', "b") == (b'{"a":', b"}")
    assert render_around(b'{"a":"b","c":"b"}', "b") is None
    assert render_around(b'["a",","]', ",") is None
    assert render_around(b'{"a":"\\u0062","c":"b"}', "b") is None
    assert render_around(b'{"a":"\\u0062"}', "b") is None


@pytest.mark.parametrize(
    "data", [b'{"a":1}', b'{"a":"b","a":2}', b'{"a":"b"', b'{"a":"\xff"}', b'{"a":}', b"{}"]
)
def test_what_is_no_string_repeats_nothing(data: bytes) -> None:
    repeat = DeltaTemplate(None, (b'{"a":', b"}"), 0, None)
    assert repeat.text_in(None, data) is None
    assert repeat.text_in(None, b'{"a":"b"}') == "b"
    assert repeat.text_in("other", b'{"a":"b"}') is None


VALUES = st.sampled_from(
    [
        *(b'"a"', b'"b c"', b'"\\n\\n"', b' "a" ', b'"a","b"', b'"a","b":"c"', b"", b" ", b'""', b"1"),
        *(b"null", b'"', b'"a', b'["a"]', b'"a"],["b"', b',"a"', b'"a",', b'"\xff"', b'"\n"'),
        b'"a"}\n\ndata: {"a":"b"',
    ]
)


@given(values=st.lists(VALUES, min_size=1, max_size=5))
def test_several_events_are_read_as_each_of_them_or_not_at_all(values: list[bytes]) -> None:
    """Whatever stands where a text should."""
    repeat = DeltaTemplate(None, (b'{"a":', b"}"), 0, None)
    piece = b"".join([b'data: {"a":%b}\n\n' % value for value in values])
    texts = [repeat.text_in(None, event.removeprefix(b"data: ")) for event in piece[:-2].split(b"\n\n")]
    assert repeat.texts_in(piece) == (texts if all(texts) else None)
