"""One simulator for all; a store and an app for each test."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from tests.postgres import postgres, postgres_url
from tests.redis import redis, redis_url
from tests.web.webs import Browser, Served, all_bases, web_app
from thinkwire.sim.fixture import Running, simulator
from thinkwire.store.schema import NEWEST
from thinkwire.store.store import migrate
from thinkwire.web.auth import passwords

__all__ = ["postgres", "postgres_url", "redis", "redis_url", "simulator"]


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite store that is made once and copied for each test."""
    file = tmp_path_factory.mktemp("store") / "empty.db"
    asyncio.run(migrate(f"sqlite:///{file}", NEWEST))
    return file


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing that is slow on purpose is tested once, and quick elsewhere."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", lambda: quick)
    passwords._nobody.cache_clear()


@pytest.fixture
def own_url(empty_store: Path, tmp_path: Path) -> str:
    shutil.copy(empty_store, tmp_path / "web.db")
    return f"sqlite:///{tmp_path / 'web.db'}"


@pytest.fixture
async def app(simulator: Running, own_url: str, workspace: Path) -> AsyncIterator[Served]:
    async with web_app(own_url, all_bases(simulator.url), workspace) as served:
        yield served


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
async def browser(app: Served) -> Browser:
    return await app.browser()


@pytest.fixture
async def guarded(simulator: Running, own_url: str, workspace: Path) -> AsyncIterator[Served]:
    """With accounts."""
    async with web_app(own_url, all_bases(simulator.url), workspace, auth=True) as served:
        yield served
