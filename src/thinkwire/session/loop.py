"""The turn loop: ask, run the tools that were called, ask again, until the model has answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from thinkwire.errors import Failure, ProviderError
from thinkwire.events import Answer
from thinkwire.messages import Block, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.session.events import (
    Ending,
    SessionEvent,
    SessionNote,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnSaved,
)
from thinkwire.session.next_request import NextRequest, RetryHint
from thinkwire.session.persistence import Recorder
from thinkwire.session.tools import Outcome
from thinkwire.store.rows import Status
from thinkwire.usage import Usage, added

if TYPE_CHECKING:
    from thinkwire.session.session import Session

Batches = AsyncGenerator[list[SessionEvent], None]

MOST_REQUESTS = 100
"""In one turn; a loop that never ends is stopped and said."""
MOST_CONTINUATIONS = 3
NUDGE = "You have thought about this but not answered yet. Give your answer now."


class TurnLoop:
    """One turn of a session, from what the user said to the last word of the answer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked: NextRequest
        self._answer: Answer
        self._recorder: Recorder | None = None
        self._results: list[ToolResult] = []
        self._usages: list[Usage | None] = []
        self._cost: float | None = 0.0
        self._continued = 0
        self._again = RetryHint()
        self._over = False
        self._compacted = False

    async def run(self, said: Turn | None) -> Batches:
        """Everything that happens. Without something said, the conversation goes on from where it stands."""
        try:
            async with aclosing(self._steps(said)) as batches:
                async for batch in batches:
                    yield batch
        except asyncio.CancelledError:
            # The task was asked to stop once; what arrived is kept before it does.
            yield await self._interrupted()

    async def _steps(self, said: Turn | None) -> Batches:
        if said is not None:
            yield [await self._keep(said)]
        while not self._over and len(self._usages) < MOST_REQUESTS:
            for part in (self._session.compact_if_needed, self._ask, self._go_on):
                async with aclosing(part()) as batches:
                    async for batch in batches:
                        yield batch
        if not self._over:
            note = Note("answer.continued", f"stopped after {MOST_REQUESTS} requests without an answer")
            yield [SessionNote(note), self._ended("lost")]

    async def _ask(self) -> Batches:
        """One request and its answer, kept."""
        self._asked = asked = await self._session.asked(self._again)
        self._again = RetryHint()
        if asked.notes:
            yield [SessionNote(note) for note in asked.notes]
        async with aclosing(self._answer_to(asked)) as batches:
            async for batch in batches:
                yield batch
        self._answer, kept = await self._end_answer(asked)
        yield [kept]

    async def _go_on(self) -> Batches:
        """What an answer leads to: its calls are run, it is asked for again, or it is the end."""
        answer = self._answer
        if answer.failure is not None:
            if not await self._make_room(answer.failure):
                yield [self._ended("failed", answer.failure)]
        elif answer.turn.tool_calls:
            async with aclosing(self._run_tools(answer.turn.tool_calls)) as batches:
                async for batch in batches:
                    yield batch
        elif answer.finish == "continue":
            return
        elif _has_answer(answer):
            yield [self._ended("complete")]
        elif (found := self._once_more(answer)) is not None:
            self._again, note = found
            yield [SessionNote(note)]
        else:
            yield [SessionNote(_lost(answer)), self._ended("lost")]

    async def _answer_to(self, asked: NextRequest) -> Batches:
        recorder = Recorder(self._session.keeper, self._session.conversation_id)
        async with aclosing(self._session.client.answer(asked.asking)) as batches:
            async for batch in batches:
                if self._recorder is None:
                    await recorder.begin()
                    self._recorder = recorder
                recorder.add(batch)
                yield list(batch)

    async def _end_answer(self, asked: NextRequest) -> tuple[Answer, TurnSaved]:
        recorder, self._recorder = self._recorder, None
        assert recorder is not None
        answer = recorder.answer()
        cost = self._session.cost(answer, asked)
        self._usages.append(answer.usage)
        self._cost = None if self._cost is None or cost is None else self._cost + cost
        self._session.learn(answer, asked)
        status: Status = "failed" if answer.failure else "complete"
        answer = await recorder.end(status, cost=cost)
        return answer, TurnSaved(recorder.id or "", "assistant", status)

    async def _keep(self, turn: Turn) -> TurnSaved:
        kept = await self._session.keeper.append(self._session.conversation_id, turn)
        return TurnSaved(kept.id, turn.role, "complete")

    async def _run_tools(self, calls: Sequence[ToolCall]) -> Batches:
        """The results in the order of the calls. Calls that only look are run side by side."""
        self._results = []
        for group in self._groups(calls):
            yield [ToolStarted(call) for call in group]
            outcomes = await asyncio.gather(*(self._session.run_tool(call) for call in group))
            yield [event for outcome in outcomes for event in self._ran(outcome)]
        results: tuple[Block, ...] = tuple(self._results)
        self._results = []
        yield [await self._keep(Turn("user", results))]

    def _ran(self, outcome: Outcome) -> Iterator[SessionEvent]:
        self._results.append(outcome.result)
        for note in outcome.notes:
            yield SessionNote(note)
        yield ToolEnded(outcome.result.call_id, outcome.result, outcome.elapsed)

    def _groups(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
        reads = {spec.name for spec in self._session.toolbox.specs if spec.effect == "read"}
        group: list[ToolCall] = []
        for call in calls:
            if call.name in reads:
                group.append(call)
                continue
            if group:
                yield group
            yield [call]
            group = []
        if group:
            yield group

    def _once_more(self, answer: Answer) -> tuple[RetryHint, Note] | None:
        """How to ask once more for an answer that has thinking and no words; None when that is in vain."""
        if answer.finish in ("refusal", "cancelled", "error") or self._continued >= MOST_CONTINUATIONS:
            return None
        self._continued += 1
        if answer.finish != "length":
            return RetryHint(nudge=NUDGE), Note(
                "answer.continued", "the model thought and said nothing; asked again"
            )
        more = self._asked.more_room()
        if more is not None:
            message = f"thinking used up the output limit; asked again with {more:,} tokens"
            return RetryHint(max_tokens=more), Note("answer.continued", message)
        message = "thinking used up the largest output limit; asked again with as little thinking as possible"
        return RetryHint(least_thinking=True), Note("answer.continued", message)

    async def _make_room(self, failure: Failure) -> bool:
        """Once, when the provider says that the conversation is too long."""
        if failure.kind != "context_too_long" or self._compacted:
            return False
        self._compacted = True
        try:
            return await self._session.compact() is not None
        except ProviderError:
            return False

    async def _interrupted(self) -> list[SessionEvent]:
        kept: list[SessionEvent] = []
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            answer = await recorder.end("interrupted")
            self._usages.append(answer.usage)
            self._cost = None
            kept.append(TurnSaved(recorder.id or "", "assistant", "interrupted"))
        if self._results:
            kept.append(await self._keep(Turn("user", tuple(self._results))))
        return [*kept, self._ended("interrupted")]

    def _ended(self, ending: Ending, failure: Failure | None = None) -> TurnEnded:
        self._over = True
        return TurnEnded(
            ending,
            failure,
            added(self._usages),
            requests=len(self._usages),
            cost=self._cost if self._usages else None,
        )


def _has_answer(answer: Answer) -> bool:
    """Thinking is no answer. Declining is one."""
    if answer.finish == "refusal":
        return True
    return any(
        block.text.strip() if isinstance(block, Text) else not isinstance(block, Thinking)
        for block in answer.turn.blocks
    )


def _lost(answer: Answer) -> Note:
    if answer.finish == "length":
        return Note("answer.lost_to_thinking", "thinking used up the output limit, and there is no answer")
    return Note("answer.lost_to_thinking", "the model thought and gave no answer")
