"""`thinkwire serve` in a process of its own: the address on its console just works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.web.processes import browser_at
from tests.web.webs import MODEL

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

COMMAND = {"tools.enabled": ["run_command"], "tools.approve": "allow"}


@contextmanager
def serve(folder: Path, redis_url: str, *options: str) -> Iterator[tuple[str, Path]]:
    """The address that the console shows, and the log."""
    own = {f"THINKWIRE_{name}": str(folder / name.lower()) for name in ("DATA", "STATE", "CONFIG")}
    log = folder / "serve.log"
    command = [sys.executable, "-m", "thinkwire", "serve", "--sim", "--port", "0", *options]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            env=os.environ | own | {"THINKWIRE_REDIS_URL": redis_url},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
        )
    try:
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("Web app"))
        yield line.split()[-1], log
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


@pytest.mark.parametrize("workers", ["1", pytest.param("3", marks=pytest.mark.full)])
async def test_the_address_on_the_console_signs_in_at_every_worker(
    tmp_path: Path, redis_url: str, workers: str
) -> None:
    with serve(tmp_path, redis_url, "--workers", workers) as (address, log):
        url, _, token = address.partition("/?token=")
        assert len(token) >= 43
        # Each request is another connection, and so may be another worker's.
        jar, each = aiohttp.CookieJar(unsafe=True), aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(cookie_jar=jar, connector=each) as http:
            browser = await browser_at(url, http, token)
            for _ in range(20):
                await browser.get("/api/me")
        stranger = {"cookie": "thinkwire_csrf=a", "x-csrf-token": "a"}
        async with aiohttp.ClientSession(headers=stranger) as http:
            body = {"model": MODEL, "settings": COMMAND}
            async with http.post(f"{url}/api/conversations", json=body) as answer:
                assert answer.status == 401
    assert token not in log.read_text()
