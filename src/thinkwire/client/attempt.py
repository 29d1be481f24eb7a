"""One try of a request: the reply read in batches, held back while it can still be taken back."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol, TypeAlias

import msgspec

from thinkwire.client.learned_facts import LearnedFact
from thinkwire.client.prepare import CallSpec, PreparedRequest
from thinkwire.dialects.delta_template import DeltaTemplate
from thinkwire.errors import Failure, MalformedInput, protocol_failure
from thinkwire.events import Answer, BlockGrew, Event, Failed, Finished, Noted, Started, events_of
from thinkwire.jsonvalue import parse_object
from thinkwire.messages import Turn
from thinkwire.notes import Note
from thinkwire.transport.aiohttp_transport import Response
from thinkwire.transport.sink import Backpressure
from thinkwire.usage import Usage
from thinkwire.wire.retry_after import bounded

Batch: TypeAlias = list[Event]
"""The events of one network read."""

_SILENT = frozenset({Noted, Started, Failed})
"""Events that tell nothing of an answer."""
_LAST = frozenset({Finished, Failed, Noted})
"""Events that may stand at its end."""
RETRIED = ("rate_limit", "overloaded", "timed_out", "connection_lost")
MAX_RETRY_WAIT = 60.0


class RetryState:
    """What is asked, and what the tries so far have taught."""

    def __init__(self, asking: CallSpec) -> None:
        self.asking = asking
        self.count = 0
        """How often the request was sent again."""
        self.reuse = True
        """Whether the next try may take an idle connection: only the first one may."""
        self.notes: list[Note] = []
        self.learned: LearnedFact | None = None
        """What is remembered if the next try is accepted."""

    def add(self) -> None:
        """Counts another sending of the request."""
        self.count += 1
        self.reuse = False


class Attempt:
    """One try. Its beginning is held back until something is told, so that it can still be taken back."""

    __slots__ = ("_held", "_unsaid", "began", "failure", "over", "prepared", "usage")

    def __init__(self, prepared: PreparedRequest, notes: Sequence[Note] = ()) -> None:
        """`notes` are about the tries before; they are told once this one has begun."""
        self.prepared = prepared
        self.began = False
        self.over = False
        """Whether the answer's last event is here."""
        self.failure: Failure | None = None
        self.usage: Usage | None = None
        self._held: Batch | None = None
        self._unsaid = (*notes, *prepared.notes) if notes else prepared.notes

    def heard(self, batch: Batch) -> Batch:
        """What of a batch is told now; a failure is not told but remembered."""
        if batch and not self.began:
            batch = self._beginning(batch)
        if not batch or type(batch[-1]) not in _LAST:
            return batch
        last = _end(batch)
        if last is not None:
            self.over = True
            if type(last) is Failed:
                self.failed(last.failure, last.usage)
                batch.remove(last)
        return batch

    def heard_whole(self, answer: Answer) -> Answer | None:
        """An answer that came in one piece; None for a failure, which is not told but remembered."""
        self.over = True
        if answer.failure is not None:
            self.began = bool(answer.turn.blocks)
            self.failed(answer.failure, answer.usage)
            return None
        self.began = True
        told = answer.turn.origin
        origin = self.prepared.origin(told.response_id if told else None, time.time())
        notes = (*self._unsaid, *answer.notes) if self._unsaid else answer.notes
        turn = Turn("assistant", answer.turn.blocks, origin, answer.turn.extras)
        return Answer(turn, answer.finish, answer.usage, notes, extras=answer.extras)

    def failed(self, failure: Failure, usage: Usage | None = None) -> None:
        self.failure, self.usage = failure, usage

    @property
    def provider_failure(self) -> Failure:
        """The failure of this try, with the provider's name."""
        assert self.failure is not None
        return msgspec.structs.replace(self.failure, provider=self.prepared.provider.name)

    def _beginning(self, batch: Batch) -> Batch:
        """All that was held back, once there is something that cannot be taken back."""
        first = batch[0]
        if type(first) is Started:
            origin = self.prepared.origin(first.id, time.time())
            named = Started(first.id, first.model, first.extras, origin)
            batch = [named, *map(Noted, self._unsaid), *batch[1:]]
        held = batch if self._held is None else self._held + batch
        for event in held:
            if type(event) not in _SILENT:
                self.began = True
                self._held = None
                return held
        self._held = held
        if type(held[-1]) is not Started and type(last := _end(held)) is Failed:
            self.over = True
            self.failed(last.failure, last.usage)
        return []


