"""Hypothesis strategies: values of the neutral format, and damage to JSON values, streams and bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import reduce
from typing import Any

from hypothesis import strategies as st

from thinkwire.events import Answer
from thinkwire.messages import (
    Conversation,
    Document,
    Image,
    Opaque,
    Origin,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.usage import Usage, measure

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
some_words = words.filter(lambda text: bool(text.strip()))
names = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
extras = st.dictionaries(names, st.dictionaries(names, json_values, max_size=2), max_size=2)
seals = st.builds(Seal, scheme=st.sampled_from(["anthropic.signature", "gemini.thought"]), data=some_words)
maybe_seal = st.none() | seals

texts = st.builds(Text, text=words, refusal=st.booleans(), seal=maybe_seal, extras=extras)
thoughts = st.builds(
    Thinking,
    text=words,
    form=st.sampled_from(["full", "summary", "redacted", "hidden"]),
    field=st.none() | names,
    seal=maybe_seal,
    extras=extras,
)
tool_calls = st.builds(
    ToolCall, id=names, name=names, arguments=st.just('{"a":1}') | words, seal=maybe_seal, extras=extras
)
images = st.builds(Image, media_type=st.just("image/png"), data=st.just("aGk="), extras=extras)
documents = st.builds(
    Document, media_type=st.just("application/pdf"), url=st.just("https://example.org/a.pdf")
)
opaques = st.builds(Opaque, dialect=names, data=st.dictionaries(names, json_values, max_size=3))
results = st.builds(
    ToolResult,
    call_id=names,
    content=st.lists(texts | images | documents | opaques, max_size=3).map(tuple),
    name=st.none() | names,
    failed=st.booleans(),
    extras=extras,
)
model_blocks = st.lists(texts | thoughts | tool_calls | opaques | images, max_size=5).map(tuple)
origins = st.builds(Origin, model=some_words, response_id=st.none() | names)
turns = st.builds(
    Turn,
    role=st.sampled_from(["system", "user", "assistant"]),
    blocks=st.lists(texts | thoughts | tool_calls | results | images | documents | opaques, max_size=4).map(
        tuple
    ),
    origin=st.none() | origins,
    extras=extras,
)
conversations = st.builds(
    Conversation, system=st.lists(texts, max_size=2).map(tuple), turns=st.lists(turns, max_size=4).map(tuple)
)

counts = st.none() | st.integers(0, 10**9)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    usage, _ = measure(
        input_uncached=draw(counts),
        cache_read=draw(counts),
        cache_write=draw(counts),
        output_total=draw(counts),
        output_reasoning=draw(counts),
    )
    return usage


answers = st.builds(
    Answer,
    turn=st.builds(
        Turn, role=st.just("assistant"), blocks=model_blocks, origin=st.none() | origins, extras=extras
    ),
    finish=st.sampled_from(["stop", "tool_calls", "length", "continue", "refusal", "error", "cancelled"]),
    usage=st.none() | usages(),
    extras=extras,
)


def copy_json(value: Any) -> Any:
    """Copy a JSON value so that no two parts of the copy are the same object."""
    return json.loads(json.dumps(value))


JUNK: list[Any] = [
    *(None, True, 0, -1, 0.5, 10**30),
    *("", "x", "text", "<think>"),
    *([], [None], [[]], [{}], ["x"]),
    *({}, {"a": None}, {"a": [{}]}, {"type": "text"}, {"type": "x"}),
]
junk: st.SearchStrategy[Any] = st.sampled_from(JUNK).map(copy_json) | json_values
"""JSON values where others are expected."""

Place = tuple[str | int, ...]


def places_in(value: Any, start: Place = ()) -> Iterator[Place]:
    """Yield the path of every part of a JSON value, outer parts first; the value itself is not one."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in steps:
        yield (*start, step)
        yield from places_in(part, (*start, step))


def part_at(value: Any, place: Place) -> Any:
    return reduce(lambda part, step: part[step], place, value)


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """Copy a JSON object or array with one to four parts removed, or replaced by junk or another part."""
    value = copy_json(value)
    for _ in range(draw(st.integers(1, 4))):
        places = list(places_in(value))
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        holder = part_at(value, tuple(way))
        match draw(st.sampled_from(["replace", "remove", "repeat"])):
            case "replace":
                holder[last] = draw(junk)
            case "remove":
                del holder[last]
            case _:
                holder[last] = copy_json(part_at(value, draw(st.sampled_from(places))))
    return value


@st.composite
def damaged_frames(draw: st.DrawFn, frames: list[Any]) -> list[Any]:
    """Damage the frames of a stream; in every other example their order is lost as well."""
    found: list[Any] = draw(damaged(frames))
    return draw(st.permutations(found)) if draw(st.booleans()) else found


@st.composite
def damaged_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Put noise somewhere in the bytes, instead of some of them or between them."""
    start = draw(st.integers(0, len(data)))
    lost = draw(st.just(0) | st.integers(0, 200))
    return data[:start] + draw(st.binary(max_size=200)) + data[start + lost :]
