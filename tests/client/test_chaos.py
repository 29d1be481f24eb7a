"""Every fault at every kind of provider ends in an answer or a typed error, soon, with what arrived kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from thinkwire.client.engine import Client
from thinkwire.errors import ProviderError
from thinkwire.events import Answer
from thinkwire.providers import default_providers
from thinkwire.sim.app import Simulator
from thinkwire.sim.chaos import Chaos
from thinkwire.sim.fixture import Running
from thinkwire.sim.server import running_simulator
from thinkwire.transport.aiohttp_transport import Timeouts

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


@pytest.fixture(scope="module")
def chaotic() -> Iterator[Running]:
    """One set of simulators for all cases, which misbehave as each case says."""
    app = Simulator()
    with running_simulator(app) as url:
        yield Running(url, app)


async def complete(chaotic: Running, model: str, spec: str, *, patience: float = 10) -> Answer:
    """Ask a model one question while the simulators misbehave as `spec` says."""
    names = default_providers()
    chaotic.app.chaos = Chaos.parse(spec)
    bases = {name: chaotic.at(name) for name in names}
    timeouts = Timeouts(connect=2, first_byte=patience, idle=patience)
    keys = dict.fromkeys(names, "any-key")
    async with Client(keys=keys, bases=bases, retries=0, timeouts=timeouts) as client:
        return await asyncio.wait_for(client.complete("What is thinking?", model=model), 15)


@pytest.mark.parametrize("spec", HARMLESS)
@pytest.mark.parametrize("model", MODELS)
async def test_what_only_looks_bad_changes_nothing(chaotic: Running, model: str, spec: str) -> None:
    answer = await complete(chaotic, model, spec)
    assert answer.finish == "stop"
    assert "simulated" in answer.turn.text


@pytest.mark.parametrize("model", MODELS)
async def test_a_wrong_length_is_an_answer_or_a_typed_error(chaotic: Running, model: str) -> None:
    """Whether the end can be told without the promised bytes depends on the wire."""
    try:
        answer = await complete(chaotic, model, "wrong-length")
    except ProviderError as error:
        answer = error.partial
    assert "simulated" in answer.turn.text


@pytest.mark.parametrize("spec", BROKEN)
@pytest.mark.parametrize("model", MODELS)
async def test_trouble_is_a_typed_error_and_nothing_hangs(chaotic: Running, model: str, spec: str) -> None:
    before = asyncio.all_tasks()
    with pytest.raises(ProviderError) as caught:
        await complete(chaotic, model, spec, patience=0.3 if "stall" in spec else 10)
    assert caught.value.failure.message
    assert caught.value.advice in ("retry", "report", "fix_request")
    partial = caught.value.partial
    assert isinstance(partial, Answer)
    assert partial.finish is None
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= before
