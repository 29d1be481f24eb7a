"""The real pages in a real browser, served by the real server with simulated providers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.support import need
from tests.web_e2e.app import TOKEN, App, watched
from tests.web_e2e.wire import Wire

PATIENCE = 30_000
"""Milliseconds; what is waited for comes at once unless the machine is very busy."""
expect.set_options(timeout=PATIENCE)

FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class Server:
    """The web app in a process of its own, which can be killed and started again on the same data."""

    def __init__(self, home: Path, *options: str, sim: bool = True) -> None:
        self.home = home
        self.workspace = home / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self._options = [*options, *([] if sim else ["--no-sim"])]
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self, port: int = 0) -> None:
        kept = {
            name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))
        }
        folders = {f"THINKWIRE_{name}": str(self.home / name.lower()) for name in ("DATA", "STATE", "CONFIG")}
        # Whoever is signed in stays so when it is started again.
        folders |= {"THINKWIRE_WEB_TOKEN": TOKEN, "THINKWIRE_WEB_COOKIE_SECRET": "of the tests"}
        command = [
            sys.executable,
            str(Path(__file__).with_name("serve.py")),
            f"--port={port}",
            *self._options,
        ]
        self._process = subprocess.Popen(
            command, env=kept | folders, stdout=subprocess.PIPE, text=True, cwd=self.workspace
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the server did not start"

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def release(self) -> None:
        """Lets an answer that is held go on."""
        (self.workspace / "release").touch()

    def stop(self, *, hard: bool = False) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill() if hard else process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    need("pages")
    yield from _serving(Server(tmp_path_factory.mktemp("web")))


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that a test may end."""
    need("pages")
    yield from _serving(Server(tmp_path))


@pytest.fixture
def keyless(tmp_path: Path) -> Iterator[Server]:
    """A server with real providers and no key for any of them."""
    need("pages")
    yield from _serving(Server(tmp_path, sim=False))


@pytest.fixture
def with_accounts(tmp_path: Path) -> Iterator[Server]:
    need("pages")
    yield from _serving(Server(tmp_path, "--auth"))


@pytest.fixture
def wire(server: Server) -> Iterator[Wire]:
    wire = Wire(server.port)
    yield wire
    wire.close()


def _serving(server: Server) -> Iterator[Server]:
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = need("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    yield from _context(browser)


def _context(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 860}, **options)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab. Whatever its console calls an error, and whatever the policy forbids, fails the test."""
    page, complaints = watched(context)
    yield page
    assert complaints == []


@pytest.fixture
def app(page: Page, server: Server) -> App:
    return App(page, server.url)
