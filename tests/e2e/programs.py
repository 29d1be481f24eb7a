"""What it takes to run a real client: where it is installed, and how it is told where to ask."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.support import ROOT

MESSAGES, CHAT, RESPONSES, GEMINI = WIRES = "messages", "chat", "responses", "gemini"
KEY = "any-key"
NODE = Path(sys.prefix) / "bin" / "node"
SCRIPTS = Path(__file__).parent / "scripts"
NOBODY = "http://127.0.0.1:9"
"""A port where nobody listens, as the proxy for everything that is not loopback."""


class Run(NamedTuple):
    """One run: what is asked, of whom, and a home that is the client's alone."""

    installed: Path
    home: Path
    url: str
    model: str
    wire: str
    prompt: str

    def write(self, name: str, text: str) -> Path:
        """A file in the client's home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def bin(self, name: str) -> Path:
        """A script that npm or pip has installed."""
        there = self.installed / "node_modules" / ".bin" / name
        return there if there.exists() else self.installed / "bin" / name

    def native(self, pattern: str) -> Path:
        """A binary inside an npm package."""
        return next(iter(sorted((self.installed / "node_modules").glob(pattern))))


class Command(NamedTuple):
    """What is executed. The last words of the client are in `final`, else on standard output."""

    argv: Sequence[str | Path]
    env: Mapping[str, str] = {}
    final: Path | None = None


class Ran(NamedTuple):
    """What came of it."""

    code: int
    out: str
    err: str
    final: str

    def __str__(self) -> str:
        return f"exit {self.code}\n--- out\n{self.out[-2000:]}\n--- err\n{self.err[-2000:]}"


Build: TypeAlias = Callable[[Run], Command]


class Program(NamedTuple):
    """A client in a pinned version. `shows` are the wires on which it shows a model's reasoning."""

    name: str
    version: str
    build: Build
    wires: tuple[str, ...]
    shows: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    tool: str = "shell"
    """What its model can call: a shell, one that loses what a quick command says, `get_weather`, nothing."""
    choosy: tuple[str, ...] = ()
    """The wires on which it offers tools to models only that it knows by name."""

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"


def cache() -> Path | None:
    """Where clients are installed, if somebody says so."""
    named = os.environ.get("CLIENT_CACHE")
    return (ROOT / named).resolve() if named else None


def is_installed(program: Program, folder: Path) -> bool:
    return (folder / program.folder / ".ok").exists()


def install(program: Program, folder: Path) -> None:
    """Puts the client into the folder, unless it is there."""
    place = folder / program.folder
    if is_installed(program, folder):
        return
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    if program.npm:
        (place / "package.json").write_text('{"private": true}')
        quiet = ["--no-audit", "--no-fund", "--no-progress", "--loglevel=error", f"--cache={folder / '.npm'}"]
        path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
        command = [str(NODE.parent / "npm"), "install", *quiet, *program.npm]
        subprocess.run(command, cwd=place, env=os.environ | {"PATH": path}, check=True)
    if program.pip:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        pip = [str(place / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *program.pip], check=True)
    (place / ".ok").touch()


def environment(home: Path) -> dict[str, str]:
    """Nothing of this machine but its programs, and no way out but loopback."""
    proxies = {f"{scheme}_proxy": NOBODY for scheme in ("http", "https")}
    direct = {"no_proxy": "127.0.0.1,localhost,::1"}
    both = {name.upper(): value for name, value in (proxies | direct).items()} | proxies | direct
    return both | {
        "PATH": f"{NODE.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "DO_NOT_TRACK": "1",
    }


def run(program: Program, asked: Run, *, patience: float = 180) -> Ran:
    """Runs the client to its end; one that takes too long is ended, and its exit is 124."""
    command = program.build(asked)
    work = asked.home / "work"
    work.mkdir()
    try:
        done = subprocess.run(
            command.argv,
            cwd=work,
            env=environment(asked.home) | dict(command.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=patience,
            check=False,
        )
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, out, err = 124, error.stdout or b"", error.stderr or b""
    finally:
        end_stragglers(asked.home)
    text = out.decode("utf-8", "replace")
    final = command.final.read_text() if command.final and command.final.exists() else ""
    return Ran(code, text, err.decode("utf-8", "replace"), final if command.final else text)


def end_stragglers(home: Path) -> None:
    """Ends what a client has left behind: the processes that live in its home, and no others."""
    mark = f"\0HOME={home}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in b"\0" + (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
