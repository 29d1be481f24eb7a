"""The gateway's door: refusals in the client's dialect, silence, cuts, and clients that leave."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.client.upstream import Reply, Upstream, refused, streamed, upstream
from tests.gateway.gateways import Served, config_of, gateway
from tests.gateway.security.keyed import new_key
from thinkwire.dialects.openai_chat.response import encode_response as encode_chat
from thinkwire.events import Answer
from thinkwire.gateway.server.protocol import ProtocolFactory
from thinkwire.jsonvalue import dump
from thinkwire.messages import Text, Thinking, Turn
from thinkwire.usage import measure

pytestmark = pytest.mark.anyio
ANSWER = Answer(
    Turn("assistant", (Thinking("Hm.", field="reasoning_content"), Text("Hello."))),
    "stop",
    usage=measure(input_total=10, output_total=5, output_reasoning=2)[0],
)
KEY = "sk-upstream-key-that-must-not-show"

ASK: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": (
        "/v1/messages",
        {
            "model": "deepseek/deepseek-v4-pro",
            "max_tokens": 99,
            "messages": [{"role": "user", "content": "Hi"}],
        },
    ),
    "openai-chat": (
        "/v1/chat/completions",
        {"model": "deepseek/deepseek-v4-pro", "messages": [{"role": "user", "content": "Hi"}]},
    ),
    "openai-responses": ("/v1/responses", {"model": "deepseek/deepseek-v4-pro", "input": "Hi"}),
    "gemini": (
        "/v1beta/models/deepseek/deepseek-v4-pro:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    ),
}
every_dialect = pytest.mark.parametrize("dialect", ASK)


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


CONFIG = """
[aliases]
fast = "deepseek/deepseek-v4-pro/low"
[fallbacks]
"deepseek/deepseek-v4-pro" = ["anthropic/claude-opus-5"]
"""
UPSTREAMS = ("deepseek", "anthropic", "openai", "google")


@pytest.fixture(params=["line", "httptools"], ids=["line", "uvicorn"])
def server(request: pytest.FixtureRequest) -> Any:
    """Our own connections with their direct way, and those of any other ASGI server."""
    return ProtocolFactory() if request.param == "line" else request.param


@pytest.fixture
async def served(provider: Upstream, tmp_path: Path, server: Any) -> AsyncIterator[Served]:
    bases = dict.fromkeys(UPSTREAMS, provider.url)
    config = config_of(CONFIG, max_body_mb=0.01)
    async with gateway(tmp_path, bases, config, key=KEY, http=server) as one:
        yield one


@pytest.fixture
async def pulsing(provider: Upstream, tmp_path: Path, server: Any) -> AsyncIterator[Served]:
    """One that does not bear silence."""
    bases = dict.fromkeys(UPSTREAMS, provider.url)
    config = config_of(CONFIG, keepalive_seconds=0.05)
    async with gateway(tmp_path, bases, config, key=KEY, http=server) as one:
        yield one


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def streaming(dialect: str) -> tuple[str, dict[str, Any]]:
    path, body = ASK[dialect]
    if dialect == "gemini":
        return path.replace(":generateContent", ":streamGenerateContent?alt=sse"), body
    return path, body | {"stream": True}


def error_of(dialect: str, body: dict[str, Any]) -> str:
    """The words of an error in the form of its dialect."""
    error = body["error"]
    if dialect == "anthropic":
        assert body["type"] == "error"
        assert error["type"]
    if dialect == "gemini":
        assert error["status"]
    message: str = error["message"]
    return message


async def test_what_clients_look_at_first_is_there(served: Served, http: aiohttp.ClientSession) -> None:
    for path in ("/", "/api/hello", "/healthz", "/readyz"):
        async with http.head(served.url + path) as reply:
            assert reply.status == 200
        async with http.get(served.url + path) as reply:
            assert reply.status == 200
            assert await reply.text()
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": "x",
        "sec-websocket-version": "13",
    }
    async with http.get(f"{served.url}/v1/responses", headers=upgrade) as reply:
        assert reply.status == 426


@every_dialect
async def test_errors_speak_the_clients_dialect(
    served: Served, http: aiohttp.ClientSession, dialect: str
) -> None:
    path, body = ASK[dialect]
    url = served.url + path
    async with http.put(url, json=body) as reply:
        assert reply.status == 405
        assert reply.headers["allow"] == "POST"
        error_of(dialect, await reply.json())
    async with http.post(url, data=b"{") as reply:
        assert reply.status == 400
        error_of(dialect, await reply.json())
    async with http.post(url, json=body | {"x": "y" * 20_000}) as reply:
        assert reply.status == 413
        assert "max_body_mb" in error_of(dialect, await reply.json())
    nobody = url.replace("deepseek/deepseek-v4-pro", "nobody-has-this")
    async with http.post(
        nobody, json=body | ({} if dialect == "gemini" else {"model": "nobody-has-this"})
    ) as reply:
        assert reply.status == 404
        assert "nobody-has-this" in error_of(dialect, await reply.json())
    mistral = url.replace("deepseek/deepseek-v4-pro", "mistral/mistral-large-4")
    async with http.post(
        mistral, json=body | ({} if dialect == "gemini" else {"model": "mistral/mistral-large-4"})
    ) as reply:
        assert reply.status == 401
        assert "MISTRAL_API_KEY" in error_of(dialect, await reply.json())


async def test_an_unknown_path_is_told_in_the_dialect_of_the_headers(
    served: Served, http: aiohttp.ClientSession
) -> None:
    async with http.post(f"{served.url}/v1/nothing", headers={"anthropic-version": "2023-06-01"}) as reply:
        assert reply.status == 404
        assert (await reply.json())["type"] == "error"
    async with http.post(f"{served.url}/v1/nothing", headers={"x-goog-api-key": "k"}) as reply:
        assert (await reply.json())["error"]["status"] == "NOT_FOUND"


@every_dialect
async def test_a_key_is_needed_once_there_is_one_and_any_header_will_do(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, tmp_path: Path, dialect: str
) -> None:
    secret = await new_key(served, tmp_path, models=("deepseek/*",))
    path, body = ASK[dialect]
    async with http.post(served.url + path, json=body) as reply:
        assert reply.status == 401
        error_of(dialect, await reply.json())
    for header in ({"x-api-key": secret}, {"authorization": f"Bearer {secret}"}, {"x-goog-api-key": secret}):
        provider.replies = [streamed("openai-chat", ANSWER)]
        url, asked = streaming(dialect)
        async with http.post(served.url + url, json=asked, headers=header) as reply:
            assert reply.status == 200
            await reply.read()
    other = path.replace("deepseek/deepseek-v4-pro", "claude-opus-5")
    async with http.post(
        served.url + other,
        json=body | ({} if dialect == "gemini" else {"model": "claude-opus-5"}),
        headers={"x-api-key": secret},
    ) as reply:
        assert reply.status == 403
    assert served.records[-2].kind.tenant != "local"


@every_dialect
async def test_a_failure_before_the_answer_keeps_its_status_and_its_wait(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, dialect: str
) -> None:
    provider.replies = [refused(429, "too many", retry_after="7")]
    provider.replies += [refused(529, f"too busy for {KEY}", retry_after="0")] * 2
    url, body = streaming(dialect)
    async with http.post(served.url + url, json=body) as reply:
        said = await reply.read()
    assert reply.status in (503, 529)
    assert KEY.encode() not in said
    assert json.loads(reply.headers["x-thinkwire-notes"])[-1]["code"] == "fallback.used"
    assert served.records[-1].kind.failure == "overloaded"


@every_dialect
async def test_a_fallback_answers_and_is_told(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, dialect: str
) -> None:
    provider.replies = [refused(429, "too many", retry_after="7"), streamed("anthropic", ANSWER)]
    url, body = streaming(dialect)
    async with http.post(served.url + url, json=body) as reply:
        assert reply.status == 200
        assert b"Hello." in await reply.read()
    assert reply.headers["x-thinkwire-model"] == "claude-opus-5"
    assert "fallback.used" in reply.headers["x-thinkwire-notes"]
    assert [path for path, _, _ in provider.received] == ["/chat/completions", "/v1/messages"]


async def test_without_a_fallback_the_client_is_told_when_to_try_again(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [refused(429, "too many", retry_after="7")]
    body = ASK["openai-chat"][1] | {"model": "claude-opus-5"}
    async with http.post(f"{served.url}/v1/chat/completions", json=body) as reply:
        assert reply.status == 429
        assert reply.headers["retry-after"] == "7"


BROKEN = {
    "anthropic": b"event: error\n",
    "openai-chat": b'"error":{"message":',
    "openai-responses": b"event: response.failed\n",
    "gemini": b'"error":{"code":',
}
ENDS = {
    "anthropic": b"message_stop",
    "openai-chat": b"[DONE]",
    "openai-responses": b"response.completed",
    "gemini": b"finishReason",
}


@every_dialect
async def test_a_cut_upstream_is_an_error_inside_the_stream_and_never_an_end(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, dialect: str
) -> None:
    whole = streamed("openai-chat", ANSWER)
    provider.replies = [whole._replace(cut=whole.body.index(b'"Hello."') + 9)]
    url, body = streaming(dialect)
    async with http.post(served.url + url, json=body) as reply:
        said = await reply.read()
    assert reply.status == 200
    assert b"Hm." in said
    assert BROKEN[dialect] in said
    assert ENDS[dialect] not in said
    assert (await served.recorded(1))[-1].kind.failure == "connection_lost"


@every_dialect
async def test_silence_is_filled_in_the_clients_dialect(
    pulsing: Served, provider: Upstream, http: aiohttp.ClientSession, dialect: str
) -> None:
    provider.replies = [streamed("openai-chat", ANSWER, delay=0.12, stall=0.12)]
    url, body = streaming(dialect)
    async with http.post(pulsing.url + url, json=body) as reply:
        said = await reply.read()
    assert said.startswith(b"\n\n"), "the head and a blank line come before the model says anything"
    assert ENDS[dialect] in said
    assert b"\n:" not in said
    pings = said.count(b"event: ping")
    assert pings >= 1 if dialect == "anthropic" else pings == 0 and b"\n\n\n\n" in said


async def test_a_failure_after_a_long_silence_is_told_in_the_stream(
    pulsing: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [refused(400, "no such thing")._replace(delay=0.12)]
    url, body = streaming("anthropic")
    async with http.post(pulsing.url + url, json=body) as reply:
        said = await reply.read()
    assert reply.status == 200
    assert b"event: error" in said
    assert b"no such thing" in said


@every_dialect
async def test_a_client_that_leaves_takes_the_upstream_along(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, dialect: str
) -> None:
    provider.replies = [streamed("openai-chat", ANSWER, stall=5)]
    url, body = streaming(dialect)
    reply = await http.post(served.url + url, json=body)
    await reply.content.readany()
    began = time.perf_counter()
    reply.close()
    await asyncio.wait_for(provider.hung_up.wait(), 2)
    assert time.perf_counter() - began < 0.5
    while not served.records:
        await asyncio.sleep(0.005)
    assert served.records[-1].kind.client_left
    assert served.parts.limits.running == 0


async def test_the_plan_is_told_instead_of_sent(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    path, body = ASK["anthropic"]
    asked = body | {"model": "fast", "thinking": {"type": "enabled", "budget_tokens": 9000}}
    async with http.post(served.url + path, json=asked, headers={"x-thinkwire-explain": "true"}) as reply:
        told = await reply.json()
    assert provider.received == []
    assert (told["provider"], told["model"], told["dialect"]) == (
        "deepseek",
        "deepseek-v4-pro",
        "openai-chat",
    )
    assert told["requested"]["level"] == "low"
    assert told["body"]["messages"] == [{"role": "user", "content": "Hi"}]
    assert "thinking" not in told["body"] or "budget_tokens" not in told["body"]["thinking"]
    assert "model.mapped" in {note["code"] for note in told["notes"]}
    assert reply.headers["x-thinkwire-requested"] == "low"
    assert KEY not in json.dumps(told)


async def test_requests_beyond_the_limit_are_refused_at_once(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    served.parts.limits.config = config_of(max_streams=1)
    provider.replies = [streamed("openai-chat", ANSWER, stall=5)]
    url, body = streaming("anthropic")
    first = await http.post(served.url + url, json=body)
    await first.content.readany()
    async with http.post(served.url + url, json=body) as reply:
        assert reply.status == 529
        assert (await reply.json())["error"]["type"] == "overloaded_error"
        assert reply.headers["retry-after"] == "1"
    first.close()


async def test_every_request_leaves_one_record_without_content(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [streamed("openai-chat", ANSWER)]
    url, body = streaming("anthropic")
    async with http.post(served.url + url, json=body | {"model": "fast"}) as reply:
        await reply.read()
    (record,) = await served.recorded(1)
    assert record.id == reply.headers["x-thinkwire-request-id"]
    kind = record.kind
    assert (kind.asked, kind.provider, kind.model) == ("fast", "deepseek", "deepseek-v4-pro")
    assert (kind.status, kind.failure, kind.finish) == (200, None, "stop")
    assert record.usage is not None
    assert record.usage.output_reasoning == 2
    assert record.first_ms is not None
    assert "Hello" not in repr(record)


async def test_a_response_that_nobody_keeps_is_not_found(served: Served, http: aiohttp.ClientSession) -> None:
    for method in ("GET", "DELETE"):
        async with http.request(method, f"{served.url}/v1/responses/resp_1") as reply:
            assert reply.status == 404
    path, body = ASK["openai-responses"]
    async with http.post(served.url + path, json=body | {"previous_response_id": "resp_1"}) as reply:
        assert reply.status == 400
        assert (await reply.json())["error"]["code"] == "previous_response_not_found"


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("times", [1, 3], ids=["once", "asked before"])
async def test_a_conversation_goes_on_from_a_stored_response(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, stream: bool, times: int
) -> None:
    path, body = ASK["openai-responses"]
    whole = Reply(body=dump(encode_chat(ANSWER).body))
    provider.replies = [streamed("openai-chat", ANSWER) if stream else whole] * times + [whole]
    for _ in range(times):
        asked = body | {"stream": stream, "metadata": {"a": "b"}}
        async with http.post(served.url + path, json=asked) as reply:
            said = await reply.text()
    first = _completed(said) if stream else json.loads(said)
    assert first["metadata"] == {"a": "b"}
    async with http.get(f"{served.url}/v1/responses/{first['id']}") as reply:
        assert (await reply.json())["output"] == first["output"]
    more = {"input": "And?", "previous_response_id": first["id"]}
    async with http.post(served.url + path, json=body | more) as reply:
        second = await reply.json()
    assert second["previous_response_id"] == first["id"]
    last = provider.received[times][2]
    sent = last["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [sent[0]["content"], sent[1]["content"]] == [body["input"], "Hello."]
    assert "previous_response_id" not in last
    async with http.delete(f"{served.url}/v1/responses/{first['id']}") as reply:
        assert (await reply.json())["deleted"] is True
    async with http.get(f"{served.url}/v1/responses/{first['id']}") as reply:
        assert reply.status == 404


def _completed(stream: str) -> dict[str, Any]:
    last = stream.strip().rpartition("data: ")[2]
    response: dict[str, Any] = json.loads(last)["response"]
    return response


async def test_a_reply_of_a_provider_never_shows_its_key(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    for dialect in ASK:
        provider.replies = [refused(401, f"Incorrect API key provided: {KEY}")]
        path, body = ASK[dialect]
        async with http.post(served.url + path, json=body) as reply:
            said = await reply.text()
        assert reply.status == 401
        assert KEY not in said + str(reply.headers)
        assert "gateway's own key" in said
    provider.replies = [refused(401, f"Incorrect API key provided: {KEY}")]
    body = ASK["anthropic"][1] | {"model": "claude-opus-5"}
    async with http.post(f"{served.url}/v1/messages", json=body) as reply:
        assert KEY not in await reply.text()
