"""What is begun is finished, also when whoever waits for it is told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

_T = TypeVar("_T")


async def run_to_completion(work: Awaitable[_T]) -> _T:
    """What work comes to. Cancelling whoever waits here, however often, counts only when it is done."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()
    raise cancelled
