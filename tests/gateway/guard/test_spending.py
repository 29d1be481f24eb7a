"""Daily spends on real sockets: what is reserved, what is charged, and what is refused."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from tests.client.upstream import Reply, Upstream, streamed, upstream
from tests.gateway.gateways import Served, config_of, gateway
from thinkwire import dialects
from thinkwire.catalog import default_catalog
from thinkwire.events import Answer
from thinkwire.gateway.auth.counters import OwnCounter
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.pipeline import spending
from thinkwire.gateway.telemetry.cost import bound_of, cost_of
from thinkwire.jsonvalue import dump
from thinkwire.messages import Text, Thinking, Turn
from thinkwire.usage import Usage, measure

pytestmark = pytest.mark.anyio

MODEL = "claude-opus-5"
DEAR = measure(input_total=1_000, output_total=50_000)[0]
PRICE = 1.255
"""What such an answer costs, in US dollars."""
CONFIG = """
[aliases]
mine = "claude-opus-5"
[fallbacks]
on = ["overloaded"]
"deepseek/deepseek-v4-pro" = ["anthropic/claude-unheard-of"]
"""


class Bank(NamedTuple):
    served: Served
    provider: Upstream
    folder: Path
    session: aiohttp.ClientSession

    def key(self, usd: float | None = 2.0, name: str = "ci") -> str:
        secret = KeyFile(self.folder / "access.toml").create(name, spend_per_day=usd)[1]
        self.served.parts.keys._shared.look_again()
        return secret

    async def ask(self, key: str, **more: Any) -> tuple[int, dict[str, str], str]:
        """The status of an answer, its headers and its text."""
        async with self.post(key, **more) as reply:
            headers = {name.lower(): value for name, value in reply.headers.items()}
            return reply.status, headers, await reply.text()

    def post(self, key: str, **more: Any) -> Any:
        body = {"model": MODEL, "max_tokens": 50_000, "messages": [{"role": "user", "content": "Hi"}]}
        headers = {"x-api-key": key}
        return self.session.post(f"{self.served.url}/v1/messages", json=body | more, headers=headers)

    async def balance(self) -> tuple[float, float]:
        """All that was spent and all that is reserved, once nothing runs any more."""
        limits = self.served.parts.limits
        async with asyncio.timeout(10):
            while limits.running or limits._settling:
                await asyncio.sleep(0.005)
        db = sqlite3.connect(self.folder / "spending.db")
        tables = ("spending", "reservations")
        spent, reserved = [db.execute(f"SELECT total(usd) FROM {table}").fetchone()[0] for table in tables]
        db.close()
        return spent, reserved


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncIterator[Bank]:
    async with upstream() as provider:
        bases = dict.fromkeys(("anthropic", "deepseek", "openai"), provider.url)
        async with gateway(tmp_path, bases, config_of(CONFIG)) as served, aiohttp.ClientSession() as session:
            yield Bank(served, provider, tmp_path, session)


def whole(usage: Usage | None, dialect: str = "anthropic") -> Reply:
    answer = Answer(Turn("assistant", (Text("Hello."),)), "stop", usage=usage)
    return Reply(body=dump(dialects.get(dialect).encode_response(answer).body))


async def test_a_hundred_requests_at_once_exceed_the_limit_by_one_reservation_at_most(bank: Bank) -> None:
    """2 USD a day, and answers of 1.255 USD."""
    assert cost_of(DEAR, "anthropic", MODEL) == pytest.approx(PRICE)
    key = bank.key(2.0)
    bank.provider.replies = [whole(DEAR)._replace(delay=0.3)] * 100
    answers = await asyncio.gather(*(bank.ask(key) for _ in range(100)))
    statuses = [status for status, _, _ in answers]
    assert statuses.count(200) == len(bank.provider.received) == 2
    refusals = [(status, headers["retry-after"]) for status, headers, _ in answers if status != 200]
    assert set(refusals) == {(429, "5")}, "the rest may be free again in a moment"
    spent, reserved = await bank.balance()
    assert spent == pytest.approx(2 * PRICE)
    assert reserved == 0
    assert spent <= 2.0 + 1.255
    status, headers, text = await bank.ask(key)
    assert status == 402, "how Anthropic tells that money is used up"
    assert "has spent its 2 USD of today" in text
    assert int(headers["retry-after"]) > 5


async def test_a_cheap_answer_gives_back_what_it_did_not_use(bank: Bank) -> None:
    key = bank.key(1.0)
    cheap = measure(input_total=100, output_total=100)[0]
    bank.provider.replies = [whole(cheap)] * 5
    for _ in range(5):
        assert (await bank.ask(key))[0] == 200
    assert await bank.balance() == pytest.approx((5 * 0.003, 0))


@pytest.mark.parametrize("model", [MODEL, "mine"], ids=["passed through", "translated"])
async def test_a_client_that_leaves_before_the_usage_is_told_is_charged(bank: Bank, model: str) -> None:
    key = bank.key(2.0)
    words = "word " * 4_000
    answer = Answer(Turn("assistant", (Thinking("Hm."), Text(words))), "stop", usage=DEAR)
    body = streamed("anthropic", answer).body
    cut = body.index(b"event: message_delta")
    stalls = Reply(body=body, headers={"content-type": "text/event-stream"}, cut=cut, stall=30.0)
    bank.provider.replies = [stalls]
    async with bank.post(key, model=model, stream=True) as reply:
        assert reply.status == 200
        seen = b""
        while b"content_block_stop" not in seen or seen.count(b"word") < 4_000:
            seen += await reply.content.readany()
        reply.close()
    spent, reserved = await bank.balance()
    assert reserved == 0
    output = spent / 25e-6
    assert 3_000 < output < 6_000, "about four thousand tokens of output, and not nothing"
    (record,) = await bank.served.recorded(1)
    assert record.kind.client_left
    assert record.kind.cost_estimated
    assert record.cost == pytest.approx(spent)
    assert record.kind.passed_through is (model == MODEL)


async def test_a_client_that_leaves_is_charged_for_the_input_that_the_vendor_told(bank: Bank) -> None:
    """Anthropic tells the input when the answer begins, with what of it was cached."""
    key = bank.key(2.0)
    usage = measure(input_uncached=100, cache_read=200_000, cache_write=0, output_total=5)[0]
    answer = Answer(Turn("assistant", (Text("word " * 100),)), "stop", usage=usage)
    body = streamed("anthropic", answer).body
    start = (
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message",'
        b'"role":"assistant","model":"claude-opus-5","content":[],"stop_reason":null,"stop_sequence":null,'
        b'"usage":{"input_tokens":100,"cache_read_input_tokens":200000,"cache_creation_input_tokens":0,'
        b'"output_tokens":1}}}\n\n'
    )
    body = start + body[body.index(b"event: content_block_start") :]
    stalls = Reply(
        body=body,
        headers={"content-type": "text/event-stream"},
        cut=body.index(b"event: message_delta"),
        stall=30.0,
    )
    bank.provider.replies = [stalls]
    async with bank.post(key, stream=True) as reply:
        seen = b""
        while b"content_block_stop" not in seen:
            seen += await reply.content.readany()
        reply.close()
    spent, _ = await bank.balance()
    known = cost_of(Usage(input_total=200_100, cache_read=200_000, output_total=0), "anthropic", MODEL)
    assert known is not None
    assert known == pytest.approx(0.1005)
    assert known < spent < known + 0.02


async def test_a_client_that_leaves_before_the_first_byte_is_charged(bank: Bank) -> None:
    """The vendor works already, and may think where nobody sees it."""
    key = bank.key(2.0)
    bank.provider.replies = [whole(DEAR)._replace(delay=30.0)]
    waiting = asyncio.ensure_future(bank.ask(key))
    async with asyncio.timeout(10):
        while not bank.provider.received:
            await asyncio.sleep(0.005)
    waiting.cancel()
    spent, reserved = await bank.balance()
    assert spent > 0
    assert reserved == 0


async def test_a_failure_without_an_answer_costs_nothing(bank: Bank) -> None:
    key = bank.key(2.0)
    bank.provider.replies = [Reply(529, b"{}"), Reply(529, b"{}")]
    assert (await bank.ask(key))[0] == 529
    assert await bank.balance() == (0, 0)


async def test_cached_tokens_without_a_price_cost_what_other_input_does(bank: Bank) -> None:
    model = "deepseek-v3.2"
    usage = measure(input_uncached=0, cache_read=1_000_000, output_total=10)[0]
    assert cost_of(usage, "deepseek", model) is None, "the price of cached tokens is not known"
    key = bank.key(2.0)
    bank.provider.replies = [whole(usage, "openai-chat")]
    assert (await bank.ask(key, model=f"deepseek/{model}", max_tokens=500))[0] == 200
    spent, _ = await bank.balance()
    facts = default_catalog().find("deepseek", model)
    assert facts is not None
    assert spent == pytest.approx(bound_of(usage, "deepseek", model))
    assert spent > 0.2
    (record,) = await bank.served.recorded(1)
    assert record.cost == pytest.approx(spent)
    assert record.kind.cost_estimated


async def test_a_fallback_without_a_price_is_not_for_keys_with_a_daily_spend(bank: Bank) -> None:
    key, free = bank.key(2.0), bank.key(None, "free")
    asked = {"model": "deepseek/deepseek-v4-pro"}
    bank.provider.replies = [Reply(503, b"{}")] * 2
    assert (await bank.ask(key, **asked))[0] == 403
    assert len(bank.provider.received) == 2, "the first model, twice"
    bank.provider.replies = [Reply(503, b"{}"), Reply(503, b"{}"), whole(DEAR)]
    assert (await bank.ask(free, **asked))[0] == 200


async def test_a_counter_that_cannot_be_written_refuses_keys_with_a_daily_spend_only(bank: Bank) -> None:
    key, free = bank.key(2.0), bank.key(None, "free")
    bank.provider.replies = [whole(DEAR)]
    assert (await bank.ask(key, max_tokens=10))[0] == 200
    await bank.balance()
    counter = bank.served.parts.limits._counter
    assert isinstance(counter, OwnCounter)
    bank.served.parts.limits._pauses = (0.0,)
    await counter._run(lambda db: db.execute("PRAGMA query_only = ON"))
    bank.provider.replies = [whole(DEAR)] * 2
    status, headers, text = await bank.ask(key, max_tokens=10)
    assert (status, headers["retry-after"]) == (529, "1"), "how Anthropic says 503"
    assert "cannot count" in text
    assert (await bank.ask(free, max_tokens=10))[0] == 200
    assert len(bank.provider.received) == 2


@pytest.mark.parametrize(
    ("dialect", "body", "expected"),
    [
        ("anthropic", {"max_tokens": 700}, 700),
        ("anthropic", {"max_tokens": 10**9}, 128_000),
        ("anthropic", {}, 32_000),
        ("openai-chat", {"max_completion_tokens": 70, "max_tokens": 7, "n": 3}, 210),
        ("openai-chat", {"max_tokens": True, "n": "x"}, 32_000),
        ("openai-responses", {"max_output_tokens": 70.0}, 70),
        ("gemini", {"generationConfig": {"maxOutputTokens": 70, "candidateCount": 2}}, 140),
        ("gemini", {"generationConfig": "odd"}, 32_000),
        ("anthropic", {"max_tokens": 10**400, "n": -1.5}, 128_000),
        ("anthropic", {"max_tokens": float("inf")}, 32_000),
    ],
)
def test_an_estimate_has_the_longest_answer_that_is_allowed(
    dialect: str, body: dict[str, Any], expected: int
) -> None:
    found = default_catalog().find("anthropic", MODEL)
    assert found is not None
    assert spending.estimate(body, dialect, found.facts, 32_000).output_tokens == expected


@pytest.mark.parametrize(
    ("content", "least", "most"),
    [
        ("word " * 10_000, 10_000, 20_000),
        ("漢字" * 5_000, 10_000, 12_000),
        ("iVBORw0KGgo" * 100_000, 2_000, 4_000),
        ([{"type": "text", "text": "word " * 1_000}] * 10, 10_000, 20_000),
        ("word " * 2_000_000, 100_000, 100_000),
    ],
)
def test_an_estimate_of_input_follows_its_text(content: Any, least: int, most: int) -> None:
    body = {"messages": [{"role": "user", "content": content}]}
    assert least <= spending.input_tokens(body, 100_000) <= most
