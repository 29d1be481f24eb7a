"""Running a command until it ends or is told to stop; either way it puts away what it has."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

from thinkwire.terminal.interrupts import interrupt_is_taken

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_PATIENT = 2
"""So many signals wait for what is being put away; the next one does not."""


def run(work: Coroutine[Any, Any, int]) -> int:
    """The exit code: the work's own, or 128 and the number of the signal that stopped it.

    The work is cancelled once and then waited for, since what was said is still being written. Whoever
    does not want to wait sends the signal twice more.
    """
    return asyncio.run(_watched(work))


async def _watched(work: Coroutine[Any, Any, int]) -> int:
    task = asyncio.ensure_future(work)
    got: list[int] = []

    def stop(number: int) -> None:
        if number == signal.SIGINT and not got and interrupt_is_taken():
            return
        got.append(number)
        if len(got) > _PATIENT:
            os._exit(128 + number)
        if len(got) > 1:
            _say("Still writing what was said; once more leaves at once.")
        else:
            task.cancel()

    loop = asyncio.get_running_loop()
    for name in _SIGNALS:
        # Windows has neither all of these nor this way to wait for them.
        with contextlib.suppress(AttributeError, NotImplementedError):
            number = getattr(signal, name)
            loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not got:
            raise
        return 128 + got[0]


def _say(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr)
