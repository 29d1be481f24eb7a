"""A recorded answer, written as JSON by ourselves and read again, is the same answer; so is its stream."""

from __future__ import annotations

from tests.grouping import for_each
from tests.recordings.loader import Recording, answers, dialect_of
from tests.recordings.normal import differences, losses
from tests.recordings.seen import events_from, said, said_in_stream, streamed_again
from thinkwire import dialects
from thinkwire.events import Answer, collect, events_of


@for_each("recording", answers("json", "stream"), group=dialect_of)
def test_written_as_json_it_is_the_same_answer(recording: Recording) -> None:
    dialect = dialects.get(recording.dialect)
    answer = decoded(recording)
    again = dialect.decode_response(dialect.encode_response(answer).body)
    assert list(differences(said(answer), said(again))) == []


@for_each("recording", answers("json", written=True), group=dialect_of)
def test_written_as_json_it_lacks_nothing_of_the_recorded_body(recording: Recording) -> None:
    dialect = dialects.get(recording.dialect)
    again = dialect.encode_response(dialect.decode_response(recording.body)).body
    assert losses(recording.body, again) == []


@for_each("recording", answers("json"), group=dialect_of)
def test_written_as_a_stream_it_is_the_same_answer(recording: Recording) -> None:
    answer = decoded(recording)
    again = streamed_again(dialects.get(recording.dialect), events_of(answer))
    if answer.finish is None:  # still queued: a stream that ends before its answer has failed
        assert again.failure is not None
        return
    assert list(differences(said_in_stream(answer), said_in_stream(again))) == []


def decoded(recording: Recording) -> Answer:
    dialect = dialects.get(recording.dialect)
    if recording.kind == "json":
        return dialect.decode_response(recording.body)
    return collect(events_from(dialect, [recording.data]))
