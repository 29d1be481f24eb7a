"""Error bodies of any shape are read, and no text of a client is believed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.fuzz.budget import EXAMPLES
from tests.reasoning.test_client_text import ECHOES, LIES, PLACES
from tests.reasoning.test_refusals import openai, send
from thinkwire.dialects.error_bodies import decode_error

pytestmark = pytest.mark.full

KEYS = st.sampled_from(
    ("error", "message", "detail", "metadata", "raw", "upstream_error", "param", "loc", "msg", "code", "type")
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=40), st.sampled_from(LIES))
SHAPES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=4),
        inner.map(json.dumps),
    ),
    max_leaves=12,
)
MODELS = ("gpt-5.6-terra/high", "claude-opus-4-5/high", "gemini-2.5-pro/high", "o3-mini/high")
SENT = [send(model) for model in MODELS]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.one_of(SHAPES.map(json.dumps), st.text(max_size=200)), st.sampled_from((400, 404, 422)))
def test_any_body_is_read(body: str, status: int) -> None:
    failure = decode_error(status, {}, body.encode("utf-8", "replace"))
    assert failure.message
    for sent in SENT:
        recovery = sent.refused(body.encode("utf-8", "replace").decode(), status)
        assert recovery is None or recovery.note.message


PIECES = st.sampled_from(
    (
        *LIES,
        *("thinking", "reasoning.effort", "reasoning_effort", "'high'", "is not supported", "by this model"),
        *("Unsupported value:", "Supported values are: 'low'", "Invalid", "level", "budget", "x", "between"),
        *(": ", "; ", "'", "\n", ". "),
    )
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_no_slice_of_a_clients_text_teaches_anything(data: Any) -> None:
    text = data.draw(st.sampled_from((" ", ""))).join(data.draw(st.lists(PIECES, min_size=1, max_size=5)))
    place = data.draw(st.sampled_from(PLACES))
    start = data.draw(st.integers(0, len(text) - 1))
    quoted = text[start : data.draw(st.integers(start + 1, len(text)))]
    # A single word that a provider quotes as the name of a field is that name.
    assume(quoted == text or len(re.findall(r"\w+", quoted)) >= 3)
    said = data.draw(st.sampled_from(ECHOES)).replace("{}", quoted)
    recovery = send("gpt-5.6-terra/high", **place(text)).refused(openai(said))
    assert recovery is None or not recovery.is_lasting
