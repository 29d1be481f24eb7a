"""Lists of models in each vendor's shape, and counts of tokens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.client.upstream import Reply, Upstream, refused, upstream
from tests.gateway.gateways import Served, config_of, gateway
from tests.gateway.security.keyed import new_key

pytestmark = pytest.mark.anyio
ANTHROPIC = {"anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "any"}


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


@pytest.fixture
async def served(provider: Upstream, tmp_path: Path) -> AsyncIterator[Served]:
    bases = dict.fromkeys(("anthropic", "openai", "google", "deepseek"), provider.url)
    config = config_of('[aliases]\nquick = "deepseek/deepseek-v4-pro/low"\n')
    async with gateway(tmp_path, bases, config) as one:
        yield one


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def get(http: aiohttp.ClientSession, url: str, headers: dict[str, str] | None = None) -> Any:
    async with http.get(url, headers=headers or {}) as reply:
        assert reply.status == 200
        return await reply.json()


async def test_each_client_gets_its_vendors_shape(served: Served, http: aiohttp.ClientSession) -> None:
    openai = await get(http, f"{served.url}/v1/models", {"authorization": "Bearer any"})
    assert openai["object"] == "list"
    ids = [model["id"] for model in openai["data"]]
    assert ids[0] == "quick"
    assert {"claude-opus-5-5", "gpt-5.6-terra", "gemini-3.8-flash", "deepseek-v4-pro"} <= set(ids)
    assert not [name for name in ids if name.startswith(("mistral", "groq/"))], "there is no key for these"
    anthropic = await get(http, f"{served.url}/v1/models?limit=1000", ANTHROPIC)
    assert [model["id"] for model in anthropic["data"]] == ids
    assert (anthropic["first_id"], anthropic["has_more"]) == ("quick", False)
    google = await get(http, f"{served.url}/v1beta/models")
    assert [model["name"] for model in google["models"]] == [f"models/{name}" for name in ids]
    assert google == await get(http, f"{served.url}/v1/models", GOOGLE)


async def test_reasoning_is_shown_as_the_vendors_show_it(served: Served, http: aiohttp.ClientSession) -> None:
    claude = await get(http, f"{served.url}/v1/models/claude-opus-5-5", ANTHROPIC)
    assert claude["capabilities"]["thinking"]["supported"]
    assert claude["capabilities"]["thinking"]["types"]["adaptive"]["supported"]
    assert claude["capabilities"]["effort"]["high"]["supported"]
    gpt = await get(http, f"{served.url}/v1/models/gpt-4o")
    assert "reasoning" not in gpt
    deepseek = await get(http, f"{served.url}/v1/models/deepseek/deepseek-v4-pro")
    assert deepseek["id"] == "deepseek/deepseek-v4-pro"
    assert "high" in deepseek["reasoning"]["supported_efforts"]
    gemini = await get(http, f"{served.url}/v1beta/models/gemini-3.8-flash")
    assert gemini["thinking"] is True
    alias = await get(http, f"{served.url}/v1/models/quick")
    assert alias["owned_by"] == "DeepSeek"


async def test_an_unknown_model_is_not_found(served: Served, http: aiohttp.ClientSession) -> None:
    async with http.get(f"{served.url}/v1/models/nobody-has-this", headers=ANTHROPIC) as reply:
        assert reply.status == 404
        assert (await reply.json())["error"]["type"] == "not_found_error"


async def test_a_key_sees_the_models_it_may_use(
    served: Served, http: aiohttp.ClientSession, tmp_path: Path
) -> None:
    secret = await new_key(served, tmp_path, models=("claude-*",))
    listed = await get(http, f"{served.url}/v1/models", {"x-api-key": secret})
    assert listed["data"]
    assert all(model["id"].startswith("claude-") for model in listed["data"])


BODY: dict[str, Any] = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "Hello there"}]}


async def test_a_vendor_counts_for_itself(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [Reply(body=b'{"input_tokens": 17}')]
    async with http.post(f"{served.url}/v1/messages/count_tokens?beta=true", json=BODY) as reply:
        assert await reply.json() == {"input_tokens": 17}
    assert "x-thinkwire-estimated" not in reply.headers
    path, _, body = provider.received[0]
    assert path == "/v1/messages/count_tokens"
    assert body["messages"] == BODY["messages"]


async def test_a_count_is_estimated_where_nobody_counts(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [refused(529, "busy")]
    contents = {"contents": [{"parts": [{"text": "Hello there"}]}]}
    asked = [
        ("/v1/messages/count_tokens", BODY, "input_tokens"),
        ("/v1/messages/count_tokens", BODY | {"model": "deepseek/deepseek-v4-pro"}, "input_tokens"),
        (
            "/v1/responses/input_tokens",
            {"model": "mistral/mistral-large-4", "input": "Hello there"},
            "input_tokens",
        ),
        ("/v1beta/models/gpt-4o:countTokens", contents, "totalTokens"),
        ("/v1beta/models/gpt-4o:countTokens", {"generateContentRequest": contents}, "totalTokens"),
    ]
    for path, body, field in asked:
        async with http.post(served.url + path, json=body) as reply:
            assert reply.status == 200
            assert 2 <= (await reply.json())[field] <= 200
        assert reply.headers["x-thinkwire-estimated"] == "true"
    assert [record.kind.operation for record in served.records] == ["count_tokens"] * len(asked)


async def test_longer_requests_count_more(served: Served, http: aiohttp.ClientSession) -> None:
    counts = []
    for times in (1, 10, 100):
        body = BODY | {"model": "deepseek/deepseek-v4-pro", "system": "Be brief. " * times}
        async with http.post(f"{served.url}/v1/messages/count_tokens", data=json.dumps(body)) as reply:
            counts.append((await reply.json())["input_tokens"])
    assert counts == sorted(set(counts))
