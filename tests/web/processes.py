"""Real server processes: started, found by the address that they print, ended by their pid."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp

from tests.web.webs import TOKEN, Browser, sign_in


class Process:
    """`python -m thinkwire.web.dev`, on simulators, on a port of its own."""

    def __init__(self, folder: Path, env: dict[str, str], *options: str) -> None:
        self.env = env
        self._log = (folder / f"server-{os.urandom(3).hex()}.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "thinkwire.web.dev", "--port", "0", *options],
            env=os.environ | env | {"THINKWIRE_WEB_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=folder,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().decode().strip().partition("/?token=")[0]
        assert self.url, Path(self._log.name).read_text()

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(20)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()


@contextmanager
def processes(count: int, folder: Path, env: dict[str, str]) -> Iterator[list[Process]]:
    found: list[Process] = []
    try:
        for _ in range(count):
            found.append(Process(folder, env))
        yield found
    finally:
        for process in found:
            process.kill()


async def browser_at(url: str, http: aiohttp.ClientSession, token: str = TOKEN) -> Browser:
    """One browser may be at several servers: they are one to it."""
    browser = Browser(url, http)
    for _ in range(600):
        try:
            await sign_in(browser, token)
            await browser.get("/api/me")
            return browser
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.05)
    raise AssertionError(f"nothing answers at {url}")
