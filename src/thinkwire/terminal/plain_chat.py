"""The plain chat: lines in, lines out, for pipes and slow terminals. It loads no screen."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import nullcontext
from typing import Literal, TextIO

from thinkwire.errors import ThinkwireError
from thinkwire.events import BlockGrew, BlockStarted, Finished, Noted, Started
from thinkwire.messages import Text, Thinking, ToolCall, ToolResult
from thinkwire.session import (
    Compacted,
    Run,
    Session,
    SessionEvent,
    SessionNote,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from thinkwire.session.commands import (
    Action,
    ApplyTheme,
    Choose,
    Continue,
    Copy,
    Export,
    Quit,
    Retry,
    StartConversation,
    is_command,
    run_command,
)
from thinkwire.session.formatting import (
    count,
    one_line,
    printable,
    thought_for,
    tokens,
    unmistakable,
    what_failed,
    what_to_do,
)
from thinkwire.session.tools import Spec
from thinkwire.settings import thinking_shown
from thinkwire.store.cancellation import run_to_completion
from thinkwire.terminal.changes import change_of, subject_of
from thinkwire.terminal.chat.conversations import ConversationManager, Earlier
from thinkwire.terminal.files import exported, shown
from thinkwire.terminal.interrupts import taking_interrupts
from thinkwire.terminal.mentions import attachments
from thinkwire.terminal.stdin import StdinLines

_LISTED = 20


class PlainOutput:
    """Standard output: thinking behind `│`, in dim italics where there is a terminal with colours."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        colours = out.isatty() and "NO_COLOR" not in os.environ
        self._dim, self._usual = ("\x1b[2;3m", "\x1b[0m") if colours else ("", "")
        self._open: str | None = None
        self._at_start = True

    def line(self, text: str = "") -> None:
        self.close()
        self._out.write(printable(text) + "\n")
        self._out.flush()

    def ask(self, text: str) -> None:
        self.close()
        self._out.write(text)
        self._out.flush()

    def words(self, kind: Literal["answer", "thinking"], text: str) -> None:
        """More words of an answer, or of the thinking before it."""
        if self._open != kind:
            self.close()
            self._open, self._at_start = kind, True
        text = printable(text)
        if kind == "thinking":
            begin = "│ " if self._at_start else ""
            body = begin + text[:-1].replace("\n", "\n│ ") + text[-1:]
            self._out.write(f"{self._dim}{body}{self._usual}")
        else:
            self._out.write(text)
        self._at_start = text.endswith("\n")
        self._out.flush()

    def close(self) -> None:
        if self._open is not None and not self._at_start:
            self._out.write("\n")
        self._open = None


