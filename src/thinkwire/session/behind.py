"""Keeping behind: a conversation that begins before its store is open, and is durable when it says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from thinkwire.errors import ThinkwireError
from thinkwire.messages import Turn
from thinkwire.session.keeping import Memory
from thinkwire.store.ids import new_id
from thinkwire.store.rows import Kept

Write = Callable[[Any], Awaitable[Any]]


class Behind:
    """Everything is at hand at once and written in order as soon as the store is open.

    Opening a store costs more than a second of computing on a cold start; the model's first words need not
    wait for it. A turn that is said to be complete has been written. If the store cannot be opened or fails,
    the conversation goes on and `trouble` says why it is not kept.
    """

    def __init__(
        self, opening: Awaitable[Any], conversation_id: str, *, lent: bool = False, **described: Any
    ) -> None:
        """A conversation is made with its first turn. A store that is `lent` is left open."""
        self._memory = Memory()
        self._conversation_id = conversation_id
        self._writes: asyncio.Queue[Write | None] = asyncio.Queue()
        self._described: dict[str, Any] | None = described
        self._lent = lent
        self.trouble: ThinkwireError | None = None
        self._writer = asyncio.create_task(self._write(opening))

    async def append(self, conversation_id: str, turn: Turn, **fields: Any) -> Kept:
        if self._described is not None:
            described, self._described = self._described, None
            self._writes.put_nowait(lambda store: store.create_conversation(id=conversation_id, **described))
        kept = await self._memory.append(conversation_id, turn, id=new_id(), **fields)
        self._writes.put_nowait(lambda store: store.append(conversation_id, turn, id=kept.id, **fields))
        return kept

    async def revise(self, message_id: str, **fields: Any) -> None:
        await self._memory.revise(message_id, **fields)
        self._writes.put_nowait(lambda store: store.revise(message_id, **fields))
        if fields.get("status") not in (None, "streaming"):
            await self.written()

    async def path(self, conversation_id: str) -> list[Kept]:
        return await self._memory.path(conversation_id)

    async def written(self) -> None:
        """Until everything so far is in the store, or cannot be."""
        await self._writes.join()

    async def aclose(self) -> None:
        self._writes.put_nowait(None)
        await asyncio.gather(self._writer, return_exceptions=True)

    async def _write(self, opening: Awaitable[Any]) -> None:
        store = None
        try:
            store = await opening
        except ThinkwireError as error:
            self.trouble = error
        while (write := await self._writes.get()) is not None:
            if self.trouble is None:
                try:
                    await write(store)
                except ThinkwireError as error:
                    self.trouble = error
            self._writes.task_done()
        self._writes.task_done()
        if store is not None and not self._lent:
            with contextlib.suppress(ThinkwireError):
                await store.aclose()
