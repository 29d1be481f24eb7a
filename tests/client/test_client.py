"""The client against a real socket: answers, refusals, retries, recoveries, and letting go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.client.upstream import Reply, Upstream, refused, streamed, upstream
from thinkwire.client.engine import Client, ask
from thinkwire.client.learned_facts import LearnedFactsFile
from thinkwire.errors import (
    AuthFailed,
    BadRequest,
    ConfigError,
    ConnectionLost,
    Overloaded,
    ProtocolError,
    QuotaExhausted,
    TimedOut,
)
from thinkwire.events import Answer, BlockGrew, Event, Noted, Started, collect
from thinkwire.messages import Conversation, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import Tool
from thinkwire.transport.aiohttp_transport import Timeouts

pytestmark = pytest.mark.anyio
KEY = "sk-secret-key-that-must-not-show"
SIGNED = Thinking("Hm.", seal=Seal("anthropic.signature", "c2ln"))
ANSWER = Answer(Turn("assistant", (SIGNED, Text("Hello."))), "stop")
BASES = {"anthropic": "", "openai": "", "google": "", "deepseek": "", "moonshot": ""}


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


@pytest.fixture
async def client(provider: Upstream) -> AsyncIterator[Client]:
    bases = dict.fromkeys(BASES, provider.url)
    async with Client(keys=dict.fromkeys(BASES, KEY), bases=bases) as client:
        yield client


async def test_an_answer_streams_with_its_origin(client: Client, provider: Upstream) -> None:
    provider.replies = [streamed("anthropic", ANSWER)]
    events = [event async for event in client.stream("Hi", model="claude-opus-5/high")]
    answer = collect(events)
    assert answer.turn.blocks == ANSWER.turn.blocks
    origin = answer.turn.origin
    assert origin is not None
    assert (origin.provider, origin.model, origin.endpoint) == ("anthropic", "claude-opus-5", provider.url)
    path, headers, body = provider.received[0]
    assert path == "/v1/messages"
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-version"]
    assert body["output_config"] == {"effort": "high"}
    assert body["max_tokens"] == 128_000
    assert body["stream"] is True


MODELS = [
    ("claude-opus-5/med", "anthropic", "/v1/messages"),
    ("gpt-5.6-terra/med", "openai-responses", "/v1/responses"),
    ("gemini-3.8-flash/med", "gemini", "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"),
    ("deepseek-v4-pro/med", "openai-chat", "/chat/completions"),
    ("kimi-k3/med", "openai-chat", "/v1/chat/completions"),
]


@pytest.mark.parametrize(("model", "dialect", "path"), MODELS)
@pytest.mark.parametrize("whole", [False, True], ids=["streamed", "whole"])
async def test_every_dialect_is_asked_on_its_own_path(
    client: Client, provider: Upstream, model: str, dialect: str, path: str, whole: bool
) -> None:
    from thinkwire import dialects
    from thinkwire.jsonvalue import dump

    plain = Answer(Turn("assistant", (Text("Hello."),), origin=Origin(model="m", response_id="r1")), "stop")
    if whole:
        provider.replies = [Reply(body=dump(dialects.get(dialect).encode_response(plain).body))]
        path = path.replace("streamGenerateContent?alt=sse", "generateContent")
    else:
        provider.replies = [streamed(dialect, plain)]
    answer = await client.complete("Hi", model=model, streamed=not whole)
    assert answer.turn.text == "Hello."
    assert provider.received[0][0] == path
    assert ("stream" in provider.received[0][2]) == (not whole and dialect != "gemini")


async def test_a_tool_loop_gives_thinking_back(client: Client, provider: Upstream) -> None:
    call = ToolCall("toolu_1", "f", "{}")
    provider.replies = [
        streamed("anthropic", Answer(Turn("assistant", (SIGNED, call)), "tool_calls")),
        streamed("anthropic", ANSWER),
    ]
    conversation = Conversation(turns=(Turn("user", (Text("Hi"),)),))
    tools = [Tool("f", schema={"type": "object"})]
    first = await client.complete(conversation, model="claude-opus-5", tools=tools)
    result = Turn("user", (ToolResult("toolu_1", (Text("1"),)),))
    await client.complete(conversation.plus(first.turn, result), model="claude-opus-5", tools=tools)
    messages = provider.received[1][2]["messages"]
    assert messages[1]["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


async def test_overload_is_tried_again_and_then_answered(client: Client, provider: Upstream) -> None:
    provider.replies = [
        refused(529, "Overloaded", retry_after="0"),
        Reply(503, b"<html>busy</html>", {"retry-after": "0"}),
        streamed("anthropic", ANSWER),
    ]
    answer = await client.complete("Hi", model="claude-opus-5")
    assert answer.turn.text == "Hello."
    assert len(provider.received) == 3


async def test_retries_end(client: Client, provider: Upstream) -> None:
    provider.replies = [refused(529, "Overloaded", retry_after="0")] * 3
    with pytest.raises(Overloaded) as caught:
        await client.complete("Hi", model="claude-opus-5")
    assert caught.value.failure.provider == "anthropic"
    assert len(provider.received) == 3


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (refused(401, "invalid x-api-key"), AuthFailed),
        (refused(400, "Your credit balance is too low"), QuotaExhausted),
        (refused(400, "messages: at least one message is required"), BadRequest),
    ],
)
async def test_what_waiting_cannot_mend_is_not_tried_again(
    client: Client, provider: Upstream, reply: Reply, error: type[Exception]
) -> None:
    provider.replies = [reply]
    with pytest.raises(error):
        await client.complete("Hi", model="claude-opus-5")
    assert len(provider.received) == 1


async def test_a_reasoning_refusal_is_recovered_and_remembered(provider: Upstream, tmp_path: Path) -> None:
    file = LearnedFactsFile(tmp_path / "learned_facts.jsonl")
    provider.replies = [
        refused(400, "output_config.effort 'max' is not supported on this model"),
        streamed("anthropic", ANSWER),
        streamed("anthropic", ANSWER),
    ]
    async with Client(
        keys={"anthropic": KEY}, bases={"anthropic": provider.url}, learned_facts=file
    ) as client:
        answer = await client.complete("Hi", model="claude-opus-5/max")
        assert "reasoning.learned" in {note.code for note in answer.notes}
        assert provider.received[1][2]["output_config"] == {"effort": "xhigh"}
        await client.complete("Hi", model="claude-opus-5/max")
        assert provider.received[2][2]["output_config"] == {"effort": "xhigh"}


async def test_a_refused_seal_is_left_out_once_and_said(client: Client, provider: Upstream) -> None:
    provider.replies = [
        refused(400, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        streamed("anthropic", ANSWER),
    ]
    turns = (
        Turn("user", (Text("Hi"),)),
        Turn("assistant", (SIGNED, Text("Yes?"))),
        Turn("user", (Text("Go"),)),
    )
    answer = await client.complete(turns, model="claude-opus-5")
    assert "thinking.stripped" in {note.code for note in answer.notes}
    assert provider.received[1][2]["messages"][1]["content"] == "Yes?"


async def test_a_second_refusal_is_the_callers(client: Client, provider: Upstream) -> None:
    words = "output_config.effort 'max' is not supported on this model"
    provider.replies = [refused(400, words), refused(400, words)]
    with pytest.raises(BadRequest):
        await client.complete("Hi", model="claude-opus-5/max")
    assert len(provider.received) == 2


async def test_a_cut_stream_raises_with_what_arrived(client: Client, provider: Upstream) -> None:
    reply = streamed("anthropic", ANSWER)
    cut = reply._replace(cut=reply.body.index(b"Hello.") + 20)
    provider.replies = [cut]
    seen: list[Event] = []

    async def listen() -> None:
        async for event in client.stream("Hi", model="claude-opus-5"):
            seen.append(event)

    with pytest.raises(ConnectionLost) as caught:
        await listen()
    assert any(isinstance(event, BlockGrew) for event in seen)
    partial = caught.value.partial
    assert isinstance(partial, Answer)
    assert partial.turn.thinking == "Hm."
    assert partial.turn.blocks[0] == SIGNED


async def test_a_stream_cut_before_any_content_is_tried_again(client: Client, provider: Upstream) -> None:
    reply = streamed("anthropic", ANSWER)
    provider.replies = [reply._replace(cut=0), reply._replace(cut=10), reply]
    assert (await client.complete("Hi", model="claude-opus-5")).turn.text == "Hello."


async def test_an_answer_that_is_begun_anew_is_told_once(client: Client, provider: Upstream) -> None:
    reply = streamed("anthropic", ANSWER)
    provider.replies = [reply._replace(cut=reply.body.index(b"content_block_start")), reply]
    events = [event async for event in client.stream("Hi", model="claude-opus-5", temperature=0.1)]
    assert [isinstance(event, Started) for event in events].count(True) == 1
    assert len([event for event in events if isinstance(event, Noted)]) == 1
    assert len(provider.received) == 2


async def test_an_answer_that_is_not_json_is_a_typed_error(client: Client, provider: Upstream) -> None:
    provider.replies = [Reply(body=b"<html>hello</html>")]
    with pytest.raises(ProtocolError, match="the answer cannot be read"):
        await client.complete("Hi", model="claude-opus-5", streamed=False)


async def test_leaving_a_stream_closes_the_connection_at_once(client: Client, provider: Upstream) -> None:
    provider.replies = [streamed("anthropic", ANSWER, stall=10.0)]
    stream = client.stream("Hi", model="claude-opus-5")
    assert isinstance(await anext(stream), Started)
    before = time.monotonic()
    await stream.aclose()
    await asyncio.wait_for(provider.hung_up.wait(), 2)
    assert time.monotonic() - before < 1


async def test_cancelling_closes_the_connection_at_once(client: Client, provider: Upstream) -> None:
    provider.replies = [streamed("anthropic", ANSWER, stall=10.0)]
    task = asyncio.create_task(client.complete("Hi", model="claude-opus-5"))
    while not provider.received:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(provider.hung_up.wait(), 2)


async def test_silence_has_an_end(provider: Upstream) -> None:
    provider.replies = [streamed("anthropic", ANSWER, stall=10.0)]
    quick = Timeouts(first_byte=20, idle=0.2)
    async with Client(
        keys={"anthropic": KEY}, bases={"anthropic": provider.url}, timeouts=quick, retries=0
    ) as client:
        with pytest.raises(TimedOut):
            await client.complete("Hi", model="claude-opus-5")


async def test_no_first_byte_has_an_end(provider: Upstream) -> None:
    provider.replies = [Reply(delay=1.0)]
    quick = Timeouts(first_byte=0.2, idle=0.1)
    async with Client(
        keys={"anthropic": KEY}, bases={"anthropic": provider.url}, timeouts=quick, retries=0
    ) as client:
        with pytest.raises(TimedOut):
            await client.complete("Hi", model="claude-opus-5")


async def test_a_slow_reader_is_not_silence(provider: Upstream) -> None:
    provider.replies = [streamed("anthropic", ANSWER)]
    quick = Timeouts(first_byte=5, idle=0.1)
    async with Client(keys={"anthropic": KEY}, bases={"anthropic": provider.url}, timeouts=quick) as client:
        async for event in client.stream("Hi", model="claude-opus-5"):
            if isinstance(event, Started):
                await asyncio.sleep(0.4)
    assert len(provider.received) == 1


async def test_a_closed_port_is_a_lost_connection() -> None:
    async with Client(
        keys={"anthropic": KEY}, bases={"anthropic": "http://127.0.0.1:9"}, retries=0
    ) as client:
        with pytest.raises(ConnectionLost):
            await client.complete("Hi", model="claude-opus-5")


async def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with Client() as client:
        with pytest.raises(ConfigError, match="Anthropic needs a key: set ANTHROPIC_API_KEY"):
            await client.complete("Hi", model="claude-opus-5")


async def test_a_deadline_covers_everything_and_keeps_what_arrived(
    client: Client, provider: Upstream
) -> None:
    provider.replies = [streamed("anthropic", ANSWER, stall=10.0)]
    with pytest.raises(TimedOut) as caught:
        await client.complete("Hi", model="claude-opus-5", deadline=0.3)
    assert isinstance(caught.value.partial, Answer)
    await asyncio.wait_for(provider.hung_up.wait(), 2)


async def test_a_deadline_ends_a_stream_too(client: Client, provider: Upstream) -> None:
    provider.replies = [streamed("anthropic", ANSWER, stall=10.0)]
    seen: list[Event] = []

    async def listen() -> None:
        async for event in client.stream("Hi", model="claude-opus-5", deadline=0.3):
            seen.append(event)

    with pytest.raises(TimedOut):
        await asyncio.wait_for(listen(), 3)
    assert seen


async def test_no_retry_goes_past_the_deadline(client: Client, provider: Upstream) -> None:
    provider.replies = [refused(529, "Overloaded", retry_after="30")]
    with pytest.raises(Overloaded):
        await asyncio.wait_for(client.complete("Hi", model="claude-opus-5", deadline=1), 3)


PROVIDERS = """
[[provider]]
name = "mine"
label = "My server"
base_url = "BASE"
auth = "bearer"
keys = ["MY_SERVER_KEY"]
routes = [{ dialect = "openai-chat", path = "/v1/chat/completions" }]
quirks = { max_tokens_field = "max_tokens" }
source = "myself"
"""


async def test_an_own_server_needs_a_table_and_no_code(
    provider: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    monkeypatch.setenv("MY_SERVER_KEY", KEY)
    (tmp_path / "providers.toml").write_text(PROVIDERS.replace("BASE", provider.url))
    provider.replies = [streamed("openai-chat", Answer(Turn("assistant", (Text("Yes."),)), "stop"))]
    async with Client() as client:
        answer = await client.complete("Hi", model="mine/some/model/high", max_tokens=9)
    assert answer.turn.text == "Yes."
    path, headers, body = provider.received[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (body["model"], body["max_tokens"]) == ("some/model", 9)
    assert "reasoning_effort" not in body
    assert "reasoning.unknown_host" in {note.code for note in answer.notes}


def test_a_broken_table_of_servers_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    (tmp_path / "providers.toml").write_text(PROVIDERS.replace('auth = "bearer"', 'auth = "magic"'))
    with pytest.raises(ConfigError, match=r"providers\.toml: Invalid enum value 'magic'"):
        Client()


async def test_a_slow_reader_makes_the_provider_wait() -> None:
    """What is not read is not fetched: no more is on the way than the buffers of a connection hold."""
    piece = b"event: ping\ndata: {" + b" " * 65_000 + b"}\n\n"
    start = streamed("anthropic", ANSWER).body
    start = start[: start.index(b"event: content_block_stop")]
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + start
        )
        with suppress(ConnectionError):
            for _ in range(2_000):
                writer.write(piece)
                await writer.drain()
                sent += len(piece)
        writer.close()

    server = await asyncio.start_server(flood, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, Client(keys={"anthropic": KEY}, bases={"anthropic": url}, retries=0) as client:
        stream = client.stream("Hi", model="claude-opus-5")
        async for event in stream:
            if isinstance(event, BlockGrew):
                break
        await asyncio.sleep(0.5)
        assert sent < 20_000_000 < len(piece) * 2_000
        await stream.aclose()
    await asyncio.sleep(0.05)


async def test_an_unknown_name_is_refused_before_anything_is_sent() -> None:
    async with Client() as client:
        with pytest.raises(ConfigError, match="nobody is known to have 'no-such-model'"):
            await client.complete("Hi", model="no-such-model")


async def test_notes_come_with_the_answer(client: Client, provider: Upstream) -> None:
    provider.replies = [streamed("anthropic", ANSWER)]
    events = [event async for event in client.stream("Hi", model="claude-opus-5/high", temperature=0.3)]
    assert isinstance(events[0], Started)
    assert [event.note.code for event in events if isinstance(event, Noted)] == ["sampling.dropped"]


async def test_a_key_never_shows(
    client: Client, provider: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    provider.replies = [refused(400, "no")]
    with pytest.raises(BadRequest) as caught:
        await client.complete("Hi", model="claude-opus-5")
    shown = f"{client!r} {caught.value!r} {caught.value.failure!r} {caplog.text}"
    assert KEY not in shown
    provider.replies = [Reply(cut=0)]


def test_ask_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigError):
        ask("Why?", model="claude-opus-5")
