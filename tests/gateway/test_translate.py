"""What a client is told: its own name for the model, ids in its own form, thinking in its own fields."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire import dialects
from thinkwire.client.attempt import EventTextWriter
from thinkwire.client.engine import Client
from thinkwire.errors import Failure
from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Event, Failed, Finished, Noted, Started
from thinkwire.gateway.http.client_response import ClientResponse
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.pipeline.response_stream import FramedTextWriter, StreamingResponse
from thinkwire.gateway.pipeline.translate import ResponseTranslator, intent_for, normalise_request
from thinkwire.gateway.pipeline.upstream import resolve_upstream
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.messages import Origin, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.reasoning import Intent
from thinkwire.usage import measure

USAGE = measure(input_total=10, output_total=5, output_reasoning=2)[0]
EVENTS: list[Event] = [
    Started("upstream-1", "served-model", origin=Origin("deepseek", None, "served-model", "upstream-1")),
    Noted(Note("field.dropped", "x")),
    BlockStarted(0, Thinking(field="reasoning")),
    BlockGrew(0, "Hm."),
    BlockEnded(0),
    BlockStarted(1, Text()),
    BlockGrew(1, "Hello."),
    BlockEnded(1),
    BlockStarted(2, ToolCall("call_1", "f")),
    BlockGrew(2, "{}"),
    BlockEnded(2),
    Finished("tool_calls", USAGE),
]
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]},
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    "openai-responses": {"model": "m", "input": "Hi"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
}
IDS = {"anthropic": "msg_", "openai-chat": "chatcmpl-", "openai-responses": "resp_", "gemini": ""}


def telling(dialect: str, *, streamed: bool, query: str = "alt=sse", **more: Any) -> ResponseTranslator:
    place = Route("generate", dialect, streamed=streamed if dialect == "gemini" else None)
    body = BODIES[dialect] | ({"stream": streamed} if dialect != "gemini" else {}) | more
    sealer = Carrier(bytes(32)).sealer("me", dialect, Origin())
    understood = normalise_request(dialects.get(dialect).decode_request(body), place, query=query)
    return ResponseTranslator(understood, sealer, "asked-name")


def data_of(stream: bytes) -> list[dict[str, Any]]:
    lines = [line[6:] for line in stream.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


@pytest.mark.parametrize("dialect", BODIES)
def test_the_model_is_the_one_that_was_asked_for_and_the_id_is_the_dialects_own(dialect: str) -> None:
    told = telling(dialect, streamed=False)
    told.feed(EVENTS)
    body = told.whole()
    assert body["modelVersion" if dialect == "gemini" else "model"] == "asked-name"
    shown = body["responseId" if dialect == "gemini" else "id"]
    assert shown == told.id
    assert shown.startswith(IDS[dialect])
    assert "upstream-1" not in json.dumps(body)
    assert told.notes == [Note("field.dropped", "x")]


@pytest.mark.parametrize("dialect", BODIES)
def test_a_stream_says_the_same_as_the_whole(dialect: str) -> None:
    whole, stream = telling(dialect, streamed=False), telling(dialect, streamed=True)
    whole.feed(EVENTS)
    sent = b"".join(stream.feed([event]) for event in EVENTS) + stream.close()
    text = json.dumps(whole.whole())
    for word in ("Hm.", "Hello.", "call_1"):
        assert word in text
        assert word.encode() in sent
    assert b"asked-name" in sent
    assert isinstance(stream.ending, Finished)


def test_chat_clients_find_thinking_in_both_fields() -> None:
    told = telling("openai-chat", streamed=True)
    deltas = [chunk["choices"][0]["delta"] for chunk in data_of(told.feed(EVENTS)) if chunk["choices"]]
    thinking = [delta for delta in deltas if "reasoning_content" in delta]
    assert [delta["reasoning_content"] for delta in thinking] == ["Hm."]
    assert all(delta["reasoning"] == delta["reasoning_content"] for delta in thinking)


@pytest.mark.parametrize("asked", [True, False])
def test_chat_clients_get_counts_in_a_stream_if_they_asked(asked: bool) -> None:
    told = telling("openai-chat", streamed=True, stream_options={"include_usage": asked})
    assert any("usage" in chunk for chunk in data_of(told.feed(EVENTS))) == asked


def test_a_gemini_client_without_sse_gets_an_array() -> None:
    told = telling("gemini", streamed=True, query="")
    sent = told.feed(EVENTS) + told.close()
    assert {chunk["modelVersion"] for chunk in json.loads(sent)} == {"asked-name"}


@pytest.mark.parametrize("dialect", BODIES)
def test_a_broken_answer_does_not_look_finished(dialect: str) -> None:
    told = telling(dialect, streamed=True)
    sent = told.feed([*EVENTS[:4], Failed(Failure("connection_lost", "cut"))]) + told.close()
    assert b"cut" in sent
    assert not any(end in sent for end in (b"message_stop", b"[DONE]", b"response.completed", b"STOP"))


CLIENT = Client(keys=dict.fromkeys(("anthropic", "openai"), "k"), learned_facts=False, sim=False)
INTENTS = [
    ("claude-opus-5/high", Intent(level="low", said="effort", show=False), ("high", None, False)),
    ("claude-opus-5", Intent(level="low", said="effort"), ("low", None, None)),
    ("claude-opus-5", Intent(on=False, said="thinking"), (None, False, None)),
    ("gpt-5.6-terra", Intent(), ("auto", None, None)),
    ("gpt-4o", Intent(), (None, None, None)),
    ("claude-sonnet-4-5", Intent(), (None, None, None)),
]


@pytest.mark.parametrize(("name", "said", "expected"), INTENTS)
def test_the_level_in_a_name_wins_and_silence_leaves_a_model_as_it_is(
    name: str, said: Intent, expected: tuple[str | None, bool | None, bool | None]
) -> None:
    intent = intent_for(resolve_upstream(CLIENT, name), said)
    assert (intent.level, intent.on, intent.show) == expected


GROWING = st.lists(
    st.tuples(
        st.sampled_from([Thinking(field="reasoning"), Text(), ToolCall("call_1", "f")]),
        st.lists(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=3), max_size=4),
    ),
    max_size=4,
)


@pytest.mark.parametrize("dialect", BODIES)
@given(blocks=GROWING, overlap=st.booleans())
def test_growing_says_what_feeding_says(
    dialect: str, blocks: list[tuple[Thinking | Text | ToolCall, list[list[str]]]], overlap: bool
) -> None:
    """Also while another block is still open, and with blocks of every kind after one another."""
    said: list[bytes] = []
    turns: list[Turn] = []
    for by_growth in (False, True):
        with standing_still():
            told, way = telling(dialect, streamed=True), Way()
            live = StreamingResponse(call_to(way), told, list, keep_nothing)
            live.hear([Started("upstream-1", "served-model", origin=Origin("deepseek"))])
            for index, (block, batches) in enumerate(blocks):
                live.hear([BlockStarted(index, block)])
                growing: FramedTextWriter | None = None
                for texts in batches:
                    growing = growing or (live.growing(index) if by_growth else None)
                    (growing or EventTextWriter(live, index)).grow(texts)
                if overlap and index:
                    ((live.growing(0) if by_growth else None) or EventTextWriter(live, 0)).grow(["x"])
                if not overlap:
                    live.hear([BlockEnded(index)])
            ends: list[Event] = [BlockEnded(index) for index in range(len(blocks))] if overlap else []
            live.hear([*ends, Finished("stop", USAGE)])
            asyncio.run(live.finish())
            said.append(way.said)
            turns.append(told.turn)
    assert said[0] == said[1]
    assert turns[0] == turns[1]


@contextmanager
def standing_still() -> Iterator[None]:
    """Neither chance nor time makes a difference."""
    with (
        patch("os.urandom", bytes),
        patch("thinkwire.gateway.pipeline.translate.new_id", lambda: "0" * 24),
        patch("time.time", lambda: 1_700_000_000.0),
    ):
        yield


class Way:
    """A client that hears everything at once."""

    on_left: Any = None
    task = None
    congested = False

    def __init__(self) -> None:
        self.said = b""

    def begin(self, status: int, headers: Any, data: bytes = b"") -> None:
        self.said += b"%d\n" % status + data

    def write(self, data: bytes) -> None:
        self.said += data

    def put(self, before: bytes, data: bytes, after: bytes) -> None:
        self.write(before + data + after)

    end = write


def call_to(way: Any) -> Any:
    return SimpleNamespace(outlet=ClientResponse(way, []), told=lambda: None, notes=[])


async def keep_nothing(told: ResponseTranslator) -> None:
    pass
