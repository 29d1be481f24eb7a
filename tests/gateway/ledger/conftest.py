"""The same ledger on all three stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.postgres import PostgreSQL, postgres, postgres_url
from tests.redis import redis, redis_url
from thinkwire.gateway.ledger import Ledger, open_ledger

__all__ = ["postgres", "postgres_url", "redis", "redis_url"]

KEY = bytes(range(32))
STORES = [
    "sqlite",
    pytest.param("redis", marks=pytest.mark.needs("redis")),
    pytest.param("postgresql", marks=pytest.mark.needs("postgresql")),
]


@pytest.fixture(scope="session")
def shared_url(postgres: PostgreSQL) -> str:
    return postgres.database()


@pytest.fixture(params=STORES)
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    if request.param == "redis":
        address: str = request.getfixturevalue("redis_url")
        return address
    url: str = request.getfixturevalue("shared_url")
    server: PostgreSQL = request.getfixturevalue("postgres")
    server.run("DROP TABLE IF EXISTS thinkwire_ledger_names, thinkwire_ledger_turns", url.rpartition("/")[2])
    return url


@pytest.fixture
async def ledger(ledger_url: str) -> AsyncIterator[Ledger]:
    async with await open_ledger(ledger_url, key=KEY) as ledger:
        yield ledger
