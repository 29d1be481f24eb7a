"""The store: conversations, agents and profiles in SQLite or PostgreSQL.

    store = await open_store()
    talk = await store.create_conversation(title="Squares")
    kept = await store.append(talk.id, Turn("user", (Text("Why?"),)))

Importing this loads no database code; opening a store does.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkwire.errors import ConfigError
from thinkwire.store.errors import NameTaken, RowNotFound, StoreFailed
from thinkwire.store.rows import (
    HEAD,
    AgentRow,
    Branch,
    ConversationRow,
    Kind,
    MessageRow,
    ProfileRow,
    SearchHit,
    Status,
    UploadRow,
    UsageRow,
    UserRow,
)

if TYPE_CHECKING:
    from thinkwire.store.sqlite_append import SqliteAppendStore
    from thinkwire.store.store import Store

__all__ = [
    "HEAD",
    "AgentRow",
    "Branch",
    "ConversationRow",
    "Kind",
    "MessageRow",
    "NameTaken",
    "ProfileRow",
    "RowNotFound",
    "SearchHit",
    "Status",
    "Store",
    "StoreFailed",
    "UploadRow",
    "UsageRow",
    "UserRow",
    "open_store",
    "open_to_begin",
]


async def open_store(url: str | None = None, key: str | None = None) -> Store:
    """The store at a URL, else at $THINKWIRE_DATABASE_URL, else the SQLite file of the data folder.

    `key`, else $THINKWIRE_STORE_KEY, encrypts seals at rest. An SQLite file is made and brought up to date;
    a PostgreSQL database must have been, by `thinkwire db upgrade`.
    """
    try:
        from thinkwire.store.store import opened
    except ModuleNotFoundError as error:
        raise ConfigError(f"a store needs {error.name}: pip install 'thinkwire[store]'") from None
    return await opened(url, key)


async def open_to_begin(url: str | None = None, key: str | None = None) -> Store | SqliteAppendStore:
    """A store in which a conversation begins, and nothing else is asked for; `open_store` has the arguments.

    An SQLite file that is up to date is written to without loading database packages. Elsewhere they are
    loaded in a thread, so that whoever waits for this can do something else meanwhile.
    """
    from thinkwire.store.sqlite_append import open_sqlite_append

    plain = await open_sqlite_append(url, key)
    if plain is not None:
        return plain
    with suppress(ModuleNotFoundError):  # opening says which
        await asyncio.to_thread(import_module, "thinkwire.store.store")
    return await open_store(url, key)


def __getattr__(name: str) -> Any:
    if name == "Store":
        from thinkwire.store.store import Store

        return Store
    raise AttributeError(name)
