from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.wire.cuts import cut, outcome, pieces, run
from thinkwire.errors import ProtocolError
from thinkwire.wire.sse import Frame, SSEParser, frame, is_done

MIB = 1024 * 1024


def parse(stream: bytes, *, limit: int = 16 * MIB) -> list[Frame]:
    parser = SSEParser(limit=limit)
    return parser.feed(stream) + parser.close()


def by_the_book(stream: bytes) -> list[Frame]:
    """The WHATWG algorithm over the whole stream at once, with our two differences at the marked lines."""
    frames: list[Frame] = []
    data, event = b"", b""
    lines = re.split(rb"\r\n|\r|\n", stream.removeprefix(b"\xef\xbb\xbf"))
    for line in [*lines, b""]:  # ours: the end of the stream ends the last event
        if line == b"":
            if data[:-1]:  # ours: not `if data`
                frames.append(Frame(event.decode("utf-8", "replace") or None, data[:-1]))
            data, event = b"", b""
        elif not line.startswith(b":"):
            field, _, value = line.partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if field == b"data":
                data += value + b"\n"
            elif field == b"event":
                event = value
    return frames


line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
values = st.one_of(
    st.sampled_from(
        [b"", b" ", b"{}", b'{"a":1}', b"[DONE]", b"x: y", "né\u0085\u2028💭".encode(), b"\xff\xfe"]
    ),
    st.text(max_size=8).map(lambda text: re.sub("[\r\n]", "", text).encode("utf-8", "surrogatepass")),
)
names = st.sampled_from(
    [b"data", b"data", b"data", b"event", b"event", b"id", b"retry", b"", b"Data", b"other"]
)
colons = st.sampled_from([b": ", b":", b":  ", b""])
lines = st.one_of(st.tuples(names, colons, values).map(b"".join), st.just(b""), st.just(b""))
streams = st.tuples(
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"]),
    st.lists(st.tuples(lines, line_ends).map(b"".join), max_size=12).map(b"".join),
    lines,
).map(b"".join)
words = st.sampled_from([b"data: a", b"data: b", b"data: ", b"event: x", b": ping"])
likely_tokens = st.lists(st.one_of(words, st.just(b"\n"), st.just(b"\n"), line_ends), max_size=24)


class TestLaws:
    @given(streams)
    @example(b"data: a\r\rdata: b\r\n\r\n")
    @example(b"\n\n\ndata: a\n\n\n\n\ndata: b")
    @example(b"event: x\n\ndata: a\n\n")
    def test_frames_are_those_of_the_whatwg_algorithm(self, stream: bytes) -> None:
        assert parse(stream) == by_the_book(stream)

    @given(streams, st.data())
    def test_cuts_do_not_matter(self, stream: bytes, draw: st.DataObject) -> None:
        parser = SSEParser()
        assert run(parser.feed, parser.close, cut(draw, stream)) == by_the_book(stream)

    @given(streams)
    def test_bytes_may_come_one_by_one(self, stream: bytes) -> None:
        parser = SSEParser()
        assert run(parser.feed, parser.close, pieces(stream)) == by_the_book(stream)

    @settings(max_examples=500)
    @given(likely_tokens, st.data())
    def test_cuts_around_line_ends_do_not_matter(self, tokens: list[bytes], draw: st.DataObject) -> None:
        parser = SSEParser()
        chunks = [b"".join(part) for part in cut(draw, tokens)]
        assert run(parser.feed, parser.close, chunks) == by_the_book(b"".join(tokens))

    @given(streams, st.integers(1, 40), st.data())
    def test_cuts_do_not_matter_to_the_limit(self, stream: bytes, limit: int, draw: st.DataObject) -> None:
        whole, parts, single = (SSEParser(limit=limit) for _ in range(3))
        expected = outcome(whole.feed, whole.close, [stream])
        assert outcome(parts.feed, parts.close, cut(draw, stream)) == expected
        assert outcome(single.feed, single.close, pieces(stream)) == expected

    @given(st.lists(st.binary(max_size=40), max_size=6), st.integers(1, 60))
    def test_any_bytes_are_frames_or_a_protocol_error(self, chunks: list[bytes], limit: int) -> None:
        parser = SSEParser(limit=limit)
        frames, failure = outcome(parser.feed, parser.close, chunks)
        assert failure is not None or frames == by_the_book(b"".join(chunks))

    @given(
        st.binary(min_size=1).map(lambda data: data.replace(b"\r", b"\n")),
        st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1),
    )
    def test_what_was_framed_parses_back(self, data: bytes, event: str | None) -> None:
        assert parse(frame(data, event)) == [Frame(event, data)]


