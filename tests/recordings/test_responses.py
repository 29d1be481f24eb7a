"""Every recorded answer, decoded, says what a plain reading of its JSON says."""

from __future__ import annotations

from tests.grouping import for_each
from tests.recordings.loader import Recording, answers, dialect_of
from tests.recordings.naive import Facts, facts_of
from tests.recordings.seen import adds_up, events_from, seen
from thinkwire import dialects
from thinkwire.events import Answer, collect

KINDS = {
    400: {"bad_request"},
    401: {"auth"},
    402: {"quota"},
    403: {"auth"},
    404: {"not_found"},
    422: {"bad_request"},
    429: {"rate_limit", "quota"},
    500: {"overloaded"},
    502: {"overloaded"},
    503: {"overloaded"},
}
"""What a status means, unless the words below say something more exact."""

WORDS = {
    "violates usage guidelines": "refused",
    "api key": "auth",
    "prompt too long": "context_too_long",
    "exceeds the context window": "context_too_long",
    "maximum context length": "context_too_long",
    "does not exist": "not_found",
    "model_not_found": "not_found",
}
"""The first of these that the body has says what it is."""


@for_each("recording", answers("json"), group=dialect_of)
def test_json_answers_say_what_the_raw_json_says(recording: Recording) -> None:
    compare(dialects.get(recording.dialect).decode_response(recording.body), facts_of(recording))


@for_each("recording", answers("stream"), group=dialect_of)
def test_streamed_answers_say_what_the_raw_frames_say(recording: Recording) -> None:
    compare(collect(events_from(dialects.get(recording.dialect), [recording.data])), facts_of(recording))


@for_each("recording", answers("error"), group=dialect_of)
def test_errors_are_understood(recording: Recording) -> None:
    failure = dialects.get(recording.dialect).decode_error(
        recording.status, recording.headers, recording.data
    )
    words = recording.data.decode().lower()
    exact = next((kind for phrase, kind in WORDS.items() if phrase in words), None)
    assert failure.kind in ({exact} if exact else KINDS[recording.status])
    assert failure.message.strip()
    assert "<html" not in failure.message.lower(), "a page's markup is not a message"
    assert failure.status == recording.status
    told = recording.body.get("request_id") if isinstance(recording.body, dict) else None
    assert failure.request_id == told


def compare(answer: Answer, expected: Facts) -> None:
    assert made_up_ids_blanked(seen(answer), expected) == expected
    assert answer.usage is None or adds_up(answer.usage)


def made_up_ids_blanked(found: Facts, expected: Facts) -> Facts:
    """Where the provider gave a call no id, any will do as long as it is one of its own."""
    ids = [id for _, _, id in found.tool_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    given = [id is not None for _, _, id in expected.tool_calls]
    if len(given) == len(ids):
        found.tool_calls = [
            (name, value, id if known else None)
            for (name, value, id), known in zip(found.tool_calls, given, strict=True)
        ]
    return found
