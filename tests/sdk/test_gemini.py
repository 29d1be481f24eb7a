"""The Google SDK as a client of the gemini dialect."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from msgspec.structs import replace

from tests.sdk import views
from tests.sdk.history import said, said_again
from tests.sdk.rich import GEMINI
from tests.sdk.samples import FAILURE, LONG, SAMPLES, Manner, broken, encode, in_pieces, streams, wholes
from tests.sdk.server import PATIENCE, Case, Loopback
from thinkwire.dialects import get
from thinkwire.errors import Failure, FailureKind
from thinkwire.events import Answer

if TYPE_CHECKING:
    import httpx2
    from google.genai.types import GenerateContentResponse

pytestmark = pytest.mark.e2e

NAME = "gemini"
PLAIN = SAMPLES[NAME][0].answer
QUESTION: Any = {"model": "gemini-3.8-flash", "contents": [{"role": "user", "parts": [{"text": "Well?"}]}]}


class Ask(Protocol):
    """One question to a base URL: the chunks of the answer, or the only one."""

    def __call__(
        self, url: str, params: Any = QUESTION, stream: bool = False
    ) -> list[GenerateContentResponse]: ...


@pytest.fixture(scope="module")
def ask(http_client: httpx2.Client) -> Iterator[Ask]:
    from google import genai
    from google.genai.types import HttpOptions

    options = HttpOptions(timeout=int(PATIENCE * 1000), httpx_client=http_client)
    client = genai.Client(api_key="none", vertexai=False, http_options=options)

    def ask(url: str, params: Any = QUESTION, stream: bool = False) -> list[GenerateContentResponse]:
        config = {**params.get("config", {}), "http_options": {"base_url": url}}
        if stream:
            return list(client.models.generate_content_stream(**{**params, "config": config}))
        return [client.models.generate_content(**{**params, "config": config})]

    yield ask
    client.close()


def _json(response: GenerateContentResponse) -> Any:
    """As on the wire. The SDK holds signatures as bytes and would write them in the other base64 alphabet."""
    value = response.model_dump(by_alias=True, exclude_none=True)
    for candidate in value.get("candidates") or ():
        candidate["finishReason"] = candidate.get("finishReason") and candidate["finishReason"].value
        for part in (candidate.get("content") or {}).get("parts") or ():
            if "thoughtSignature" in part:
                part["thoughtSignature"] = base64.b64encode(part["thoughtSignature"]).decode()
    return value


@pytest.mark.parametrize("answer", wholes(NAME))
def test_a_whole_answer_is_read(answer: Answer, ask: Ask, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(answer).body))
    (response,) = ask(url)
    assert views.gemini([_json(response)]) == views.ours(answer, NAME)


@pytest.mark.parametrize(("answer", "manner"), streams(NAME))
def test_a_stream_adds_up(answer: Answer, manner: Manner, ask: Ask, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, stream=encode(NAME, manner(answer))))
    chunks = [_json(chunk) for chunk in ask(url, stream=True)]
    assert views.gemini(chunks) == views.ours(answer, NAME)


@pytest.mark.parametrize("failure", [FAILURE, None], ids=["fails", "just stops"])
def test_a_broken_stream_is_raised(failure: Failure | None, ask: Ask, loopback: Loopback) -> None:
    from google.genai.errors import ServerError

    url = loopback.serve(Case(NAME, stream=encode(NAME, broken(NAME, failure))))
    with pytest.raises(ServerError) as caught:
        ask(url, stream=True)
    assert caught.value.status == "UNAVAILABLE"
    assert failure is None or caught.value.message == failure.message


@pytest.mark.parametrize(
    ("kind", "given", "error", "status"),
    [
        ("auth", None, "ClientError", "UNAUTHENTICATED"),
        ("auth", 403, "ClientError", "PERMISSION_DENIED"),
        ("overloaded", 500, "ServerError", "INTERNAL"),
        ("quota", None, "ClientError", "RESOURCE_EXHAUSTED"),
        ("rate_limit", None, "ClientError", "RESOURCE_EXHAUSTED"),
        ("overloaded", None, "ServerError", "UNAVAILABLE"),
        ("bad_request", None, "ClientError", "INVALID_ARGUMENT"),
        ("context_too_long", None, "ClientError", "INVALID_ARGUMENT"),
        ("not_found", None, "ClientError", "NOT_FOUND"),
        ("refused", None, "ClientError", "INVALID_ARGUMENT"),
        ("timed_out", None, "ServerError", "DEADLINE_EXCEEDED"),
        ("connection_lost", None, "ServerError", "UNAVAILABLE"),
        ("protocol", None, "ServerError", "INTERNAL"),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_refusal_to_answer_is_the_right_exception(
    kind: FailureKind, given: int | None, error: str, status: str, stream: bool, ask: Ask, loopback: Loopback
) -> None:
    from google.genai import errors

    code, body = get(NAME).encode_error(Failure(kind, "No, because.", status=given))
    url = loopback.serve(Case(NAME, whole=body, status=code))
    with pytest.raises(getattr(errors, error)) as caught:
        ask(url, stream=stream)
    assert (caught.value.code, caught.value.status) == (code, status)
    assert given in (None, code)
    assert "No, because." in caught.value.message


def test_a_rich_request_is_understood(ask: Ask, loopback: Loopback) -> None:
    url = loopback.serve(Case(NAME, whole=get(NAME).encode_response(PLAIN).body))
    ask(url, GEMINI.params)
    (sent,) = loopback.received(url)
    request = get(NAME).decode_request(_standard(sent.json, "thoughtSignature"))
    assert replace(request, extras=_usual(request.extras)) == GEMINI.request
    again = get(NAME).encode_request(request).body
    assert _usual(again) == _usual(_standard(sent.json, "thoughtSignature", "data"))


@pytest.mark.parametrize("answer", wholes(NAME, without=LONG))
def test_what_was_said_comes_back_unaltered(answer: Answer, ask: Ask, loopback: Loopback) -> None:
    body = get(NAME).encode_response(answer).body
    url = loopback.serve(Case(NAME, whole=body, stream=encode(NAME, in_pieces(answer))))
    chunks = ask(url, stream=True)
    contents = [chunk.candidates[0].content for chunk in chunks if chunk.candidates]
    more = [*contents, {"role": "user", "parts": [{"text": "Go on."}]}]
    ask(url, {**QUESTION, "contents": [*QUESTION["contents"], *more]})
    sent = _standard(loopback.received(url)[1].json, "thoughtSignature")
    assert said_again(NAME, sent) == said(answer, NAME)


def _standard(value: Any, *names: str) -> Any:
    """The same JSON with these fields in the usual base64 alphabet; this SDK writes the other one."""
    match value:
        case dict():
            usual = str.maketrans("-_", "+/")
            return {
                key: each.translate(usual) if key in names else _standard(each, *names)
                for key, each in value.items()
            }
        case list():
            return [_standard(each, *names) for each in value]
    return value


def _usual(value: Any) -> Any:
    """The same JSON with its keys in camelCase; this SDK writes some in snake_case."""
    match value:
        case dict():
            return {re.sub("_(.)", lambda hump: hump[1].upper(), key): _usual(value[key]) for key in value}
        case list():
            return [_usual(each) for each in value]
    return value
