"""Any JSON as the request of a tenant: its estimate is bounded, and the ids that it names are found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.budget import EXAMPLES
from thinkwire.catalog import default_catalog
from thinkwire.gateway.pipeline.spending import MOST_INPUT, estimate
from thinkwire.gateway.pipeline.vendor_state import named_ids
from thinkwire.jsonvalue import dump, parse_object

pytestmark = pytest.mark.full

FIELDS = [
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "n", "candidateCount"),
    *("generationConfig", "previous_response_id", "conversation", "input", "tools", "container", "id"),
    *("environment", "container_id", "type", "role", "encrypted_content", "approval_request_id"),
]
KINDS = ["item_reference", "reasoning", "image_generation_call", "mcp_approval_response", "message"]
LEAVES = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.sampled_from(KINDS)),
    st.just(10**400),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6)
DIALECTS = ["anthropic", "openai-chat", "openai-responses", "gemini"]


@settings(max_examples=EXAMPLES, deadline=None)
@given(BODIES, st.sampled_from(DIALECTS), st.booleans())
def test_an_estimate_of_anything_is_bounded(body: dict[str, Any], dialect: str, known: bool) -> None:
    found = default_catalog().find("anthropic", "claude-opus-5")
    facts = found.facts if found is not None and known else None
    told = estimate(body, dialect, facts, 32_000)
    assert 0 <= told.input_tokens <= MOST_INPUT
    assert 1 <= told.output_tokens <= MOST_INPUT * 128


@settings(max_examples=EXAMPLES, deadline=None)
@given(BODIES, st.sampled_from(DIALECTS), st.text(min_size=1, max_size=20))
def test_ids_are_found_whatever_stands_around_them(body: dict[str, Any], dialect: str, wanted: str) -> None:
    for found, param in named_ids(body, dialect):
        assert found
        assert param
    if dialect == "openai-responses":
        given_items = body.get("input") if isinstance(body.get("input"), list) else []
        body = body | {"input": [*(given_items or []), {"type": "item_reference", "id": wanted}]}
        assert wanted in dict(named_ids(body, dialect))


@settings(max_examples=EXAMPLES, deadline=None)
@given(BODIES)
def test_what_is_sent_names_what_was_checked(body: dict[str, Any]) -> None:
    """The body is written anew: reading it again finds the same ids."""
    read = parse_object(dump(body))
    again = parse_object(dump(read))
    for dialect in DIALECTS:
        assert dict(named_ids(read, dialect)) == dict(named_ids(again, dialect))
