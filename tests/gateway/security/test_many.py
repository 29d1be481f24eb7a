"""Many questions at once, as an agent asks them when it starts."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.gateway.gateways import Served
from tests.gateway.security.wire import ASK, hear, post

pytestmark = pytest.mark.anyio

COUNTS = 35
"""So many Claude Code asks for when it looks at what fills its window."""
MODELS = ["deepseek/deepseek-v4-pro", "anthropic/claude-opus-5"]


@pytest.mark.parametrize("model", MODELS)
async def test_thirty_five_counts_at_once_are_all_answered_while_others_are_served(
    served: Served, model: str
) -> None:
    long = ASK | {"model": model, "messages": [{"role": "user", "content": "Many words. " * 2000}]}
    count = post(long, target="/v1/messages/count_tokens?beta=true")
    asked = [asyncio.ensure_future(hear(served.url, count)) for _ in range(COUNTS)]
    said = await hear(served.url, post(ASK | {"stream": True}))
    heard = await asyncio.gather(*asked)
    assert said.status == 200
    assert b"message_stop" in said.raw
    assert {one.status for one in heard} == {200}
    counted = {json.loads(one.raw.partition(b"\r\n\r\n")[2])["input_tokens"] for one in heard}
    assert len(counted) == 1
    assert counted.pop() > 2000
