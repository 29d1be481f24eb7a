"""Answers that every dialect must be able to tell its own SDK, and the ways in which events come."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, zip_longest
from typing import Any, NamedTuple, TypeAlias

import pytest

from thinkwire.dialects import NAMES, get
from thinkwire.errors import Failure
from thinkwire.events import (
    Answer,
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Failed,
    FinishReason,
    Started,
    events_of,
)
from thinkwire.messages import Block, Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.usage import Usage, measure

MODELS = {
    "anthropic": "claude-opus-5-5",
    "openai-chat": "gpt-5.6-luna",
    "openai-responses": "gpt-6.1-sol",
    "gemini": "gemini-3.8-flash",
}
IDS = {
    "anthropic": "msg_01Sample",
    "openai-chat": "chatcmpl-sample",
    "openai-responses": "resp_0123456789abcdef",
    "gemini": "sample-response",
}
# Standard base64 with each of its odd characters, as vendors write their proofs.
PROOF = "EpUCCkYIC/gYMf+//v/kAA=="
PROOF_2 = "yMnKy8zNzs/Q0dLT1NXW//77"
OBJECTS = '{"city": "Oslo", "days": [1, 2, 3], "deep": {"a": null, "b": "x\\"y\\u00e9"}}'
ODD_TEXT = (
    "Grüße 👩‍👩‍👧‍👦 \t\n\n  {}\\\"'\r\n"
    "\u2028line\u2029paragraph\u0085next\u00a0\ufeffdata: [DONE]\n\n end  \n"
)


class Sample(NamedTuple):
    """An answer under a name; `only` names the dialects that can express it."""

    name: str
    answer: Answer
    only: tuple[str, ...] = NAMES


def tokens(**counts: Any) -> Usage:
    usage, notes = measure(**counts)
    assert not notes
    return usage


PLAIN_USAGE = tokens(input_uncached=12, cache_read=0, cache_write=0, output_total=34, output_reasoning=0)
FULL_USAGE = tokens(
    input_uncached=100, cache_read=2048, cache_write=512, output_total=530, output_reasoning=410
)
TOTALS = tokens(input_total=12, output_total=34)
# Google does not report writes to its cache.
READ_USAGE = tokens(input_uncached=100, cache_read=2048, output_total=530, output_reasoning=410)


FOREIGN = {
    "anthropic": "openai.encrypted",
    "openai-chat": "anthropic.signature",
    "openai-responses": "gemini.thought",
    "gemini": "anthropic.signature",
}


def thought(dialect: str, text: str, proof: str = PROOF) -> Thinking:
    """Thinking as the dialect's own vendor makes it."""
    match dialect:
        case "anthropic":
            return Thinking(text, form="full" if text else "hidden", seal=Seal("anthropic.signature", proof))
        case "openai-responses":
            return Thinking(text, form="summary" if text else "hidden", seal=Seal("openai.encrypted", proof))
        case "gemini":
            return Thinking(text, form="summary")
    return Thinking(text, field="reasoning_content")


def said(dialect: str, text: str, proof: str | None = None) -> Text:
    """Text; only Google signs it."""
    return Text(text, seal=Seal("gemini.thought", proof) if proof and dialect == "gemini" else None)


def call(dialect: str, number: int, arguments: str, proof: str | None = None) -> ToolCall:
    """A tool call; only Google signs it."""
    seal = Seal("gemini.thought", proof) if proof and dialect == "gemini" else None
    return ToolCall(f"call_{number}", ("get_weather", "look-up")[number % 2], arguments, seal=seal)


def answer(
    dialect: str,
    *blocks: Block,
    finish: FinishReason = "stop",
    usage: Usage | None = PLAIN_USAGE,
) -> Answer:
    origin = Origin(model=MODELS[dialect], response_id=IDS[dialect])
    return Answer(Turn("assistant", blocks, origin=origin), finish=finish, usage=usage)


