"""What happens in a run, put on the screen: gathered, and drawn about ten times a second."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque

from textual.widget import Widget

from thinkwire.events import (
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Failed,
    Finished,
    Noted,
    Started,
)
from thinkwire.messages import Block, Text, Thinking, ToolCall
from thinkwire.notes import Note
from thinkwire.session import Compacted, SessionEvent, SessionNote, ToolEnded, ToolStarted, TurnEnded
from thinkwire.terminal.activity import Activity, subject_of_thought
from thinkwire.terminal.markdown.widget import MarkdownView
from thinkwire.terminal.notice import FailureNotice
from thinkwire.terminal.widgets.conversation import ConversationView
from thinkwire.terminal.widgets.thinking import ThinkingView
from thinkwire.terminal.widgets.tool_card import ToolCard
from thinkwire.usage import Usage

BEAT = 0.1
"""Seconds between two drawings; more when drawing itself takes long."""
SLOWEST = 0.6
"""Seconds between two drawings, however long they take."""
IDLE = 2.5
"""How much longer than drawing the rest between two drawings is: keys are dealt with meanwhile."""
ROOM = 50_000
"""Characters that are added in one drawing. Most of them are not drawn: only the last ones are seen."""
UNREADABLE = {
    "redacted": "redacted by the provider",
    "hidden": "sealed: only the provider can read it",
}
NOT_SHOWN = "not shown by the provider"
PARTLY = "part of it redacted by the provider"


class RunRenderer:
    """One run. `tell` is cheap; the screen follows with the next beat."""

    def __init__(self, talk: ConversationView, activity: Activity, said: set[tuple[str, str]]) -> None:
        self._talk = talk
        self._activity = activity
        self._said = said
        """Notes that were shown already: code and message."""
        self._pending: deque[SessionEvent] = deque()
        self._answer = AnswerRenderer(talk, activity)
        self._cards: dict[str, ToolCard] = self._answer.cards
        self._drawing = asyncio.Lock()
        self._beat = asyncio.create_task(self._draw_on())
        self.ended: TurnEnded | None = None

    def tell(self, happening: SessionEvent) -> None:
        self._pending.append(happening)

    async def close(self) -> None:
        """Everything that was told is on the screen."""
        self._beat.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._beat
        while self._pending:
            await self.draw()
            await asyncio.sleep(0)
        self._answer.tick()

    async def _draw_on(self) -> None:
        rest = BEAT
        while True:
            await asyncio.sleep(rest)
            began = time.monotonic()
            await asyncio.shield(self.draw())
            await self._talk.painted(within=SLOWEST)
            rest = min(max(BEAT, IDLE * (time.monotonic() - began)), SLOWEST)

    async def draw(self) -> None:
        """Shows what was told, but not more at once than is drawn in a moment."""
        async with self._drawing:
            room = ROOM
            while self._pending and room > 0:
                happening = self._next(room)
                await self._show(happening)
                room -= len(happening.text) if type(happening) is BlockGrew else 50
            self._answer.tick()

    def _next(self, room: int) -> SessionEvent:
        """What happened first; growth that belongs together is one."""
        first = self._pending.popleft()
        if type(first) is not BlockGrew:
            return first
        texts = [first.text]
        while self._pending and (room := room - len(texts[-1])) > 0:
            more = self._pending[0]
            if type(more) is not BlockGrew or more.index != first.index:
                break
            self._pending.popleft()
            texts.append(more.text)
        return BlockGrew(first.index, "".join(texts))

    async def _show(self, happening: SessionEvent) -> None:
        match happening:
            case Noted(note=note) | SessionNote(note=note):
                await self._note(note)
            case ToolStarted(call=call):
                card = self._cards.get(call.id) or await self._answer.card(call)
                card.show_call(call)
                self._activity.begin(f"Running {call.name}")
            case ToolEnded(call_id=call_id, result=result, elapsed=elapsed):
                if call_id in self._cards:
                    self._cards[call_id].show_result(result, elapsed)
                self._activity.begin("Thinking")
            case Compacted(turns=turns, before=before, after=after):
                line = f"{turns} earlier turns became a summary ({before:,} → {after:,} tokens)"
                await self._talk.say(line, kind="note")
            case TurnEnded():
                await self._end(happening)
            case _:
                await self._answer.show(happening)

    async def _note(self, note: Note) -> None:
        if note.code == "context.compacted" or (note.code, note.message) in self._said:
            return
        self._said.add((note.code, note.message))
        await self._talk.say(f"note: {note.message}", kind="note")

    async def _end(self, ended: TurnEnded) -> None:
        self.ended = ended
        self._answer.end()
        for card in self._cards.values():
            card.interrupt()
        if ended.failure is not None:
            await self._talk.put(FailureNotice(ended.failure, kept=self._answer.began))
        elif ended.ending == "lost":
            await self._talk.say("✗ The model thought and gave no answer.", "  F5 asks again.", kind="error")
        elif ended.ending == "interrupted":
            await self._talk.say("✗ Interrupted. What arrived is kept; F5 asks again.")


class AnswerRenderer:
    """The answer in the making: its blocks as widgets."""

    def __init__(self, talk: ConversationView, activity: Activity) -> None:
        self._talk = talk
        self._activity = activity
        self._since = time.monotonic()
        self._blocks: dict[int, Block] = {}
        self._texts: dict[int, MarkdownView] = {}
        self._sealed: set[int] = set()
        self._thought: ThinkingView | None = None
        """The stretch of thinking that is still open."""
        self._last: ThinkingView | None = None
        self._first: Widget | None = None
        self._tail = ""
        self.cards: dict[str, ToolCard] = {}
        self.began = False

    async def show(self, happening: SessionEvent) -> None:
        match happening:
            case BlockGrew(index=index, text=text):
                await self._grew(index, text)
            case BlockStarted(index=index, block=block):
                self._blocks[index] = block
                await self._started(index, block)
            case BlockSealed(index=index):
                self._sealed.add(index)
            case BlockEnded(index=index):
                await self._block_ended(index)
            case Started():
                self._begin()
            case Finished(usage=usage):
                await self._finished(usage)
            case Failed():
                self.end()

    def tick(self) -> None:
        if self._thought is not None:
            self._thought.tick()

    def end(self) -> None:
        """The stretch of thinking that is open, if one is, is over."""
        if self._thought is not None:
            self._thought.end()
            self._last, self._thought = self._thought, None

    async def card(self, call: ToolCall) -> ToolCard:
        self.cards[call.id] = card = ToolCard(call)
        await self._put(card)
        return card

    def _begin(self) -> None:
        self.end()
        self._since = time.monotonic()
        self._blocks.clear()
        self._texts.clear()
        self._sealed.clear()
        self._last = self._first = None
        self._tail = ""
        self._activity.begin("Thinking")

    async def _started(self, index: int, block: Block) -> None:
        match block:
            case Thinking(text=text):
                if self._thought is not None:
                    await self._thought.part()
                self._activity.begin("Thinking")
                await self._grew(index, text)
            case Text(text=text):
                await self._grew(index, text)
            case ToolCall(name=name):
                self.end()
                self._activity.begin(f"Calling {name}")
                await self.card(block)

    async def _grew(self, index: int, text: str) -> None:
        if not text:
            return
        block = self._blocks.get(index)
        if isinstance(block, Thinking):
            thought = self._thought or await self._think()
            await thought.add(text)
            self._tail = (self._tail + text)[-2_000:]
            self._activity.about(subject_of_thought(self._tail))
        elif isinstance(block, Text):
            self.end()
            self._activity.begin("Answering")
            if index not in self._texts:
                self._texts[index] = MarkdownView(classes="answer")
                await self._put(self._texts[index])
            self._texts[index].add(text)

    async def _think(self) -> ThinkingView:
        self._thought = thought = ThinkingView(began=self._since if self._first is None else time.monotonic())
        await self._put(thought)
        return thought

    async def _block_ended(self, index: int) -> None:
        """Thinking that nobody can read leaves one line; without a seal it leaves none."""
        block = self._blocks.get(index)
        if not isinstance(block, Thinking) or block.text:
            return
        if self._thought is not None:
            if block.form == "redacted":
                self._thought.remark(PARTLY)
            return
        sealed = index in self._sealed or block.seal is not None
        if sealed and (self._last is None or self._last.ended):
            thought = await self._think()
            thought.remark(UNREADABLE.get(block.form, UNREADABLE["hidden"]))

    async def _finished(self, usage: Usage | None) -> None:
        self.end()
        tokens = usage.output_reasoning if usage else None
        if self._last is not None:
            self._last.measure(tokens)
        elif tokens:
            thought = ThinkingView(began=self._since)
            await self._talk.put(thought, before=self._first)
            thought.end()
            thought.measure(tokens)
            thought.remark(NOT_SHOWN)

    async def _put(self, widget: Widget) -> None:
        self.began = True
        self._first = self._first or widget
        await self._talk.put(widget)
