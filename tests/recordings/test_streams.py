"""Every recorded stream, however it is cut into pieces, cut short, or sent on by ourselves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from tests.grouping import for_each
from tests.recordings.loader import Recording, answers, dialect_of
from tests.recordings.normal import differences
from tests.recordings.seen import events_from, said, streamed_again
from thinkwire import dialects
from thinkwire.events import (
    Answer,
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Failed,
    Finished,
    Noted,
    Started,
    collect,
)
from thinkwire.messages import Block, Text, Thinking, ToolCall

SMALL = 20_000
"""Up to this many bytes a stream is fed byte by byte."""


@for_each("recording", answers("stream"), group=dialect_of)
def test_any_split_of_the_bytes_gives_the_same_events(recording: Recording) -> None:
    dialect = dialects.get(recording.dialect)
    whole = events_from(dialect, [recording.data])
    for name, chunks in splits(recording):
        assert b"".join(chunks) == recording.data
        assert events_from(dialect, chunks) == whole, name


@for_each("recording", answers("stream"), group=dialect_of)
def test_events_come_in_their_order(recording: Recording) -> None:
    events = events_from(dialects.get(recording.dialect), [recording.data])
    told = [event for event in events if not isinstance(event, Noted)]
    assert [place for place, event in enumerate(told) if isinstance(event, Started)] == [0]
    assert [event for event in told if isinstance(event, Finished | Failed)] == told[-1:]
    started = [event.index for event in told if isinstance(event, BlockStarted)]
    assert started == list(range(len(started)))
    still_open: set[int] = set()
    for event in told:
        match event:
            case BlockStarted(index=index):
                still_open.add(index)
            case BlockGrew(index=index, text=text):
                assert index in still_open
                assert text
            case BlockSealed(index=index):
                assert index in still_open
            case BlockEnded(index=index):
                still_open.remove(index)
    assert isinstance(told[-1], Failed) or not still_open


@for_each("recording", answers("stream"), group=dialect_of)
def test_a_stream_cut_short_is_a_failure_with_what_had_arrived(recording: Recording) -> None:
    dialect = dialects.get(recording.dialect)
    whole = collect(events_from(dialect, [recording.data]))
    for place in places(recording):
        events = events_from(dialect, [recording.data[:place]])
        ends = [event for event in events if isinstance(event, Finished | Failed)]
        assert len(ends) == 1
        if isinstance(ends[0], Finished):
            assert whole.failure or collect(events).turn == whole.turn, f"ended at byte {place}"
        else:
            assert whole.failure == ends[0].failure or ends[0].failure.kind == "connection_lost"
            beginning_of(whole, collect(events))


@for_each("recording", answers("stream"), group=dialect_of)
def test_our_own_stream_of_it_says_the_same(recording: Recording) -> None:
    dialect = dialects.get(recording.dialect)
    events = events_from(dialect, [recording.data])
    assert list(differences(said(collect(events)), said(streamed_again(dialect, events)))) == []


def splits(recording: Recording) -> Iterator[tuple[str, list[bytes]]]:
    data = recording.data
    if len(data) <= SMALL:
        yield "byte by byte", sized(data, 1)
    else:
        yield "in sevens", sized(data, 7)
        cuts = sorted(random.Random(recording.id).sample(range(len(data)), 200))
        yield "at random", [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]
    yield "line by line", data.splitlines(keepends=True)
    if recording.chunk_lengths:
        yield "as it arrived", recording.chunks


def sized(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def places(recording: Recording) -> list[int]:
    """Where to cut: eighths, some frame ends, and anywhere."""
    data = recording.data
    dice = random.Random(recording.id)
    ends = [place + 1 for place, byte in enumerate(data[:-1]) if byte == ord("\n")]
    eighths = [len(data) * part // 8 for part in range(8)]
    return sorted({*eighths, *dice.sample(ends, min(8, len(ends))), *dice.sample(range(len(data)), 8)})


def beginning_of(whole: Answer, part: Answer) -> None:
    """What had arrived of it: whole blocks as they are, and the open ones so far, unsealed."""
    assert len(part.turn.blocks) <= len(whole.turn.blocks)
    for had, all_of_it in zip(part.turn.blocks, whole.turn.blocks, strict=False):
        assert type(had) is type(all_of_it)
        if getattr(had, "interrupted", False):
            assert grown(all_of_it).startswith(grown(had))
            assert getattr(had, "seal", None) is None
        else:
            assert grown(had) == grown(all_of_it)
            assert getattr(had, "seal", None) == getattr(all_of_it, "seal", None)


def grown(block: Block) -> str:
    match block:
        case Text() | Thinking():
            return block.text
        case ToolCall():
            return block.arguments
    return ""
