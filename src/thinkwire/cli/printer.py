"""A run as a person sees it: thinking dim on standard error, the answer on standard output."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress

import click

from thinkwire.errors import Failure
from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Noted, Started
from thinkwire.messages import Text, Thinking, ToolResult
from thinkwire.session import Compacted, SessionEvent, SessionNote, ToolEnded, ToolStarted, TurnEnded
from thinkwire.session.formatting import printable, what_failed, what_to_do

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TICK = 0.1


class Spinner:
    """A line on a terminal that says how long the model has been thinking; nothing where there is none."""

    def __init__(self) -> None:
        self._alive = sys.stderr.isatty()
        self._task: asyncio.Task[None] | None = None
        self._since = time.monotonic()

    def start(self) -> None:
        if self._alive and self._task is None:
            self._since = time.monotonic()
            self._task = asyncio.create_task(self._turn())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    async def _turn(self) -> None:
        with suppress(asyncio.CancelledError):
            for tick in range(1_000_000_000):
                seconds = int(time.monotonic() - self._since)
                sys.stderr.write(f"\r\x1b[K{_FRAMES[tick % len(_FRAMES)]} Thinking… {seconds}s")
                sys.stderr.flush()
                await asyncio.sleep(_TICK)


class Printer:
    """Prints what happens. Terminal control characters in what a model says are not obeyed."""

    def __init__(self, *, thinking: bool = True) -> None:
        self._thinking = thinking
        self._spinner = Spinner()
        self._kinds: dict[int, type] = {}
        self._open: str | None = None
        self._at_line_start = True

    def begin(self) -> None:
        self._spinner.start()

    def end(self) -> None:
        self._spinner.stop()
        self._close()

    def pause(self) -> None:
        """Makes room for a question."""
        self.end()

    def show(self, happening: SessionEvent) -> None:
        match happening:
            case BlockGrew(index=index, text=text):
                self._grew(self._kinds.get(index), text)
            case BlockStarted(index=index, block=block):
                self._kinds[index] = type(block)
                self._grew(type(block), getattr(block, "text", None) or "")
            case BlockEnded():
                self._close()
                self._spinner.start()
            case Started():
                self._kinds.clear()
            case TurnEnded():
                self.end()
            case _ if (line := _aside(happening)) is not None:
                self._say(line)

    def _grew(self, kind: type | None, text: str) -> None:
        if not text:
            return
        if kind is Text:
            self._spinner.stop()
            self._switch("answer")
            click.echo(printable(text), nl=False)
        elif kind is Thinking and self._thinking:
            self._spinner.stop()
            self._switch("thinking")
            click.secho(printable(text), nl=False, err=True, dim=True)
        else:
            return
        self._at_line_start = text.endswith("\n")

    def _switch(self, to: str) -> None:
        if self._open != to:
            self._close()
            self._open = to

    def _close(self) -> None:
        """Ends the line that is open, where it was open."""
        if self._open is not None and not self._at_line_start:
            click.echo(err=self._open == "thinking")
        self._open = None
        self._at_line_start = True

    def _say(self, text: str) -> None:
        self._spinner.stop()
        self._close()
        line = printable(text).replace("\n", " ")
        click.secho(line if len(line) <= 300 else line[:299] + "…", err=True, dim=True)
        self._spinner.start()


def _aside(happening: SessionEvent) -> str | None:
    """What is said in one line beside the answer."""
    match happening:
        case Noted(note=note) | SessionNote(note=note):
            return f"note: {note.message}"
        case ToolStarted(call=call):
            return f"→ {call.name} {call.arguments}"
        case ToolEnded(result=result):
            return f"← {_first_line(result)}"
        case Compacted(turns=turns, before=before, after=after):
            return f"{turns} earlier turns became a summary ({before:,} → {after:,} tokens)"
    return None


def failed(failure: Failure) -> str:
    """What went wrong, and what to do."""
    return f"{what_failed(failure)}\n{what_to_do(failure)}"


def _first_line(result: ToolResult) -> str:
    text = "".join(block.text for block in result.content if isinstance(block, Text))
    line = next((line for line in text.splitlines() if line.strip()), "(nothing to read)")
    return f"failed: {line}" if result.failed else line
