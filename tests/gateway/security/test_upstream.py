"""Only the configuration says whom the gateway calls, and of a client nothing travels but its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.client.upstream import Reply, Upstream, refused, streamed
from tests.gateway.gateways import Served
from tests.gateway.security.conftest import UPSTREAM_KEY
from tests.gateway.security.keyed import new_key
from tests.gateway.security.wire import ASK, Trap, hear, post
from thinkwire.events import Answer
from thinkwire.messages import Text, Turn

pytestmark = pytest.mark.anyio
ANSWER = Answer(Turn("assistant", (Text("Hello."),)), "stop")
CHAT = "/v1/chat/completions"


async def test_an_address_in_a_request_is_never_called(
    guarded: Served, provider: Upstream, elsewhere: Trap, tmp_path: Path
) -> None:
    away = elsewhere.url
    fields = [
        *("base_url", "api_base", "baseURL", "endpoint", "url", "api_key", "proxy", "extra_headers"),
        *("custom_llm_provider", "organization", "extra_body", "provider"),
    ]
    headers = {name: away for name in ("x-base-url", "x-upstream", "x-forwarded-host", "forwarded", "proxy")}
    headers["x-api-key"] = await new_key(guarded, tmp_path)
    provider.replies = [streamed("openai-chat", ANSWER)] * len(fields)
    async with aiohttp.ClientSession(headers=headers) as session:
        for field in fields:
            for path in (CHAT, "/v1/messages"):
                body = ASK | {"stream": True, field: {"url": away} if field == "extra_body" else away}
                provider.replies = [streamed("openai-chat", ANSWER)]
                async with session.post(guarded.url + path, json=body) as reply:
                    assert reply.status < 500
                    await reply.read()
    assert elsewhere.visits == 0
    for _, told, _ in provider.received:
        assert away not in str(told)


NAMES = [
    *("{away}", "{away}/v1", "//{host}/x", "deepseek/{away}", "openai/{away}", "google/{away}"),
    *("deepseek@{host}/x", "anthropic/../../x", "google/../../../x", "google/..%2f..%2fx"),
    *("google/gemini-3.8-flash?key=x&y=", "google/gemini-3.8-flash#x", "google/gemini-3.8-flash/../../x"),
    *(
        "google/gemini\r\nX-Evil: 1",
        "google/gemini 3 HTTP/1.1\r\nHost: evil",
        "google/\u0000",
        "google/%0d%0ax",
    ),
    *("google/gemini-3.8-flash:generateContent?x=", "file:///etc/passwd", "google/\\\\{host}\\x"),
]


@pytest.mark.parametrize("path", ["/v1/messages", CHAT])
async def test_no_name_of_a_model_changes_whom_or_what_is_called(
    guarded: Served, provider: Upstream, elsewhere: Trap, path: str
) -> None:
    host = elsewhere.url.removeprefix("http://")
    async with aiohttp.ClientSession() as session:
        for pattern in NAMES:
            name = pattern.format(away=elsewhere.url, host=host)
            provider.replies = [refused(404, "no such model")] * 3
            async with session.post(guarded.url + path, json=ASK | {"model": name, "stream": True}) as reply:
                assert reply.status < 500, (name, await reply.text())
                assert "x-evil" not in reply.headers
                await reply.read()
    assert elsewhere.visits == 0
    for called, headers, _ in provider.received:
        _is_of_a_model(called)
        assert "x-evil" not in headers


def _is_of_a_model(called: str) -> None:
    """A path that the provider's own table has, with one piece of it chosen by the client."""
    path, _, query = called.partition("?")
    assert ".." not in path.split("/")
    assert query in ("", "alt=sse", "beta=true")
    if "/models/" in path:
        assert path.startswith("/v1beta/models/")
        assert path.endswith((":generateContent", ":streamGenerateContent"))
    else:
        assert path in ("/v1/messages", "/chat/completions", "/v1/chat/completions", "/v1/responses")


