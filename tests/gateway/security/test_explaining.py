"""The plan of a request tells those who hold a key who would be asked, and not where."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.client.upstream import Upstream
from tests.gateway.gateways import Served
from tests.gateway.security.keyed import new_key
from tests.gateway.security.wire import ASK, Heard, hear, post

pytestmark = pytest.mark.anyio

PATHS = {
    "deepseek/deepseek-v4-pro": "/chat/completions",
    "anthropic/claude-opus-5": "/v1/messages",
    "openai/gpt-5.6-terra": "/v1/responses",
    "google/gemini-3.8-flash": "/models/gemini-3.8-flash:generateContent",
}
every_model = pytest.mark.parametrize("model", PATHS)


async def explained(guarded: Served, model: str, *lines: str) -> Heard:
    heard = await hear(guarded.url, post(ASK | {"model": model}, "X-Thinkwire-Explain: true", *lines))
    assert heard.status == 200, heard.raw
    return heard


@every_model
async def test_where_nobody_needs_a_key_the_whole_address_is_told(
    guarded: Served, provider: Upstream, model: str
) -> None:
    heard = await explained(guarded, model)
    assert told(heard)["endpoint"].startswith(provider.url)
    assert told(heard)["endpoint"].partition("?")[0].endswith(PATHS[model])


@every_model
async def test_a_key_is_told_the_provider_and_the_path(
    guarded: Served, provider: Upstream, tmp_path: Path, model: str
) -> None:
    key = await new_key(guarded, tmp_path)
    heard = await explained(guarded, model, f"X-Api-Key: {key}")
    plan = told(heard)
    assert plan["provider"] == model.partition("/")[0]
    assert plan["endpoint"].startswith("/")
    assert plan["endpoint"].endswith(PATHS[model])
    address = urlsplit(provider.url)
    assert f"{address.hostname}".encode() not in heard.raw
    assert f"{address.port}".encode() not in heard.raw
    assert provider.received == []


def told(heard: Heard) -> dict[str, str]:
    plan: dict[str, str] = json.loads(heard.raw.partition(b"\r\n\r\n")[2])
    return plan
