"""Nothing in a simulated answer is invented: every key stands in recorded traffic, or has a source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.recordings.loader import DIALECTS, DONE, everything, sse_data
from tests.sim.support import Api, api, apis, call, key_paths
from thinkwire.sim.app import Simulator

APP = Simulator(rules=())

TEXTS = {
    "answer": "[[think:One.\n\nTwo.]] [[say:Hello.]]",
    "calls": '[[think:Hm.]] [[call:get_weather {"city":"Oslo"}]] & [[call:get_weather {"city":"Rome"}]]',
    "refusal": "[[think:Hm.]] [[refuse]]",
    "redacted": "[[redact:Hm.]] [[say:Hello.]]",
}

CALLERS_OWN = (".input", ".args", ".tools[]", ".metadata", ".text.format", ".reasoning")
"""Below these the keys are the caller's: arguments, and what a response repeats of its request."""

SOURCES: dict[str, dict[str, str]] = {
    "anthropic": {
        "message.stop_details": "big-three reference A3.1",
        "stop_details": "big-three reference A3.1, A3.2",
        "delta.stop_details": "big-three reference A3.4",
        "stop_details.type": "big-three reference A3.2",
        "stop_details.category": "big-three reference A3.2",
        "stop_details.explanation": "big-three reference A3.2",
        "delta.stop_details.type": "big-three reference A3.2",
        "delta.stop_details.category": "big-three reference A3.2",
        "delta.stop_details.explanation": "big-three reference A3.2",
    },
    "openai-responses": {},
    "openai-chat": {
        f"choices[].{said}.tool_calls[].extra_content{inner}": "big-three reference C0, Google's docs"
        for said in ("message", "delta")
        for inner in ("", ".google", ".google.thought_signature")
    }
    | {
        f"choices[].usage{count}": "README of the recordings: Moonshot's streams"
        for count in (
            *("", ".prompt_tokens", ".completion_tokens", ".total_tokens", ".prompt_tokens_details"),
            *(".prompt_tokens_details.cached_tokens", ".prompt_tokens_details.cache_write_tokens"),
            *(".completion_tokens_details", ".completion_tokens_details.reasoning_tokens"),
        )
    },
    "gemini": {
        "candidates[].content.parts[].functionCall.id": "big-three reference C5: on Gemini 3 and later",
    },
}
"""Keys that no recording shows, and who says that they exist."""


@cache
def recorded(dialect: str, stream: bool) -> frozenset[str]:
    """Every key path of every recorded answer of a dialect."""
    paths: set[str] = set()
    for item in everything():
        if item.wire not in DIALECTS or item.dialect != dialect or item.status >= 400:
            continue
        if (item.kind == "stream") is stream:
            for value in item.frames if stream else [item.body]:
                paths.update(_paths(value))
    return frozenset(paths)


def _paths(value: Any) -> Iterator[str]:
    if value != DONE:
        for path in key_paths(value):
            if not any(f"{own}." in path or f"{own}[" in path for own in CALLERS_OWN):
                yield path.lstrip(".")


def simulated(at: Api, text: str, stream: bool) -> list[Any]:
    body = at.body(text, stream=stream, tools="call" in text)
    if at.route.dialect == "openai-chat":
        body |= {"stream_options": {"include_usage": True}}
    if at.route.dialect == "gemini":
        body["generationConfig"] = {"thinkingConfig": {"includeThoughts": True}}
    if at.provider.name == "openai" and at.route.dialect == "openai-responses":
        body["reasoning"] = {"summary": "auto"}
    if at.provider.name == "minimax":
        body["reasoning_split"] = True
    got = call(APP, at.path(stream), body)
    assert got.status == 200, got.body
    if not stream:
        return [got.json]
    return [json.loads(data) for data in sse_data(got.body.decode()) if data != DONE]


MORE = [
    api("openrouter", "openai-chat", "openai/gpt-6.1-sol"),
    api("openrouter", "openai-chat", "google/gemini-3.8-flash"),
    api("google", "gemini", "gemini-2.5-flash"),
]


@pytest.mark.needs("recordings")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("at", apis() + MORE, ids=lambda at: f"{at.id}-{at.model}")
def test_every_key_is_real(at: Api, stream: bool) -> None:
    dialect = at.route.dialect
    shown = {
        path for text in TEXTS.values() for value in simulated(at, text, stream) for path in _paths(value)
    }
    assert sorted(shown - recorded(dialect, stream) - SOURCES[dialect].keys()) == []


@pytest.mark.needs("recordings")
def test_every_listed_source_is_still_needed() -> None:
    for dialect, listed in SOURCES.items():
        both = recorded(dialect, False) & recorded(dialect, True)
        assert sorted(listed.keys() & both) == []


def test_anthropic_events_come_in_the_vendors_order() -> None:
    at = api("anthropic", "anthropic", "claude-sonnet-4-6")
    body = at.body(TEXTS["answer"], stream=True) | {"thinking": {"type": "adaptive"}}
    values = [json.loads(data) for data in sse_data(call(APP, at.path(), body).body.decode())]
    order = [value["type"] for value in values]
    assert order[:3] == ["message_start", "content_block_start", "ping"]
    assert order[-2:] == ["message_delta", "message_stop"]
    deltas = [value["delta"]["type"] for value in values if value["type"] == "content_block_delta"]
    assert list(dict.fromkeys(deltas)) == ["thinking_delta", "signature_delta", "text_delta"]
    assert deltas.count("signature_delta") == 1
    assert values[0]["message"]["usage"]["input_tokens"] == values[-2]["usage"]["input_tokens"] > 0


def test_responses_events_come_in_the_vendors_order() -> None:
    at = api("openai", "openai-responses")
    body = at.body("[[think:Hm.]] [[say:Hello.]]", stream=True) | {"reasoning": {"summary": "auto"}}
    values = [json.loads(data) for data in sse_data(call(APP, at.path(), body).body.decode())]
    assert [value["sequence_number"] for value in values] == list(range(len(values)))
    assert list(dict.fromkeys(value["type"] for value in values)) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.completed",
    ]


def test_openrouter_says_that_it_works_and_signs_after_the_text() -> None:
    at = api("openrouter", "openai-chat")
    got = call(APP, at.path(), at.body(TEXTS["answer"], stream=True)).body.decode()
    assert got.startswith(": OPENROUTER PROCESSING\n\n")
    choices = [choice for data in sse_data(got) if data != DONE for choice in json.loads(data)["choices"]]
    entries = [entry for choice in choices for entry in choice["delta"].get("reasoning_details", ())]
    assert all(entry["type"] == "reasoning.text" for entry in entries)
    assert ["signature" in entry for entry in entries] == [False] * (len(entries) - 1) + [True]
    assert "text" not in entries[-1]
