from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.cuts import cut, outcome, pieces, run
from thinkwire.errors import ConnectionLost, ProtocolError
from thinkwire.wire.json_array import JSONArrayParser

MIB = 1024 * 1024

hard_text = st.text(st.sampled_from('\\"{}[],: \nné💭'), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | hard_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hard_text, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(hard_text, values, max_size=3)
indents = st.sampled_from([None, 0, 2])


def parse(body: bytes) -> list[bytes]:
    parser = JSONArrayParser()
    return parser.feed(body) + parser.close()


class TestLaws:
    @given(st.lists(objects, max_size=4), indents, st.booleans(), st.data())
    def test_every_object_comes_out_however_the_array_is_cut(
        self, array: list[dict[str, Any]], indent: int | None, ascii_only: bool, draw: st.DataObject
    ) -> None:
        body = json.dumps(array, indent=indent, ensure_ascii=ascii_only).encode()
        parser = JSONArrayParser()
        elements = run(parser.feed, parser.close, cut(draw, body))
        assert [json.loads(element) for element in elements] == array
        assert elements == parse(body)

    @given(st.lists(objects, max_size=3))
    def test_the_bytes_of_an_object_are_left_as_they_are(self, array: list[dict[str, Any]]) -> None:
        raw = [json.dumps(element, indent=1).encode() for element in array]
        assert parse(b"[" + b"\n,\r\n".join(raw) + b"]\n") == raw

    @given(st.text(st.sampled_from('[]{}",\\ \na'), max_size=30), st.integers(1, 20), st.data())
    def test_cuts_do_not_matter_to_what_is_wrong(self, text: str, limit: int, draw: st.DataObject) -> None:
        body = text.encode()
        whole, parts, single = (JSONArrayParser(limit=limit) for _ in range(3))
        expected = outcome(whole.feed, whole.close, [body])
        assert outcome(parts.feed, parts.close, cut(draw, body)) == expected
        assert outcome(single.feed, single.close, pieces(body)) == expected

    @given(st.lists(st.binary(max_size=30)))
    def test_any_bytes_are_elements_or_a_protocol_error(self, chunks: list[bytes]) -> None:
        parser = JSONArrayParser()
        elements, failure = outcome(parser.feed, parser.close, chunks)
        assert failure is not None or b"".join(elements) in b"".join(chunks)


READS = {
    "Gemini's spacing": (b'[{"a":1}\n,\r\n{"b":2}\n]\n', [b'{"a":1}', b'{"b":2}']),
    "an empty array": (b"[]", []),
    "nothing": (b"", []),
    "one object and no array": (b'{\n "error": {"code": 400}\n}\n', [b'{\n "error": {"code": 400}\n}']),
    "objects one after another": (b"{}\n{}", [b"{}", b"{}"]),
    "a BOM and white space": (b"\xef\xbb\xbf \n[ {} ]", [b"{}"]),
    "nested arrays and objects": (b'[{"a":[{"b":[]}]},{}]', [b'{"a":[{"b":[]}]}', b"{}"]),
    "brackets in a string": (rb'[{"a":"}]{["},{}]', [rb'{"a":"}]{["}', b"{}"]),
    "a quote in a string": (rb'[{"a":"\"}"},{}]', [rb'{"a":"\"}"}', b"{}"]),
    "a backslash at the end of a string": (rb'[{"a":"\\"},{}]', [rb'{"a":"\\"}', b"{}"]),
    "backslashes and a quote": (rb'[{"a":"\\\"}"},{}]', [rb'{"a":"\\\"}"}', b"{}"]),
    "cut between two elements": (b"[{},", [b"{}"]),
}


@pytest.mark.parametrize(("body", "elements"), READS.values(), ids=READS.keys())
def test_reads(body: bytes, elements: list[bytes]) -> None:
    parser = JSONArrayParser()
    assert parse(body) == elements
    assert run(parser.feed, parser.close, pieces(body)) == elements


def test_an_element_comes_out_with_its_last_byte() -> None:
    parser = JSONArrayParser()
    assert [parser.feed(part) for part in (b'[{"a":', b"1", b"}", b",", b"{}]")] == [
        [],
        [],
        [b'{"a":1}'],
        [],
        [b"{}"],
    ]


REFUSES = {
    "a bare word": b"[{}, oops]",
    "a number as element": b"[1]",
    "a string as element": b'["a"]',
    "something after the array": b"[{}] {}",
    "an array in the array": b"[[{}]]",
    "text": b"upstream error",
    "an end without a beginning": b"]",
}


@pytest.mark.parametrize("body", REFUSES.values(), ids=REFUSES.keys())
def test_refuses(body: bytes) -> None:
    with pytest.raises(ProtocolError, match="expected"):
        parse(body)


CUT_INSIDE = {
    "an object": b'[{"a":1},{"b"',
    "a string": b'[{"a":1},{"b":"}',
    "an escape": b'[{"a":1},{"b":"\\',
}


@pytest.mark.parametrize("body", CUT_INSIDE.values(), ids=CUT_INSIDE.keys())
def test_an_array_cut_inside_an_element_gives_what_was_whole_and_fails_at_the_end(body: bytes) -> None:
    parser = JSONArrayParser()
    assert parser.feed(body) == [b'{"a":1}']
    for _ in range(2):
        with pytest.raises(ConnectionLost, match=r"ended \d+ bytes into a JSON object"):
            parser.close()


def test_elements_before_garbage_are_delivered() -> None:
    parser = JSONArrayParser()
    assert parser.feed(b"[{},oops,{}]") == [b"{}"]
    with pytest.raises(ProtocolError, match="expected a JSON object, got b'o'") as error:
        parser.feed(b"{}")
    assert error.value.failure.body == "oops,{}]"


class TestLimit:
    def test_an_element_of_16_mib_is_read(self) -> None:
        element = b'{"a":"' + b"x" * (16 * MIB - 8) + b'"}'
        assert parse(b"[%b,{}]" % element) == [element, b"{}"]

    def test_a_larger_one_is_not(self) -> None:
        chunks = [b'[{"a":"', *[b"x" * 65536] * 256]
        parser = JSONArrayParser()
        elements, failure = outcome(parser.feed, parser.close, chunks)
        assert elements == []
        assert failure == "an element of the JSON array is larger than the limit of 16777216 bytes"

    def test_the_array_may_be_larger(self) -> None:
        parser = JSONArrayParser(limit=10)
        assert parser.feed(b"[" + b'{"a":1},' * 100) == [b'{"a":1}'] * 100

    def test_a_large_element_may_come_byte_by_byte(self) -> None:
        parser = JSONArrayParser()
        body = b'[{"a":"' + b'x\\"' * 100_000 + b'"}]'
        assert run(parser.feed, parser.close, pieces(body)) == [body[1:-1]]