class PlainChat:
    """A chat by lines."""

    def __init__(self, desk: ConversationManager, source: TextIO, out: TextIO) -> None:
        self._desk = desk
        self._lines = StdinLines(source.fileno())
        self._page = PlainOutput(out)
        self._asks = source.isatty()
        self._found: list[Earlier] = []
        self._kinds: dict[int, type] = {}
        self._thought = False
        self._code = 0

    @property
    def session(self) -> Session:
        return self._desk.session

    async def chat(self) -> int:
        """Until the end of the input, or /quit; the exit code."""
        try:
            await self._begin()
        except ThinkwireError as error:
            self._page.line(f"✗ {error}")
            return 1
        while True:
            if self._asks:
                self._page.ask("> ")
            text = await self._lines.next()
            if text is None or not await self._take(text.strip()):
                return self._code

    async def _begin(self) -> None:
        self._desk.open(self._approve)
        if self._desk.options.going_on is not None:
            await self._desk.go_on_as_asked()
        for line in await self._desk.serve_tools():
            self._page.line(line)
        if self.session.client.simulated:
            self._page.line("SIMULATED: no model is asked; answers are made up.")
        self._page.line(f"{self.session.model} answers. /help lists the commands, /quit leaves.")

    async def _take(self, text: str) -> bool:
        """One line; False when it is the end."""
        if not text:
            return True
        if not is_command(text):
            await self._say(text)
            return True
        reply = await run_command(self.session, text)
        for line in reply.lines:
            self._page.line(line)
        return await self._act(reply.action) if reply.action is not None else True

    async def _act(self, action: Action) -> bool:
        match action:
            case Quit():
                return False
            case StartConversation():
                self._desk.begin()
                self._page.line("A new conversation.")
            case Continue(words=words):
                await self._go_on(words)
            case Retry():
                await self._say(None)
            case Choose(prefix=prefix, options=options):
                for option in options[:_LISTED]:
                    self._page.line(f"  {prefix}{option.text}  {option.detail}".rstrip())
                if len(options) > _LISTED:
                    self._page.line(f"  … {len(options) - _LISTED:,} more; `thinkwire models` lists them")
            case Export(name=name, data=data):
                self._page.line(exported(self._desk.options.folder, name, data)[1])
            case Copy() | ApplyTheme():
                self._page.line("There is no screen here; that works in the full chat.")
        return True

    async def _go_on(self, words: str) -> None:
        """By number of the list before, by id, or by words."""
        if words.isdecimal() and 0 < int(words) <= len(self._found):
            words = self._found[int(words) - 1].id
        try:
            found = await self._desk.go_on_with(words)
        except ThinkwireError as error:
            self._page.line(f"✗ {error}")
            return
        if isinstance(found, Session):
            self._page.line(f"Going on ({found.model}).")
            return
        self._found = found[:_LISTED]
        for number, earlier in enumerate(self._found, 1):
            self._page.line(f"{number:>3}  {shown(earlier)}")
        self._page.line("/resume NUMBER goes on with one." if self._found else "Nothing was found.")

    async def _say(self, text: str | None) -> None:
        try:
            blocks = attachments(text, self._desk.options.folder) if text else []
            await self._follow(self.session.start(text, blocks))
            await self._desk.settle()
        except ThinkwireError as error:
            self._code = 1
            self._page.line(f"✗ {error}")
        if self._desk.trouble is not None:
            self._page.line(f"This conversation is not kept: {self._desk.trouble}")

    async def _follow(self, run: Run) -> None:
        """Shows a run. Where somebody types, Ctrl+C stops it and the chat goes on."""
        stopping: list[asyncio.Task[None]] = []

        def stop() -> None:
            stopping.append(asyncio.ensure_future(run.interrupt()))

        try:
            with taking_interrupts(stop) if self._asks else nullcontext():
                async for happening in run.follow():
                    self._show(happening)
        finally:
            await run_to_completion(run.interrupt())

    def _show(self, happening: SessionEvent) -> None:
        match happening:
            case BlockGrew(index=index, text=text):
                self._grew(self._kinds.get(index), text)
            case BlockStarted(index=index, block=block):
                self._kinds[index] = type(block)
                if not isinstance(block, ToolCall):
                    self._grew(type(block), getattr(block, "text", None) or "")
            case Started():
                self._kinds.clear()
                self._thought = False
            case Finished(usage=usage):
                reasoned = usage.output_reasoning if usage else None
                if reasoned and not self._thought:
                    self._page.line(f"│ {thought_for(None)} · {count(reasoned)} tokens")
            case TurnEnded():
                self._ended(happening)
            case _ if (line := _aside(happening)) is not None:
                self._page.line(line)

    def _grew(self, kind: type | None, text: str) -> None:
        if not text:
            return
        if kind is Text:
            self._page.words("answer", text)
        elif kind is Thinking:
            self._thought = True
            if thinking_shown(self.session.settings):
                self._page.words("thinking", text)

    def _ended(self, ended: TurnEnded) -> None:
        self._code = 0 if ended.ending == "complete" else 1
        if ended.failure is not None:
            self._page.line(f"✗ {what_failed(ended.failure)}")
            self._page.line(f"  {what_to_do(ended.failure)} /retry asks again.")
        elif ended.ending == "lost":
            self._page.line("✗ The model thought and gave no answer. /retry asks again.")
        elif ended.ending == "interrupted":
            self._page.line("✗ Interrupted. What arrived is kept; /retry asks again.")
        self._page.line(f"({tokens(ended.usage)} tokens)")

    async def _approve(self, call: ToolCall, spec: Spec) -> bool | Literal["always"]:
        """Without a terminal there is nobody to ask: the next line is the next question, no answer."""
        if not self._asks:
            return False
        change = change_of(call)
        for line in change.lines if change else (unmistakable(call.arguments),):
            self._page.line(f"  {unmistakable(line)}")
        self._page.ask(f"May {call.name} run? [y]es, [n]o, [a]lways: ")
        word = (await self._lines.next() or "").strip().lower()[:1]
        return "always" if word == "a" else word == "y"


def _aside(happening: SessionEvent) -> str | None:
    match happening:
        case Noted(note=note) | SessionNote(note=note):
            return f"note: {note.message}"
        case ToolStarted(call=call):
            return f"→ {call.name} {subject_of(call)}"
        case ToolEnded(result=result):
            return f"{'✗' if result.failed else '←'} {_first_line(result)}"
        case Compacted(turns=turns, before=before, after=after):
            return f"{turns} earlier turns became a summary ({before:,} → {after:,} tokens)"
    return None


def _first_line(result: ToolResult) -> str:
    text = "\n".join(part.text for part in result.content if isinstance(part, Text))
    return one_line(text.strip().partition("\n")[0]) or "(nothing to read)"


async def run_plain(desk: ConversationManager) -> int:
    """The exit code. Everything that was said is kept when this returns."""
    try:
        if desk.lacks_key is not None:
            raise desk.lacks_key
        return await PlainChat(desk, sys.stdin, sys.stdout).chat()
    finally:
        await run_to_completion(desk.aclose())
