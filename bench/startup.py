"""What starting takes: `thinkwire ask` over a bare Python, and the first frame of the chat.

    .venv/bin/python -m bench.startup [--rounds 9]

The provider is a simulator in a process of its own, so that nothing is counted but the asking. Rounds are
interleaved and figures are medians; byte code is written aside first, as an installed package has it.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.machine import described
from thinkwire.providers import default_providers

ROOM = (100, 40)
QUESTION = "[[think:Let me see.]] [[say:Hello!]]"
PROMPT = b"sk anything"
"""What the first frame shows; the cursor stands on the letter before it."""


class Took(NamedTuple):
    """Milliseconds by the clock and of computing."""

    clock: float
    computing: float


@contextmanager
def simulator(env: dict[str, str]) -> Iterator[str]:
    """Simulated providers in another process; gives their address."""
    command = [sys.executable, "-m", "thinkwire", "sim", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as process:
        assert process.stdout is not None
        try:
            yield re.findall(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.terminate()


def settings(folder: Path, url: str) -> None:
    """The first provider's address is the simulator's."""
    provider = default_providers()["anthropic"]
    (folder / "config").mkdir()
    (folder / "config" / "providers.toml").write_text(
        f"""[[provider]]
name = "{provider.name}"
label = "{provider.label}"
first = "{provider.first}"
base_url = "{url}/{provider.name}"
auth = "x-api-key"
keys = ["ANTHROPIC_API_KEY"]
headers = {{ anthropic-version = "2023-06-01" }}
routes = [{{ dialect = "anthropic", path = "/v1/messages" }}]
source = "the simulator"
"""
    )


def environment(folder: Path) -> dict[str, str]:
    """Of an installed thinkwire: byte code is kept, and nothing of this machine's user is read."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {
        "ANTHROPIC_API_KEY": "any",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "TERM": "xterm-256color",
        "THINKWIRE_CONFIG": str(folder / "config"),
        "THINKWIRE_DATA": str(folder / "data"),
        "THINKWIRE_STATE": str(folder / "state"),
    }


def ran(command: list[str], env: dict[str, str]) -> Took:
    """A command from its start to its end."""
    return _watched(command, env)[1]


def first_word(command: list[str], env: dict[str, str]) -> Took:
    """A command from its start until it says something."""
    return _watched(command, env)[0]


def _watched(command: list[str], env: dict[str, str]) -> tuple[Took, Took]:
    """Until the first byte, and until the end."""
    nothing = subprocess.DEVNULL
    began = time.monotonic()
    process = subprocess.Popen(command, env=env, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing)
    assert process.stdout is not None
    with process.stdout:
        os.read(process.stdout.fileno(), 1)
        first = Took(1000 * (time.monotonic() - began), _used(process.pid))
        process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    whole = Took(1000 * (time.monotonic() - began), 1000 * (usage.ru_utime + usage.ru_stime))
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return first, whole


def _used(pid: int) -> float:
    """Milliseconds of computing so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_frame(command: list[str], env: dict[str, str]) -> Took:
    """A chat in a terminal from its start until its prompt is on the screen."""
    began = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], command, env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROOM[1], ROOM[0], 0, 0))
    drawn = b""
    try:
        while PROMPT not in drawn:
            drawn += os.read(terminal, 65_536)
        took = Took(1000 * (time.monotonic() - began), _used(pid))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)
    return took


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = environment(folder)
        with simulator(env) as url:
            settings(folder, url)
            thinkwire = [sys.executable, "-m", "thinkwire"]
            things: dict[str, Callable[[], Took]] = {
                "bare Python": lambda: ran([sys.executable, "-c", "pass"], env),
                "ask --no-save": lambda: ran([*thinkwire, "ask", "--no-save", QUESTION], env),
                "ask": lambda: ran([*thinkwire, "ask", QUESTION], env),
                "ask, first word": lambda: first_word([*thinkwire, "ask", QUESTION], env),
                "chat, first frame": lambda: first_frame([*thinkwire, "chat", "--no-save"], env),
            }
            for thing in things.values():
                thing()
            seen: dict[str, list[Took]] = {name: [] for name in things}
            for _ in range(rounds):
                for name, thing in things.items():
                    seen[name].append(thing())
    print(" · ".join(described().values()))
    bare = middle(seen["bare Python"])
    for name, taken in seen.items():
        clock, computing = middle(taken)
        print(
            f"{name:17} {clock:5.0f} ms by the clock, {computing:5.0f} of computing; over bare Python "
            f"{clock - bare.clock:5.0f} and {computing - bare.computing:5.0f}; "
            f"best {min(one.clock for one in taken):.0f} and {min(one.computing for one in taken):.0f}"
        )


def middle(taken: list[Took]) -> Took:
    return Took(*(statistics.median(values) for values in zip(*taken, strict=True)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    main(parser.parse_args().rounds)
