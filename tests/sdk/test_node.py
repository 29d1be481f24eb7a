"""The official SDKs for JavaScript, on which command-line agents build, as clients of all four dialects."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, get_args

import pytest

from tests.sdk import views
from tests.sdk.history import said, said_again
from tests.sdk.rich import ANTHROPIC, GEMINI, Rich
from tests.sdk.rich_openai import CHAT, RESPONSES
from tests.sdk.samples import FAILURE, LONG, MANNERS, SAMPLES, broken, encode, in_pieces, overlapping
from tests.sdk.server import Case, Loopback
from tests.support import ROOT, need
from thinkwire.dialects import NAMES, get
from thinkwire.errors import Failure, FailureKind
from thinkwire.events import Answer

pytestmark = [pytest.mark.e2e, pytest.mark.needs("node")]

Json: TypeAlias = Any


class Sdk(NamedTuple):
    """How to drive a dialect's SDK: script, prefix of its modes, what to ask, how to read what it gives."""

    script: str
    prefix: str
    question: Json
    rich: Rich
    view: Callable[[Json], views.Seen]


def _asked(text: str) -> Json:
    return [{"role": "user", "content": text}]


SDKS = {
    "anthropic": Sdk(
        "anthropic.mjs",
        "",
        {"model": "claude-opus-5-5", "max_tokens": 1000, "messages": _asked("Well?")},
        ANTHROPIC,
        views.anthropic,
    ),
    "openai-chat": Sdk(
        "openai.mjs",
        "chat.",
        {"model": "gpt-5.6-luna", "messages": _asked("Well?")},
        CHAT,
        views.chat,
    ),
    "openai-responses": Sdk(
        "openai.mjs",
        "responses.",
        {"model": "gpt-6.1-sol", "input": _asked("Well?")},
        RESPONSES,
        views.responses,
    ),
    "gemini": Sdk(
        "gemini.mjs",
        "",
        {"model": "gemini-3.8-flash", "contents": [{"role": "user", "parts": [{"text": "Well?"}]}]},
        GEMINI,
        views.gemini,
    ),
}


def run(dialect: str, mode: str, urls: dict[str, str], params: Json = None) -> dict[str, Json]:
    """What the SDK made of the answers at these addresses, by the same names."""
    sdk = SDKS[dialect]
    cases = {name: {"url": url, "params": params or sdk.question} for name, url in urls.items()}
    done = subprocess.run(
        [need("node"), ROOT / "tests/js" / sdk.script, sdk.prefix + mode],
        input=json.dumps(cases).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(done.stdout))


def seen(dialect: str, outcome: Json) -> views.Seen | Json:
    """The view of a final object; of an error, the error itself, which equals no view."""
    return SDKS[dialect].view(outcome["value"]) if "value" in outcome else outcome


@pytest.mark.parametrize("dialect", NAMES)
def test_whole_answers_are_read(dialect: str, loopback: Loopback) -> None:
    answers = {sample.name: sample.answer for sample in SAMPLES[dialect]}
    urls = {
        name: loopback.serve(Case(dialect, whole=get(dialect).encode_response(answer).body))
        for name, answer in answers.items()
    }
    outcomes = run(dialect, "create", urls)
    for name, answer in answers.items():
        assert seen(dialect, outcomes[name]) == views.ours(answer, dialect), name


@pytest.mark.parametrize("manner", [pytest.param(manner, id=manner.__name__) for manner in MANNERS])
@pytest.mark.parametrize("dialect", NAMES)
def test_streams_add_up(dialect: str, manner: Callable[[Answer], Any], loopback: Loopback) -> None:
    answers = {
        sample.name: sample.answer
        for sample in SAMPLES[dialect]
        if manner is not overlapping or sample.name == "parallel tool calls"
    }
    urls = {
        name: loopback.serve(Case(dialect, stream=encode(dialect, manner(answer))))
        for name, answer in answers.items()
    }
    outcomes = run(dialect, "stream", urls)
    for name, answer in answers.items():
        assert seen(dialect, outcomes[name]) == views.ours(answer, dialect), name


@pytest.mark.parametrize("dialect", NAMES)
def test_a_broken_stream_is_no_success(dialect: str, loopback: Loopback) -> None:
    urls = {
        "fails": loopback.serve(Case(dialect, stream=encode(dialect, broken(dialect)))),
        "just stops": loopback.serve(Case(dialect, stream=encode(dialect, broken(dialect, failure=None)))),
    }
    outcomes = run(dialect, "stream", urls)
    if dialect == "openai-responses":
        # This SDK gives back a failed response as it is.
        assert [each["value"]["status"] for each in outcomes.values()] == ["failed", "failed"]
        outcomes = {name: each["value"] for name, each in outcomes.items()}
    assert FAILURE.message in outcomes["fails"]["error"]["message"]
    assert outcomes["just stops"]["error"]["message"]


ERRORS: dict[str, str] = {
    "auth": "AuthenticationError",
    "quota": "RateLimitError",
    "rate_limit": "RateLimitError",
    "overloaded": "InternalServerError",
    "bad_request": "BadRequestError",
    "context_too_long": "BadRequestError",
    "not_found": "NotFoundError",
    "refused": "BadRequestError",
    "connection_lost": "InternalServerError",
    "timed_out": "InternalServerError",
    "protocol": "InternalServerError",
}
SPECIAL: dict[str, dict[str, str]] = {
    "anthropic": {
        "quota": "APIError",
        "overloaded": "OverloadedError",
        "timed_out": "GatewayTimeoutError",
    },
    "gemini": dict.fromkeys(ERRORS, "ApiError"),
}


@pytest.mark.parametrize("dialect", NAMES)
def test_a_refusal_to_answer_is_the_right_error(dialect: str, loopback: Loopback) -> None:
    replies = {kind: get(dialect).encode_error(Failure(kind, "No.")) for kind in get_args(FailureKind)}
    urls = {
        kind: loopback.serve(Case(dialect, whole=body, status=status))
        for kind, (status, body) in replies.items()
    }
    outcomes = run(dialect, "create", urls)
    thrown = {kind: (each["error"]["name"], each["error"]["status"]) for kind, each in outcomes.items()}
    names = ERRORS | SPECIAL.get(dialect, {})
    assert thrown == {kind: (names[kind], status) for kind, (status, _) in replies.items()}


@pytest.mark.parametrize("dialect", NAMES)
def test_a_rich_request_is_understood(dialect: str, loopback: Loopback) -> None:
    plain = get(dialect).encode_response(SAMPLES[dialect][0].answer).body
    url = loopback.serve(Case(dialect, whole=plain))
    rich = SDKS[dialect].rich
    run(dialect, "create", {"rich": url}, rich.params)
    (sent,) = loopback.received(url)
    request = get(dialect).decode_request(sent.json)
    assert request == rich.request
    assert get(dialect).encode_request(request).body == sent.json


@pytest.mark.parametrize("dialect", NAMES)
def test_what_was_said_comes_back_unaltered(dialect: str, loopback: Loopback) -> None:
    answers = {sample.name: sample.answer for sample in SAMPLES[dialect] if sample.name != LONG}
    urls = {
        name: loopback.serve(
            Case(
                dialect,
                whole=get(dialect).encode_response(answer).body,
                stream=encode(dialect, in_pieces(answer)),
            )
        )
        for name, answer in answers.items()
    }
    run(dialect, "again", urls)
    for name, answer in answers.items():
        _, second = loopback.received(urls[name])
        assert said_again(dialect, second.json) == said(answer, dialect), name
