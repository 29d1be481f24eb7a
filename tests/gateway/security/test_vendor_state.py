"""Responses, items and containers that a provider keeps are named only by the tenant that made them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from tests.client.upstream import Reply, Upstream, upstream
from tests.gateway.gateways import Served, gateway
from tests.postgres import postgres, postgres_url
from tests.redis import redis, redis_url
from thinkwire.dialects.openai_responses.stream_encoder import StreamEncoder
from thinkwire.events import Answer, events_of
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.responses.store import open_responses
from thinkwire.messages import Origin, Text, Turn
from thinkwire.usage import measure

__all__ = ["postgres", "postgres_url", "redis", "redis_url"]
pytestmark = pytest.mark.anyio

MODEL = "gpt-5.6-terra"
KEY = bytes(range(32))
SSE = {"content-type": "text/event-stream"}
OUTPUT: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_a", "summary": []},
    {"type": "code_interpreter_call", "id": "ci_a", "container_id": "cntr_a", "status": "completed"},
    {
        "type": "message",
        "id": "msg_a",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
    },
]
MADE = {
    "id": "resp_a",
    "object": "response",
    "status": "completed",
    "model": MODEL,
    "output": OUTPUT,
    "usage": {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10},
}
NAMING: list[dict[str, Any]] = [
    {"previous_response_id": "resp_a"},
    {"input": [{"type": "item_reference", "id": "msg_a"}, {"role": "user", "content": "?"}]},
    {"input": [{"id": "msg_a"}, {"role": "user", "content": "?"}]},
    {"input": [{"type": "reasoning", "id": "rs_a", "summary": []}, {"role": "user", "content": "?"}]},
    {"input": [{"type": "image_generation_call", "id": "ci_a"}, {"role": "user", "content": "?"}]},
    {"input": [{"type": "mcp_approval_response", "approval_request_id": "ci_a", "approve": True}]},
    {"tools": [{"type": "code_interpreter", "container": "cntr_a"}]},
    {"tools": [{"type": "shell", "environment": {"type": "x", "container_id": "cntr_a"}}]},
]


class House(NamedTuple):
    """A gateway with two tenants, and the provider that they share."""

    served: Served
    provider: Upstream
    session: aiohttp.ClientSession
    alice: str
    bob: str

    async def post(self, key: str, path: str = "/v1/responses", **more: Any) -> tuple[int, bytes]:
        body = {"model": MODEL, "input": "Hi"} | more
        return await self.send(key, json.dumps(body).encode(), path)

    async def send(self, key: str, raw: bytes, path: str = "/v1/responses") -> tuple[int, bytes]:
        headers = {"authorization": f"Bearer {key}"}
        async with self.session.post(self.served.url + path, data=raw, headers=headers) as reply:
            return reply.status, await reply.read()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    file = KeyFile(tmp_path / "access.toml")
    alice, bob = file.create("alice")[1], file.create("bob")[1]
    async with upstream() as provider:
        bases = dict.fromkeys(("openai", "anthropic", "deepseek"), provider.url)
        async with gateway(tmp_path, bases) as served, aiohttp.ClientSession() as session:
            yield House(served, provider, session, alice, bob)


def whole(body: dict[str, Any] = MADE) -> Reply:
    return Reply(body=json.dumps(body).encode(), headers={"content-type": "application/json"})


def refused_for(answer: tuple[int, bytes], param: str) -> None:
    status, body = answer
    error = json.loads(body)["error"]
    assert (status, error["code"]) == (404, "previous_response_not_found")
    assert error["param"] == param
    assert "was not made with this access key" in error["message"]


@pytest.mark.parametrize("naming", NAMING, ids=[json.dumps(naming)[:50] for naming in NAMING])
async def test_what_one_tenant_made_is_not_there_for_another(house: House, naming: dict[str, Any]) -> None:
    house.provider.replies = [whole(), whole(MADE | {"id": "resp_b"})]
    assert (await house.post(house.alice))[0] == 200
    (record,) = await house.served.recorded(1)
    assert record.kind.passed_through
    status, body = await house.post(house.bob, **naming)
    assert status == 404, body
    assert len(house.provider.received) == 1, "nothing reached the provider"
    assert (await house.post(house.alice, **naming))[0] == 200, "its own tenant goes on"
    assert len(house.provider.received) == 2


async def test_a_streamed_response_is_its_tenants_own(house: House) -> None:
    kind = "response.output_item.done"
    items = [{"type": kind, "output_index": at, "item": item} for at, item in enumerate(OUTPUT)]
    done = "".join(f"event: {kind}\ndata: {json.dumps(event)}\n\n" for event in items)
    created = {"type": "response.created", "response": MADE | {"status": "in_progress", "output": []}}
    ended = {"type": "response.completed", "response": MADE}
    body = f"data: {json.dumps(created)}\n\n{done}data: {json.dumps(ended)}\n\n".encode()
    house.provider.replies = [Reply(body=body, headers=SSE), whole(MADE | {"id": "resp_b"}), whole()]
    assert await house.post(house.alice, stream=True) == (200, body)
    refused_for(await house.post(house.bob, previous_response_id="resp_a"), "previous_response_id")
    reference = [{"type": "item_reference", "id": "rs_a"}]
    refused_for(await house.post(house.bob, input=reference), "input[0]")
    assert (await house.post(house.alice, previous_response_id="resp_a"))[0] == 200
    assert (await house.post(house.alice, input=reference))[0] == 200


async def test_a_response_whose_client_left_is_its_tenants_own(house: House) -> None:
    """The provider may keep what it had begun."""
    answer = Answer(
        Turn("assistant", (Text("Hello."),), origin=Origin(model=MODEL, response_id="resp_a")),
        "stop",
        usage=measure(input_total=5, output_total=5)[0],
    )
    encoder = StreamEncoder(created_at=1)
    body = b"".join(encoder.feed(event) for event in events_of(answer)) + encoder.close()
    stalls = Reply(body=body, headers=SSE, cut=body.index(b"event: response.completed"), stall=30.0)
    house.provider.replies = [stalls, whole(MADE | {"id": "resp_b"})]
    request = {"model": MODEL, "input": "Hi", "stream": True}
    headers = {"authorization": f"Bearer {house.alice}"}
    async with house.session.post(f"{house.served.url}/v1/responses", json=request, headers=headers) as reply:
        seen = b""
        while b"Hello." not in seen:
            seen += await reply.content.readany()
        reply.close()
    await house.served.recorded(1)
    assert (await house.post(house.alice, previous_response_id="resp_a"))[0] == 200
    refused_for(await house.post(house.bob, previous_response_id="resp_a"), "previous_response_id")


async def test_what_was_made_elsewhere_is_refused_where_there_are_keys(house: House) -> None:
    refused_for(await house.post(house.alice, previous_response_id="resp_old"), "previous_response_id")
    refused_for(await house.post(house.alice, conversation="conv_1"), "conversation")
    refused_for(await house.post(house.alice, conversation={"id": "conv_1"}), "conversation")
    counting = "/v1/responses/input_tokens"
    refused_for(
        await house.post(house.alice, counting, previous_response_id="resp_old"), "previous_response_id"
    )
    status, _ = await house.post(
        house.alice, "/v1/messages", model="claude-opus-5", max_tokens=9, messages=[], container="container_1"
    )
    assert status == 404
    assert house.provider.received == []


async def test_spelling_it_in_another_way_changes_nothing(house: House) -> None:
    """What is checked is what is sent: fields may be there twice, or be spelled with escapes."""
    house.provider.replies = [whole(MADE | {"id": "resp_b"})] * 3
    escaped = b'{"model": "gpt-5.6-terra", "input": "Hi", "previous\\u005fresponse_id": "resp_old"}'
    assert (await house.send(house.bob, escaped))[0] == 404
    reference = b'{"model": "gpt-5.6-terra", "input": [{"type": "item\\u005freference", "id": "msg_old"}]}'
    assert (await house.send(house.bob, reference))[0] == 404
    twice = b'{"model": "gpt-5.6-terra", "input": "Hi", "conversation": "conv_1", "conversation": null}'
    assert (await house.send(house.bob, twice))[0] == 200
    assert [received for _, _, received in house.provider.received] == [
        {"model": MODEL, "input": "Hi", "conversation": None}
    ]


async def test_the_model_that_was_checked_is_the_one_that_is_sent(house: House, tmp_path: Path) -> None:
    narrow = KeyFile(tmp_path / "access.toml").create("narrow", models=("claude-haiku*",))[1]
    house.served.parts.keys._shared.look_again()
    reply = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    house.provider.replies = [whole(reply | {"stop_reason": "end_turn", "usage": {}})] * 2
    rest = b'"max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}'
    last = b'{"model": "claude-opus-5", "model": "claude-haiku-4-5", ' + rest
    status, body = await house.send(narrow, last, "/v1/messages")
    assert status == 200, body
    path, headers, _ = house.provider.received[0]
    assert path == "/v1/messages"
    plain = b'{"model":"claude-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}'
    assert headers["content-length"] == str(len(plain)), "there is one model in what was sent"
    first = b'{"model": "claude-haiku-4-5", "model": "claude-opus-5", ' + rest
    assert (await house.send(narrow, first, "/v1/messages"))[0] == 403
    assert len(house.provider.received) == 1


@pytest.mark.parametrize("kind", [[], {}, 5, True])
async def test_a_type_that_is_none_is_the_providers_to_refuse(house: House, kind: Any) -> None:
    house.provider.replies = [Reply(400, b'{"error": {"message": "Invalid type."}}')]
    status, body = await house.post(house.alice, input=[{"type": kind, "id": "msg_old"}])
    assert (status, b"Invalid type." in body) == (400, True)


async def test_without_keys_ids_of_the_provider_go_through(tmp_path: Path) -> None:
    async with (
        upstream() as provider,
        gateway(tmp_path, {"openai": provider.url}) as served,
        aiohttp.ClientSession() as session,
    ):
        alone = House(served, provider, session, "any", "any")
        provider.replies = [whole()] * 2
        assert (await alone.post("any", previous_response_id="resp_old"))[0] == 200
        assert (await alone.post("any", conversation="conv_1"))[0] == 200
        assert provider.received[0][2]["previous_response_id"] == "resp_old"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_response_that_the_provider_keeps_is_not_handed_out(house: House, method: str) -> None:
    house.provider.replies = [whole()]
    assert (await house.post(house.alice))[0] == 200
    for key in (house.alice, house.bob):
        url, headers = f"{house.served.url}/v1/responses/resp_a", {"authorization": f"Bearer {key}"}
        async with house.session.request(method, url, headers=headers) as reply:
            assert reply.status == 404
            assert "error" in await reply.json()
    assert len(house.provider.received) == 1


@pytest.mark.parametrize("backend", ["sqlite", "redis", "postgres"])
async def test_replicas_share_what_tenants_made(
    request: pytest.FixtureRequest, tmp_path: Path, backend: str
) -> None:
    url = str(tmp_path / "r.db") if backend == "sqlite" else request.getfixturevalue(f"{backend}_url")
    async with await open_responses(url, key=KEY) as one, await open_responses(url, key=KEY) as other:
        await one.claim("alice", ["resp_a", "msg_a"])
        assert await other.owned("alice", ["resp_a", "msg_a", "resp_b"]) == {"resp_a", "msg_a"}
        assert await other.owned("bob", ["resp_a", "msg_a"]) == set()
    async with await open_responses(url, key=KEY) as later:
        assert await later.owned("alice", ["resp_a"]) == {"resp_a"}


async def test_what_tenants_made_is_bounded(tmp_path: Path) -> None:
    """By age, and by size, which every id adds to: the longest unused go first."""
    async with await open_responses(str(tmp_path / "r.db"), key=KEY, max_bytes=20_000) as store:
        for number in range(1_000):
            await store.claim("alice", [f"resp_{number:04}", f"msg_{number:04}"])
        stats = await store._shelf.stats()
        assert stats.turns < 500
        assert await store.owned("alice", ["resp_0000", "resp_0999"]) == {"resp_0999"}
    async with await open_responses(str(tmp_path / "old.db"), key=KEY, ttl=0.01) as store:
        await store.claim("alice", ["resp_a"])
        await asyncio.sleep(0.02)
        assert await store.owned("alice", ["resp_a"]) == set()
