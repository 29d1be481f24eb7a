"""The Anthropic SDK as a client of the anthropic dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.sdk import rules, views
from tests.sdk.history import said, said_again
from tests.sdk.rich import ANTHROPIC
from tests.sdk.samples import FAILURE, LONG, SAMPLES, Manner, broken, encode, in_pieces, streams, wholes
from tests.sdk.server import PATIENCE, Case, Loopback
from thinkwire.dialects import get
from thinkwire.errors import Failure, FailureKind
from thinkwire.events import Answer

if TYPE_CHECKING:
    import httpx2
    from anthropic import Anthropic

pytestmark = pytest.mark.e2e

NAME = "anthropic"
DIALECT_CASES = {sample.name: sample.answer for sample in SAMPLES[NAME]}
QUESTION: Any = {
    "model": "claude-opus-5-5",
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "Well?"}],
}
Connect: TypeAlias = Callable[[str], "Anthropic"]


@pytest.fixture(scope="module")
def connect(http_client: httpx2.Client) -> Connect:
    """A client of a base URL that takes nothing but what the SDK's types allow."""
    from anthropic import Anthropic

    def client(url: str) -> Anthropic:
        return Anthropic(
            base_url=url,
            api_key="none",
            max_retries=0,
            timeout=PATIENCE,
            http_client=http_client,
            _strict_response_validation=True,
        )

    return client


@pytest.mark.parametrize("answer", wholes(NAME))
def test_a_whole_answer_is_read(answer: Answer, connect: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(answer).body))
    message = connect(url).messages.create(**QUESTION)
    assert views.anthropic(message.to_dict()) == views.ours(answer, NAME)


@pytest.mark.parametrize(("answer", "manner"), streams(NAME))
def test_a_stream_adds_up(answer: Answer, manner: Manner, connect: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, stream=encode(NAME, manner(answer))))
    with connect(url).messages.stream(**QUESTION) as stream:
        message = stream.get_final_message()
    assert views.anthropic(message.to_dict()) == views.ours(answer, NAME)


@pytest.mark.parametrize(("answer", "manner"), streams(NAME))
def test_every_event_is_a_known_one(
    answer: Answer, manner: Manner, connect: Connect, loopback: Loopback
) -> None:
    body = encode(NAME, manner(answer))
    events = list(connect(loopback.serve(Case(NAME, stream=body))).messages.create(**QUESTION, stream=True))
    assert [event.type for event in events] == [data["type"] for _, data in rules.frames(body)]


def test_a_failure_within_a_stream_is_raised(connect: Connect, loopback: Loopback) -> None:
    import anthropic

    url = loopback.serve(Case(NAME, stream=encode(NAME, broken(NAME))))
    with (
        connect(url).messages.stream(**QUESTION) as stream,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        stream.until_done()
    assert stream.current_message_snapshot.content[0].to_dict()["text"] == "Half a wo"
    assert caught.value.type == "overloaded_error"
    assert FAILURE.message in caught.value.message


def test_a_stream_that_just_stops_is_no_success(connect: Connect, loopback: Loopback) -> None:
    import anthropic

    url = loopback.serve(Case(NAME, stream=encode(NAME, broken(NAME, failure=None))))
    with connect(url).messages.stream(**QUESTION) as stream, pytest.raises(anthropic.APIStatusError):
        stream.until_done()


@pytest.mark.parametrize(
    ("kind", "given", "error", "type"),
    [
        ("auth", None, "AuthenticationError", "authentication_error"),
        ("auth", 403, "PermissionDeniedError", "permission_error"),
        ("overloaded", 500, "InternalServerError", "api_error"),
        ("quota", None, "APIStatusError", "billing_error"),
        ("rate_limit", None, "RateLimitError", "rate_limit_error"),
        ("overloaded", None, "OverloadedError", "overloaded_error"),
        ("bad_request", None, "BadRequestError", "invalid_request_error"),
        ("context_too_long", None, "BadRequestError", "invalid_request_error"),
        ("not_found", None, "NotFoundError", "not_found_error"),
        ("refused", None, "BadRequestError", "invalid_request_error"),
        ("timed_out", None, "GatewayTimeoutError", "timeout_error"),
        ("connection_lost", None, "InternalServerError", "api_error"),
        ("protocol", None, "InternalServerError", "api_error"),
    ],
)
def test_a_refusal_to_answer_is_the_right_exception(
    kind: FailureKind, given: int | None, error: str, type: str, connect: Connect, loopback: Loopback
) -> None:
    import anthropic

    status, body = get(NAME).encode_error(Failure(kind, "No, because.", status=given))
    client = connect(loopback.serve(Case(NAME, whole=body, status=status)))
    with pytest.raises(getattr(anthropic, error)) as caught:
        client.messages.create(**QUESTION)
    assert (caught.value.type, caught.value.status_code) == (type, status)
    assert given in (None, status)
    assert "No, because." in caught.value.message


def test_a_rich_request_is_understood(connect: Connect, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(DIALECT_CASES["plain text"]).body))
    sampling = ANTHROPIC.params.keys() & {"temperature", "top_p", "top_k"}
    given = {key: value for key, value in ANTHROPIC.params.items() if key not in sampling}
    # The SDK has no word for sampling any more; programs that need it say it like this.
    connect(url).messages.create(**given, extra_body={key: ANTHROPIC.params[key] for key in sampling})
    (sent,) = loopback.received(url)
    request = get(NAME).decode_request(sent.json)
    assert request == ANTHROPIC.request
    assert get(NAME).encode_request(request).body == sent.json


@pytest.mark.parametrize("answer", wholes(NAME, without=LONG))
def test_what_was_said_comes_back_unaltered(answer: Answer, connect: Connect, loopback: Loopback) -> None:
    body = get(NAME).encode_response(answer).body
    url = loopback.serve(Case(NAME, whole=body, stream=encode(NAME, in_pieces(answer))))
    with connect(url).messages.stream(**QUESTION) as stream:
        content = stream.get_final_message().content
    more: list[Any] = [{"role": "assistant", "content": content}, {"role": "user", "content": "Go on."}]
    connect(url).messages.create(**{**QUESTION, "messages": [*QUESTION["messages"], *more]})
    assert said_again(NAME, loopback.received(url)[1].json) == said(answer, NAME)
