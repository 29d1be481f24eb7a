"""The steps of the schema, up and down, on both databases; and indexes that large tables need."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.postgres import PostgreSQL
from thinkwire.errors import ConfigError
from thinkwire.store import Store, open_store, schema
from thinkwire.store.conversations import list_query
from thinkwire.store.location import the_place
from thinkwire.store.messages import path_query
from thinkwire.store.search import postgresql_query, sqlite_query
from thinkwire.store.store import migrate, the_database, version_of
from thinkwire.store.tables import metadata

pytestmark = pytest.mark.anyio

MIGRATIONS = Path(schema.__file__).parent / "migrations"
MANY = {True: 100_000, False: 30_000}
"""Messages on SQLite and, whose planner decides alike on fewer, PostgreSQL."""


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'fresh.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


async def look(url: str, work: Any) -> Any:
    database = the_database(the_place(url))
    try:
        return await database.read(lambda connection: connection.run_sync(work))
    finally:
        await database.close()


def names(connection: sa.Connection) -> set[str]:
    kind = "sqlite_master" if connection.dialect.name == "sqlite" else "pg_class"
    column = "name" if kind == "sqlite_master" else "relname"
    where = "" if kind == "sqlite_master" else "WHERE relnamespace = 'public'::regnamespace"
    return set(connection.scalars(sa.text(f"SELECT {column} FROM {kind} {where}")))


def drift(connection: sa.Connection) -> list[Any]:
    def ours(thing: Any, name: str | None, *_: object) -> bool:
        searching = name is not None and ("_search" in name or name == schema.VERSION_TABLE)
        return not searching

    options = {"include_object": ours, "compare_type": True}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def test_the_list_of_steps_is_what_is_there() -> None:
    steps = [step.revision for step in ScriptDirectory(str(MIGRATIONS)).walk_revisions()]
    assert tuple(reversed(steps)) == schema.REVISIONS


async def test_steps_lead_to_the_tables_of_the_code_and_back_to_nothing(fresh_url: str) -> None:
    for _ in range(2):
        await migrate(fresh_url, schema.NEWEST)
        assert await look(fresh_url, schema.version) == schema.NEWEST
        assert await look(fresh_url, drift) == []
        await migrate(fresh_url, "base", down=True)
        left = await look(fresh_url, names)
        assert {name for name in left if not name.startswith(schema.VERSION_TABLE)} <= {
            f"sqlite_autoindex_{schema.VERSION_TABLE}_1"
        }


async def test_a_step_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: sa.Connection) -> None:
        real(connection)
        raise OSError("the disk is full")

    real = schema.upgrade
    url = f"sqlite:///{tmp_path / 'half.db'}"
    with monkeypatch.context() as patch:
        patch.setattr(schema, "upgrade", broken)
        with pytest.raises(Exception, match="disk is full"):
            await open_store(url)
    assert await look(url, names) == set()
    async with await open_store(url) as store:
        await store.create_conversation()


async def test_a_postgresql_database_without_tables_says_what_to_run(postgres_url: str) -> None:
    with pytest.raises(ConfigError, match="run `thinkwire db upgrade`"):
        await open_store(postgres_url)
    await migrate(postgres_url, schema.NEWEST)
    await (await open_store(postgres_url)).aclose()


async def test_a_newer_schema_is_left_alone(fresh_url: str) -> None:
    await migrate(fresh_url, schema.NEWEST)
    database = the_database(the_place(fresh_url))
    newer = sa.text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
    await database.write(lambda connection: connection.execute(newer))
    await database.close()
    for call in (open_store(fresh_url), migrate(fresh_url, schema.NEWEST)):
        with pytest.raises(ConfigError, match="use a newer thinkwire"):
            await call


async def test_opening_a_store_that_is_up_to_date_loads_no_alembic(tmp_path: Path) -> None:
    import subprocess
    import sys

    url = f"sqlite:///{tmp_path / 'talks.db'}"
    await (await open_store(url)).aclose()
    code = f"""
