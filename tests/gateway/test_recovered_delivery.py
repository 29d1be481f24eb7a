"""An answer that the model can only give in another way than its client asked for it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.client.upstream import Reply, Upstream, refused, streamed, upstream
from tests.gateway.gateways import Served, gateway
from thinkwire import dialects
from thinkwire.events import Answer
from thinkwire.messages import Text, Thinking, Turn

pytestmark = pytest.mark.anyio

ANSWER = Answer(Turn("assistant", (Thinking("Hm."), Text("Hello."))), "stop")
ONLY_STREAMS = "parameter.enable_thinking must be set to false for non-streaming calls"
NO_STREAMS = "Your organization must be verified to stream this model."


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as scripted:
        yield scripted


@pytest.fixture
async def served(provider: Upstream, tmp_path: Path) -> AsyncIterator[Served]:
    bases = dict.fromkeys(("qwen", "openai", "anthropic"), provider.url)
    async with gateway(tmp_path, bases) as one:
        yield one


def whole(dialect: str, answer: Answer) -> Reply:
    body = dialects.get(dialect).encode_response(answer).body
    return Reply(body=json.dumps(body).encode())


async def ask(served: Served, path: str, body: dict[str, Any]) -> tuple[aiohttp.ClientResponse, bytes]:
    async with (
        aiohttp.ClientSession() as http,
        http.post(served.url + path, json=body, timeout=aiohttp.ClientTimeout(10)) as reply,
    ):
        return reply, await reply.read()


SAID = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2_000}


@pytest.mark.parametrize("model", ["qwen/qwen3.8-max/high", "qwen/qwen3-32b/high"])
async def test_a_whole_answer_of_a_model_that_only_streams(
    served: Served, provider: Upstream, model: str
) -> None:
    known = "32b" in model
    provider.replies = [] if known else [refused(400, ONLY_STREAMS)]
    provider.replies.append(streamed("openai-chat", ANSWER))
    reply, body = await ask(served, "/v1/messages", SAID | {"model": model})
    assert reply.content_type == "application/json"
    told = json.loads(body)
    assert [block["type"] for block in told["content"]] == ["thinking", "text"]
    assert provider.received[-1][2]["stream"] is True
    assert "field.changed" in reply.headers["x-thinkwire-notes"]


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses"])
async def test_a_stream_of_a_model_that_does_not_stream(
    served: Served, provider: Upstream, path: str
) -> None:
    provider.replies = [refused(400, NO_STREAMS), whole("openai-responses", ANSWER)]
    body: dict[str, Any] = SAID | {"model": "openai/gpt-5.6-terra/high", "stream": True}
    if path == "/v1/responses":
        body = {"model": body["model"], "stream": True, "input": "Hi"}
    reply, told = await ask(served, path, body)
    assert reply.content_type == "text/event-stream"
    assert b"Hello." in told
    assert b"Hm." in told
    last = {"/v1/messages": b"message_stop", "/v1/chat/completions": b"[DONE]"}
    assert last.get(path, b"response.completed") in told
    assert not provider.received[-1][2].get("stream")
    assert "field.changed" in reply.headers["x-thinkwire-notes"]


async def test_what_a_client_sends_through_is_delivered_the_other_way_too(
    served: Served, provider: Upstream
) -> None:
    provider.replies = [refused(400, NO_STREAMS)] * 2 + [whole("openai-responses", ANSWER)]
    body = {"model": "gpt-5.6-terra", "stream": True, "input": "Hi"}
    _, told = await ask(served, "/v1/responses", body)
    assert b"Hello." in told
    assert [request[2].get("stream") for request in provider.received] == [True, True, None]
