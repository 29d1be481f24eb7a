"""Answers in the making that several processes share: any of them can follow, resume and stop any."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Iterable

import msgspec

from thinkwire.errors import ThinkwireError
from thinkwire.session import Busy
from thinkwire.store import Store
from thinkwire.store.ids import new_id
from thinkwire.store.process import is_gone, this_process
from thinkwire.web.api.message_groups import groups
from thinkwire.web.approvals import Decision
from thinkwire.web.broadcast import Numbered
from thinkwire.web.change_feed import ChangeFeed
from thinkwire.web.errors import Problem
from thinkwire.web.metadata import metadata_of
from thinkwire.web.runs.redis_bus import RENEW, RedisBus, RunCommand, RunLease
from thinkwire.web.runs.registry import LINGER, ActiveRun, Begin, RunHandle, RunRegistry, not_owner
from thinkwire.web.runs.run import WebRun
from thinkwire.web.ui_stream.encoder import merged

PATIENCE = 10.0
"""Seconds to wait for another process to stop an answer."""
_TRIES, _PAUSE = 6, 0.06
"""How often, and how far apart, a claim is tried while another process ends its answer."""
_SETTLE_EVERY = 4
"""Signs of life between two looks for answers whose process is gone."""

_log = logging.getLogger("thinkwire.web")


class RedisRunRegistry(RunRegistry):
    """The answers of all processes, by way of Redis."""

    def __init__(self, store: Store, board: RedisBus, news: ChangeFeed, linger: float = LINGER) -> None:
        super().__init__(news, linger)
        self._store = store
        self._board = board
        self._notices: dict[str, RunLease] = {}
        self._publishers: dict[str, asyncio.Task[None]] = {}

    async def open(self) -> None:
        await self._board.ping()
        self._later(self._renew())
        self._later(self._obey())

    async def find(self, conversation_id: str) -> RunHandle | None:
        here = await super().find(conversation_id)
        notice = (await self._board.active([conversation_id])).get(conversation_id)
        if here is not None and (notice is None or notice.run == here.id):
            return here
        if notice is not None:
            return RemoteRun(self._board, self._store, conversation_id, notice)
        notice = await self._board.last(conversation_id)
        if notice is None:
            return None
        return RemoteRun(self._board, self._store, conversation_id, notice, over=True)

    async def stop(self, conversation_id: str) -> bool:
        if await super().stop(conversation_id):
            return True
        notice = (await self._board.active([conversation_id])).get(conversation_id)
        if notice is None:
            return False
        if not await self._abandoned(conversation_id, notice):
            await self._board.order(notice.inbox, RunCommand("stop", conversation_id, notice.run))
            await self._until_free(conversation_id, notice)
        return True

    async def approve(
        self, conversation_id: str, call_id: str, decision: Decision, *, is_owner: bool = False
    ) -> bool:
        if await super().approve(conversation_id, call_id, decision, is_owner=is_owner):
            return True
        notice = (await self._board.active([conversation_id])).get(conversation_id)
        if notice is None or notice.inbox == self._board.inbox:
            return False
        reply = new_id()
        order = RunCommand("approve", conversation_id, notice.run, call_id, decision, reply, is_owner)
        await self._board.order(notice.inbox, order)
        word = await self._board.reply(reply)
        if word == "not_owner":
            raise not_owner()
        return word == "yes"

    async def running(self, conversation_ids: Iterable[str]) -> dict[str, ActiveRun]:
        ids = list(conversation_ids)
        here = await super().running(ids)
        others = await self._board.active([id for id in ids if id not in here])
        now = time.time()
        return here | {
            id: ActiveRun(notice.message_id, notice.base)
            for id, notice in others.items()
            if not is_gone(notice.process, now, now)
        }

    async def _begun(self, conversation_id: str, begin: Begin) -> WebRun:
        """Claimed before anything is said, and told again once it is known which message it will be."""
        claim = RunLease(new_id(), "", None, this_process(), self._board.inbox)
        await self._claim_shared(conversation_id, claim)
        try:
            answering = await begin()
        except BaseException:
            with contextlib.suppress(Problem):
                await self._board.free(conversation_id, claim)
            raise
        notice = msgspec.structs.replace(
            claim, run=answering.id, message_id=answering.message_id, base=answering.base
        )
        self._notices[conversation_id] = notice
        with contextlib.suppress(Problem):
            await self._board.renew({conversation_id: notice})
        self._publishers[answering.id] = asyncio.create_task(self._publish(answering))
        return answering

    async def _claim_shared(self, conversation_id: str, claim: RunLease) -> None:
        for _ in range(_TRIES):
            if await self._board.claim(conversation_id, claim):
                return
            notice = (await self._board.active([conversation_id])).get(conversation_id)
            if notice is None or not await self._abandoned(conversation_id, notice):
                await asyncio.sleep(_PAUSE)
        raise Busy("an answer is being made in this conversation already: wait for it, or stop it")

    async def _abandoned(self, conversation_id: str, notice: RunLease) -> bool:
        """Whether its process is gone from this machine; then nobody makes the answer any more."""
        now = time.time()
        if not is_gone(notice.process, now, now):
            return False
        await self._board.free(conversation_id, notice)
        await self._store.settle(conversation_id)
        return True

    async def _until_free(self, conversation_id: str, notice: RunLease) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            now = (await self._board.active([conversation_id])).get(conversation_id)
            if now is None or now.run != notice.run or await self._abandoned(conversation_id, now):
                return
            await asyncio.sleep(_PAUSE)
        raise Problem(504, "slow", "the process that makes this answer does not stop it", advice="retry")

    async def _publish(self, answering: WebRun) -> None:
        """Tells the others; if Redis fails, whoever reads here still reads."""
        try:
            async for batch in answering.broadcast.follow(joined=False):
                await self._board.publish(answering.id, batch)
        except Problem as error:
            _log.warning("answer %s is told to nobody else: %s", answering.id, error)

    async def _ended(self, answering: WebRun) -> None:
        await asyncio.wait([self._publishers.pop(answering.id)])
        notice = self._notices.pop(answering.conversation_id)
        try:
            await self._board.end(answering.conversation_id, notice, answering.broadcast.count, self.linger)
        except Problem as error:
            _log.warning("the end of answer %s is told to nobody else: %s", answering.id, error)

    async def _renew(self) -> None:
        """Signs of life, and an end for what dead processes were writing."""
        beats = 0
        while True:
            await asyncio.sleep(RENEW)
            beats += 1
            try:
                if self._notices:
                    await self._board.renew(dict(self._notices))
                if beats % _SETTLE_EVERY == 0:
                    await self._store.settle()
            except ThinkwireError as error:
                _log.warning("no sign of life was given: %s", error)

    async def _obey(self) -> None:
        while True:
            try:
                order = await self._board.next_order()
            except Problem as error:
                _log.warning("nobody can ask for anything: %s", error)
                await asyncio.sleep(1.0)
                continue
            if order is not None:
                self._later(self._do(order))

    async def _do(self, order: RunCommand) -> None:
        answering = self._answers.get(order.conversation_id)
        if answering is None or answering.id != order.run:
            return
        if order.what == "stop":
            await answering.stop()
        elif order.what == "approve":
            decision: Decision = order.decision  # type: ignore[assignment]
            decided = answering.decide(order.call_id, decision, is_owner=order.is_owner)
            word = "not_owner" if decided is None else "yes" if decided else "no"
            with contextlib.suppress(Problem):
                await self._board.answer(order.reply, word)


class RemoteRun:
    """An answer that another process makes."""

    def __init__(
        self, board: RedisBus, store: Store, conversation_id: str, notice: RunLease, *, over: bool = False
    ) -> None:
        self._board = board
        self._store = store
        self._conversation_id = conversation_id
        self._notice = notice
        self.id = notice.run
        self.message_id = notice.message_id
        self.over = over

    async def follow(self, after: int = 0) -> AsyncGenerator[list[Numbered], None]:
        at = after
        while True:
            frames, over = await self._board.read(self.id, at)
            if not frames and not over and not self.over and await self._is_lost(at):
                yield await self._lost(at)
                return
            if frames:
                at = frames[-1][0]
                yield list(merged(frames))
            if over or (self.over and not frames):
                return

    async def _is_lost(self, at: int) -> bool:
        """Whether nobody makes it any more, and nothing of it is left to read."""
        now = time.time()
        notice = (await self._board.active([self._conversation_id])).get(self._conversation_id)
        if notice is not None and notice.process == self._notice.process:
            if not is_gone(notice.process, now, now):
                return False
            await self._board.free(self._conversation_id, notice)
        frames, over = await self._board.read(self.id, at, wait=False)
        return not frames and not over

    async def _lost(self, at: int) -> list[Numbered]:
        """The end that its process could not tell."""
        await self._store.settle(self._conversation_id)
        path = await self._store.path(self._conversation_id)
        group = next((group for group in groups(path) if group.id == self.message_id), None)
        told = metadata_of(group) if group else {"status": "interrupted"}
        finish = {"type": "finish", "finishReason": "other", "messageMetadata": told}
        return [(at + 1, finish), (at + 2, {"type": "abort", "reason": "the server was interrupted"})]
