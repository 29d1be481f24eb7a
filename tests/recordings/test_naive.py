"""The yardstick itself: the naive reading agrees with what the recordings' own index says of them."""

from __future__ import annotations

from tests.grouping import for_each
from tests.recordings.loader import Recording, answers, dialect_of
from tests.recordings.naive import facts_of

SEVERAL_ANSWERS = "azure/vercel-ai__azure-azure-reasoning-encrypted-content.1-chunks__1"
"""Holds four answers in a row; the index counts the calls of all of them."""


@for_each("recording", answers("json", "stream"), group=dialect_of)
def test_the_naive_reading_agrees_with_the_index(recording: Recording) -> None:
    facts = facts_of(recording)
    told = recording.features
    assert bool(facts.tool_calls) == ("tool-call" in told)
    assert facts.error == ("error-in-stream" in told)
    if recording.id != SEVERAL_ANSWERS:
        assert (len(facts.tool_calls) > 1) == ("parallel-tools" in told)
    if not facts.error:
        assert (facts.finish == "length") == ("truncated" in told)
    if "signature" in told or "redacted" in told:
        assert facts.seals