async def test_a_picture_is_passed_on_by_its_address_and_not_fetched(
    guarded: Served, provider: Upstream, elsewhere: Trap
) -> None:
    urls = [f"{elsewhere.url}/cat.png", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd"]
    for url in urls:
        parts: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": url}}]
        body = ASK | {"stream": True, "messages": [{"role": "user", "content": parts}]}
        for model in ("deepseek/deepseek-v4-pro", "claude-opus-5", "gemini-3.8-flash", "gpt-5.6-terra"):
            provider.replies = [refused(404, "no such model")]
            await hear(guarded.url, post(body | {"model": model}, target=CHAT))
    assert elsewhere.visits == 0
    assert b"root:" not in json.dumps([body for *_, body in provider.received]).encode()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("model", ["deepseek/deepseek-v4-pro", "claude-opus-5"])
async def test_a_redirect_is_not_followed(
    guarded: Served, provider: Upstream, elsewhere: Trap, status: int, model: str
) -> None:
    """Neither when translating nor when bytes pass through; the key would go along."""
    for stream in (True, False):
        provider.replies = [Reply(status, b"{}", {"location": f"{elsewhere.url}/v1/messages"})] * 2
        heard = await hear(guarded.url, post(ASK | {"model": model, "stream": stream}))
        assert elsewhere.visits == 0
        assert elsewhere.url.encode() not in heard.head, "the client is not sent there either"
        assert heard.status >= 400 or b"error" in heard.raw
        assert UPSTREAM_KEY.encode() not in heard.raw


async def test_only_what_is_meant_for_the_provider_travels(
    guarded: Served, provider: Upstream, tmp_path: Path
) -> None:
    secret = await new_key(guarded, tmp_path)
    lines = [
        *(f"X-Api-Key: {secret}", "Cookie: session=client-secret", "X-Forwarded-For: 10.0.0.1"),
        *("OpenAI-Organization: org-client", "X-Goog-User-Project: client", "User-Agent: client/1"),
        *("Anthropic-Beta: some-beta", "X-Stainless-Os: Linux", "Traceparent: 00-1-1-01"),
    ]
    for model in ("claude-opus-5", "deepseek/deepseek-v4-pro"):
        provider.replies = [streamed("anthropic" if model == "claude-opus-5" else "openai-chat", ANSWER)]
        heard = await hear(guarded.url, post(ASK | {"model": model, "stream": True}, *lines))
        assert heard.status == 200
        _, headers, _ = provider.received[-1]
        assert "client" not in str(headers).replace("client-", "client")
        assert secret not in str(headers)
        keys = {headers.get("x-api-key"), headers.get("authorization")} - {None}
        assert keys <= {UPSTREAM_KEY, f"Bearer {UPSTREAM_KEY}"}
        allowed = {"host", "accept", "accept-encoding", "user-agent", "content-length", "content-type"}
        allowed |= {"x-api-key", "authorization", "anthropic-version", "anthropic-beta"}
        assert set(headers) <= allowed


async def test_what_a_provider_sends_cannot_split_the_answer(guarded: Served, provider: Upstream) -> None:
    """Bytes pass through, and its headers only as far as they concern the client."""
    good = streamed("anthropic", ANSWER)
    odd = {"request-id": "a\tb\xff", "set-cookie": "a=b", "x-evil": "1", "location": "http://evil.example"}
    provider.replies = [good._replace(headers=odd | {"content-type": "text/event-stream; x=\xff"})]
    heard = await hear(guarded.url, post(ASK | {"model": "claude-opus-5", "stream": True}))
    assert heard.status == 200
    for name in (b"set-cookie", b"x-evil", b"location"):
        assert name not in heard.head.lower()
    assert heard.head.isascii()
    assert b"request-id: a?b?" in heard.head


async def test_no_name_is_as_long_as_it_likes(guarded: Served) -> None:
    heard = await hear(guarded.url, post(ASK | {"model": "mapped-" + "x" * 500}))
    assert heard.status == 404
    assert b"more than 500 letters" in heard.raw


async def test_a_head_that_no_header_may_have_is_a_lost_connection(
    guarded: Served, provider: Upstream
) -> None:
    provider.replies = [streamed("anthropic", ANSWER)._replace(headers={"request-id": "a\x7f"})] * 2
    heard = await hear(guarded.url, post(ASK | {"model": "claude-opus-5", "stream": True}))
    assert heard.status in (500, 502, 529)
    assert b"\x7f" not in heard.raw


@pytest.mark.parametrize("name", ["mapped-\r\nX-Evil: 1", "mapped-\u2028\u0085x", "mapped-" + "é" * 490])
async def test_no_name_in_a_note_splits_the_answer(guarded: Served, provider: Upstream, name: str) -> None:
    """A mapped name is told back in a header."""
    provider.replies = [streamed("openai-chat", ANSWER)]
    heard = await hear(guarded.url, post(ASK | {"model": name, "stream": True}))
    assert heard.status == 200
    assert b"model.mapped" in heard.head
    assert b"\r\nx-evil" not in heard.raw.lower()
    assert heard.head.isascii()
    assert len(heard.head) < 16_384
