"""Laws of every dialect: what is written is read again, and no input does more harm than a failure."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st

from tests import strategies
from tests.dialects.samples import ALL
from tests.laws.law import law
from tests.wire import cuts
from thinkwire import dialects
from thinkwire.dialects import NAMES
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, Event, Failed, Finished, Noted, Started, collect, events_of
from thinkwire.jsonvalue import JsonObject, dump, parse
from thinkwire.messages import Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.request import Request


def read(dialect: str, parts: Sequence[bytes]) -> list[Event]:
    decoder = dialects.get(dialect).stream_decoder()
    return cuts.run(decoder.feed, decoder.close, parts)


STREAMS = [(dialect, stream) for dialect, samples in ALL.items() for stream in samples.STREAMS]


@cache
def read_in_one_piece(dialect: str, stream: str) -> list[Event]:
    return read(dialect, [ALL[dialect].STREAMS[stream]])


def write(dialect: str, events: Iterable[Event]) -> tuple[bytes, list[Note]]:
    encoder = dialects.get(dialect).stream_encoder()
    return b"".join([*map(encoder.feed, events), encoder.close()]), encoder.notes


def without_allowed_notes(dialect: str, answer: Answer) -> Answer:
    notes = tuple(note for note in answer.notes if note.code not in ALL[dialect].ALLOWED_NOTES)
    return msgspec.structs.replace(answer, notes=notes)


@pytest.mark.parametrize("dialect", NAMES)
def test_every_dialect_has_strategies_and_samples(dialect: str) -> None:
    samples = ALL[dialect]
    for strategy in (samples.requests(), samples.answers(), samples.streamed_answers()):
        assert isinstance(strategy, st.SearchStrategy)
    for sample in (samples.RICH_REQUEST, samples.RICH_ANSWER, samples.RICH_STREAM):
        assert sample == parse(dump(sample)) != type(sample)()
    assert samples.FRAMINGS
    assert {"rich", "steps", "error", "cut", "not json", "after the end"} <= set(samples.STREAMS)
    assert isinstance(samples.ALLOWED_NOTES, frozenset)
    assert isinstance(samples.ALWAYS_STARTS, bool)


@pytest.mark.parametrize("dialect", NAMES)
def test_the_samples_are_read_without_a_failure(dialect: str) -> None:
    """Only what is valid can be damaged; a sample that is refused as it stands would test nothing."""
    samples, own = ALL[dialect], dialects.get(dialect)
    assert len(own.decode_request(samples.RICH_REQUEST).turns) >= 3
    assert {Thinking, ToolCall} <= {
        type(block) for block in own.decode_response(samples.RICH_ANSWER).turn.blocks
    }
    for framing in samples.FRAMINGS.values():
        answer = collect(read(dialect, [framing(samples.RICH_STREAM)]))
        assert (answer.failure, answer.finish) == (None, "tool_calls")
        assert {Thinking, Text, ToolCall} <= {type(block) for block in answer.turn.blocks}


@law
def test_a_request_is_read_as_it_was_written(dialect: str, data: st.DataObject) -> None:
    request = data.draw(ALL[dialect].requests(), label="request")
    encoded = dialects.get(dialect).encode_request(request)
    assert encoded.notes == ()
    assert dialects.get(dialect).decode_request(encoded.body) == request
    assert dialects.get(dialect).decode_request(parse(dump(encoded.body))) == request


@law
def test_an_answer_is_read_as_it_was_written(dialect: str, data: st.DataObject) -> None:
    answer = data.draw(ALL[dialect].answers(), label="answer")
    encoded = dialects.get(dialect).encode_response(answer)
    assert encoded.notes == ()
    for body in (encoded.body, parse(dump(encoded.body))):
        assert without_allowed_notes(dialect, dialects.get(dialect).decode_response(body)) == answer


@law
def test_a_stream_is_read_as_it_was_written(dialect: str, data: st.DataObject) -> None:
    answer = data.draw(ALL[dialect].streamed_answers(), label="answer")
    wire, notes = write(dialect, events_of(answer))
    assert notes == []
    size = data.draw(st.integers(1, len(wire)), label="size of the pieces")
    for parts in ([wire], cuts.pieces(wire, size)):
        assert without_allowed_notes(dialect, collect(read(dialect, parts))) == answer


@law
def test_any_split_of_the_bytes_gives_the_same_events(dialect: str, data: st.DataObject) -> None:
    for name, stream in ALL[dialect].STREAMS.items():
        assert read(dialect, cuts.cut(data, stream)) == read_in_one_piece(dialect, name)


@pytest.mark.parametrize(("dialect", "stream"), STREAMS)
def test_single_bytes_and_single_lines_give_the_same_events(dialect: str, stream: str) -> None:
    wire = ALL[dialect].STREAMS[stream]
    lines = re.findall(rb"[^\r\n]*[\r\n]*", wire)
    for parts in (cuts.pieces(wire), lines):
        assert read(dialect, parts) == read_in_one_piece(dialect, stream)


def write_request_again(dialect: str, request: Request) -> None:
    body = dialects.get(dialect).encode_request(request).body
    reread = dialects.get(dialect).decode_request(parse(dump(body)))
    assert dialects.get(dialect).encode_request(reread).body == body


def write_answer_again(dialect: str, answer: Answer) -> None:
    body = parse(dump(dialects.get(dialect).encode_response(answer).body))
    dialects.get(dialect).decode_response(body)
    dump(dialects.get(dialect).encode_request(Request("m", (answer.turn,))).body)
    has_one_end(dialect, read(dialect, [write(dialect, events_of(answer))[0]]))


def end_of(events: list[Event]) -> Event:
    return [event for event in events if not isinstance(event, Noted)][-1]


def has_one_end(dialect: str, events: list[Event]) -> None:
    spoken = [event for event in events if not isinstance(event, Noted)]
    assert isinstance(spoken[-1], Finished | Failed)
    assert sum(isinstance(event, Finished | Failed) for event in spoken) == 1
    if ALL[dialect].ALWAYS_STARTS:
        assert isinstance(events[0], Started)
    assert isinstance(spoken[0], Started) or len(spoken) == 1
    assert not any(isinstance(event, Started) for event in spoken[1:])
    answer = collect(events)
    if isinstance(spoken[-1], Finished):
        assert not any(getattr(block, "interrupted", False) for block in answer.turn.blocks)


def without_body(events: list[Event]) -> list[Event]:
    """The events without the bytes that a failure quotes: as much as had arrived."""
    return [
        msgspec.structs.replace(event, failure=msgspec.structs.replace(event.failure, body=None))
        if isinstance(event, Failed)
        else event
        for event in events
    ]


def check_stream(dialect: str, wire: bytes, data: st.DataObject) -> list[Event]:
    events = read(dialect, [wire])
    has_one_end(dialect, events)
    assert without_body(read(dialect, cuts.cut(data, wire))) == without_body(events)
    return events


def write_stream_again(dialect: str, events: list[Event]) -> None:
    for again in (events, events_of(collect(events))):
        has_one_end(dialect, read(dialect, [write(dialect, again)[0]]))


@law
def test_a_damaged_request_is_read_or_refused(dialect: str, data: st.DataObject) -> None:
    body = data.draw(strategies.damaged(ALL[dialect].RICH_REQUEST) | strategies.junk, label="body")
    try:
        request = dialects.get(dialect).decode_request(body)
    except MalformedInput:
        return
    write_request_again(dialect, request)


@law
def test_a_damaged_answer_is_read_or_refused(dialect: str, data: st.DataObject) -> None:
    body = data.draw(strategies.damaged(ALL[dialect].RICH_ANSWER) | strategies.junk, label="body")
    try:
        answer = dialects.get(dialect).decode_response(body)
    except MalformedInput:
        return
    write_answer_again(dialect, answer)


@law
def test_a_stream_of_damaged_frames_has_one_end(dialect: str, data: st.DataObject) -> None:
    frames = data.draw(strategies.damaged_frames(ALL[dialect].RICH_STREAM), label="frames")
    for framing in ALL[dialect].FRAMINGS.values():
        events = check_stream(dialect, framing(frames), data)
    write_stream_again(dialect, events)


@law
def test_a_stream_with_noise_in_it_has_one_end(dialect: str, data: st.DataObject) -> None:
    stream = data.draw(st.sampled_from(sorted(ALL[dialect].STREAMS)), label="stream")
    wire = data.draw(strategies.damaged_bytes(ALL[dialect].STREAMS[stream]), label="wire")
    write_stream_again(dialect, check_stream(dialect, wire, data))


@pytest.mark.parametrize("dialect", NAMES)
def test_a_body_of_another_kind_or_dialect_is_read_or_refused(dialect: str) -> None:
    for samples in ALL.values():
        for body in (samples.RICH_REQUEST, samples.RICH_ANSWER):
            with contextlib.suppress(MalformedInput):
                write_request_again(dialect, dialects.get(dialect).decode_request(strategies.copy_json(body)))
            with contextlib.suppress(MalformedInput):
                write_answer_again(dialect, dialects.get(dialect).decode_response(strategies.copy_json(body)))
        for framing in ALL[dialect].FRAMINGS.values():
            has_one_end(dialect, read(dialect, [framing([samples.RICH_REQUEST, samples.RICH_ANSWER])]))
            has_one_end(dialect, read(dialect, [framing(samples.RICH_STREAM)]))


ENDLESS = 10_000
"""Deeper than any JSON that can be parsed, so that what is read from it never has to be written."""


def nested(depth: int) -> Any:
    value: Any = {}
    for level in range(depth):
        value = {"items": value} if level % 2 else {"parts": [value]}
    return value


def with_value_at(sample: Any, place: strategies.Place, value: Any) -> Any:
    copied = strategies.copy_json(sample)
    strategies.part_at(copied, place[:-1])[place[-1]] = value
    return copied


def deep_bodies(sample: JsonObject, depth: int) -> Iterator[JsonObject]:
    """The body with deep nesting in each place, or in place of each array and object where it is endless."""
    deep = nested(depth)
    for place in strategies.places_in(sample):
        if depth < ENDLESS or isinstance(strategies.part_at(sample, place), dict | list):
            yield with_value_at(sample, place, deep)


@pytest.mark.parametrize("depth", [100, 500, ENDLESS])
@pytest.mark.parametrize("dialect", NAMES)
def test_deep_nesting_in_a_body_is_read_or_refused(dialect: str, depth: int) -> None:
    samples, own = ALL[dialect], dialects.get(dialect)
    for body in deep_bodies(samples.RICH_REQUEST, depth):
        with contextlib.suppress(MalformedInput):
            request = own.decode_request(body)
            if depth < ENDLESS:
                dump(own.encode_request(request).body)
    for body in deep_bodies(samples.RICH_ANSWER, depth):
        with contextlib.suppress(MalformedInput):
            answer = own.decode_response(body)
            if depth < ENDLESS:
                dump(own.encode_response(answer).body)


@pytest.mark.parametrize("level", ['{"a":%s}', "[%s]"], ids=["objects", "arrays"])
@pytest.mark.parametrize("dialect", NAMES)
def test_deep_nesting_in_a_stream_is_read_or_a_failure(dialect: str, level: str) -> None:
    opening, closing = level.encode().split(b"%s")

    def end_with(framing: Callable[[list[Any]], bytes], place: strategies.Place, depth: int) -> Event:
        wire = framing(with_value_at(samples.RICH_STREAM, place, ["deep"]))
        assert wire.count(b'"deep"') == 1
        events = read(dialect, [wire.replace(b'"deep"', opening * depth + b"1" + closing * depth)])
        has_one_end(dialect, events)
        return end_of(events)

    samples = ALL[dialect]
    for framing in samples.FRAMINGS.values():
        for index, frame in enumerate(samples.RICH_STREAM):
            assert isinstance(end_with(framing, (index, "unknown"), 100), Finished)
            for place in ((index,), *((index, name) for name in frame)):
                assert isinstance(end_with(framing, place, 5_000), Failed)
