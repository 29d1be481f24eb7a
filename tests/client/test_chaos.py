"""Every fault at every kind of provider ends in an answer or a typed error, soon, with what arrived kept."""

from __future__ import annotations

import asyncio

import pytest

from thinkwire.client import Client
from thinkwire.errors import ProviderError
from thinkwire.events import Answer
from thinkwire.http import Timeouts
from thinkwire.providers import default_providers
from thinkwire.sim.app import Simulator
from thinkwire.sim.chaos import Chaos
from thinkwire.sim.server import serving

pytestmark = pytest.mark.anyio

MODELS = (
    *("claude-opus-5-5/high", "gpt-5.6-terra/high", "gemini-3.8-flash/high", "deepseek-v4-pro/high"),
    *("openrouter/anthropic/claude-opus-5/high", "mistral-small-latest/high", "grok-4.6/high"),
    *("qwen3.7-max/med", "MiniMax-M3/high", "kimi-k3/high"),
)
HARMLESS = ("latency=0.05", "split=1", "split=3", "gzip", "dup")
BROKEN = (
    *("cut=0", "cut=1", "cut=120", "cut=700", "reset", "html", "error-in-stream", "stall=30"),
    *("status=429", "status=429,retry-after=0", "status=500", "status=502", "status=503", "status=529"),
)


async def asked(model: str, spec: str) -> Answer:
    names = default_providers()
    async with serving(Simulator(chaos=Chaos.parse(spec))) as url:
        bases = {name: f"{url}/{name}" for name in names}
        timeouts = Timeouts(connect=2, first_byte=0.7, idle=0.7)
        async with Client(
            keys=dict.fromkeys(names, "any-key"), bases=bases, retries=0, timeouts=timeouts
        ) as client:
            return await asyncio.wait_for(client.complete("What is thinking?", model=model), 15)


@pytest.mark.parametrize("spec", HARMLESS)
@pytest.mark.parametrize("model", MODELS)
async def test_what_only_looks_bad_changes_nothing(model: str, spec: str) -> None:
    answer = await asked(model, spec)
    assert answer.finish == "stop"
    assert "simulated" in answer.turn.text


@pytest.mark.parametrize("model", MODELS)
async def test_a_wrong_length_is_an_answer_or_a_typed_error(model: str) -> None:
    """Whether the end can be told without the promised bytes depends on the wire."""
    try:
        answer = await asked(model, "wrong-length")
    except ProviderError as error:
        answer = error.partial
    assert "simulated" in answer.turn.text


@pytest.mark.parametrize("spec", BROKEN)
@pytest.mark.parametrize("model", MODELS)
async def test_trouble_is_a_typed_error_and_nothing_hangs(model: str, spec: str) -> None:
    before = asyncio.all_tasks()
    with pytest.raises(ProviderError) as caught:
        await asked(model, spec)
    assert caught.value.failure.message
    assert caught.value.advice in ("retry", "report", "fix_request")
    partial = caught.value.partial
    assert isinstance(partial, Answer)
    assert partial.finish is None
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= before