class StreamPump:
    """Pieces of a streamed reply in, batches out: what a try tells goes to `hear`.

    Most pieces only let a block grow as the one before did; their texts go without events, where the hearer
    knows how.
    """

    __slots__ = ("_attempt", "_decoder", "_growing", "_hearer", "_repeat", "way")

    def __init__(self, attempt: Attempt, hearer: ResponseSink) -> None:
        self._repeat: DeltaTemplate | None = None
        self.way = hearer.way
        self._attempt = attempt
        self._growing: TextWriter | None = None
        self._hearer = hearer
        self._decoder = attempt.prepared.decoder()

    def take(self, piece: bytes) -> bool:
        attempt, repeat = self._attempt, self._repeat
        if repeat is None and attempt.began:
            repeat = self._repeat = self._decoder.repeats()
        if repeat is not None and (texts := repeat.texts_in(piece)) is not None:
            if self._growing is None:
                self._growing = self._hearer.growing(repeat.index) or EventTextWriter(
                    self._hearer, repeat.index
                )
            self._growing.grow(texts)
            return True
        self._repeat = self._growing = None
        told = attempt.heard(self._decoder.feed(piece))
        if told:
            self._hearer.hear(told)
        return not attempt.over

    def close(self) -> None:
        """The reply is at its end, and its answer should be."""
        if not self._attempt.over and (told := self._attempt.heard(self._decoder.close())):
            self._hearer.hear(told)


class TextWriter(Protocol):
    """A block that grows."""

    def grow(self, texts: list[str]) -> None:
        """Takes texts by which it has grown, as hearing a `BlockGrew` for each of them."""


class EventTextWriter:
    """One whose growth is heard like everything else."""

    def __init__(self, hearer: ResponseSink, index: int) -> None:
        self._hearer = hearer
        self._index = index

    def grow(self, texts: list[str]) -> None:
        self._hearer.hear([BlockGrew(self._index, text) for text in texts])


class ResponseSink(Protocol):
    """Who gets an answer batch by batch, in the moment in which it comes."""

    @property
    def way(self) -> Backpressure:
        """Where it goes, and whether that has to be waited for before the next batch."""

    def hear(self, batch: Batch) -> None:
        """What has come."""

    def growing(self, index: int) -> TextWriter | None:
        """A short way for a block that grows, until something else is heard; None where there is none."""

    def hear_whole(self, answer: Answer) -> None:
        """All that will come, in one piece."""

    async def finish(self) -> None:
        """A streamed answer is over; its connection is let go after this."""


async def read_batches(attempt: Attempt, reply: Response) -> AsyncGenerator[Batch, None]:
    """What a try tells of a reply, batch by batch."""
    prepared = attempt.prepared
    if not prepared.streamed:
        answer = read_answer(prepared, await reply.read())
        if told := attempt.heard(list(events_of(answer))):
            yield told
        return
    decoder = prepared.decoder()
    async for chunk in reply.chunks():
        if told := attempt.heard(decoder.feed(chunk)):
            yield told
        if attempt.over:
            if attempt.failure is None:
                await reply.drain()
            return
    if told := attempt.heard(decoder.close()):
        yield told


async def read_refusal(prepared: PreparedRequest, reply: Response) -> Failure:
    """The failure that a reply with an error status describes."""
    return prepared.dialect.decode_error(reply.status, reply.headers, await reply.read())


def _end(batch: Batch) -> Event | None:
    """The event that ends the answer, if it is here; only Notes come after it."""
    for event in reversed(batch):
        if type(event) is Finished or type(event) is Failed:
            return event
        if type(event) is not Noted:
            return None
    return None


def read_answer(prepared: PreparedRequest, body: bytes) -> Answer:
    """An answer that came in one piece."""
    try:
        return prepared.read(parse_object(body))
    except MalformedInput as error:
        failure = protocol_failure(f"the answer cannot be read: {error}")
        return Answer(turn=Turn("assistant", ()), finish=None, failure=failure)


async def wait_before_retry(failure: Failure, tries: int, asking: CallSpec) -> bool:
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
    if (seconds := bounded(failure.retry_after)) is not None:
        return min(seconds, MAX_RETRY_WAIT)
    return random.uniform(0, min(8.0, 0.5 * 2**attempt))
