"""Malformed requests, answers and streams: every dialect reads them or says what is wrong."""

from __future__ import annotations

import copy
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.budget import EXAMPLES
from tests.recordings.loader import everything
from tests.recordings.seen import events_from
from tests.strategies import json_values
from thinkwire import dialects
from thinkwire.errors import MalformedInput
from thinkwire.events import Failed, Finished, Noted, Started, collect
from thinkwire.jsonvalue import dump, parse

pytestmark = pytest.mark.full
every_dialect = pytest.mark.parametrize("name", dialects.NAMES)
bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
LARGEST = 20_000
"""Bytes of a recording that is taken as a seed."""

REQUESTS: dict[str, Any] = {
    "anthropic": {
        "model": "m",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "Be short."}],
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any"},
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]},
        ],
    },
    "openai-chat": {
        "model": "m",
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "ok"},
        ],
    },
    "openai-responses": {
        "model": "m",
        "tools": [{"type": "function", "name": "look", "parameters": {"type": "object"}}],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "ok"},
            {"type": "item_reference", "id": "rs_2"},
        ],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "tools": [{"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT"}}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "ok"}}}]},
        ],
    },
}
"""A request for each dialect, so that there is a seed without recordings."""


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


odd_values = json_values | st.sampled_from(
    [-1, 2**63, 1e308, "", "\ud800", [], {}, [None], [[]], {"": None}, {"type": []}, nested(50)]
)


class Change(NamedTuple):
    """What is done to one place of a JSON value."""

    place: int
    how: str
    value: Any


changes = st.lists(
    st.builds(
        Change, st.integers(0, 2**16), st.sampled_from(["replace", "delete", "repeat", "move"]), odd_values
    ),
    max_size=4,
)


def changed(value: Any, wanted: list[Change]) -> Any:
    value = copy.deepcopy(value)
    for change in wanted:
        places = list(places_in(value))
        if places:
            apply(change, *places[change.place % len(places)])
    return value


def places_in(value: Any) -> Any:
    """Every place below a value, as its container and its key there."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = range(len(holder)) if isinstance(holder, list) else list(holder)
        for key in keys:
            yield holder, key
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])


def apply(change: Change, holder: Any, key: Any) -> None:
    match change.how:
        case "delete":
            del holder[key]
        case "repeat" if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        case "move" if isinstance(holder, list):
            holder.append(holder.pop(key))
        case _:
            holder[key] = copy.deepcopy(change.value)


@cache
def seeds(name: str, kind: str) -> tuple[Any, ...]:
    """Native values of a dialect: its request above, and what was recorded."""
    found = [item for item in everything() if item.in_scope and item.dialect == name]
    found = [item for item in found if len(item.data) < LARGEST]
    if kind == "request":
        recorded = [item.request for item in found if item.request and len(dump(item.request)) < LARGEST]
        return (REQUESTS[name], *recorded)
    if kind == "answer":
        return ({}, *(item.body for item in found if item.kind == "json"))
    return ([{}], *(item.frames for item in found if item.kind == "stream"))


def seeded(name: str, kind: str) -> st.SearchStrategy[Any]:
    return st.builds(changed, st.sampled_from(seeds(name, kind)), changes)


@every_dialect
@bounded
@given(data=st.data())
def test_a_request_is_read_or_refused(name: str, data: st.DataObject) -> None:
    """What was read can be written, and what was written stays the same when it is read and written again."""
    dialect = dialects.get(name)
    body: Any = data.draw(seeded(name, "request") | json_values)
    try:
        request = dialect.decode_request(body)
    except MalformedInput:
        return
    written = parse(dump(dialect.encode_request(request).body))
    assert parse(dump(dialect.encode_request(dialect.decode_request(written)).body)) == written


@every_dialect
@bounded
@given(data=st.data())
def test_an_answer_is_read_or_refused(name: str, data: st.DataObject) -> None:
    dialect = dialects.get(name)
    body: Any = data.draw(seeded(name, "answer") | json_values)
    try:
        answer = dialect.decode_response(body)
    except MalformedInput:
        return
    dump(dialect.encode_response(answer).body)


@every_dialect
@bounded
@given(data=st.data())
def test_a_stream_is_read_however_it_is_cut(name: str, data: st.DataObject) -> None:
    """Any cut of the bytes gives the same events, with one beginning and one end."""
    dialect = dialects.get(name)
    frames = data.draw(seeded(name, "stream"))
    raw = b"".join(b"data: %b\n\n" % frame_data(frame) for frame in frames)
    raw = with_noise(raw, data.draw(noise))
    whole = events_from(dialect, [raw])
    cuts = sorted(
        {0, len(raw), *(cut % (len(raw) + 1) for cut in data.draw(st.lists(st.integers(0, 2**16))))}
    )
    assert events_from(dialect, [raw[start:end] for start, end in pairwise(cuts)]) == whole
    told = [event for event in whole if not isinstance(event, Noted)]
    assert [event for event in told if isinstance(event, Started)] in ([], told[:1])
    assert [event for event in told if isinstance(event, Finished | Failed)] == told[-1:]
    collect(whole)


noise = st.lists(st.tuples(st.integers(0, 2**16), st.binary(max_size=4), st.integers(0, 4)), max_size=2)


def with_noise(raw: bytes, pieces: list[tuple[int, bytes, int]]) -> bytes:
    """The bytes with some replaced."""
    for place, piece, lost in pieces:
        at = place % (len(raw) + 1)
        raw = raw[:at] + piece + raw[at + lost :]
    return raw


def frame_data(frame: Any) -> bytes:
    return frame.encode("utf-8", "replace") if isinstance(frame, str) else dump(frame)
