"""The real program in a real terminal, recorded: start, switch, tools, interrupt, resume, quit."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import need

pytestmark = pytest.mark.e2e

PATIENCE = 120.0
EDIT = '[[think:Read.]] [[call:edit_file {"path":"poem.txt","old":"red","new":"white"}]] [[say:White.]]'


class Terminal:
    """A tmux session of its own server."""

    def __init__(self, tmux: Path, folder: Path) -> None:
        self._tmux = [str(tmux), "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self._folder = folder
        self._record: list[str] = []

    def run(self, *args: str) -> str:
        done = subprocess.run([*self._tmux, *args], capture_output=True, text=True, timeout=20)
        return done.stdout

    def start(self, *args: str) -> None:
        command = shlex.join([sys.executable, "-m", "thinkwire", "chat", *args])
        command = f"{command}; echo EXIT $?; exec sleep 60"
        names = [name for name in os.environ if name.startswith("THINKWIRE_") or name == "PYTHONPATH"]
        given = [part for name in names for part in ("-e", f"{name}={os.environ[name]}")]
        size = ("-x", "100", "-y", "30")
        self.run("new-session", "-d", "-s", "chat", *size, *given, "-c", str(self._folder), command)

    def keys(self, *keys: str) -> None:
        self.run("send-keys", "-t", "chat", *keys)

    def say(self, text: str) -> None:
        self.run("send-keys", "-t", "chat", "-l", text)
        self.sees(text[:20])
        self.keys("Enter")

    def screen(self) -> str:
        return self.run("capture-pane", "-p", "-t", "chat")

    def sees(self, *texts: str) -> str:
        """Until all of these are on the screen."""
        end = time.monotonic() + PATIENCE
        while not all(text in (shown := self.screen()) for text in texts):
            assert time.monotonic() < end, f"never saw {texts}:\n{shown}"
            time.sleep(0.05)
        self._record.append(shown)
        return shown

    def close(self) -> None:
        self.run("kill-server")
        (self._folder / "recording.txt").write_text("\f\n".join(self._record))


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(need("tmux"), tmp_path)
    yield terminal
    terminal.close()


def test_the_whole_way_from_start_to_quit(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("roses are red\n")
    terminal.start("--sim", "-m", "claude-opus-5-5/high")
    terminal.sees("SIMULATED Anthropic claude-opus-5-5/high", "context ")

    terminal.say("/model gemini-3.8-flash/high")
    terminal.sees("✓ Switched to Google gemini-3.8-flash", "SIMULATED Google gemini-3.8-flash/high")

    terminal.say(EDIT)
    terminal.sees("May edit_file run?", "-red", "+white")
    time.sleep(0.5)  # keys that come at once do not count
    terminal.keys("y")
    terminal.sees("✓ edit_file poem.txt", "White.", "thinking = ")
    assert (tmp_path / "poem.txt").read_text() == "roses are white\n"

    terminal.say("[[say:Half of it]] [[stall:60]] [[say:never]]")
    terminal.sees("Half of it", "Esc interrupts")
    terminal.keys("Escape")
    terminal.sees("Interrupted. What arrived is kept")

    terminal.keys("M-t")
    terminal.sees("thinking hidden")
    terminal.keys("C-c", "C-c")
    terminal.sees("EXIT 0")
    terminal.run("kill-session", "-t", "chat")

    terminal.start("--sim", "-c")
    shown = terminal.sees("Half of it", "SIMULATED Google gemini-3.8-flash/high")
    assert "White." in shown or "Interrupted" in shown
    terminal.say("/quit")
    terminal.sees("EXIT 0")