import asyncio, sys
import thinkwire.store
assert not {{"sqlalchemy", "asyncio_", "cryptography"}} & set(sys.modules)
asyncio.run(asyncio.wait_for(thinkwire.store.open_store({url!r}), 30))
assert "sqlalchemy" in sys.modules and "alembic" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me:secret@host/x", "a store is at sqlite:///"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("sqlite:////proc/nowhere/x.db", "cannot be at"),
        ("postgresql://me:secret@127.0.0.1:1/x", "Connect"),
    ],
)
async def test_a_place_that_cannot_be_is_said_without_the_password(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        await open_store(url)
    assert "secret" not in str(caught.value)


def test_no_password_is_shown() -> None:
    place = the_place("postgresql://me:secret@host/talks?sslmode=require&password=secret")
    database = the_database(place)
    assert "secret" not in f"{place!r} {place.shown} {database.engine!r} {Store(database)!r}"


async def test_a_database_that_is_not_there_is_a_designed_error(postgres: PostgreSQL) -> None:
    with pytest.raises(ConfigError, match='database "nowhere" does not exist'):
        await open_store(postgres.url("nowhere"))


async def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear reader, this is not a database. " * 200)
    with pytest.raises(ConfigError, match=r"letter\.txt: file is not a database"):
        await open_store(f"sqlite:///{file}")
    assert file.read_text().startswith("Dear reader")


async def test_the_file_is_its_owners_alone_and_has_a_log(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "talks.db"
    await (await open_store(f"sqlite:///{file}")).aclose()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    plain = sqlite3.connect(file)
    assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    plain.close()


async def fill(store: Store) -> None:
    """Many messages in a hundred conversations, made by the database itself."""
    many = MANY[store.database.sqlite]
    numbers = f"""
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {many - 1})
    """
    talks = f"""
        INSERT INTO conversations
            (id, owner, title_words, settings, preview, count, created, updated)
        {numbers} SELECT 'c' || i, '', '', '{{}}', '', 0, i, i FROM n WHERE i < 100
    """
    said = f"""
        INSERT INTO messages (id, conversation_id, parent_id, seq, role, kind, status, turn, text, thinking,
            notes, extra, created, updated)
        {numbers} SELECT 'm' || i, 'c' || (i % 100), CASE WHEN i >= 100 THEN 'm' || (i - 100) END,
            i / 100 + 1, 'user', 'turn', 'complete', '{{"role":"user"}}', '', '', '[]', '{{}}', i, i FROM n
    """
    # Foreign keys hold by construction here, and checking each takes PostgreSQL seconds.
    quick = "PRAGMA foreign_keys" if store.database.sqlite else "SET LOCAL session_replication_role = replica"

    async def work(connection: AsyncConnection) -> None:
        for statement in (quick, talks, said, "ANALYZE"):
            await connection.exec_driver_sql(statement)

    await store.database.write(work)


async def test_among_many_messages_nothing_is_read_from_end_to_end(store: Store) -> None:
    await fill(store)
    many = MANY[store.database.sqlite]
    deep = f"m{many - 1}"
    queries = {
        "path": path_query("c99", deep),
        "list": list_query("", 20, (50.0, "c50")),
        "streaming": sa.text("SELECT id FROM messages WHERE status = 'streaming'"),
        "children": sa.text("SELECT id FROM messages WHERE conversation_id = 'c1' AND parent_id = 'm1'"),
        "search": (sqlite_query if store.database.sqlite else postgresql_query)(["odd", "one"], True),
        "tree": sa.text("SELECT id FROM messages WHERE conversation_id = 'c1' ORDER BY seq"),
    }
    explain = "EXPLAIN QUERY PLAN " if store.database.sqlite else "EXPLAIN "
    for name, query in queries.items():
        sql = str(query.compile(store.database.engine.sync_engine, compile_kwargs={"literal_binds": True}))
        found = await store.database.read(
            lambda connection, sql=sql: connection.exec_driver_sql(explain + sql)  # type: ignore[misc]
        )
        plan = "\n".join(str(row[-1]) for row in found)
        for whole in ("SCAN messages", "SCAN conversations", "Seq Scan on messages"):
            assert whole not in plan, f"{name}:\n{plan}"
    assert len(await store.path("c99", deep)) == many // 100


async def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    file = tmp_path / "50% of it #1 ünï" / "talks.db"
    async with await open_store(f"sqlite:///{file}") as store:
        await store.create_conversation()
    assert file.exists()


async def test_the_version_of_an_empty_file_is_none(tmp_path: Path) -> None:
    database = the_database(the_place(f"sqlite:///{tmp_path / 'x.db'}"))
    assert await version_of(database) is None
    await database.close()
