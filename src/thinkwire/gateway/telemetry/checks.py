"""Readiness checks of folders, database files and Redis servers. None of them blocks the event loop."""

from __future__ import annotations

import asyncio
import errno
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from thinkwire.errors import ConfigError
from thinkwire.gateway.config.addresses import shown
from thinkwire.gateway.telemetry.readiness import NotReady

MIN_FREE = 16 * 1024 * 1024
"""Free bytes below which a disk counts as full."""
_SECONDS = 1.0
_FULL = (errno.ENOSPC, errno.EDQUOT)


async def check_folder(folder: Path) -> None:
    """Raise NotReady unless a file can be written in the folder and there is some space left."""
    await asyncio.to_thread(_probe_folder, folder)


def _probe_folder(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise NotReady("the disk is full" if error.errno in _FULL else "not writable") from error
    if free < MIN_FREE:
        raise NotReady("the disk is full") from OSError(f"{folder} has {free:,} bytes free")


async def check_database_file(path: Path, table: str) -> None:
    """Raise NotReady when an SQLite file exists and this table of it cannot be read."""
    await asyncio.to_thread(_probe_database_file, path, table)


def _probe_database_file(path: Path, table: str) -> None:
    if not path.exists():
        return
    address = f"file:{quote(str(path))}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=_SECONDS)) as db:
            db.execute(f"SELECT count(*) FROM {table}").fetchone()
    except sqlite3.Error as error:
        raise NotReady("cannot be read") from RuntimeError(
            f"{path}: {error}. If it is damaged, restore a copy, or move it away to begin anew"
        )


class RedisCheck:
    """Pings a Redis server over one connection of its own."""

    def __init__(self, url: str) -> None:
        from redis.asyncio import Redis

        options: dict[str, Any] = {
            "socket_timeout": _SECONDS,
            "socket_connect_timeout": _SECONDS,
            "max_connections": 2,
        }
        try:
            self._redis: Any = Redis.from_url(url, **options)
        except ValueError as error:
            raise ConfigError(f"{shown(url)} is no address of a Redis server: {error}") from None

    async def __call__(self) -> None:
        try:
            await self._redis.ping()
        except Exception as error:
            raise NotReady("no answer") from error

    async def aclose(self) -> None:
        await self._redis.aclose()
