"""Keeping behind: a conversation that begins before its store is open, and is durable when it says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from thinkwire.errors import ThinkwireError
from thinkwire.messages import Turn
from thinkwire.session.persistence import InMemoryStore
from thinkwire.store.errors import StoreFailed
from thinkwire.store.ids import new_id
from thinkwire.store.rows import MessageRow

Write = Callable[[Any], Awaitable[Any]]


class WriteBehindStore:
    """Everything is at hand at once and written in order as soon as the store is open.

    Opening a store may cost half a second of computing; the model's first words need not wait for it. A turn
    that is said to be complete has been written. If the store cannot be opened or fails, the conversation
    goes on and `trouble` says why it is not kept.
    """

    def __init__(
        self, opening: Awaitable[Any], conversation_id: str, *, lent: bool = False, **described: Any
    ) -> None:
        """A conversation is made with its first turn. A store that is `lent` is left open."""
        self._memory = InMemoryStore()
        self._conversation_id = conversation_id
        self._writes: asyncio.Queue[Write | None] = asyncio.Queue()
        self._described: dict[str, Any] | None = described
        self._lent = lent
        self.trouble: ThinkwireError | None = None
        self._writer = asyncio.create_task(self._write(opening))

    async def append(self, conversation_id: str, turn: Turn, **fields: Any) -> MessageRow:
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

    async def path(self, conversation_id: str) -> list[MessageRow]:
        return await self._memory.path(conversation_id)

    async def written(self) -> None:
        """Until everything so far is in the store, or cannot be."""
        await self._writes.join()

    async def aclose(self) -> None:
        self._writes.put_nowait(None)
        await asyncio.gather(self._writer, return_exceptions=True)

    async def _write(self, opening: Awaitable[Any]) -> None:
        store = await self._tried(opening)
        while (write := await self._writes.get()) is not None:
            if self.trouble is None:
                await self._tried(write(store))
            self._writes.task_done()
        self._writes.task_done()
        if store is not None and not self._lent:
            with contextlib.suppress(ThinkwireError):
                await store.aclose()

    async def _tried(self, work: Awaitable[Any]) -> Any:
        """What it comes to. Whatever goes wrong is `trouble`: somebody waits for this to go on."""
        try:
            return await work
        except ThinkwireError as error:
            self.trouble = error
        except Exception as error:
            self.trouble = StoreFailed(f"the store failed: {type(error).__name__}")
            self.trouble.__cause__ = error
        return None
