"""The OpenAI SDK as a client of the openai-responses dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.sdk import rules, views
from tests.sdk.history import said, said_again
from tests.sdk.rich_openai import RESPONSES
from tests.sdk.samples import FAILURE, LONG, SAMPLES, Manner, broken, encode, in_pieces, streams, wholes
from tests.sdk.server import Case, Loopback
from thinkwire.dialects import get
from thinkwire.errors import Failure, FailureKind
from thinkwire.events import Answer

if TYPE_CHECKING:
    from openai import OpenAI

pytestmark = pytest.mark.e2e

NAME = "openai-responses"
PLAIN = SAMPLES[NAME][0].answer
QUESTION: Any = {"model": "gpt-6.1-sol", "input": [{"role": "user", "content": "Well?"}]}
Connect: TypeAlias = Callable[[str], "OpenAI"]


@pytest.mark.parametrize("answer", wholes(NAME))
def test_a_whole_answer_is_read(answer: Answer, openai: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(answer).body))
    response = openai(url).responses.create(**QUESTION)
    assert views.responses(response.to_dict()) == views.ours(answer, NAME)
    visible = "".join(block[1] for block in views.ours(answer, NAME).blocks if block[0] == "text")
    assert response.output_text == visible


@pytest.mark.parametrize(("answer", "manner"), streams(NAME))
def test_a_stream_adds_up(answer: Answer, manner: Manner, openai: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, stream=encode(NAME, manner(answer))))
    with openai(url).responses.stream(**QUESTION) as stream:
        last = list(stream)[-1]
    expected = views.ours(answer, NAME)
    assert last.type == f"response.{str(expected.finish).split(':')[0]}"
    assert views.responses(last.to_dict(warnings=False)["response"]) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("answer", "manner"), streams(NAME))
def test_every_event_is_a_known_one(
    answer: Answer, manner: Manner, openai: Connect, loopback: Loopback
) -> None:
    body = encode(NAME, manner(answer))
    events = openai(loopback.serve(Case(NAME, stream=body))).responses.create(**QUESTION, stream=True)
    assert [event.type for event in events] == [data["type"] for _, data in rules.frames(body)]


@pytest.mark.parametrize("failure", [FAILURE, None], ids=["fails", "just stops"])
def test_a_broken_stream_is_no_success(failure: Failure | None, openai: Connect, loopback: Loopback) -> None:
    client = openai(loopback.serve(Case(NAME, stream=encode(NAME, broken(NAME, failure)))))
    # The API has more codes than the SDK's types know.
    client._strict_response_validation = False
    with client.responses.stream(**QUESTION) as stream:
        events = list(stream)
        # This SDK raises nothing of its own for an error in mid-stream; the event says it.
        with pytest.raises(RuntimeError, match=r"response\.completed"):
            stream.get_final_response()
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == "Half a wo"
    last = events[-1]
    assert last.type == "response.failed"
    assert last.response.status == "failed"
    assert last.response.error is not None
    assert failure is None or last.response.error.message == failure.message


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
        ("refused", None, "BadRequestError", "invalid_prompt"),
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
        client.responses.create(**QUESTION)
    assert caught.value.status_code == status
    assert given in (None, status)
    assert "No, because." in caught.value.message
    if code is not None:
        assert caught.value.code == code


def test_a_rich_request_is_understood(openai: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(PLAIN).body))
    openai(url).responses.create(**RESPONSES.params)
    (sent,) = loopback.received(url)
    request = get(NAME).decode_request(sent.json)
    assert request == RESPONSES.request
    assert get(NAME).encode_request(request).body == sent.json


@pytest.mark.parametrize("answer", wholes(NAME, without=LONG))
def test_what_was_said_comes_back_unaltered(answer: Answer, openai: Connect, loopback: Loopback) -> None:
    body = get(NAME).encode_response(answer).body
    url = loopback.serve(Case(NAME, whole=body, stream=encode(NAME, in_pieces(answer))))
    with openai(url).responses.stream(**QUESTION) as stream:
        output = list(stream)[-1].response.output  # type: ignore[union-attr]
    more: list[Any] = [*output, {"role": "user", "content": "Go on."}]
    openai(url).responses.create(**{**QUESTION, "input": [*QUESTION["input"], *more]})
    assert said_again(NAME, loopback.received(url)[1].json) == said(answer, NAME)
