"""JSON from strangers: read exactly, or refused with the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from thinkwire import jsonvalue
from thinkwire.errors import MalformedInput
from thinkwire.request import Request


@given(strategies.json_values)
def test_what_is_dumped_is_parsed(value: Any) -> None:
    assert jsonvalue.parse(jsonvalue.dump(value)) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_malformed(data: bytes) -> None:
    try:
        value = jsonvalue.parse(data)
    except MalformedInput:
        return
    assert value is None or isinstance(value, bool | int | float | str | list | dict)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "truncated"),
        (b'{"a": ', "truncated"),
        (b"{'a': 1}", r"byte 1"),
        (b'{"a": 1} x', "trailing characters"),
        (b'"\xff"', "not UTF-8"),
        ('"\ud800"', "not UTF-8"),
        (b"NaN", "malformed"),
        (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested too deeply"),
        (b'["\\ud800", ' + b"[" * 100_000, "."),
        (b'["\\ud800", NaN]', "."),
    ],
)
def test_broken_json_says_how(data: bytes | str, complaint: str) -> None:
    with pytest.raises(MalformedInput, match=complaint):
        jsonvalue.parse(data)


def test_half_a_surrogate_pair_is_read_as_a_replacement_character() -> None:
    assert jsonvalue.parse(b'["x\\ud800y", "\\ud83d\\ude00"]') == ["x\ufffdy", "\U0001f600"]
    assert jsonvalue.parse('"\\uDC00"') == "\ufffd"


def test_half_a_surrogate_pair_is_written_as_a_replacement_character() -> None:
    assert jsonvalue.dump({"a\ud800": ["\udc00"]}) == '{"a\ufffd":["\ufffd"]}'.encode()


def test_big_numbers_survive() -> None:
    assert (
        jsonvalue.dump(jsonvalue.parse(b"123456789012345678901234567890"))
        == b"123456789012345678901234567890"
    )


READERS: list[tuple[Callable[..., Any], Any, Any]] = [
    (jsonvalue.require_str, "x", 1),
    (jsonvalue.opt_str, "x", 1),
    (jsonvalue.opt_bool, True, 1),
    (jsonvalue.opt_int, 1, "1"),
    (jsonvalue.opt_int, 2.0, 2.5),
    (jsonvalue.opt_number, 1.5, True),
    (jsonvalue.opt_object, {}, []),
    (jsonvalue.require_object, {}, []),
    (jsonvalue.opt_list, [1], {}),
]


@pytest.mark.parametrize(("read", "good", "wrong"), READERS)
def test_readers_take_the_right_kind_and_name_the_place_of_the_wrong_one(
    read: Callable[..., Any], good: Any, wrong: Any
) -> None:
    assert read({"k": good}, "k", ("a", 2)) == good
    with pytest.raises(MalformedInput) as caught:
        read({"k": wrong}, "k", ("a", 2))
    assert caught.value.path == "a[2].k"
    assert jsonvalue.kind(wrong) in caught.value.message


@pytest.mark.parametrize("read", [jsonvalue.require_str, jsonvalue.require_object])
def test_a_missing_required_field_is_called_missing(read: Callable[..., Any]) -> None:
    with pytest.raises(MalformedInput, match="k: required field is missing"):
        read({}, "k", ())


def test_strings_may_come_alone_or_in_a_list() -> None:
    assert jsonvalue.opt_strings({"k": "a"}, "k", ()) == ("a",)
    assert jsonvalue.opt_strings({"k": ["a", "b"]}, "k", ()) == ("a", "b")
    with pytest.raises(MalformedInput, match=r"k\[1\]: expected a string, got null"):
        jsonvalue.opt_strings({"k": ["a", None]}, "k", ())


def test_our_own_format_is_checked_with_the_place() -> None:
    assert jsonvalue.parse_as(b'{"model":"m"}', Request) == Request(model="m")
    with pytest.raises(MalformedInput) as caught:
        jsonvalue.parse_as(b'{"turns":[{"role":1}]}', Request)
    assert caught.value.path == "turns[0].role"
    with pytest.raises(MalformedInput, match="truncated"):
        jsonvalue.parse_as(b'{"model":', Request)
