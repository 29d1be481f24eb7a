"""Compressed bodies, in any cut and of any number of members."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkwire.wire.compression import LARGEST_STEP, Decompressor, decompressor


def read_all(stream: Decompressor, pieces: list[bytes]) -> bytes:
    got = bytearray()
    for piece in pieces:
        stream.push(piece)
        while stream.pending:
            step = stream.read()
            assert len(step) <= LARGEST_STEP
            got += step
    return bytes(got)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@settings(max_examples=60, deadline=None)
@given(
    members=st.lists(st.binary(max_size=300), min_size=1, max_size=80),
    padding=st.integers(0, 3),
    size=st.integers(1, 500),
)
def test_members_in_any_cut_are_one_body(members: list[bytes], padding: int, size: int) -> None:
    body = b"".join(gzip.compress(member) + bytes(padding) for member in members)
    stream = decompressor("gzip")
    assert stream is not None
    assert read_all(stream, cut(body, size)) == b"".join(members)
    assert stream.complete


@pytest.mark.parametrize("size", [1, 2, 3, 10**9])
@pytest.mark.parametrize("headless", [False, True])
def test_deflate_with_and_without_its_header(size: int, headless: bool) -> None:
    body = zlib.compress(b"abc" * 1000)
    stream = decompressor(" Deflate ")
    assert stream is not None
    assert stream.complete, "an empty body"
    assert read_all(stream, cut(body[2:-4] if headless else body, size)) == b"abc" * 1000
    assert stream.complete


@pytest.mark.parametrize("size", [1000, LARGEST_STEP, LARGEST_STEP + 1, 3 * LARGEST_STEP])
def test_a_body_that_ends_with_a_step_is_complete(size: int) -> None:
    stream = decompressor("x-gzip")
    assert stream is not None
    assert read_all(stream, [gzip.compress(bytes(size))]) == bytes(size)
    assert stream.complete


@pytest.mark.parametrize("kept", [1, 5, 17, 25])
def test_a_member_that_is_cut_off_is_not_complete(kept: int) -> None:
    stream = decompressor("gzip")
    assert stream is not None
    read_all(stream, [gzip.compress(b"one") + gzip.compress(b"two" * 99)[:kept]])
    assert not stream.complete


def test_what_is_not_compressed_needs_nothing_and_what_is_unknown_is_an_error() -> None:
    assert decompressor("identity") is None
    with pytest.raises(zlib.error, match="'br'"):
        decompressor("br")