READS = {
    "data alone": (b"data: a\n\n", [Frame(None, b"a")]),
    "a named event": (b"event: x\ndata: a\n\n", [Frame("x", b"a")]),
    "the name may come after the data": (b"data: a\nevent: x\n\n", [Frame("x", b"a")]),
    "the last name counts": (b"event: x\nevent: y\ndata: a\n\n", [Frame("y", b"a")]),
    "a name is for one event": (b"event: x\ndata: a\n\ndata: b\n\n", [Frame("x", b"a"), Frame(None, b"b")]),
    "a name without data is forgotten": (b"event: x\n\ndata: b\n\n", [Frame(None, b"b")]),
    "an empty name is none": (b"event:\ndata: a\n\n", [Frame(None, b"a")]),
    "no space after the colon": (b"data:[DONE]\n\n", [Frame(None, b"[DONE]")]),
    "only one space is taken off": (b"data:  a\n\n", [Frame(None, b" a")]),
    "several data lines": (b"data: a\ndata: b\n\n", [Frame(None, b"a\nb")]),
    "an empty first data line": (b"data:\ndata: b\n\n", [Frame(None, b"\nb")]),
    "an empty last data line": (b"data: a\ndata\n\n", [Frame(None, b"a\n")]),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", [Frame(None, b"a"), Frame(None, b"b")]),
    "CR": (b"data: a\r\rdata: b\r\r", [Frame(None, b"a"), Frame(None, b"b")]),
    "all line ends mixed": (b"data: a\r\ndata: b\rdata: c\n\r\n", [Frame(None, b"a\nb\nc")]),
    "a BOM": (b"\xef\xbb\xbfdata: a\n\n", [Frame(None, b"a")]),
    "a BOM only at the start": (b"\n\xef\xbb\xbfdata: a\n\n", []),
    "OpenRouter's comments": (b": OPENROUTER PROCESSING\n\ndata: a\n\n", [Frame(None, b"a")]),
    "a comment inside an event": (b"data: a\n: ping\ndata: b\n\n", [Frame(None, b"a\nb")]),
    "blank lines to keep alive": (b"\n\n\n\ndata: a\n\n\n\n", [Frame(None, b"a")]),
    "id and retry": (b"id: 7\nretry: 10\ndata: a\n\n", [Frame(None, b"a")]),
    "unknown fields": (b"Data: z\ndatum: y\nfoo\ndata: a\n\n", [Frame(None, b"a")]),
    "DashScope's order": (b"id:1\nevent:result\n:HTTP_STATUS/200\ndata:{}\n\n", [Frame("result", b"{}")]),
    "no blank line at the end": (b"data: a\n", [Frame(None, b"a")]),
    "no line end at the end": (b"data: a\n\nevent: x\ndata: b", [Frame(None, b"a"), Frame("x", b"b")]),
    "cut in the field name": (b"data: a\n\ndat", [Frame(None, b"a")]),
    "data that is empty": (b"data:\n\ndata: \n\nevent: x\ndata\n\n", []),
    "nothing": (b"", []),
    "NEL is data": ("data: a\u0085b\n\n".encode(), [Frame(None, "a\u0085b".encode())]),
    "LINE SEPARATOR is data": ("data: a\u2028b\n\n".encode(), [Frame(None, "a\u2028b".encode())]),
    "bad UTF-8 stays in data": (b"data: \xff\n\n", [Frame(None, b"\xff")]),
    "bad UTF-8 is replaced in names": (b"event: \xff\ndata: a\n\n", [Frame("\ufffd", b"a")]),
}


@pytest.mark.parametrize(("stream", "frames"), READS.values(), ids=READS.keys())
def test_reads(stream: bytes, frames: list[Frame]) -> None:
    assert parse(stream) == frames


def test_an_event_comes_out_with_the_byte_that_completes_it() -> None:
    parser = SSEParser()
    assert [parser.feed(part) for part in pieces(b"data: a\r\n\r\n")][-2:] == [[Frame(None, b"a")], []]


def test_crlf_cut_in_two_is_one_line_end() -> None:
    parser = SSEParser()
    assert parser.feed(b"data: a\r") == []
    assert parser.feed(b"") == []
    assert parser.feed(b"\ndata: b\r") == []
    assert parser.feed(b"\n\r\n") == [Frame(None, b"a\nb")]


CHUNKS = {
    "a name, then its data": ([b"event: x\n", b"data: a\n\n"], [Frame("x", b"a")]),
    "a line, then its end": ([b"data: a", b"\ndata: b\n\n"], [Frame(None, b"a\nb")]),
    "a line with its end, then the blank line": (
        [b"data: a\n", b"\ndata: b\n\n"],
        [Frame(None, b"a"), Frame(None, b"b")],
    ),
    "a known name without data": ([b"event: x\ndata: a\n\n", b"event: x\ndata: \n\n"], [Frame("x", b"a")]),
    "a known name with two data lines": (
        [b"event: x\ndata: a\n\n", b"event: x\ndata: a\ndata: b\n\n"],
        [Frame("x", b"a"), Frame("x", b"a\nb")],
    ),
}


