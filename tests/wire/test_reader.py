from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.cuts import cut, outcome, pieces, run
from thinkwire.errors import ProtocolError
from thinkwire.wire.sniff import FrameReader, Framing, reader_for, sniff
from thinkwire.wire.sse import Frame, SSEParser

STREAMS: dict[str, tuple[bytes, Framing | None, list[Frame]]] = {
    "data": (b"data: {}\n\n", "sse", [Frame(None, b"{}")]),
    "event": (b"event: x\ndata: {}\n\n", "sse", [Frame("x", b"{}")]),
    "comment": (b": keep-alive\n\ndata: {}\n\n", "sse", [Frame(None, b"{}")]),
    "blank lines before data": (b"\r\n\r\n\ndata: {}\r\n\r\n", "sse", [Frame(None, b"{}")]),
    "BOM before data": (b"\xef\xbb\xbfdata: {}", "sse", [Frame(None, b"{}")]),
    "text": (b"<html>oops</html>", "sse", []),
    "lines": (b'{"a":1}\n{"b":2}\n', "ndjson", [Frame(None, b'{"a":1}'), Frame(None, b'{"b":2}')]),
    "one line without its end": (b'\xef\xbb\xbf {"a":1}', "ndjson", [Frame(None, b'{"a":1}')]),
    "an empty object": (b"{}", "ndjson", [Frame(None, b"{}")]),
    "array": (b'[{"a":1}\n,\n{"b":2}]', "array", [Frame(None, b'{"a":1}'), Frame(None, b'{"b":2}')]),
    "array after blank lines": (b"\n\xef\xbb\xbf\n [{}]", "array", [Frame(None, b"{}")]),
    "an object over several lines": (b'{\n  "a": 1\n}\n', "array", [Frame(None, b'{\n  "a": 1\n}')]),
    "the same with CRLF": (b'{\r\n  "a": 1\r\n}', "array", [Frame(None, b'{\r\n  "a": 1\r\n}')]),
    "a lone brace": (b"{", "ndjson", [Frame(None, b"{")]),
    "white space": (b" \r\n\t", None, []),
}


@pytest.mark.parametrize(("stream", "framing", "frames"), STREAMS.values(), ids=STREAMS.keys())
def test_reads_whichever_framing_arrives(stream: bytes, framing: Framing | None, frames: list[Frame]) -> None:
    for size in (len(stream), 3, 1):
        reader = FrameReader()
        assert run(reader.feed, reader.close, pieces(stream, size)) == frames
        assert reader.framing == framing


@given(st.sampled_from([stream for stream, _, _ in STREAMS.values()]) | st.binary(max_size=30), st.data())
def test_cuts_do_not_matter(stream: bytes, draw: st.DataObject) -> None:
    whole, parts = FrameReader(), FrameReader()
    expected = outcome(whole.feed, whole.close, [stream])
    assert outcome(parts.feed, parts.close, cut(draw, stream)) == expected


HEADS = st.sampled_from(
    [b"data: {}\n\n", b"event: x\ndata:{}\n\n", b"data", b"\xef\xbb\xbfdata: {}\n\n", b"[{}]", b""]
)
TAILS = st.lists(
    st.sampled_from(
        [
            b"data: a\n\n",
            b"event: x\ndata: b\n\n",
            b"data:",
            b"\n",
            b"\r\n",
            b": c\n\n",
            b"\xef\xbb\xbf",
            b"data: \n\n",
        ]
    )
).map(b"".join)


@given(HEADS, TAILS, st.data())
def test_a_reader_that_is_chosen_by_the_first_bytes_reads_the_same(
    head: bytes, tail: bytes, draw: st.DataObject
) -> None:
    whole, chosen = FrameReader(), reader_for(head)
    parts = [head, *cut(draw, tail)]
    expected = outcome(whole.feed, whole.close, [bytes([byte]) for byte in head + tail])
    assert outcome(chosen.feed, chosen.close, parts) == expected


SNIFFS: dict[bytes, Framing | None] = {
    b"": None,
    b"\xef\xbb": None,
    b"\xef\xbb\xbf \r\n": None,
    b"{": None,
    b'{"': "ndjson",
    b"{}": "ndjson",
    b"{\n": "array",
    b" [": "array",
    b":": "sse",
    b"d": "sse",
    b"<": "sse",
}


@pytest.mark.parametrize(("head", "framing"), SNIFFS.items())
def test_sniffs(head: bytes, framing: Framing | None) -> None:
    assert sniff(head) == framing


def test_costs_nothing_once_the_framing_is_known() -> None:
    reader = FrameReader()
    reader.feed(b"data")
    assert isinstance(getattr(reader.feed, "__self__", None), SSEParser)


@pytest.mark.parametrize("head", [b"data: ", b'{"', b"["], ids=["sse", "ndjson", "array"])
def test_the_limit_holds_in_every_framing(head: bytes) -> None:
    reader = FrameReader(limit=100)
    with pytest.raises(ProtocolError, match="limit of 100 bytes"):
        reader.feed(head + b'{"a":"' + b"x" * 100)
