"""Same dialect in and out: bytes go through untouched, unless something must change."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.client.talks import CHUNKED, read_request, server
from tests.client.upstream import Reply, Upstream, refused, streamed, upstream
from tests.gateway.gateways import Served, config_of, gateway
from thinkwire import dialects
from thinkwire.events import Answer
from thinkwire.jsonvalue import dump
from thinkwire.messages import Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.usage import measure

pytestmark = pytest.mark.anyio
USAGE = measure(input_uncached=10, output_total=5, output_reasoning=2)[0]
SEALS = {
    "anthropic": Seal("anthropic.signature", "c2ln"),
    "openai-responses": Seal("openai.encrypted", "ZW5j"),
    "gemini": Seal("gemini.thought", "c2ln"),
}
NATIVE: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "anthropic": (
        "claude-opus-5",
        "/v1/messages?beta=true",
        "/v1/messages?beta=true",
        {"model": "claude-opus-5", "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]},
    ),
    "openai-responses": (
        "gpt-5.6-terra",
        "/v1/responses",
        "/v1/responses",
        {"model": "gpt-5.6-terra", "input": "Hi", "reasoning": {"effort": "high"}},
    ),
    "gemini": (
        "gemini-3.8-flash",
        "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
        "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    ),
}
every_home = pytest.mark.parametrize("dialect", NATIVE)


def answer_in(dialect: str) -> Answer:
    origin = Origin(model=NATIVE[dialect][0], response_id="native_1")
    blocks = (Thinking("Hm.", seal=SEALS[dialect]), Text("Hello."))
    return Answer(Turn("assistant", blocks, origin=origin), "stop", usage=USAGE)


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


@pytest.fixture
async def served(provider: Upstream, tmp_path: Path) -> AsyncIterator[Served]:
    bases = dict.fromkeys(("anthropic", "openai", "google", "deepseek"), provider.url)
    config = config_of('[aliases]\nmine = "claude-opus-5"\n')
    async with gateway(tmp_path, bases, config) as one:
        yield one


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def spelled(body: dict[str, Any], **more: Any) -> bytes:
    """A body as no encoder of ours spells it, with a field that we do not know."""
    return json.dumps(
        {"x_unknown": {"of": [1.0, "später"]}, **body, **more}, indent=2, ensure_ascii=False
    ).encode()


@every_home
async def test_bytes_go_through_both_ways(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, dialect: str
) -> None:
    _, path, upstream_path, body = NATIVE[dialect]
    raw = spelled(body) if dialect == "gemini" else spelled(body, stream=True)
    reply_bytes = streamed(dialect, answer_in(dialect)).body
    unknown = b'event: brand_new\ndata: {"type":"brand_new"}\n\n' if dialect != "gemini" else b""
    provider.replies = [Reply(body=unknown + reply_bytes, headers={"content-type": "text/event-stream"})]
    async with http.post(served.url + path, data=raw) as reply:
        assert await reply.read() == unknown + reply_bytes
    assert reply.status == 200
    received_path, headers, received = provider.received[0]
    assert received_path == upstream_path
    assert received == json.loads(raw)
    assert headers["content-length"] == str(len(raw))
    (record,) = await served.recorded(1)
    assert record.kind.passed_through
    assert record.usage is not None
    assert record.usage.output_total == 5
    assert record.kind.finish == "stop"


@every_home
async def test_a_whole_answer_goes_through_too(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, dialect: str
) -> None:
    _, path, _, body = NATIVE[dialect]
    path = path.replace(":streamGenerateContent?alt=sse", ":generateContent")
    sent = json.dumps(dialects.get(dialect).encode_response(answer_in(dialect)).body, indent=1).encode()
    provider.replies = [Reply(body=sent, headers={"content-type": "application/json", "request-id": "req_9"})]
    async with http.post(served.url + path, data=spelled(body)) as reply:
        assert await reply.read() == sent
    assert reply.headers["request-id"] == "req_9"
    assert (await served.recorded(1))[0].usage is not None


async def test_the_clients_version_and_betas_travel_and_nothing_else_does(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [streamed("anthropic", answer_in("anthropic"))]
    _, path, _, body = NATIVE["anthropic"]
    headers = {
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "new-thing-2027-01-01",
        "x-api-key": "the-clients-own",
        "cookie": "a=b",
        "x-stainless-os": "Linux",
    }
    async with http.post(served.url + path, json=body | {"stream": True}, headers=headers) as reply:
        await reply.read()
    sent = provider.received[0][1]
    assert sent["anthropic-version"] == "2026-10-21"
    assert sent["anthropic-beta"] == "new-thing-2027-01-01"
    assert sent["x-api-key"] == "upstream-key"
    assert not {"cookie", "x-stainless-os"} & set(sent)


async def test_only_the_name_is_edited_where_it_has_to_be(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [streamed("anthropic", answer_in("anthropic"))]
    body = NATIVE["anthropic"][3] | {"model": "anthropic/claude-opus-5", "stream": True, "x_unknown": [1]}
    async with http.post(f"{served.url}/v1/messages", json=body) as reply:
        await reply.read()
    assert provider.received[0][2] == body | {"model": "claude-opus-5"}
    assert (await served.recorded(1))[0].kind.passed_through


CHANGED: list[tuple[str, dict[str, Any]]] = [
    ("an alias", {"model": "mine"}),
    ("a level", {"model": "claude-opus-5/high"}),
    ("another maker", {"model": "deepseek/deepseek-v4-pro"}),
]


@pytest.mark.parametrize(("why", "changes"), CHANGED, ids=[why for why, _ in CHANGED])
async def test_what_must_change_is_translated(
    served: Served, provider: Upstream, http: aiohttp.ClientSession, why: str, changes: dict[str, Any]
) -> None:
    dialect = "openai-chat" if "deepseek" in changes["model"] else "anthropic"
    answer = Answer(Turn("assistant", (Text("Hello."),)), "stop", usage=USAGE)
    provider.replies = [streamed(dialect, answer)]
    async with http.post(
        f"{served.url}/v1/messages", json=NATIVE["anthropic"][3] | {"stream": True} | changes
    ) as reply:
        assert b"Hello." in await reply.read()
    assert not (await served.recorded(1))[0].kind.passed_through


async def test_a_refusal_goes_through_as_the_vendor_worded_it(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    body = b'{"type": "error",  "error": {"type": "invalid_request_error", "message": "messages: empty"}}'
    provider.replies = [Reply(400, body, {"content-type": "application/json", "request-id": "req_1"})]
    async with http.post(f"{served.url}/v1/messages", json=NATIVE["anthropic"][3]) as reply:
        assert await reply.read() == body
    assert (reply.status, reply.headers["request-id"]) == (400, "req_1")
    provider.replies = [refused(429, "slow down", retry_after="3")]
    async with http.post(f"{served.url}/v1/messages", json=NATIVE["anthropic"][3]) as reply:
        assert (reply.status, reply.headers["retry-after"]) == (429, "3")
    assert len(provider.received) == 2


async def test_a_refusal_about_reasoning_is_mended_by_plan_once(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    message = "thinking: this display is not available"
    provider.replies = [refused(400, message), streamed("anthropic", answer_in("anthropic"))]
    asked = {"thinking": {"type": "adaptive", "display": "sung"}, "stream": True}
    async with http.post(f"{served.url}/v1/messages", json=NATIVE["anthropic"][3] | asked) as reply:
        assert b"Hello." in await reply.read()
    assert provider.received[0][2]["thinking"]["display"] == "sung"
    assert provider.received[1][2]["thinking"]["type"] == "adaptive"
    assert provider.received[1][2]["thinking"].get("display") != "sung"
    codes = [note["code"] for note in json.loads(reply.headers["x-thinkwire-notes"])]
    assert "reasoning.learned" in codes


@pytest.mark.parametrize(
    ("message", "said", "kept"),
    [
        (
            "anthropic_version: Extra inputs are not permitted",
            {"anthropic_version": "vertex-2023-10-16"},
            NATIVE["anthropic"][3]["messages"],
        ),
        (
            'messages: first message must use the "user" role',
            {"messages": [{"role": "assistant", "content": "Hm."}, {"role": "user", "content": "Hi"}]},
            None,
        ),
    ],
)
async def test_a_refusal_of_what_a_plan_does_better_is_mended_once(
    served: Served,
    provider: Upstream,
    http: aiohttp.ClientSession,
    message: str,
    said: dict[str, Any],
    kept: list[dict[str, Any]] | None,
) -> None:
    provider.replies = [refused(400, message), streamed("anthropic", answer_in("anthropic"))]
    body = NATIVE["anthropic"][3] | said | {"stream": True}
    async with http.post(f"{served.url}/v1/messages", json=body) as reply:
        assert b"Hello." in await reply.read()
    assert said.items() <= provider.received[0][2].items()
    again = provider.received[1][2]
    assert "anthropic_version" not in again
    assert again["messages"][0]["role"] == "user"
    assert kept is None or again["messages"] == kept
    codes = [note["code"] for note in json.loads(reply.headers["x-thinkwire-notes"])]
    assert "reasoning.learned" in codes
    assert {"field.dropped", "field.changed"} & set(codes)


async def test_an_item_that_was_not_kept_is_mended_like_a_seal(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    message = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."
    provider.replies = [refused(404, message), streamed("openai-responses", answer_in("openai-responses"))]
    body = NATIVE["openai-responses"][3] | {"stream": True}
    async with http.post(f"{served.url}/v1/responses", json=body) as reply:
        assert b"Hello." in await reply.read()
    assert len(provider.received) == 2


async def test_a_model_that_is_not_there_is_told_at_once(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [refused(404, "the model gpt-thinking does not exist")]
    async with http.post(f"{served.url}/v1/responses", json=NATIVE["openai-responses"][3]) as reply:
        assert reply.status == 404
    assert len(provider.received) == 1


async def test_what_the_vendor_is_known_to_refuse_is_planned_at_once(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    provider.replies = [streamed("anthropic", answer_in("anthropic"))]
    asked = {"model": "claude-sonnet-4-5", "thinking": {"type": "enabled", "budget_tokens": 100}}
    body = NATIVE["anthropic"][3] | asked | {"max_tokens": 9000, "stream": True}
    async with http.post(f"{served.url}/v1/messages", json=body) as reply:
        assert b"Hello." in await reply.read()
    assert provider.received[0][2]["thinking"]["budget_tokens"] == 1024
    assert reply.headers["x-thinkwire-requested"] == "100"
    assert reply.headers["x-thinkwire-effective"] == "1024"
    assert not (await served.recorded(1))[0].kind.passed_through


async def test_a_cut_is_told_in_the_vendors_own_words(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    whole = streamed("anthropic", answer_in("anthropic"))
    end = whole.body.index(b"event: message_delta")
    for count, reply_bytes in enumerate((whole._replace(cut=end), Reply(body=whole.body[:end])), 1):
        provider.replies = [reply_bytes]
        async with http.post(
            f"{served.url}/v1/messages", json=NATIVE["anthropic"][3] | {"stream": True}
        ) as reply:
            said = await reply.read()
        assert said.startswith(whole.body[:end])
        assert b"event: error" in said[end:]
        assert b"message_stop" not in said
        assert (await served.recorded(count))[-1].kind.failure == "connection_lost"


async def test_thinking_that_the_client_dropped_is_put_back(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    """The first answer goes through; the client gives it back without its thinking, so the next is mended."""
    call = ToolCall("toolu_1", "f", "{}")
    thinking = Thinking("Hm.", seal=SEALS["anthropic"])
    first = Answer(Turn("assistant", (thinking, call)), "tool_calls", usage=USAGE)
    provider.replies = [streamed("anthropic", first), streamed("anthropic", answer_in("anthropic"))]
    body = NATIVE["anthropic"][3] | {
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "thinking": {"type": "adaptive"},
        "stream": True,
    }
    async with http.post(f"{served.url}/v1/messages", json=body) as reply:
        await reply.read()
    history = [
        *body["messages"],
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"}]},
    ]
    async with http.post(f"{served.url}/v1/messages", json=body | {"messages": history}) as reply:
        await reply.read()
    assert [record.kind.passed_through for record in await served.recorded(2)] == [True, False]
    given = provider.received[1][2]["messages"][1]["content"]
    assert given[0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    assert "thinking.restored" in reply.headers["x-thinkwire-notes"]


async def test_a_carrier_never_goes_through(
    served: Served, provider: Upstream, http: aiohttp.ClientSession
) -> None:
    """A conversation that another maker began goes on at home: its seals are opened, and stay away."""
    foreign = Answer(Turn("assistant", (Thinking("Hm.", field="reasoning_content"), Text("One."))), "stop")
    chat = dump(dialects.get("openai-chat").encode_response(foreign).body)
    provider.replies = [Reply(body=chat), streamed("anthropic", answer_in("anthropic"))]
    body = NATIVE["anthropic"][3] | {"model": "deepseek/deepseek-v4-pro"}
    async with http.post(f"{served.url}/v1/messages", json=body) as reply:
        content = (await reply.json())["content"]
    assert content[0]["signature"]
    history = [
        *body["messages"],
        {"role": "assistant", "content": content},
        {"role": "user", "content": "And?"},
    ]
    home = NATIVE["anthropic"][3] | {"messages": history, "stream": True}
    async with http.post(f"{served.url}/v1/messages", json=home) as reply:
        assert reply.status == 200
        await reply.read()
    sent = json.dumps(provider.received[1][2])
    assert content[0]["signature"] not in sent
    assert "Hm." not in sent
    assert "thinking.dormant" in reply.headers["x-thinkwire-notes"]


WAITS = [("nan", None), ("inf", None), ("-3", None), ("1e400", None), ("99999999999", "604800"), ("7", "7")]


@pytest.mark.parametrize(("said", "passed"), WAITS)
@pytest.mark.parametrize("model", ["claude-opus-5", "mine"])
async def test_a_wait_that_is_no_time_is_not_passed_on(
    served: Served,
    provider: Upstream,
    http: aiohttp.ClientSession,
    said: str,
    passed: str | None,
    model: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it came through and translated: the failure stays the vendor's own."""
    monkeypatch.setattr("thinkwire.client.attempt.MAX_RETRY_WAIT", 0)
    monkeypatch.setattr("thinkwire.client.attempt.random.uniform", lambda *_: 0)
    provider.replies = [refused(429, "slow down", retry_after=said)] * 2
    body = NATIVE["anthropic"][3] | {"model": model}
    async with http.post(f"{served.url}/v1/messages", json=body) as reply:
        assert (reply.status, reply.headers.get("retry-after")) == (429, passed)
        assert (await reply.json())["error"]["message"] == "slow down"


