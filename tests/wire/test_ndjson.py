from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.cuts import cut, outcome, pieces, run
from thinkwire.errors import ProtocolError
from thinkwire.wire.ndjson import NDJSONParser

MIB = 1024 * 1024

texts = st.sampled_from(
    [b"", b" ", b"{}", b'{"a": "\\n"}', "{né\u0085\u2028}".encode(), b"\xef\xbb\xbf{}", b"\xff"]
)
streams = st.lists(st.tuples(texts, st.sampled_from([b"\n", b"\r\n", b"", b"\n\n"])).map(b"".join)).map(
    b"".join
)


def parse(stream: bytes, *, limit: int = 16 * MIB) -> list[bytes]:
    parser = NDJSONParser(limit=limit)
    return parser.feed(stream) + parser.close()


class TestLaws:
    @given(streams, st.integers(1, 40), st.data())
    def test_cuts_do_not_matter(self, stream: bytes, limit: int, draw: st.DataObject) -> None:
        whole, parts, single = (NDJSONParser(limit=limit) for _ in range(3))
        expected = outcome(whole.feed, whole.close, [stream])
        assert outcome(parts.feed, parts.close, cut(draw, stream)) == expected
        assert outcome(single.feed, single.close, pieces(stream)) == expected

    @given(st.lists(st.binary(min_size=1).map(lambda line: line.replace(b"\n", b"") or b"x")))
    def test_each_line_comes_back_but_for_the_blanks_around_it(self, lines: list[bytes]) -> None:
        assert parse(b"\n".join(b" {%b} " % line for line in lines)) == [b"{%b}" % line for line in lines]

    @given(st.lists(st.binary(max_size=30)), st.integers(1, 40))
    def test_any_bytes_are_lines_or_a_protocol_error(self, chunks: list[bytes], limit: int) -> None:
        parser = NDJSONParser(limit=limit)
        lines, failure = outcome(parser.feed, parser.close, chunks)
        assert failure is not None or all(
            line and line == line.strip() and b"\n" not in line for line in lines
        )


READS = {
    "one object per line": (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
    "a last line without its end": (b"{}\n[]", [b"{}", b"[]"]),
    "CRLF": (b"{}\r\n[]\r\n", [b"{}", b"[]"]),
    "blank lines": (b"\n \n\r\n{}\n\n", [b"{}"]),
    "a BOM": (b"\xef\xbb\xbf{}\n", [b"{}"]),
    "white space around a line": (b"\t{} \n", [b"{}"]),
    "NEL is data": ('{"a":"\u0085"}\n'.encode(), ['{"a":"\u0085"}'.encode()]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize(("stream", "lines"), READS.values(), ids=READS.keys())
def test_reads(stream: bytes, lines: list[bytes]) -> None:
    assert parse(stream) == lines


def test_a_line_comes_out_when_it_ends() -> None:
    parser = NDJSONParser()
    assert [parser.feed(part) for part in (b'{"a"', b":1}", b"\n{", b"}")] == [[], [], [b'{"a":1}'], []]
    assert parser.close() == [b"{}"]
    assert parser.close() == []


class TestLimit:
    def test_a_line_of_16_mib_is_read(self) -> None:
        assert parse(b"x" * 16 * MIB) == [b"x" * 16 * MIB]

    @pytest.mark.parametrize(
        "stream", [b"x" * (16 * MIB + 1), b"x" * 100_000_000 + b"\n"], ids=["just", "far"]
    )
    def test_a_larger_one_is_not(self, stream: bytes) -> None:
        with pytest.raises(ProtocolError, match="line is larger than the limit of 16777216 bytes"):
            NDJSONParser().feed(stream)

    def test_lines_before_the_large_one_are_delivered(self) -> None:
        parser = NDJSONParser(limit=5)
        assert parser.feed(b"{}\n[1,2,3]\n{}\n") == [b"{}"]
        for _ in range(2):
            with pytest.raises(ProtocolError, match="limit of 5 bytes"):
                parser.feed(b"{}\n")

    def test_memory_stays_bounded(self) -> None:
        parser = NDJSONParser()
        failed = 0
        tracemalloc.start()
        try:
            for _ in range(1526):
                try:
                    parser.feed(b"x" * 65536)
                except ProtocolError:
                    failed += 1
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert failed > 1000
        assert peak < 40 * MIB

    def test_a_large_line_may_come_byte_by_byte(self) -> None:
        parser = NDJSONParser()
        assert run(parser.feed, parser.close, pieces(b"x" * 300_000 + b"\n")) == [b"x" * 300_000]
