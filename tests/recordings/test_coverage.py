"""No recording is left out by accident."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from _pytest.mark import ParameterSet

from tests.recordings.loader import (
    DIALECTS,
    EXCLUDED,
    READ_ONLY,
    Recording,
    answers,
    everything,
    folder,
    requests,
)

pytestmark = pytest.mark.needs("recordings")

DEV = {
    "anthropic-messages": 64,
    "bedrock-converse": 24,
    "bedrock-invoke": 3,
    "cohere-v2": 8,
    "gemini-generate": 61,
    "gemini-interactions": 10,
    "ollama-native": 8,
    "openai-chat": 246,
    "openai-responses": 127,
}
"""The files of the set that this suite was written with, by their labels: 551."""


def labels() -> Counter[str]:
    base = folder()
    assert base is not None
    return Counter(json.loads(path.read_text(encoding="utf-8"))["dialect"] for path in base.rglob("*.json"))


def test_every_file_is_loaded() -> None:
    assert len(everything()) == labels().total()
    assert len({item.id for item in everything()}) == len(everything())


def test_the_development_set_is_whole() -> None:
    base = folder()
    if base is None or base.name != "dev":
        pytest.skip("another set than dev")
    assert labels() == DEV
    assert labels().total() == 551


def test_only_wires_without_a_dialect_are_excluded() -> None:
    assert set(labels()) <= set(DIALECTS) | EXCLUDED
    assert {item.wire for item in everything() if not item.in_scope} <= EXCLUDED
    left_out = {label: number for label, number in labels().items() if label in EXCLUDED}
    assert Counter(item.wire for item in everything() if not item.in_scope) == left_out


def test_every_recording_in_scope_is_decoded_as_exactly_one_kind_of_answer() -> None:
    decoded = Counter(label(case) for case in answers("json") + answers("stream") + answers("error"))
    assert decoded == {name: number for name, number in labels().items() if name in DIALECTS}


def test_every_request_in_scope_is_sent_round() -> None:
    in_scope = [item for item in everything() if item.wire in set(DIALECTS) - READ_ONLY]
    assert len(requests()) == sum(item.request is not None for item in in_scope)


def label(case: ParameterSet) -> str:
    recording = case.values[0]
    assert isinstance(recording, Recording)
    return recording.label
