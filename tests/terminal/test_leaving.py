"""However a program is told to stop, it stops quietly, and what had arrived is kept."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from thinkwire.store import MessageRow, open_store

pytestmark = pytest.mark.anyio

PATIENCE = 90.0
HALF = "[[say:Half of it]] [[stall:60]] [[say:never]]"
MODEL = ("--sim", "-m", "claude-opus-5-5/high")


class Program:
    """A command in a terminal of its own, where everything that it says appears."""

    def __init__(self, *args: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        command = [sys.executable, "-m", "thinkwire", *args]
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=_own_terminal,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm-256color"},
        )
        os.close(theirs)
        self.said = b""

    def sees(self, words: str) -> None:
        """Until it has said this."""
        self._hears(lambda: words.encode() in self.said, words)

    def is_asked(self) -> None:
        """Until it waits for a line."""
        self._hears(lambda: self.said.endswith(b"\n> "), "a prompt")

    def _hears(self, enough: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not enough():
            assert time.monotonic() < end, f"never said {what!r}: {self.said[-3000:]!r}"
            if select.select([self._ours], [], [], 0.2)[0]:
                with suppress(OSError):
                    self.said += os.read(self._ours, 65_536)

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def hang_up(self) -> None:
        os.close(self._ours)
        self._ours = -1

    def ends(self) -> int:
        """Its exit code; it must have nothing to complain about."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it never ended: {self.said[-3000:]!r}"
            if self._ours < 0:
                time.sleep(0.02)
            elif select.select([self._ours], [], [], 0.05)[0]:
                with suppress(OSError):
                    self.said += os.read(self._ours, 65_536)
        for word in (b"Traceback", b"Error", b"ERROR", b"Exception"):
            assert word not in self.said, self.said.decode()
        return self.process.returncode

    def close(self) -> None:
        if self._ours >= 0:
            os.close(self._ours)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def begun() -> Iterator[Callable[..., Program]]:
    programs: list[Program] = []

    def begin(*args: str) -> Program:
        programs.append(Program(*args))
        return programs[-1]

    yield begin
    for program in programs:
        program.close()


async def last_answer() -> MessageRow:
    async with await open_store() as store:
        (talk,) = await store.conversations()
        return (await store.path(talk.id))[-1]


async def kept_half() -> bool:
    answer = await last_answer()
    return answer.status == "interrupted" and answer.turn.text.startswith("Half")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_ask_stops_and_keeps_what_arrived(begun: Callable[..., Program], number: int) -> None:
    program = begun("ask", *MODEL, HALF)
    program.sees("Half")
    program.process.send_signal(number)
    assert program.ends() == 128 + number
    assert await kept_half()


async def test_in_plain_the_first_interrupt_stops_the_answer_and_the_next_leaves(
    begun: Callable[..., Program],
) -> None:
    program = begun("chat", "--plain", *MODEL)
    program.is_asked()
    program.types(HALF + "\n")
    program.sees("\nHalf")
    program.types("\x03")
    program.sees("Interrupted. What arrived is kept; /retry asks again.")
    program.is_asked()
    program.types("[[say:Anew.]]\n")
    program.sees("\nAnew.")
    program.is_asked()
    program.types("\x03")
    assert program.ends() == 130
    assert (await last_answer()).turn.text == "Anew."


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_plain_stops_and_keeps_what_arrived(begun: Callable[..., Program], number: int) -> None:
    program = begun("chat", "--plain", *MODEL)
    program.is_asked()
    program.types(HALF + "\n")
    program.sees("\nHalf")  # not only what was typed
    program.process.send_signal(number)
    assert program.ends() == 128 + number
    assert await kept_half()


def test_plain_leaves_at_once_while_it_waits_for_a_line(begun: Callable[..., Program]) -> None:
    program = begun("chat", "--plain", *MODEL)
    program.is_asked()
    program.types("\x03")
    assert program.ends() == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_the_chat_stops_and_keeps_what_arrived(begun: Callable[..., Program], number: int) -> None:
    program = begun("chat", *MODEL)
    program.sees("context")
    program.types(HALF + "\r")
    program.sees("Answering")
    program.process.send_signal(number)
    assert program.ends() == 128 + number
    assert await kept_half()
    assert b"\x1b[?1049l" in program.said, "the terminal is as it was"


async def test_the_chat_survives_that_its_terminal_is_closed(begun: Callable[..., Program]) -> None:
    program = begun("chat", *MODEL)
    program.sees("context")
    program.types(HALF + "\r")
    program.sees("Answering")
    program.hang_up()
    assert program.ends() == 128 + signal.SIGHUP
    assert await kept_half()
