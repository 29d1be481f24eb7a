"""Numbered frames as server-sent events, with signs of life, for as long as the reader may read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from starlette.responses import StreamingResponse

from thinkwire.errors import ThinkwireError
from thinkwire.jsonvalue import dump
from thinkwire.web.broadcast import Numbered
from thinkwire.web.runs.registry import RunHandle

_log = logging.getLogger("thinkwire.web")

PING_EVERY = 15.0
"""Seconds of silence after which a comment is sent, so that nobody on the way closes the connection."""

HEADERS = {
    "x-vercel-ai-ui-message-stream": "v1",
    "cache-control": "no-cache, no-store, no-transform",
    "x-accel-buffering": "no",
}


def event_stream(
    following: RunHandle, after: int, *, allowed: Callable[[], Awaitable[bool]], check_every: float
) -> StreamingResponse:
    """The answer from a number on. `allowed` is asked again and again; when it says no, the stream ends."""
    body = _events(following, after, allowed, check_every)
    headers = HEADERS | {"x-thinkwire-run": following.id}
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


async def _events(
    following: RunHandle, after: int, allowed: Callable[[], Awaitable[bool]], check_every: float
) -> AsyncIterator[bytes]:
    try:
        async with aclosing(_allowed_events(following, after, allowed, check_every)) as events:
            async for event in events:
                yield event
    except ThinkwireError as error:
        # What can be read elsewhere is picked up by the reader, who sees that this was not the end.
        _log.warning("a stream of answer %s broke off: %s", following.id, error)


async def _allowed_events(
    following: RunHandle, after: int, allowed: Callable[[], Awaitable[bool]], check_every: float
) -> AsyncGenerator[bytes, None]:
    loop = asyncio.get_running_loop()
    spoke, checked = loop.time(), loop.time()
    async with aclosing(_or_silence(following.follow(after), min(check_every, PING_EVERY))) as batches:
        async for batch in batches:
            if loop.time() - checked >= check_every:
                # A reader who leaves must not tear the store's connection down in the middle of this.
                if not await asyncio.shield(asyncio.ensure_future(allowed())):
                    return
                checked = loop.time()
            if batch:
                spoke = loop.time()
                yield b"".join(encoded(number, frame) for number, frame in batch)
            elif loop.time() - spoke >= PING_EVERY:
                spoke = loop.time()
                yield b": \n\n"
    yield b"data: [DONE]\n\n"


def encoded(number: int, frame: object) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (number, dump(frame))


async def _or_silence(
    batches: AsyncGenerator[list[Numbered], None], patience: float
) -> AsyncGenerator[list[Numbered], None]:
    """The same batches, and an empty one whenever none came for so many seconds."""
    coming = asyncio.ensure_future(anext(batches, None))
    try:
        while True:
            done, _ = await asyncio.wait([coming], timeout=patience)
            if not done:
                yield []
                continue
            batch = coming.result()
            if batch is None:
                return
            yield batch
            coming = asyncio.ensure_future(anext(batches, None))
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await batches.aclose()