@pytest.mark.parametrize("pause", [0.1, 0])
async def test_a_client_sees_the_end_although_the_upstream_goes_on(
    tmp_path: Path, http: aiohttp.ClientSession, pause: float
) -> None:
    """Passed through and translated; then no request is counted as running any more."""
    closed = asyncio.Event()
    whole = streamed("anthropic", answer_in("anthropic")).body

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(CHUNKED + b"%x\r\n%b\r\n" % (len(whole), whole))
        try:
            while True:
                writer.write(b"4\r\n: x\n\r\n")
                await writer.drain()
                await asyncio.sleep(pause)
        finally:
            closed.set()

    config = config_of('[aliases]\nmine = "claude-opus-5"\n')
    async with server(talk) as url, gateway(tmp_path, {"anthropic": url}, config) as served:
        for model in ("claude-opus-5", "mine"):
            closed.clear()
            body = NATIVE["anthropic"][3] | {"stream": True, "model": model}
            async with asyncio.timeout(10), http.post(f"{served.url}/v1/messages", json=body) as reply:
                assert b"message_stop" in await reply.read()
            await asyncio.wait_for(closed.wait(), 10)
        records = await served.recorded(2)
        assert [record.kind.passed_through for record in records] == [True, False]
        assert served.parts.limits.running == 0


async def test_an_endless_answer_in_one_piece_is_an_error_of_the_dialect(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(CHUNKED)
        while True:
            writer.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
            await writer.drain()

    config = config_of('[aliases]\nmine = "claude-opus-5"\n')
    async with server(talk) as url, gateway(tmp_path, {"anthropic": url}, config) as served:
        for model in ("claude-opus-5", "mine"):
            body = NATIVE["anthropic"][3] | {"model": model}
            async with asyncio.timeout(30), http.post(f"{served.url}/v1/messages", json=body) as reply:
                error = (await reply.json())["error"]
                assert reply.status >= 500
                assert "larger than 64 MB" in error["message"]