def _table(d: str) -> Iterator[Sample]:
    ordered = ("anthropic", "openai-responses", "gemini")
    hidden = ("anthropic", "openai-responses")
    yield Sample("plain text", answer(d, said(d, "Hello, world.")))
    yield Sample("thinking, then text", answer(d, thought(d, "Let me see.\nYes."), said(d, "Yes.", PROOF)))
    yield Sample("hidden thinking", answer(d, thought(d, ""), said(d, "42")), hidden)
    yield Sample("only hidden thinking", answer(d, thought(d, ""), finish="length"), hidden)
    redacted = Thinking(form="redacted", seal=Seal("anthropic.redacted", PROOF))
    yield Sample("redacted thinking", answer(d, redacted, said(d, "Done.")), ("anthropic",))
    yield Sample(
        "redacted between thoughts",
        answer(d, thought(d, "a"), redacted, thought(d, "b", PROOF_2), said(d, "c")),
        ("anthropic",),
    )
    signed = Thinking("Hm.", form="summary", seal=Seal("gemini.thought", PROOF))
    yield Sample("signed thinking", answer(d, signed, said(d, "Done.")), ("gemini",))
    empty = Thinking(form="hidden", seal=Seal("gemini.thought", PROOF))
    yield Sample("only a signature for thinking", answer(d, empty, said(d, "Done.")), ("gemini",))
    foreign = Thinking("Hm, hm.", seal=Seal(FOREIGN[d], PROOF))
    yield Sample("thinking of another maker", answer(d, foreign, said(d, "Done.")))
    unread = Thinking(form="hidden", seal=Seal(FOREIGN[d], PROOF))
    yield Sample("hidden thinking of another maker", answer(d, unread, said(d, "Done.")))
    yield Sample("a signature alone", answer(d, said(d, "Hi"), said(d, "", PROOF)), ("gemini",))
    details = f'[{{"type":"reasoning.text","text":"Hm.","signature":"{PROOF}","index":0}}]'
    listed = Thinking("Hm.", field="reasoning_details", seal=Seal("openrouter.details", details))
    yield Sample("reasoning details", answer(d, listed, said(d, "Done.")), ("openai-chat",))
    named = Thinking("Hm.", field="reasoning")
    yield Sample("reasoning by another name", answer(d, named, said(d, "Done.")), ("openai-chat",))
    yield Sample("one tool call", answer(d, call(d, 0, OBJECTS, PROOF), finish="tool_calls"))
    yield Sample("a call without arguments", answer(d, call(d, 0, "{}"), finish="tool_calls"))
    yield Sample(
        "parallel tool calls",
        answer(
            d,
            thought(d, "Two places."),
            said(d, "Looking both up."),
            call(d, 0, OBJECTS, PROOF),
            call(d, 1, '{"q": "Bergen 🌧"}'),
            finish="tool_calls",
        ),
    )
    yield Sample(
        "interleaved thinking",
        answer(
            d,
            thought(d, "First this."),
            call(d, 0, '{"n": 1}', PROOF),
            thought(d, "Then that.", PROOF_2),
            call(d, 1, '{"n": 2}', PROOF_2),
            said(d, "Both asked."),
            finish="tool_calls",
        ),
        ordered,
    )
    yield Sample(
        "text, thinking, text",
        answer(d, said(d, "One. "), thought(d, "Hm."), said(d, "Two.", PROOF)),
        ordered,
    )
    yield Sample("refusal", answer(d, Text("I cannot help with that.", refusal=True), finish="refusal"))
    yield Sample("refusal without a word", answer(d, finish="refusal"))
    yield Sample("out of tokens", answer(d, thought(d, "So much to"), said(d, "It is a lo"), finish="length"))
    yield Sample("odd characters", answer(d, thought(d, ODD_TEXT), said(d, ODD_TEXT)))
    yield Sample("only white space", answer(d, said(d, " \n\n\t "), usage=None))
    yield Sample("no words at all", answer(d))
    yield Sample(
        "usage in full",
        answer(d, thought(d, "Hm."), said(d, "Ok."), usage=READ_USAGE if d == "gemini" else FULL_USAGE),
    )
    yield Sample("usage in part", answer(d, said(d, "Ok."), usage=TOTALS))
    yield Sample(
        "a long answer", answer(d, thought(d, "deep " * 4_000), said(d, "".join(_words(80_000)), PROOF))
    )


