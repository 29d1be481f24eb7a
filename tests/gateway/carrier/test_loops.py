"""Tool loops through clients of every dialect on strict simulated providers: nothing refused or stripped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from thinkwire import dialects
from thinkwire.client.engine import Client
from thinkwire.events import Collector, Event, collect
from thinkwire.gateway.ledger import Ledger, open_ledger
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.messages import Origin, Text, Thinking, ToolResult, Turn
from thinkwire.providers import default_providers
from thinkwire.request import Request, Tool
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio

KEY = bytes(range(32))
TOOLS = (
    Tool("get_weather", "Weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}),
)
LOOP = (
    '[[think:First I look.]] [[call:get_weather {"city":"Oslo"}]] '
    '[[think:Two more.]] [[call:get_weather {"city":"Bergen"}]] & [[call:get_weather {"city":"Rome"}]] '
    "[[think:Now I know.]] [[say:Cold.]]"
)
MODELS = [
    *("claude-sonnet-4-5/low", "gpt-5.6-terra/high", "gemini-3.8-flash/high", "deepseek-v4-pro/high"),
    *("openrouter/google/gemini-3.8-flash/high",),
]
BAD_NEWS = {
    "thinking.stripped",
    "reasoning.learned",
    "seal.placeholder",
    "replay.thinking_off",
    "seal.forged",
}


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    names = default_providers()
    bases = {name: simulator.at(name) for name in names}
    async with Client(keys=dict.fromkeys(names, "any-key"), bases=bases, retries=0) as client:
        yield client


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    async with await open_ledger(str(tmp_path / "l.db"), key=KEY) as ledger:
        yield ledger


class Gateway:
    """The middle of the gateway: carrier, ledger and client, without sockets."""

    def __init__(self, client: Client, dialect: str, model: str, ledger: Ledger | None) -> None:
        self.client = client
        self.wire = dialects.get(dialect)
        self.dialect = dialect
        self.model = model
        self.ledger = ledger
        self.carrier = Carrier(KEY)
        self.codes: set[str] = set()

    async def answer(self, body: dict[str, object]) -> bytes:
        """A streamed answer to a native request."""
        request = self.wire.decode_request(body)
        request, notes = self.carrier.open_request(request, "t", self.dialect)
        self.codes |= {note.code for note in notes}
        if self.ledger is not None:
            request, notes = await self.ledger.restore("t", self.model, request)
            self.codes |= {note.code for note in notes}
        sealer = self.carrier.sealer("t", self.dialect, Origin())
        encoder, collector = self.wire.stream_encoder(), Collector()
        out = b""
        asking = self.client.asking(Request(turns=request.turns, tools=TOOLS), model=self.model)
        async for batch in self.client.answer(asking):
            for event in batch:
                collector.add(event)
            out += b"".join(map(encoder.feed, sealer.feed(batch)))
        answer = collector.answer()
        assert answer.failure is None, answer.failure
        self.codes |= {note.code for note in answer.notes}
        if self.ledger is not None:
            turns, items = request.turns, sealer.items
            await self.ledger.remember("t", self.model, answer.turn, after=turns, items=items)
        return out + encoder.close()


async def looped(gateway: Gateway, *, keeps_thinking: bool) -> Turn:
    """A client's tool loop, its history in its own wire; the last thing that the model said."""
    turns: list[Turn] = [Turn("user", (Text(LOOP),))]
    for _ in range(3):
        request = Request(model="m", max_tokens=4000, turns=tuple(turns), tools=TOOLS)
        decoder = gateway.wire.stream_decoder()
        events: list[Event] = decoder.feed(await gateway.answer(gateway.wire.encode_request(request).body))
        said = collect([*events, *decoder.close()]).turn
        if not keeps_thinking:
            said = without_thinking(said)
        turns.append(said)
        results = tuple(ToolResult(call.id, (Text("7"),), name=call.name) for call in said.tool_calls)
        if results:
            turns.append(Turn("user", results))
    return turns[-1]


def without_thinking(turn: Turn) -> Turn:
    """What Cline, Continue and summarising agents leave: words and calls."""
    kept = (block for block in turn.blocks if not isinstance(block, Thinking))
    return Turn(
        "assistant",
        tuple(msgspec.structs.replace(b, seal=None) if getattr(b, "seal", None) else b for b in kept),
    )


@pytest.mark.parametrize("dialect", ["anthropic", "openai-responses", "gemini"])
@pytest.mark.parametrize("model", MODELS)
async def test_a_client_that_returns_what_it_got_needs_no_ledger(
    client: Client, model: str, dialect: str
) -> None:
    gateway = Gateway(client, dialect, model, None)
    last = await looped(gateway, keeps_thinking=True)
    assert last.text == "Cold."
    assert gateway.codes & BAD_NEWS == set()


@pytest.mark.parametrize("dialect", dialects.NAMES)
@pytest.mark.parametrize("model", MODELS)
async def test_a_client_that_drops_thinking_is_helped_by_the_ledger(
    client: Client, ledger: Ledger, model: str, dialect: str
) -> None:
    gateway = Gateway(client, dialect, model, ledger)
    last = await looped(gateway, keeps_thinking=False)
    assert last.text == "Cold."
    assert gateway.codes & BAD_NEWS == set()
    assert "thinking.restored" in gateway.codes


@pytest.mark.parametrize("model", ["gemini-3.8-flash/high", "claude-sonnet-4-5/low"])
async def test_without_the_ledger_it_would_be_noticed(client: Client, model: str) -> None:
    gateway = Gateway(client, "openai-chat", model, None)
    await looped(gateway, keeps_thinking=False)
    assert gateway.codes & BAD_NEWS
