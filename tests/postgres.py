"""A private PostgreSQL server for tests: started once per worker in a temporary folder, stopped by its pid.

A test that needs it takes the fixture `postgres` (the server) or `postgres_url` (an empty database), which a
conftest imports from here.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support import need

STARTING = 30.0
# Nothing here outlives the test, so nothing needs to reach a disk.
SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "60"}


class PostgreSQL:
    """A running server. `database()` makes an empty database and gives its URL."""

    def __init__(self, programs: Path, folder: Path, port: int) -> None:
        self.programs = programs
        self.folder = folder
        self.port = port
        self._numbers = count(1)

    def database(self, template: str = "template0") -> str:
        name = f"t{next(self._numbers)}"
        self.run(f'CREATE DATABASE {name} TEMPLATE "{template}"')
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def run(self, sql: str, database: str = "postgres") -> str:
        """What `psql` prints for a statement."""
        options = ["-h", str(self.folder), "-p", str(self.port), "-U", "postgres", "-XAtqc", sql, database]
        return subprocess.run(
            [self.programs / "psql", *options], check=True, capture_output=True, text=True
        ).stdout.strip()

    @property
    def ready(self) -> bool:
        options = ["-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run([self.programs / "pg_isready", *options]).returncode == 0


@contextmanager
def running() -> Iterator[PostgreSQL]:
    """A server on a loopback port and a Unix socket; `initdb` refuses root, so root becomes `postgres`."""
    programs = (need("postgresql") / "initdb").resolve().parent
    folder = Path(tempfile.mkdtemp(prefix="thinkwire-pg-"))
    someone: dict[str, Any] = {"cwd": folder}
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        someone |= {"user": "postgres", "group": "postgres", "extra_groups": []}
    data = folder / "data"
    make: list[str | Path] = [
        programs / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
    ]
    port = _free_port()
    options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
    options += ["-clisten_addresses=127.0.0.1", f"-cport={port}", f"-cunix_socket_directories={folder}"]
    with (folder / "log").open("wb") as log:
        try:
            subprocess.run([*make, "--locale=C"], check=True, stdout=log, stderr=log, **someone)
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, *options], stdout=log, stderr=log, **someone
            )
            try:
                server = PostgreSQL(programs, folder, port)
                _wait(server, process)
                yield server
            finally:
                process.send_signal(signal.SIGQUIT)
                process.wait(STARTING)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgreSQL]:
    with running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgreSQL) -> str:
    """An empty database."""
    return postgres.database()


def _wait(server: PostgreSQL, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTING
    while not server.ready:
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"PostgreSQL did not start:\n{(server.folder / 'log').read_text()}", pytrace=False)
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
