"""One try of a request: the reply read in batches, held back while it can still be taken back."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeAlias

from thinkwire.asking import Asking, Prepared
from thinkwire.errors import Failure, MalformedInput, ProviderError, protocol_failure
from thinkwire.events import Event, Failed, Finished, Noted, Started, events_of
from thinkwire.http import AnyReply
from thinkwire.jsonvalue import parse_object
from thinkwire.usage import Usage

Batch: TypeAlias = list[Event]
"""The events of one network read."""

RETRIED = ("rate_limit", "overloaded", "timed_out", "connection_lost")
LONGEST_WAIT = 60.0

_SEAL_WORDS = (
    "signature",
    "encrypted content",
    "required following item",
    "required 'reasoning' item",
    "not persisted",
    "thought_signature",
)


class Attempt:
    """One try. Its beginning is held back until something is told, so that it can still be taken back."""

    def __init__(self) -> None:
        self.began = False
        self.failure: Failure | None = None
        self.usage: Usage | None = None

    async def told(self, batches: AsyncGenerator[Batch, None]) -> AsyncGenerator[Batch, None]:
        """The batches from the first that says something; a failure ends them and is remembered."""
        held: Batch = []
        try:
            async with aclosing(batches):
                async for batch in batches:
                    ends = bool(batch) and type(batch[-1]) is Failed
                    events = batch[:-1] if ends else batch
                    if not self.began:
                        held += events
                        events = []
                        if any(not isinstance(event, Noted | Started) for event in held):
                            self.began = True
                            events = held
                    if events:
                        yield events
                    if ends:
                        self._fails(batch[-1])
                        return
        except ProviderError as error:
            self.failure = error.failure

    def _fails(self, event: Event) -> None:
        assert isinstance(event, Failed)
        self.failure, self.usage = event.failure, event.usage


async def read_batches(prepared: Prepared, reply: AnyReply) -> AsyncGenerator[Batch, None]:
    """The answer in a reply, streamed or whole."""
    if not prepared.streamed:
        yield _whole(prepared, await reply.read())
        return
    decoder = prepared.decoder()
    async for chunk in reply.chunks():
        batch = decoder.feed(chunk)
        if not batch:
            continue
        last = _end(batch)
        yield batch
        if last is not None:
            if type(last) is Finished:
                await reply.drain()
            return
    yield decoder.close()


def _end(batch: Batch) -> Event | None:
    """The event that ends the answer, if it is here; only Notes come after it."""
    for event in reversed(batch):
        if type(event) is Finished or type(event) is Failed:
            return event
        if type(event) is not Noted:
            return None
    return None


def _whole(prepared: Prepared, body: bytes) -> Batch:
    try:
        return list(events_of(prepared.read(parse_object(body))))
    except MalformedInput as error:
        return [Failed(protocol_failure(f"the answer cannot be read: {error}"))]


def about_seals(failure: Failure) -> bool:
    """Whether a refusal is about sealed thinking that was given back."""
    words = failure.message.lower()
    return failure.code == "invalid_encrypted_content" or any(word in words for word in _SEAL_WORDS)


async def worth_waiting(failure: Failure, tries: int, asking: Asking) -> bool:
    """Waits before another try; not for what waiting cannot mend, and not past the deadline."""
    if failure.kind not in RETRIED:
        return False
    wait = _wait(failure, tries)
    if asking.patience is not None and wait > asking.patience:
        return False
    if asking.until is not None and asyncio.get_running_loop().time() + wait >= asking.until:
        return False
    await asyncio.sleep(wait)
    return True


def _wait(failure: Failure, attempt: int) -> float:
    """What the provider asked for, else a random part of a doubling time."""
    if failure.retry_after is not None:
        return min(failure.retry_after, LONGEST_WAIT)
    return random.uniform(0, min(8.0, 0.5 * 2**attempt))
