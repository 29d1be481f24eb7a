"""Every service answers under its own path, knows its models, and complains in its own words."""

from __future__ import annotations

import pytest

from tests.sim.support import Api, api, apis, call
from thinkwire.providers import default_providers
from thinkwire.sim.app import LIMIT, Simulator
from thinkwire.sim.routes import find_place

APP = Simulator(rules=())

PATHS = [
    ("/anthropic/v1/messages", "anthropic", "anthropic", "generate"),
    ("/anthropic/v1/messages/count_tokens", "anthropic", "anthropic", "count"),
    ("/openai/v1/responses", "openai", "openai-responses", "generate"),
    ("/openai/v1/chat/completions", "openai", "openai-chat", "generate"),
    ("/google/v1beta/models/m:generateContent", "google", "gemini", "generate"),
    ("/google/v1/models/m:streamGenerateContent", "google", "gemini", "stream"),
    ("/google/v1beta/models/m:countTokens", "google", "gemini", "count"),
    ("/google/v1beta/openai/chat/completions", "google", "openai-chat", "generate"),
    ("/openrouter/api/v1/chat/completions", "openrouter", "openai-chat", "generate"),
    ("/openrouter/api/v1/messages", "openrouter", "anthropic", "generate"),
    ("/qwen/compatible-mode/v1/chat/completions", "qwen", "openai-chat", "generate"),
    ("/minimax/anthropic/v1/messages", "minimax", "anthropic", "generate"),
    ("/deepseek/chat/completions", "deepseek", "openai-chat", "generate"),
    ("/deepseek/v1/chat/completions", "deepseek", "openai-chat", "generate"),
    ("/zai/api/paas/v4/chat/completions", "zai", "openai-chat", "generate"),
    ("/groq/v1/chat/completions", "groq", "openai-chat", "generate"),
    ("/groq/openai/v1/chat/completions", "groq", "openai-chat", "generate"),
    ("/kimi/v1/chat/completions", "moonshot", "openai-chat", "generate"),
    ("/openai/v1/models", "openai", "openai-responses", "models"),
    ("/openrouter/api/v1/models/a/b", "openrouter", "openai-chat", "model"),
]


@pytest.mark.parametrize(("path", "provider", "dialect", "operation"), PATHS)
def test_a_path_means_an_api(path: str, provider: str, dialect: str, operation: str) -> None:
    place = find_place(path)
    assert place is not None
    assert (place.provider.name, place.dialect, place.operation) == (provider, dialect, operation)


@pytest.mark.parametrize("path", ["/anthropic", "/nobody/v1/messages", "/anthropic/v2/messages"])
def test_other_paths_mean_nothing(path: str) -> None:
    assert find_place(path) is None
    assert call(APP, path).status == 404


@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_a_request_without_a_key_is_refused_unless_the_server_wants_none(at: Api) -> None:
    got = call(APP, at.path(), at.body("Hello"), headers={"content-type": "application/json"})
    if at.provider.auth == "none":
        assert got.status == 200
    else:
        assert got.status in (400, 401, 403)
        assert at.dialect.decode_error(got.status, {}, got.body).kind == "auth"


@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_a_bad_key_is_refused_and_not_repeated(at: Api) -> None:
    headers = {"authorization": "Bearer bad-secret-42", "x-api-key": "bad-secret-42"}
    got = call(APP, at.path(), at.body("Hello"), headers=headers | {"x-goog-api-key": "bad-secret-42"})
    assert b"secret-42" not in got.body
    if at.provider.auth != "none":
        assert at.dialect.decode_error(got.status, {}, got.body).kind == "auth"


