"""Keeping a conversation while it happens: in a store, or in memory when nobody wants it kept."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec

from thinkwire.errors import Failure
from thinkwire.events import (
    Answer,
    BlockEnded,
    BlockGrew,
    BlockStarted,
    Collector,
    Event,
    Failed,
    Finished,
    Started,
)
from thinkwire.messages import Thinking, Turn
from thinkwire.notes import Note
from thinkwire.store.rows import MessageRow, Status

FLUSH_EVERY = 1.0
"""Seconds: what a crash can take of an answer."""


class ConversationStore(Protocol):
    """What a session needs of a store."""

    @property
    def append(self) -> Callable[..., Awaitable[MessageRow]]:
        """`(conversation_id, turn, **fields of Kept)`: keeps a turn at the end."""

    @property
    def revise(self) -> Callable[..., Awaitable[None]]:
        """`(message_id, **fields of Kept)`: changes what is kept of it."""

    @property
    def path(self) -> Callable[[str], Awaitable[list[MessageRow]]]:
        """`(conversation_id)`: everything from the beginning to the newest message."""


class InMemoryStore:
    """A conversation that is gone with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, MessageRow] = {}
        self._ids = itertools.count(1)

    async def append(self, conversation_id: str, turn: Turn, **fields: Any) -> MessageRow:
        last = next(reversed(self._kept.values()), None)
        number = next(self._ids)
        now = time.time()
        kept = MessageRow(
            id=fields.pop("id", None) or f"m{number}",
            conversation_id=conversation_id,
            parent_id=last.id if last else None,
            seq=number,
            role=turn.role,
            kind=fields.pop("kind", "turn"),
            turn=turn,
            thinking=turn.thinking,
            text=turn.text,
            status=fields.pop("status", "complete"),
            created=now,
            updated=now,
            **fields,
        )
        self._kept[kept.id] = kept
        return kept

    async def revise(self, message_id: str, **fields: Any) -> None:
        turn: Turn | None = fields.get("turn")
        if turn is not None:
            fields |= {"text": turn.text, "thinking": turn.thinking}
        self._kept[message_id] = msgspec.structs.replace(
            self._kept[message_id], **fields, updated=time.time()
        )

    async def path(self, conversation_id: str) -> list[MessageRow]:
        return list(self._kept.values())


class Recorder:
    """One answer in the making: kept from its first event, brought up to date every second."""

    def __init__(self, keeper: ConversationStore, conversation_id: str) -> None:
        self._keeper = keeper
        self._conversation_id = conversation_id
        self._collector = Collector()
        self._flusher: asyncio.Task[None] | None = None
        self._dirty = False
        self._clock = ThinkingClock()
        self.id: str | None = None

    async def begin(self) -> str:
        kept = await self._keeper.append(self._conversation_id, Turn("assistant"), status="streaming")
        self.id = kept.id
        self._flusher = asyncio.create_task(self._flush())
        return kept.id

    def add(self, events: list[Event]) -> None:
        now = time.monotonic()
        for event in events:
            self._collector.add(event)
            self._clock.add(event, now)
        self._dirty = True

    def answer(self) -> Answer:
        return self._collector.answer()

    async def end(
        self,
        status: Status,
        *,
        failure: Failure | None = None,
        notes: tuple[Note, ...] = (),
        cost: float | None = None,
    ) -> Answer:
        """Durable when this returns."""
        await self.stop()
        answer = self.answer()
        assert self.id is not None
        await self._keeper.revise(
            self.id,
            turn=answer.turn,
            status=status,
            finish=answer.finish,
            usage=answer.usage,
            notes=answer.notes + notes,
            failure=failure or answer.failure,
            elapsed_thinking=self._clock.seconds(answer),
            cost=cost,
        )
        return answer

    async def stop(self) -> None:
        """No more writing behind; whoever called decides what is written last."""
        if self._flusher is None:
            return
        flusher, self._flusher = self._flusher, None
        flusher.cancel()
        await asyncio.gather(flusher, return_exceptions=True)

    async def _flush(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_EVERY)
            if self._dirty and self.id is not None:
                self._dirty = False
                await self._keeper.revise(self.id, turn=self.answer().turn)


class ThinkingClock:
    """How long a model thought: from the beginning to its first words, and whenever it thinks again."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._total = 0.0
        self._spoke = False
        self._thoughts: set[int] = set()

    def add(self, event: Event, now: float) -> None:
        match event:
            case BlockGrew():
                return
            case Started():
                self._since = now
            case BlockStarted(index=index, block=Thinking()):
                self._thoughts.add(index)
                if self._since is None:
                    self._since = now
            case BlockStarted() | Finished() | Failed():
                self._pause(now)
            case BlockEnded(index=index) if index in self._thoughts and self._spoke:
                self._pause(now)

    def seconds(self, answer: Answer) -> float | None:
        """None when nothing says that it thought at all."""
        reasoned = bool(self._thoughts) or bool(answer.usage and answer.usage.output_reasoning)
        return round(self._total, 3) if reasoned else None

    def _pause(self, now: float) -> None:
        self._spoke = True
        if self._since is not None:
            self._total += now - self._since
            self._since = None