def _words(length: int) -> Iterator[str]:
    source = random.Random(7)
    while length > 0:
        word = f"{source.choice(('lorem', 'ipsum', 'dolor', 'æøå', '日本'))}{source.choice(' .,')}"
        length -= len(word)
        yield word


SAMPLES = {name: [sample for sample in _table(name) if name in sample.only] for name in NAMES}
LONG = "a long answer"


def at_once(answer: Answer) -> Iterator[Event]:
    """Every block grows once."""
    return events_of(answer)


def in_pieces(answer: Answer) -> Iterator[Event]:
    """Every block grows by a few characters at a time, wherever the cuts fall."""
    source = random.Random(11)
    usual, rare = (1, 8) if len(answer.turn.text) < 10_000 else (30, 70)
    for event in events_of(answer):
        if not isinstance(event, BlockGrew):
            yield event
            continue
        rest = event.text
        while rest:
            size = source.randint(usual, rare)
            yield BlockGrew(event.index, rest[:size])
            rest = rest[size:]


def already_there(answer: Answer) -> Iterator[Event]:
    """Every block is complete when it starts."""
    for event in events_of(answer):
        if isinstance(event, BlockStarted):
            yield BlockStarted(event.index, answer.turn.blocks[event.index])
        elif not isinstance(event, BlockGrew | BlockSealed):
            yield event


def overlapping(answer: Answer) -> Iterator[Event]:
    """Neighbouring tool calls are open at the same time and grow in turns."""
    for is_call, group in groupby(in_pieces(answer), lambda event: _of_tool_call(event, answer)):
        events = list(group)
        if not is_call:
            yield from events
            continue
        yield from (event for event in events if isinstance(event, BlockStarted))
        growth = [event for event in events if isinstance(event, BlockGrew)]
        by_index = [list(part) for _, part in groupby(growth, lambda event: event.index)]
        for row in zip_longest(*by_index):
            yield from (event for event in row if event is not None)
        yield from (event for event in events if isinstance(event, BlockSealed | BlockEnded))


def _of_tool_call(event: Event, answer: Answer) -> bool:
    index = getattr(event, "index", None)
    return index is not None and isinstance(answer.turn.blocks[index], ToolCall)


Manner: TypeAlias = Callable[[Answer], Iterator[Event]]
MANNERS: tuple[Manner, ...] = (at_once, in_pieces, already_there, overlapping)


def encode(dialect: str, events: Iterable[Event]) -> bytes:
    """The bytes of a stream."""
    encoder = get(dialect).stream_encoder()
    return b"".join([*(encoder.feed(event) for event in events), encoder.close()])


FAILURE = Failure("overloaded", "The kitchen is on fire.", status=529, code="overloaded_error")


def broken(dialect: str, failure: Failure | None = FAILURE) -> Iterator[Event]:
    """A stream that fails in the middle of a word, or (without a failure) just stops."""
    yield Started(IDS[dialect], MODELS[dialect])
    yield BlockStarted(0, said(dialect, ""))
    yield BlockGrew(0, "Half a wo")
    if failure is not None:
        yield Failed(failure)


def wholes(dialect: str, *, without: str = "") -> list[object]:
    """One parameter per sample, for `parametrize`."""
    samples = [sample for sample in SAMPLES[dialect] if sample.name != without]
    return [pytest.param(sample.answer, id=sample.name) for sample in samples]


def streams(dialect: str) -> list[object]:
    """One parameter per sample and manner, for `parametrize`."""
    return [
        pytest.param(sample.answer, manner, id=f"{sample.name}, {manner.__name__.replace('_', ' ')}")
        for sample in SAMPLES[dialect]
        for manner in MANNERS
        if manner is not overlapping or sample.name == "parallel tool calls"
    ]
