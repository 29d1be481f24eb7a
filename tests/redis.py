"""A private Redis server for tests: started once per worker in a temporary folder, stopped by its pid.

A test that needs it takes the fixture `redis` (the server) or `redis_url` (an empty database), which a
conftest imports from here.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import need

STARTING = 10.0


class RedisServer:
    """A running server on a Unix socket, without TCP."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.path}"

    def say(self, command: str) -> bytes:
        """The raw answer to one inline command."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(STARTING)
            connection.connect(str(self.path))
            connection.sendall(command.encode() + b"\r\n")
            return connection.recv(65536)

    @property
    def ready(self) -> bool:
        try:
            return self.say("PING") == b"+PONG\r\n"
        except OSError:
            return False


@contextmanager
def running() -> Iterator[RedisServer]:
    program = need("redis")
    folder = Path(tempfile.mkdtemp(prefix="thinkwire-redis-"))
    server = RedisServer(folder)
    options = ["--port", "0", "--unixsocket", str(server.path), "--save", "", "--appendonly", "no"]
    try:
        process = subprocess.Popen(
            [program, *options, "--dir", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(STARTING)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


@pytest.fixture
def redis_url(redis: RedisServer) -> str:
    """An empty database."""
    redis.say("FLUSHALL")
    return redis.url


def _wait(server: RedisServer, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTING
    while not server.ready:
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail("Redis did not start", pytrace=False)
        time.sleep(0.02)
