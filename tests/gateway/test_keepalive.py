"""Silences are found and filled in one round for all streams."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from thinkwire.gateway.http.keepalive import KeepAlive, Round

pytestmark = pytest.mark.anyio
SECONDS = 0.04


def outlet(**more: Any) -> Any:
    way = SimpleNamespace(spoke=False)
    return SimpleNamespace(**{"way": way, "between": True, "congested": False, "over": False} | more)


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not there():
            await asyncio.sleep(SECONDS / 4)


async def test_who_is_silent_is_heard_at_every_fourth_look_and_who_speaks_is_left_alone() -> None:
    silent, talker, heard = outlet(), outlet(), []
    one = KeepAlive(silent, lambda: heard.append("silent"), Round(1000))
    two = KeepAlive(talker, lambda: heard.append("talker"), Round(1000))
    told: list[int] = []
    for _ in range(13):
        talker.way.spoke = True
        one.look()
        two.look()
        told.append(len(heard))
    # The first look may come at once, so that it does not count.
    assert told == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert set(heard) == {"silent"}
    silent.way.spoke = True
    one.look()
    assert (silent.way.spoke, len(heard)) == (False, 3)


async def test_a_round_goes_on_until_the_last_has_left() -> None:
    heard: list[str] = []
    one = KeepAlive(outlet(), lambda: heard.append("it"), Round(SECONDS))
    await until(lambda: len(heard) >= 2)
    one.stop()
    count = len(heard)
    await asyncio.sleep(SECONDS * 3)
    assert len(heard) == count


@pytest.mark.parametrize("state", [{"between": False}, {"congested": True}, {"over": True}])
async def test_nothing_is_said_where_nothing_can_be(state: dict[str, bool]) -> None:
    heard: list[str] = []
    one = KeepAlive(outlet(**state), lambda: heard.append("it"), Round(1000))
    for _ in range(9):
        one.look()
    assert heard == []


async def test_one_that_breaks_does_not_silence_the_others(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []
    watch = Round(SECONDS)

    def broken() -> None:
        raise ValueError("broken")

    both = [KeepAlive(outlet(), broken, watch), KeepAlive(outlet(), lambda: heard.append("it"), watch)]
    with caplog.at_level(logging.ERROR, "thinkwire.gateway"):
        await until(lambda: len(heard) >= 2)
    for one in both:
        one.stop()
    assert [record.exc_info is not None for record in caplog.records] == [True]
