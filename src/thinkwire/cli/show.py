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
from thinkwire.session import Compacted, Happening, Remark, ToolEnded, ToolStarted, TurnEnded
from thinkwire.usage import Usage

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

    def show(self, happening: Happening) -> None:
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
            click.echo(plain(text), nl=False)
        elif kind is Thinking and self._thinking:
            self._spinner.stop()
            self._switch("thinking")
            click.secho(plain(text), nl=False, err=True, dim=True)
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
        line = plain(text).replace("\n", " ")
        click.secho(line if len(line) <= 300 else line[:299] + "…", err=True, dim=True)
        self._spinner.start()


def _aside(happening: Happening) -> str | None:
    """What is said in one line beside the answer."""
    match happening:
        case Noted(note=note) | Remark(note=note):
            return f"note: {note.message}"
        case ToolStarted(call=call):
            return f"→ {call.name} {call.arguments}"
        case ToolEnded(result=result):
            return f"← {_first_line(result)}"
        case Compacted(turns=turns, before=before, after=after):
            return f"{turns} earlier turns became a summary ({before:,} → {after:,} tokens)"
    return None


def plain(text: str) -> str:
    """Text that only prints: escape sequences and other controls are shown, not obeyed."""
    if text.isprintable():
        return text
    return "".join(
        character if character in "\n\t" or not _controls(character) else f"\\x{ord(character):02x}"
        for character in text
    )


def _controls(character: str) -> bool:
    return ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0


def failed(failure: Failure) -> str:
    """What went wrong, and what to do."""
    who = f"{failure.provider}: " if failure.provider else ""
    when = f" (again in {failure.retry_after:g} s)" if failure.retry_after else ""
    todo = {
        "fix_key": "Check the key: is it the right one, and may it do this?",
        "retry": "Try again in a while.",
        "fix_request": "The request must be changed.",
        "report": "The provider broke its own rules; `thinkwire ask --json` shows what it said.",
    }[failure.advice]
    return f"{who}{failure.message}{when}\n{todo}"


def tokens(usage: Usage | None) -> str:
    """`235 in + 40 out + 314 thinking = 589 tokens`; what nobody told is `?`."""
    if usage is None:
        return "? tokens"
    parts = (
        (usage.input_total, "in"),
        (usage.output_visible if usage.output_visible is not None else usage.output_total, "out"),
        (usage.output_reasoning, "thinking"),
    )
    told = " + ".join(f"{_count(count)} {name}" for count, name in parts)
    return f"{told} = {_count(usage.total)} tokens"


def _count(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _first_line(result: ToolResult) -> str:
    text = "".join(block.text for block in result.content if isinstance(block, Text))
    line = next((line for line in text.splitlines() if line.strip()), "(nothing to read)")
    return f"failed: {line}" if result.failed else line
