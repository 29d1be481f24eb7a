"""Bodies that are too large, too slow, too deep or of the wrong kind: told in the client's own dialect."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.client.upstream import Upstream
from tests.gateway.gateways import WEATHER, Served
from tests.gateway.security.wire import ASK, hear, post

pytestmark = pytest.mark.anyio


async def test_a_giant_is_refused_whether_announced_or_not(guarded: Served, provider: Upstream) -> None:
    announced = await hear(guarded.url, post(b"", "Content-Length: 99999999999"))
    assert announced.status == 413
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    pieces = [post(b"", "Transfer-Encoding: chunked"), *[chunk] * 7]
    assert (await hear(guarded.url, *pieces)).status in (413, 0)
    assert provider.received == []


async def test_a_body_that_trickles_is_not_waited_for(guarded: Served, provider: Upstream) -> None:
    began = time.perf_counter()
    assert (await hear(guarded.url, post(b"{", "Content-Length: 100"))).status == 408
    assert time.perf_counter() - began < 2
    assert provider.received == []


async def test_many_half_sent_requests_do_not_keep_others_from_being_served(guarded: Served) -> None:
    address = urlsplit(guarded.url)
    open_ends = [await asyncio.open_connection(address.hostname, address.port) for _ in range(150)]
    for _, writer in open_ends:
        writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Sl")
    assert (await hear(guarded.url, post(b"", target="/healthz", method="GET"))).status == 200
    for _, writer in open_ends:
        writer.close()


async def test_compressed_bodies_are_not_unpacked(guarded: Served, provider: Upstream) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    heard = await hear(guarded.url, post(bomb, "Content-Encoding: gzip"))
    assert heard.status == 415
    assert provider.received == []


DEEP = 30_000
NOT_REQUESTS = [
    b"",
    b"null",
    b"[]",
    b'"text"',
    b"{",
    b"\xff\xfe{}",
    b'{"model": NaN}',
    b"[" * DEEP,
    b'{"a":' * DEEP,
    b'{"model":"deepseek/deepseek-v4-pro","messages":' + b"[" * DEEP + b"]" * DEEP + b"}",
    b'{"model":"deepseek/deepseek-v4-pro","max_tokens":1e999,"messages":[]}',
]
ODD = [
    b'{"model":"deepseek/deepseek-v4-pro","input":' + b'{"a":' * 3_000 + b"1" + b"}" * 3_000 + b"}",
    b'{"model":"deepseek/deepseek-v4-pro","messages":[{"role":"\\ud800","content":"\\udfff"}]}',
    b'{"model":"deepseek/deepseek-v4-pro","max_tokens":' + b"9" * 4_000 + b',"messages":[]}',
    b'{"model":"deepseek/deepseek-v4-pro","model":"x","messages":[],"input":[],"contents":[]}',
]
"""What one wire may bear and another may not."""
PATHS = (
    *("/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/messages/count_tokens"),
    "/v1beta/models/deepseek%2Fdeepseek-v4-pro:generateContent",
)


@pytest.mark.parametrize("path", PATHS)
async def test_what_is_no_request_is_told_so(guarded: Served, provider: Upstream, path: str) -> None:
    for body in (*NOT_REQUESTS, *ODD):
        heard = await hear(guarded.url, post(body, "X-Thinkwire-Explain: true", target=path))
        least = 400 if body in NOT_REQUESTS else 200
        assert least <= heard.status < 500, (body[:60], heard.raw[:300])
        assert b"Traceback" not in heard.raw
        assert heard.status == 200 or len(heard.raw) < 3_000, "errors do not repeat what was sent"
    assert provider.received == []


def tool(name: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, **schema}


WHOLE: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": (
        "/v1/messages",
        ASK
        | {
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "abcd"},
                        {"type": "tool_use", "id": "t1", "name": "f", "input": {"city": "Oslo"}},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "7"}]},
            ],
            "tools": [tool("f", input_schema=WEATHER)],
            "tool_choice": {"type": "auto"},
            "thinking": {"type": "enabled", "budget_tokens": 2000},
            "metadata": {"user_id": "u"},
            "stop_sequences": ["x"],
        },
    ),
    "openai-chat": (
        "/v1/chat/completions",
        {
            "model": "deepseek/deepseek-v4-pro",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
                {
                    "role": "assistant",
                    "content": None,
                    "reasoning_content": "Hm.",
                    "tool_calls": [
                        {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                    ],
                },
                {"role": "tool", "tool_call_id": "t1", "content": "7"},
            ],
            "tools": [{"type": "function", "function": tool("f", parameters=WEATHER)}],
            "tool_choice": "auto",
            "reasoning_effort": "high",
            "response_format": {"type": "json_object"},
            "stop": ["x"],
            "stream_options": {"include_usage": True},
        },
    ),
    "openai-responses": (
        "/v1/responses",
        {
            "model": "deepseek/deepseek-v4-pro",
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abcd"},
                {"type": "function_call", "call_id": "t1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "t1", "output": "7"},
            ],
            "tools": [{"type": "function", **tool("f", parameters=WEATHER)}],
            "reasoning": {"effort": "high", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "text": {"format": {"type": "text"}},
            "previous_response_id": None,
            "store": False,
        },
    ),
    "gemini": (
        "/v1beta/models/deepseek/deepseek-v4-pro:generateContent",
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Hi"}]},
                {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "abcd"}],
                },
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"x": 7}}}]},
            ],
            "tools": [{"functionDeclarations": [tool("f", parameters=WEATHER)]}],
            "generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}, "stopSequences": ["x"]},
        },
    ),
}
WRONG: list[Any] = [None, True, -1, 1e300, "text", "\r\nX-Evil: 1", [], [None], {}, {"type": 7}]


def altered(value: Any) -> Iterator[Any]:
    """The same with one place in it changed to something wrong, for every place."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (value | {key: wrong} for wrong in WRONG)
            yield from (value | {key: changed} for changed in altered(item))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in altered(item))


@pytest.mark.parametrize("dialect", WHOLE)
async def test_no_wrong_value_anywhere_breaks_the_gateway(served: Served, dialect: str) -> None:
    """Planned only, so that no provider has to be asked: thousands of bodies, each wrong in one place."""
    path, body = WHOLE[dialect]
    broken: list[tuple[int, str, str]] = []
    limit = asyncio.Semaphore(4)

    async def ask(session: aiohttp.ClientSession, changed: dict[str, Any]) -> None:
        async with limit, session.post(served.url + path, json=changed) as reply:
            said = await reply.text()
            if reply.status >= 500 or "x-evil" in reply.headers:
                broken.append((reply.status, said[:200], _where(body, changed)))

    async with aiohttp.ClientSession(headers={"x-thinkwire-explain": "true"}) as session:
        await asyncio.gather(*(ask(session, changed) for changed in altered(body)))
    assert broken == []


def _where(body: Any, changed: Any) -> str:
    return "; ".join(f"{key}: {json.dumps(changed[key])[:200]}" for key in body if body[key] != changed[key])