def test_error_bodies_are_the_vendors_own() -> None:
    told = {
        at.id: call(APP, at.path(), at.body("Hello"), headers={"authorization": "Bearer bad"}).json
        for at in (
            api("openai", "openai-chat"),
            api("cerebras", "openai-chat"),
            api("mistral", "openai-chat"),
            api("xai", "openai-chat"),
            api("groq", "openai-chat"),
            api("deepseek", "openai-chat"),
        )
    }
    assert told["openai-openai-chat"]["error"].keys() == {"message", "type", "param", "code"}
    assert told["openai-openai-chat"]["error"]["code"] == "invalid_api_key"
    assert told["cerebras-openai-chat"] == {
        "message": "Wrong API Key",
        "type": "invalid_request_error",
        "param": "api_key",
        "code": "wrong_api_key",
    }
    assert told["mistral-openai-chat"] == {"detail": "Unauthorized"}
    assert told["xai-openai-chat"].keys() == {"code", "error"}
    assert told["groq-openai-chat"]["error"] == {
        "message": "Invalid API Key",
        "type": "invalid_request_error",
        "code": "invalid_api_key",
    }
    assert told["deepseek-openai-chat"]["error"]["type"] == "authentication_error"


@pytest.mark.parametrize("at", [a for a in apis() if a.provider.auth != "none"], ids=lambda at: at.id)
def test_a_model_that_nobody_knows_is_not_found(at: Api) -> None:
    unknown = at._replace(model="no-such-model")
    got = call(APP, unknown.path(), unknown.body("Hello"))
    failure = at.dialect.decode_error(got.status, {}, got.body)
    assert got.status in (400, 404)
    assert failure.kind in ("not_found", "bad_request")
    assert "odel" in failure.message


@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_what_is_no_json_is_refused(at: Api) -> None:
    for raw in (b"{", b"[1]", b"\xff"):
        got = call(APP, at.path(), raw)
        assert got.status == 400
        assert at.dialect.decode_error(400, {}, got.body).kind == "bad_request"


def test_whoever_opens_the_address_is_told_what_it_is() -> None:
    page = call(APP, "/", method="GET").body.decode()
    assert "Simulated" in page
    assert all(at.path().partition("{")[0].partition(at.model)[0] in page for at in apis())


def test_every_answer_says_that_it_is_simulated_and_has_a_request_id() -> None:
    at = api("anthropic", "anthropic")
    for body in (at.body("Hello"), at.body("Hello", stream=True), {}):
        headers = call(APP, at.path(), body).headers
        assert headers["x-simulated-by"] == "thinkwire"
        assert headers["request-id"].startswith("req_")


def test_a_body_may_be_too_large() -> None:
    assert call(APP, "/anthropic/v1/messages", b" " * (LIMIT + 1)).status == 413


def test_the_method_matters() -> None:
    assert call(APP, "/anthropic/v1/messages", method="GET").status == 405
    assert call(APP, "/anthropic/v1/models", b"{}").status == 405


@pytest.mark.parametrize("name", sorted(default_providers()))
def test_every_provider_lists_its_models(name: str) -> None:
    provider = default_providers()[name]
    place = next(route for route in provider.routes)
    tails = ("/messages", "/chat/completions", "/responses", "/{model}:generateContent")
    root = next(place.path.removesuffix(tail) for tail in tails if place.path.endswith(tail))
    feed = call(APP, f"/{name}{root.removesuffix('/models')}/models", method="GET").json
    entries = feed.get("data", feed.get("models"))
    assert entries
    first = entries[0].get("id") or entries[0]["name"].removeprefix("models/")
    one = call(APP, f"/{name}{root.removesuffix('/models')}/models/{first}", method="GET")
    assert one.json == entries[0]


@pytest.mark.parametrize(
    ("at", "path", "count"),
    [
        (api("anthropic", "anthropic"), "/anthropic/v1/messages/count_tokens", "input_tokens"),
        (api("google", "gemini"), "/google/v1beta/models/gemini-3.8-flash:countTokens", "totalTokens"),
    ],
    ids=["anthropic", "gemini"],
)
def test_longer_requests_count_more_tokens(at: Api, path: str, count: str) -> None:
    short, long = (call(APP, path, at.body("word " * n)).json[count] for n in (10, 1000))
    assert 0 < short < long
