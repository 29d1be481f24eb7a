"""A request of too many parts is refused before anything is done with it, with the bound and what to do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import aiohttp
import pytest

from tests.client.upstream import Upstream, upstream
from tests.gateway.gateways import Served, config_of, gateway
from thinkwire import dialects
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.pipeline import request_size
from thinkwire.gateway.pipeline.request_size import check_request_size, check_turns
from thinkwire.jsonvalue import dump
from thinkwire.messages import Text, ToolResult, Turn

pytestmark = pytest.mark.anyio
MODEL = "deepseek/deepseek-v4-pro"
HI = {"role": "user", "content": "Hi"}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("/v1/messages", {"model": MODEL, "max_tokens": 9, "messages": [HI] * 5}),
    "openai-chat": ("/v1/chat/completions", {"model": MODEL, "messages": [HI] * 5}),
    "openai-responses": ("/v1/responses", {"model": MODEL, "input": [HI] * 5}),
    "gemini": (f"/v1beta/models/{MODEL}:generateContent", {"contents": [{"parts": [{"text": "Hi"}]}] * 5}),
}
COUNTS = {
    "anthropic": "/v1/messages/count_tokens",
    "openai-responses": "/v1/responses/input_tokens",
    "gemini": f"/v1beta/models/{MODEL}:countTokens",
}


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


@pytest.fixture
async def served(provider: Upstream, tmp_path: Path) -> AsyncIterator[Served]:
    async with gateway(tmp_path, {"deepseek": provider.url}, config_of()) as one:
        yield one


def refused(body: dict[str, Any]) -> str:
    with pytest.raises(Refusal) as caught:
        check_request_size(dump(body), body)
    return caught.value.failure.message


def few(**bounds: int) -> Any:
    values: dict[str, Any] = {"MAX_MESSAGES": 3, "MAX_BLOCKS": 6, "MAX_TOOLS": 4, **bounds}
    return patch.multiple(request_size, **values)


def test_the_bounds_do_not_undercut_the_vendors() -> None:
    assert request_size.MAX_MESSAGES >= 100_000
    assert request_size.MAX_TOOLS >= 10_000
    assert request_size.MAX_BLOCKS >= request_size.MAX_MESSAGES


@pytest.mark.parametrize("name", ["messages", "input", "contents"])
def test_too_many_messages_name_the_bound_and_what_to_do(name: str) -> None:
    with few():
        message = refused({name: [HI] * 5})
        check_request_size(b"{" * 9, {name: [HI] * 3})
    assert "5 messages" in message
    assert "3 at most" in message
    assert "summarise" in message


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "text"}] * 7},
        {"tool_calls": [{"type": "function"}] * 7},
        {"parts": [{"text": "a"}] * 7},
        {"content": [{"type": "tool_result", "content": [{"type": "text"}] * 6}]},
        {"parts": [{"functionResponse": {"parts": [{"text": "a"}] * 6}}]},
    ],
)
def test_blocks_count_wherever_they_are(message: dict[str, Any]) -> None:
    with few():
        assert "7 blocks" in refused({"messages": [message]})


@pytest.mark.parametrize(
    "tools",
    [
        [{"name": "a"}] * 5,
        [{"functionDeclarations": [{"name": "a"}] * 5}],
        [{"type": "namespace", "tools": [{"name": "a"}] * 5}],
    ],
)
def test_tools_count_in_groups_too(tools: list[Any]) -> None:
    with few():
        assert "5 tools" in refused({"tools": tools})
        check_request_size(b"{" * 9, {"tools": [{"name": "a", "input_schema": {"anyOf": [{}] * 9}}]})


def test_a_stored_conversation_is_bounded_as_well() -> None:
    with few():
        check_turns([Turn("user", (Text("a"),))] * 3)
        with pytest.raises(Refusal, match="4 messages"):
            check_turns([Turn("user")] * 4)
        with pytest.raises(Refusal, match="7 blocks"):
            check_turns([Turn("user", (ToolResult("a", (Text("b"),) * 6),))])


async def ask(served: Served, path: str, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(served.url + path, data=dump(body), headers=headers) as answer,
    ):
        return answer.status, json.loads(await answer.read())


@pytest.mark.parametrize("dialect", BODIES)
async def test_it_is_a_400_in_the_clients_dialect(served: Served, provider: Upstream, dialect: str) -> None:
    path, body = BODIES[dialect]
    with few(MAX_TOOLS=0):
        status, told = await ask(served, path, body)
    assert status == 400
    assert "5 messages" in json.dumps(told)
    assert (
        told.keys() == dialects.get(dialect).encode_error(Refusal(400, "bad_request", "").failure)[1].keys()
    )
    assert provider.received == []


@pytest.mark.parametrize("dialect", COUNTS)
async def test_counting_and_explaining_are_bounded_too(served: Served, dialect: str) -> None:
    path, body = BODIES[dialect]
    with few(MAX_TOOLS=0):
        assert (await ask(served, COUNTS[dialect], body))[0] == 400
        assert (await ask(served, path, body, **{"x-thinkwire-explain": "true"}))[0] == 400


@pytest.mark.parametrize("dialect", COUNTS)
async def test_the_rate_comes_before_the_work_of_questions(
    served: Served, provider: Upstream, tmp_path: Path, dialect: str
) -> None:
    """A body that cannot be read is a 400 as long as it is looked at, and a 429 once the rate is used up."""
    path, body = BODIES[dialect]
    broken = {key: "nonsense" if type(value) is list else value for key, value in body.items()}
    broken |= {"input": 5} if "input" in body else {}
    made, secret = KeyFile(tmp_path / "access.toml").create("slow", rate_per_minute=2)
    async with asyncio.timeout(10):
        while not served.parts.keys.is_current(made.tenant):
            await asyncio.sleep(0.01)
    key = {"x-api-key": secret}
    answers = [
        await ask(served, asked, broken, **key, **{"x-thinkwire-explain": "true"})
        for asked in (path, COUNTS[dialect], path, COUNTS[dialect])
    ]
    assert [status for status, _ in answers] == [400, 400, 429, 429]
    assert provider.received == []
