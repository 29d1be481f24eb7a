"""Gemini's two framings of a stream, and an answer that comes whole in one chunk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.gemini.strategies import answers, streamed_answers
from tests.dialects.gemini.wire import array, events, sse
from thinkwire.dialects.gemini import GEMINI
from thinkwire.dialects.gemini.stream_encoder import StreamEncoder
from thinkwire.events import Answer, collect, events_of


@given(answer=streamed_answers(), data=st.data())
def test_a_stream_in_an_array_is_read_as_it_was_written(answer: Answer, data: st.DataObject) -> None:
    encoder = StreamEncoder(framing="array")
    wire = b"".join(map(encoder.feed, events_of(answer))) + encoder.close()
    assert encoder.notes == []
    size = data.draw(st.integers(1, len(wire)))
    assert collect(events(wire, size)) == answer


@given(answer=answers())
def test_a_whole_answer_in_one_chunk_of_a_stream_is_read_as_the_same_answer(answer: Answer) -> None:
    body = GEMINI.encode_response(answer).body
    assert collect(events(sse(body))) == collect(events(array(body))) == GEMINI.decode_response(body)
