"""One answer in the making: a session's run, told as frames and kept, whether or not anyone watches."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import msgspec

from thinkwire.errors import Failure, ThinkwireError
from thinkwire.messages import Block, Turn
from thinkwire.notes import Note
from thinkwire.session import SessionEvent, SessionNote, TurnEnded, TurnSaved
from thinkwire.session.formatting import what_failed
from thinkwire.store.ids import new_id
from thinkwire.web.api.message_groups import groups
from thinkwire.web.approvals import Approvals, Decision
from thinkwire.web.broadcast import Broadcast
from thinkwire.web.errors import failure_of
from thinkwire.web.metadata import metadata_of
from thinkwire.web.runs.branch_writer import BranchWriter, ExplainingSession
from thinkwire.web.ui_stream.encoder import UIStreamEncoder

BROKEN = Failure("overloaded", "the server failed on this answer; its log says why", code="broken")

_FINISH = {"stop": "stop", "length": "length", "refusal": "content-filter", "tool_calls": "tool-calls"}
_log = logging.getLogger("thinkwire.web")


class UserInput(msgspec.Struct, frozen=True):
    """What begins an answer: something said, or nothing when the conversation goes on as it stands."""

    text: str | None = None
    files: tuple[Block, ...] = ()
    notes: tuple[Note, ...] = ()
    """What there is to say about it already."""


class WebRun:
    """Made when the answer begins. `broadcast` has everything that is told of it."""

    def __init__(
        self,
        talk: ExplainingSession,
        line: BranchWriter,
        message_id: str,
        parent_id: str | None = None,
        *,
        owner: str = "",
        needs_owner: bool = False,
    ) -> None:
        """`parent_id` is what stands before it, where nothing more is said first. With `needs_owner`, the
        local owner began it, and nobody else may approve its calls.
        """
        self._needs_owner = needs_owner
        self.id = new_id()
        self.owner = owner
        self.message_id = message_id
        self.conversation_id = talk.conversation_id
        self.broadcast = Broadcast()
        self.approvals = Approvals(self.broadcast.say)
        self.ending: str | None = None
        self._talk = talk
        self.base = line.head
        """The message after which this begins."""
        self._line = line
        self._parent_id = parent_id
        self._teller = UIStreamEncoder()
        self._began = False
        self._stopped = False
        self._remarks: list[Note] = []
        self._task: asyncio.Task[None] | None = None
        self._run: Any = None
        talk.ask = self.approvals.ask
        talk.keeper = line

    @property
    def over(self) -> bool:
        return self.broadcast.over

    def begin(self, saying: UserInput) -> None:
        """Starts; raises what keeps it from being started at all."""
        self._run = self._talk.start(saying.text, saying.files)
        self._remarks += saying.notes
        if saying.text is None and not saying.files:
            self._begin(self._parent_id)
        self._task = asyncio.create_task(self._tell())

    def decide(self, call_id: str, decision: Decision, *, is_owner: bool) -> bool | None:
        """Decide on a call that waits; False when none does, None when only the local owner may allow it."""
        if self._needs_owner and not is_owner and decision != "no":
            return None
        return self.approvals.decide(call_id, decision)

    async def stop(self) -> None:
        """Everything that arrived is kept when this returns."""
        self._stopped = True
        await self._run.interrupt()
        await self.wait()

    async def wait(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _tell(self) -> None:
        error: ThinkwireError | None = None
        ended: TurnEnded | None = None
        try:
            async for happening in self._run.follow():
                self._say(happening)
                if isinstance(happening, TurnEnded):
                    ended = happening
        except ThinkwireError as trouble:
            error = trouble
        try:
            await self._end(ended, error)
        except Exception as trouble:
            if not isinstance(trouble, ThinkwireError):
                _log.exception("the end of answer %s broke", self.message_id)
            self._last_words({"status": "failed"}, failure_of(error) if error else BROKEN)
        finally:
            self.broadcast.end()

    def _say(self, happening: SessionEvent) -> None:
        if isinstance(happening, TurnSaved) and happening.role == "user" and not self._began:
            self._begin(happening.id)
            return
        if isinstance(happening, SessionNote):
            self._remarks.append(happening.note)
        self.broadcast.say(*self._teller.tell(happening))

    def _begin(self, parent_id: str | None) -> None:
        self._began = True
        told = {
            "status": "streaming",
            "run": self.id,
            "model": self._talk.settings.get("model"),
            "created": time.time(),
            "parent_id": parent_id,
        }
        frames = [frame for note in self._remarks for frame in self._teller.tell(SessionNote(note))]
        start = {"type": "start", "messageId": self.message_id, "messageMetadata": told}
        self.broadcast.say(start, *frames)

    async def _end(self, ended: TurnEnded | None, error: ThinkwireError | None) -> None:
        if not self._began:
            self._begin(self._parent_id)
        self.broadcast.say(*self._teller.close())
        failure = ended.failure if ended else self._failure(error)
        self.ending = ended.ending if ended else "failed" if failure else "interrupted"
        if self._line.last_answer is None:
            await self._keep_nothing(failure)
        await self._line.remark(self._remarks)
        group = groups(await self._line.path(self.conversation_id))[-1]
        self._last_words(metadata_of(group), failure)

    def _failure(self, error: ThinkwireError | None) -> Failure | None:
        """Why a run ended without an end."""
        if error is not None:
            return failure_of(error)
        return None if self._stopped else BROKEN

    async def _keep_nothing(self, failure: Failure | None) -> None:
        """An answer of which nothing came is kept too, with the reason."""
        status = "failed" if failure else "interrupted"
        await self._line.append(self.conversation_id, Turn("assistant"), status=status, failure=failure)

    def _last_words(self, metadata: dict[str, Any], failure: Failure | None) -> None:
        """A reader may stop at an error, so that what is known about the message comes before it."""
        reason = "error" if failure else _FINISH.get(str(metadata.get("finish")), "other")
        finish = {"type": "finish", "finishReason": reason, "messageMetadata": metadata}
        self.broadcast.say(finish)
        if failure is not None:
            self.broadcast.say({"type": "error", "errorText": what_failed(failure)})
        elif metadata.get("status") == "interrupted":
            self.broadcast.say({"type": "abort", "reason": "stopped"})
