"""Answers in the making, by conversation: at most one each, going on whether or not anyone watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Protocol

import msgspec

from thinkwire.session import Busy
from thinkwire.web.approvals import Decision
from thinkwire.web.broadcast import Numbered
from thinkwire.web.change_feed import ChangeFeed
from thinkwire.web.errors import Problem
from thinkwire.web.runs.run import WebRun

LINGER = 60.0
"""Seconds for which an answer that is over can still be read to its end by whoever lost the connection."""


_LAST_WORDS = 5.0
"""Seconds for telling others that an answer is over."""


class RunHandle(Protocol):
    """An answer that can be followed, wherever it is made."""

    @property
    def id(self) -> str: ...

    @property
    def message_id(self) -> str: ...

    @property
    def over(self) -> bool: ...

    def follow(self, after: int = 0) -> AsyncGenerator[list[Numbered], None]: ...


class ActiveRun(msgspec.Struct, frozen=True):
    """An answer in the making: the message that it will be, and the one after which it began."""

    message_id: str
    base: str | None = None


class _LocalRun:
    """An answer that this process makes."""

    def __init__(self, answering: WebRun) -> None:
        self._answering = answering
        self.id = answering.id
        self.message_id = answering.message_id

    @property
    def over(self) -> bool:
        return self._answering.over

    def follow(self, after: int = 0) -> AsyncGenerator[list[Numbered], None]:
        return self._answering.broadcast.follow(after)


Begin = Callable[[], Awaitable[WebRun]]


class RunRegistry:
    """The answers of this process."""

    def __init__(self, news: ChangeFeed, linger: float = LINGER) -> None:
        self.linger = linger
        self._news = news
        self._answers: dict[str, WebRun] = {}
        self._claimed: dict[str, asyncio.Event] = {}
        """Conversations with an answer, and what is set when they are free again."""
        self._closing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Before the first answer."""

    async def start(self, conversation_id: str, begin: Begin) -> RunHandle:
        """Begins an answer; Busy when the conversation has one in the making."""
        if self._closing:
            raise Busy("the server is about to end; try again in a moment")
        await self._claim(conversation_id)
        try:
            answering = await self._begun(conversation_id, begin)
        except BaseException:
            self._free(conversation_id)
            raise
        self._answers[conversation_id] = answering
        self._later(self._until_over(answering))
        await self._news.tell(answering.owner, conversation_id)
        return _LocalRun(answering)

    async def find(self, conversation_id: str) -> RunHandle | None:
        """The answer in the making, or one that has just ended."""
        answering = self._answers.get(conversation_id)
        return _LocalRun(answering) if answering else None

    async def stop(self, conversation_id: str) -> bool:
        """Whether there was something to stop; it is kept when this returns."""
        answering = self._answers.get(conversation_id)
        if answering is None or answering.over:
            return False
        await answering.stop()
        return True

    async def approve(
        self, conversation_id: str, call_id: str, decision: Decision, *, is_owner: bool = False
    ) -> bool:
        """Decide on a call that waits; False when none does, Problem when only the owner may allow it."""
        answering = self._answers.get(conversation_id)
        if answering is None:
            return False
        decided = answering.decide(call_id, decision, is_owner=is_owner)
        if decided is None:
            raise not_owner()
        return decided

    async def running(self, conversation_ids: Iterable[str]) -> dict[str, ActiveRun]:
        """Of these conversations, those with an answer in the making."""
        return {
            id: ActiveRun(found.message_id, found.base)
            for id in conversation_ids
            if (found := self._answers.get(id)) is not None and not found.over
        }

    async def aclose(self) -> None:
        """Stops everything; what arrived is kept."""
        self._closing = True
        await asyncio.gather(*(found.stop() for found in self._answers.values() if not found.over))
        told = [asyncio.ensure_future(claim.wait()) for claim in self._claimed.values()]
        if told:
            await asyncio.wait(told, timeout=_LAST_WORDS)
        for task in list(self._tasks):
            task.cancel()
        for one in told:
            one.cancel()
        await asyncio.gather(*self._tasks, *told, return_exceptions=True)

    async def _claim(self, conversation_id: str) -> None:
        while (claim := self._claimed.get(conversation_id)) is not None:
            answering = self._answers.get(conversation_id)
            if answering is None or not answering.over:
                raise Busy("an answer is being made in this conversation already: wait for it, or stop it")
            await claim.wait()
        self._claimed[conversation_id] = asyncio.Event()

    def _free(self, conversation_id: str) -> None:
        self._claimed.pop(conversation_id).set()

    async def _begun(self, conversation_id: str, begin: Begin) -> WebRun:
        """Begins it; whoever shares answers with others makes sure that nobody else does."""
        return await begin()

    async def _ended(self, answering: WebRun) -> None:
        """For whoever must be told that an answer is over."""

    async def _until_over(self, answering: WebRun) -> None:
        await answering.wait()
        try:
            await self._ended(answering)
        finally:
            self._free(answering.conversation_id)
        await self._news.tell(answering.owner, answering.conversation_id)
        await asyncio.sleep(self.linger)
        if self._answers.get(answering.conversation_id) is answering:
            del self._answers[answering.conversation_id]

    def _later(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def not_owner() -> Problem:
    message = "the owner of this machine began this answer, so only the owner may allow its calls"
    return Problem(403, "not_owner", message)
