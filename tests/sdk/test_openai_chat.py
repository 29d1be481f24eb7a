"""The OpenAI SDK as a client of the openai-chat dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.sdk import views
from tests.sdk.history import said, said_again
from tests.sdk.rich_openai import CHAT
from tests.sdk.samples import FAILURE, LONG, SAMPLES, Manner, broken, encode, in_pieces, streams, wholes
from tests.sdk.server import Case, Loopback
from thinkwire.dialects import get
from thinkwire.errors import Failure, FailureKind
from thinkwire.events import Answer
from thinkwire.messages import Thinking

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletionChunk

pytestmark = pytest.mark.e2e

NAME = "openai-chat"
PLAIN = SAMPLES[NAME][0].answer
QUESTION: Any = {"model": "gpt-5.6-luna", "messages": [{"role": "user", "content": "Well?"}]}
USAGE: Any = {"include_usage": True}
Connect: TypeAlias = Callable[[str], "OpenAI"]


@pytest.mark.parametrize("answer", wholes(NAME))
def test_a_whole_answer_is_read(answer: Answer, openai: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(answer).body))
    completion = openai(url).chat.completions.create(**QUESTION)
    assert views.chat(completion.to_dict()) == views.ours(answer, NAME)


@pytest.mark.parametrize(("answer", "manner"), streams(NAME))
def test_a_stream_adds_up(answer: Answer, manner: Manner, openai: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, stream=encode(NAME, manner(answer))))
    with openai(url).chat.completions.stream(**QUESTION, stream_options=USAGE) as stream:
        # Not `get_final_completion`, which raises for answers that were cut short.
        completion = stream.until_done().current_completion_snapshot
    assert views.chat(completion.to_dict()) == views.ours(answer, NAME)


@pytest.mark.parametrize(("answer", "manner"), streams(NAME))
def test_chunks_tell_the_answer_in_order(
    answer: Answer, manner: Manner, openai: Connect, loopback: Loopback
) -> None:
    url = loopback.serve(Case(NAME, stream=encode(NAME, manner(answer))))
    chunks = openai(url).chat.completions.create(**QUESTION, stream=True, stream_options=USAGE)
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    for field in ("reasoning_content", "reasoning"):
        thinking = [getattr(delta, field, None) or "" for delta in deltas]
        assert "".join(thinking) == _thoughts(answer, field)
    assert "".join((delta.content or "") + (delta.refusal or "") for delta in deltas) == answer.turn.text
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    named = [(call.id, call.function and call.function.name) for call in calls if call.id]
    assert named == [(call.id, call.name) for call in answer.turn.tool_calls]
    for index, call in enumerate(answer.turn.tool_calls):
        told = [each.function.arguments or "" for each in calls if each.index == index and each.function]
        assert "".join(told) == call.arguments


def _thoughts(answer: Answer, field: str) -> str:
    thoughts = [block for block in answer.turn.blocks if isinstance(block, Thinking)]
    return "".join(block.text for block in thoughts if (block.field or "reasoning_content") == field)


def test_a_failure_within_a_stream_is_raised(openai: Connect, loopback: Loopback) -> None:
    from openai import APIError

    url = loopback.serve(Case(NAME, stream=encode(NAME, broken(NAME))))
    chunks: list[ChatCompletionChunk] = []
    with pytest.raises(APIError) as caught:
        chunks.extend(openai(url).chat.completions.create(**QUESTION, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Half a wo"
    assert caught.value.message == FAILURE.message


def test_a_stream_that_just_stops_is_no_success(openai: Connect, loopback: Loopback) -> None:
    from openai import APIError

    url = loopback.serve(Case(NAME, stream=encode(NAME, broken(NAME, failure=None))))
    with pytest.raises(APIError):
        list(openai(url).chat.completions.create(**QUESTION, stream=True))


@pytest.mark.parametrize(
    ("kind", "given", "error", "code"),
    [
        ("auth", None, "AuthenticationError", "invalid_api_key"),
        ("auth", 403, "PermissionDeniedError", None),
        ("overloaded", 500, "InternalServerError", None),
        ("quota", None, "RateLimitError", "insufficient_quota"),
        ("rate_limit", None, "RateLimitError", "rate_limit_exceeded"),
        ("overloaded", None, "InternalServerError", "server_is_overloaded"),
        ("bad_request", None, "BadRequestError", None),
        ("context_too_long", None, "BadRequestError", "context_length_exceeded"),
        ("not_found", None, "NotFoundError", "model_not_found"),
        ("refused", None, "BadRequestError", "content_policy_violation"),
        ("timed_out", None, "InternalServerError", None),
        ("connection_lost", None, "InternalServerError", None),
        ("protocol", None, "InternalServerError", None),
    ],
)
def test_a_refusal_to_answer_is_the_right_exception(
    kind: FailureKind, given: int | None, error: str, code: str | None, openai: Connect, loopback: Loopback
) -> None:
    import openai as sdk

    status, body = get(NAME).encode_error(Failure(kind, "No, because.", status=given))
    client = openai(loopback.serve(Case(NAME, whole=body, status=status)))
    with pytest.raises(getattr(sdk, error)) as caught:
        client.chat.completions.create(**QUESTION)
    assert caught.value.status_code == status
    assert given in (None, status)
    assert "No, because." in caught.value.message
    if code is not None:
        assert caught.value.code == code


def test_a_rich_request_is_understood(openai: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(PLAIN).body))
    openai(url).chat.completions.create(**CHAT.params)
    (sent,) = loopback.received(url)
    request = get(NAME).decode_request(sent.json)
    assert request == CHAT.request
    assert get(NAME).encode_request(request).body == sent.json


@pytest.mark.parametrize("answer", wholes(NAME, without=LONG))
def test_what_was_said_comes_back_unaltered(answer: Answer, openai: Connect, loopback: Loopback) -> None:
    body = get(NAME).encode_response(answer).body
    url = loopback.serve(Case(NAME, whole=body, stream=encode(NAME, in_pieces(answer))))
    with openai(url).chat.completions.stream(**QUESTION) as stream:
        message = stream.until_done().current_completion_snapshot.choices[0].message
    more: list[Any] = [message, {"role": "user", "content": "Go on."}]
    openai(url).chat.completions.create(**{**QUESTION, "messages": [*QUESTION["messages"], *more]})
    assert said_again(NAME, loopback.received(url)[1].json) == said(answer, NAME)
