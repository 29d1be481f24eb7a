"""A planted key shows up nowhere: not in logs, reprs, errors, Notes or what explain tells."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator

import pytest
from click.testing import CliRunner

from tests.client.upstream import Reply, Upstream, refused, streamed, upstream
from thinkwire.cli.app import app
from thinkwire.client.engine import Client
from thinkwire.client.prepare import prepare_request
from thinkwire.errors import ProviderError
from thinkwire.events import Answer
from thinkwire.messages import Text, Thinking, Turn
from thinkwire.request import Request

pytestmark = pytest.mark.anyio
KEY = "sk-planted-secret-0123456789abcdef"
NAMES = ("anthropic", "openai", "google", "deepseek", "moonshot")
MODELS = (
    ("claude-opus-5/high", "anthropic"),
    ("gpt-5.6-terra/high", "openai-responses"),
    ("gemini-3.8-flash/high", "gemini"),
    ("deepseek-v4-pro/high", "openai-chat"),
    ("kimi-k3/high", "openai-chat"),
)


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


@pytest.fixture
async def client(provider: Upstream) -> AsyncIterator[Client]:
    async with Client(
        keys=dict.fromkeys(NAMES, KEY), bases=dict.fromkeys(NAMES, provider.url), retries=0
    ) as client:
        yield client


@pytest.mark.parametrize(("model", "dialect"), MODELS)
async def test_it_is_in_nothing_that_an_answer_leaves_behind(
    client: Client, provider: Upstream, caplog: pytest.LogCaptureFixture, model: str, dialect: str
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.replies = [streamed(dialect, Answer(Turn("assistant", (Thinking("Hm."), Text("Hi."))), "stop"))]
    asking = client.asking(Request(turns=(Turn("user", (Text("Hi"),)),)), model=model)
    prepared = prepare_request(asking, time.time())
    answer = await client.complete("Hi", model=model)
    assert KEY in str(provider.received[0][1])
    shown = f"{client!r} {asking!r} {prepared!r} {answer!r} {answer.notes!r} {caplog.text}"
    assert KEY not in shown


@pytest.mark.parametrize(("model", "dialect"), MODELS)
@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_it_is_in_no_error_even_if_the_provider_repeats_it(
    client: Client,
    provider: Upstream,
    caplog: pytest.LogCaptureFixture,
    status: int,
    model: str,
    dialect: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"thinking budget refused for key {KEY}"
    provider.replies = [refused(status, said), refused(status, said), Reply(cut=0)]
    with pytest.raises(ProviderError) as caught:
        await client.complete("Hi", model=model)
    error = caught.value
    assert KEY not in f"{error} {error!r} {error.failure!r} {error.partial!r} {caplog.text}"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_explain_does_not_tell_it(monkeypatch: pytest.MonkeyPatch, flags: list[str]) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for model in ("claude-opus-5/high", "gpt-5.6-terra/low", "openrouter/openai/gpt-5.2/high"):
        result = CliRunner().invoke(app, ["explain", model, *flags])
        assert result.exit_code == 0
        assert KEY not in result.output
