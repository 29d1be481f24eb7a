"""The same store on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.postgres import PostgreSQL, postgres, postgres_url
from thinkwire.store import Store, open_store
from thinkwire.store.schema import NEWEST
from thinkwire.store.store import migrate

__all__ = ["postgres", "postgres_url"]

BOTH = ["sqlite", "postgresql"]


@pytest.fixture(scope="session")
def shared_url(postgres: PostgreSQL) -> str:
    """One migrated PostgreSQL database, emptied before each test."""
    url = postgres.database()
    asyncio.run(migrate(url, NEWEST))
    return url


@pytest.fixture(params=BOTH)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'talks.db'}"
    url: str = request.getfixturevalue("shared_url")
    return url


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    async with await open_store(store_url) as store:
        if not store.database.sqlite:
            await empty(store)
        yield store


async def empty(store: Store) -> None:
    tables = "conversations, agents, profiles"
    await store.database.write(lambda connection: connection.execute(sa.text(f"TRUNCATE {tables} CASCADE")))
