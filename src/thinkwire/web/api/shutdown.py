"""The process is told to end: whoever waits for news is let go, so that nothing holds its end up."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_end(call: Callable[[], None]) -> Iterator[None]:
    """Calls this in the loop when a signal ends the process, before the server waits for its requests.

    Servers do not tell applications; so this goes before their own handler, and leaves it in its place.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def heard(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(call)
        then = before[signal.Signals(number)]
        if callable(then):
            then(number, frame)

    taken = [number for number, then in before.items() if callable(then)]
    for number in taken:
        signal.signal(number, heard)
    try:
        yield
    finally:
        for number in taken:
            if signal.getsignal(number) is heard:
                signal.signal(number, before[number])
