"""What counts anew for every request, though its head is known: the key, its end, and what it has spent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from tests.client.upstream import Reply, Upstream, upstream
from tests.gateway.gateways import Served, gateway
from thinkwire.dialects.openai_chat.response import encode_response
from thinkwire.events import Answer
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.pipeline.services import Services
from thinkwire.jsonvalue import dump
from thinkwire.messages import Text, Turn
from thinkwire.usage import measure

pytestmark = pytest.mark.anyio

MODEL = "deepseek/deepseek-v4-pro"
USAGE = measure(input_total=10_000_000, output_total=10_000_000)[0]
DEAR = Reply(
    body=dump(encode_response(Answer(Turn("assistant", (Text("Hello."),)), "stop", usage=USAGE)).body)
)
"""An answer that costs more than a day's money."""


class Door(NamedTuple):
    served: Served
    provider: Upstream
    keys: KeyFile
    session: aiohttp.ClientSession

    async def ask(self, key: str, **more: Any) -> str:
        """The status of an answer, and what it says."""
        body = {"model": MODEL, "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
        url = f"{self.served.url}/v1/messages"
        async with self.session.post(url, json=body | more, headers={"x-api-key": key}) as reply:
            return f"{reply.status} {await reply.text()}"


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    async with upstream() as provider, gateway(tmp_path, {"deepseek": provider.url}) as served:
        # One connection, so that head follows head.
        connector = aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Door(served, provider, KeyFile(tmp_path / "access.toml"), session)


async def test_a_revoked_key_is_refused_though_its_head_is_known(door: Door) -> None:
    _, secret = door.keys.create("ci")
    door.served.parts.keys._shared.look_again()
    door.provider.replies = [DEAR, DEAR]
    assert (await door.ask(secret)).startswith("200")
    assert (await door.ask(secret, max_tokens=100_000)).startswith("200")
    door.keys.revoke("ci")
    door.served.parts.keys._shared.look_again()
    assert re.match("401 .*not known here", await door.ask(secret))
    assert len(door.provider.received) == 2


async def test_a_day_that_is_spent_ends_and_others_go_on(door: Door) -> None:
    _, poor = door.keys.create("poor", spend_per_day=1.0)
    _, rich = door.keys.create("rich")
    door.served.parts.keys._shared.look_again()
    door.provider.replies = [DEAR, DEAR]
    assert (await door.ask(poor)).startswith("200")
    assert re.match("402 .*has spent", await door.ask(poor))
    assert (await door.ask(rich)).startswith("200")
    assert door.served.parts.limits.running == 0


async def test_a_key_asks_as_often_as_it_may(door: Door) -> None:
    _, secret = door.keys.create("ci", rate_per_minute=1)
    door.served.parts.keys._shared.look_again()
    door.provider.replies = [DEAR]
    assert (await door.ask(secret)).startswith("200")
    assert re.match("429 .*times a minute", await door.ask(secret))


async def test_money_is_counted_when_a_request_fails(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    _, secret = door.keys.create("ci", spend_per_day=1.0)
    door.served.parts.keys._shared.look_again()
    door.provider.replies = [DEAR]

    def breaks(parts: Services, turn: Turn) -> bool:
        raise RuntimeError

    monkeypatch.setattr(Services, "keeps", breaks)
    assert re.match("500 .*the gateway broke", await door.ask(secret))
    assert door.served.parts.limits.running == 0
    assert re.match("402 .*has spent", await door.ask(secret))


async def test_a_model_without_a_price_is_refused_to_who_has_a_daily_spend(door: Door) -> None:
    _, poor = door.keys.create("poor", spend_per_day=1.0)
    _, often = door.keys.create("often", rate_per_minute=9)
    door.served.parts.keys._shared.look_again()
    door.provider.replies = [DEAR]
    unpriced = "deepseek/nobody-knows-what-this-costs"
    assert re.match("403 .*the price of this model is unknown", await door.ask(poor, model=unpriced))
    assert (await door.ask(often, model=unpriced)).startswith("200")


async def test_who_leaves_gives_its_place_back(door: Door) -> None:
    door.provider.replies = [Reply(body=DEAR.body, stall=30.0)]
    asking = asyncio.ensure_future(door.ask("any"))
    async with asyncio.timeout(10):
        while not door.provider.received:
            await asyncio.sleep(0.01)
        assert door.served.parts.limits.running == 1
        asking.cancel()
        await door.provider.hung_up.wait()
        while not door.served.records:
            await asyncio.sleep(0.01)
    assert door.served.parts.limits.running == 0