@pytest.mark.parametrize(("chunks", "frames"), CHUNKS.values(), ids=CHUNKS.keys())
def test_reads_chunk_by_chunk(chunks: list[bytes], frames: list[Frame]) -> None:
    parser = SSEParser()
    assert [frame for chunk in chunks for frame in parser.feed(chunk)] == frames


def test_more_event_names_than_it_remembers() -> None:
    parser = SSEParser()
    frames = [Frame(f"e{number % 100}", b"a") for number in range(300)]
    assert parser.feed(b"".join(frame(data, event) for event, data in frames)) == frames


def test_a_closed_stream_has_nothing_left() -> None:
    parser = SSEParser()
    parser.feed(b"data: a")
    assert parser.close() == [Frame(None, b"a")]
    assert parser.close() == []


class TestLimit:
    def event(self, size: int) -> bytes:
        return b"data: " + b"x" * (size - len(b"data: ")) + b"\n\n"

    def test_an_event_of_16_mib_is_read(self) -> None:
        assert len(parse(self.event(16 * MIB))[0].data) == 16 * MIB - len(b"data: ")

    def test_a_larger_one_is_not(self) -> None:
        with pytest.raises(ProtocolError, match="event is larger than the limit of 16777216 bytes"):
            parse(self.event(16 * MIB + 1))

    def test_one_chunk_may_be_far_too_large(self) -> None:
        with pytest.raises(ProtocolError, match="limit of 16777216 bytes"):
            SSEParser().feed(b"x" * 100_000_000)

    def test_many_small_events_in_one_chunk_are_within_it(self) -> None:
        assert parse(b"data: abc\n\n" * 1000, limit=10) == [Frame(None, b"abc")] * 1000

    def test_all_data_lines_of_an_event_count(self) -> None:
        with pytest.raises(ProtocolError, match="limit of 100 bytes"):
            parse(b"data: 12345678\n" * 12, limit=100)

    def test_a_line_that_has_not_ended_counts_at_once(self) -> None:
        parser = SSEParser(limit=20)
        assert parser.feed(b"data: 1234567890\n") == []
        with pytest.raises(ProtocolError, match="limit of 20 bytes"):
            parser.feed(b"data: 1234")

    def test_comments_do_not_count_once_read(self) -> None:
        assert parse(b"data: a\n" + b": ping\n" * 1000 + b"\n", limit=100) == [Frame(None, b"a")]

    def test_frames_before_the_large_one_are_delivered(self) -> None:
        parser = SSEParser(limit=10)
        assert parser.feed(b"data: a\n\ndata: 123456\n\ndata: b\n\n") == [Frame(None, b"a")]
        with pytest.raises(ProtocolError, match="limit of 10 bytes"):
            parser.close()

    def test_it_fails_again_on_every_call(self) -> None:
        parser = SSEParser(limit=10)
        for _ in range(3):
            with pytest.raises(ProtocolError, match="limit of 10 bytes"):
                parser.feed(b"data: 123456\n\n")

    def test_the_failure_shows_how_the_event_began(self) -> None:
        with pytest.raises(ProtocolError) as error:
            parse(b"<html>" + b"x" * 1000, limit=1000)
        assert error.value.failure.body == "<html>" + "x" * 194

    def test_memory_stays_bounded(self) -> None:
        chunk = b"x" * 65536
        parser = SSEParser()
        failed = 0
        tracemalloc.start()
        try:
            for _ in range(100_000_000 // len(chunk)):
                try:
                    parser.feed(chunk)
                except ProtocolError:
                    failed += 1
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert failed > 1000
        assert peak < 40 * MIB

    def test_a_large_event_may_come_byte_by_byte(self) -> None:
        parser = SSEParser()
        stream = self.event(300_000)
        assert run(parser.feed, parser.close, pieces(stream)) == [Frame(None, stream[6:-2])]

    def test_it_must_allow_something(self) -> None:
        with pytest.raises(ValueError, match="at least 1 byte"):
            SSEParser(limit=0)


class TestFrame:
    def test_writes_the_name_before_the_data(self) -> None:
        assert frame(b"{}", "ping") == b"event: ping\ndata: {}\n\n"
        assert frame(b"{}") == b"data: {}\n\n"

    def test_writes_each_line_as_data(self) -> None:
        assert frame(b"a\nb\r\nc\rd") == b"data: a\ndata: b\ndata: c\ndata: d\n\n"

    def test_refuses_a_name_of_two_lines(self) -> None:
        with pytest.raises(ValueError, match="one line"):
            frame(b"{}", "a\ndata: forged")


@pytest.mark.parametrize(
    ("data", "done"), [(b"[DONE]", True), (b" [DONE]\r\n", True), (b"[done]", False), (b"", False)]
)
def test_done_is_known_by_its_mark(data: bytes, done: bool) -> None:
    assert is_done(data) is done
