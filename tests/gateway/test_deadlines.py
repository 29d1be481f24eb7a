"""One timer for what is expected of many connections."""

from __future__ import annotations

import asyncio

import pytest

from thinkwire.gateway.server.deadlines import NEVER, Deadlines

pytestmark = pytest.mark.anyio


class Waiting:
    """Notes when it was told that nothing came."""

    due = NEVER

    def __init__(self) -> None:
        self.told: list[float] = []

    def overdue(self) -> None:
        self.told.append(asyncio.get_running_loop().time())


class Broken(Waiting):
    def overdue(self) -> None:
        super().overdue()
        raise RuntimeError("on purpose")


def timers(deadlines: Deadlines) -> int:
    return int(deadlines._timer is not None and not deadlines._timer.cancelled())


async def until(waiting: Waiting) -> None:
    async with asyncio.timeout(10):
        while not waiting.told:
            await asyncio.sleep(0.01)


async def test_each_is_told_once_and_not_before_its_time() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    late, soon, middle = Waiting(), Waiting(), Waiting()
    due = {}
    for waiting, seconds in ((late, 0.5), (soon, 0.05), (middle, 0.15)):
        deadlines.expect(waiting, seconds)
        due[waiting] = waiting.due
    await until(late)
    for waiting, expected in due.items():
        assert len(waiting.told) == 1
        assert waiting.told[0] >= expected
        assert waiting.due == NEVER
    assert soon.told < middle.told < late.told
    assert timers(deadlines) == 0


async def test_what_came_in_time_is_not_overdue() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    here, gone, silent = Waiting(), Waiting(), Waiting()
    for waiting in (here, gone, silent):
        deadlines.expect(waiting, 0.05)
    here.due = NEVER
    deadlines.leave(gone)
    await until(silent)
    assert not here.told
    assert not gone.told


async def test_who_waits_on_is_told_again_and_who_fails_hinders_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    broken, patient = Broken(), Waiting()
    deadlines.expect(broken, 0.01)
    deadlines.expect(patient, 0.02)
    await until(patient)
    assert broken.told
    assert "cannot be given up" in caplog.text
    patient.told.clear()
    deadlines.expect(patient, 0.02)
    await until(patient)


async def test_a_timer_serves_all_and_nobody_leaves_one_behind() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    many = [Waiting() for _ in range(100)]
    for waiting in many:
        deadlines.expect(waiting, 60)
    timer = deadlines._timer
    assert timers(deadlines) == 1
    deadlines.expect(many[50], 75)
    assert deadlines._timer is timer
    for waiting in many:
        deadlines.leave(waiting)
    assert timers(deadlines) == 0
    assert timer is not None
    assert timer.cancelled()
