"""The quick door to an SQLite file: the rows that the store writes, and the store where it does not lead."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.strategies import json_values, names, thoughts, turns, usages, words
from tests.support import ROOT
from thinkwire.errors import ConfigError, Failure, ThinkwireError
from thinkwire.messages import Seal, Text, Thinking, Turn
from thinkwire.notes import Note
from thinkwire.store import HEAD, RowNotFound, Store, StoreFailed, open_store, open_to_begin, sqlite
from thinkwire.store import heartbeat as heart
from thinkwire.store.schema import NEWEST, REVISIONS
from thinkwire.store.seal_encryption import SealCipher
from thinkwire.store.sqlite_append import SqliteAppendStore, open_sqlite_append
from thinkwire.store.store import migrate

pytestmark = pytest.mark.anyio

KEY = "a key of more than sixteen characters"
TALK = "talk"
TABLES = {"conversations": "id", "messages": "number"}
TIMES = ("created", "updated")
INDEX = "SELECT term, doc, col, offset FROM temp.terms ORDER BY 1, 2, 3, 4"
ASKED = Turn("user", (Text("Why are odd squares odd?"),))
PARTIAL = Turn("assistant", (Text("量子", interrupted=True),))

any_text = st.text(st.characters() | st.sampled_from("\0\ud800量子한é A"), max_size=12)
said = turns | st.builds(
    Turn,
    role=st.just("assistant"),
    blocks=st.lists(st.builds(Text, text=any_text) | thoughts, max_size=3).map(tuple),
)
statuses = st.sampled_from(["streaming", "complete", "interrupted", "failed"])
told: dict[str, st.SearchStrategy[Any]] = {
    "finish": st.none() | any_text,
    "usage": st.none() | usages(),
    "notes": st.lists(st.builds(Note, st.just("cache.lost"), any_text), max_size=2).map(tuple),
    "failure": st.none() | st.builds(Failure, kind=st.just("overloaded"), message=words),
    "elapsed_thinking": st.none() | st.floats(0, 100),
    "cost": st.none() | st.floats(0, 1) | st.just(1),
    "extra": st.dictionaries(names, json_values, max_size=2),
}
place: dict[str, st.SearchStrategy[Any]] = {
    "parent": st.sampled_from([HEAD, None, "m0", "m1", "nobody"]),
    "kind": st.sampled_from(["turn", "summary"]),
    "covers": st.none() | st.just("m0"),
    "created": st.none() | st.floats(1, 10),
}
mostly_streaming = st.just("streaming") | statuses


@st.composite
def scripts(draw: st.DrawFn) -> list[Any]:
    """Appends and revisions of what was appended before, sometimes of what was not."""
    script: list[Any] = []
    ids: list[str] = []
    for number in range(draw(st.integers(1, 6))):
        if not ids or draw(st.booleans()):
            optional = told | place | {"status": mostly_streaming}
            script.append(("append", draw(said), draw(st.fixed_dictionaries({}, optional=optional))))
            ids.append(f"m{number}")
        else:
            optional = told | {"turn": said, "status": mostly_streaming}
            which = draw(st.sampled_from([*ids, *ids, "nobody"]))
            script.append(("revise", which, draw(st.fixed_dictionaries({}, optional=optional))))
    return script


# Words that only the end of an answer brings into the index, and an answer that is no longer the head.
LATE = [
    ("append", PARTIAL, {"status": "streaming"}),
    ("append", ASKED, {}),
    ("revise", "m0", {"turn": Turn("assistant", (Text("量子 é"),))}),
    ("revise", "m0", {"status": "complete"}),
    ("revise", "m1", {"turn": Turn("user", (Text(" "),)), "status": "failed"}),
]
described = st.fixed_dictionaries(
    {},
    optional={
        "title": st.none() | any_text,
        "model": st.none() | words,
        "settings": st.dictionaries(names, json_values, max_size=2),
        "agent_id": st.none() | names,
        "owner": names,
    },
)


class Pair:
    """The same talk in two files: by the store, and by the quick door, whose file another store reads."""

    def __init__(
        self, files: tuple[Path, Path], key: str | None, whole: Store, plain: SqliteAppendStore, reader: Store
    ) -> None:
        self.files = files
        self.key = key
        self.whole = whole
        self.plain = plain
        self.reader = reader

    def empty(self) -> None:
        for file in self.files:
            with sqlite3.connect(file) as connection:
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute("DELETE FROM conversations")
            connection.close()


def place_of(file: Path) -> str:
    return f"sqlite:///{file}"


async def begun(file: Path, key: str | None = None) -> SqliteAppendStore:
    """The quick door to a file that the store has made."""
    await (await open_store(place_of(file))).aclose()
    plain = await open_sqlite_append(place_of(file), key)
    assert plain is not None
    return plain


@pytest.fixture(params=[None, KEY], ids=["in the clear", "with a key"])
async def pair(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pair]:
    monkeypatch.setattr(heart, "BEAT", 3600)  # a sign of life in one file only would be a difference
    files = tmp_path / "whole.db", tmp_path / "plain.db"
    whole = await open_store(place_of(files[0]), request.param)
    plain = await begun(files[1], request.param)
    reader = await open_store(place_of(files[1]), request.param)
    yield Pair(files, request.param, whole, plain, reader)
    for each in (whole, plain, reader):
        await each.aclose()


@pytest.fixture
async def plain(tmp_path: Path) -> AsyncIterator[SqliteAppendStore]:
    plain = await begun(tmp_path / "talks.db")
    yield plain
    await plain.aclose()


@pytest.fixture
async def reader(plain: SqliteAppendStore, tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_store(place_of(tmp_path / "talks.db")) as store:
        yield store


async def talked(store: Any, about: dict[str, Any], script: list[Any]) -> list[str]:
    """Runs the steps; what went wrong at each."""
    outcomes = [await outcome(store.create_conversation(id=TALK, **about))]
    for number, (what, which, fields) in enumerate(script):
        if what == "append":
            outcomes.append(await outcome(store.append(TALK, which, id=f"m{number}", **fields)))
        else:
            outcomes.append(await outcome(store.revise(which, **fields)))
    return outcomes


async def outcome(work: Awaitable[Any]) -> str:
    try:
        await work
    except ThinkwireError as error:
        return f"{type(error).__name__} {error}".replace("whole.db", "plain.db")
    return ""


def contents(file: Path, key: str | None) -> list[Any]:
    """Every row of every table and the search index; times as their order, since they differ."""
    connection = sqlite3.connect(file)
    connection.row_factory = sqlite3.Row
    rows = [
        dict(row)
        for table, order in TABLES.items()
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY {order}")
    ]
    connection.execute(
        "CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'message_search', 'instance')"
    )
    index = [tuple(row) for row in connection.execute(INDEX)]
    connection.execute("INSERT INTO message_search(message_search, rank) VALUES ('integrity-check', 1)")
    connection.close()
    times = sorted({row[name] for row in rows for name in TIMES})
    for row in rows:
        row |= {name: times.index(row[name]) for name in TIMES}
        if key is not None and "turn" in row:
            row["turn"] = SealCipher(key).read(row["turn"], row["id"])
    return [rows, index]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(about=described, script=scripts(), query=words)
@example(about={}, script=LATE, query="量子")
async def test_both_ways_write_the_same_rows(
    pair: Pair, about: dict[str, Any], script: list[Any], query: str
) -> None:
    pair.empty()
    outcomes = await talked(pair.whole, about, script)
    assert await talked(pair.plain, about, script) == outcomes
    assert contents(pair.files[1], pair.key) == contents(pair.files[0], pair.key)
    ours, theirs = [
        [(kept.id, kept.parent_id, kept.turn, kept.status, kept.usage, kept.damaged) for kept in await one]
        for one in (pair.reader.messages(TALK), pair.whole.messages(TALK))
    ]
    assert ours == theirs
    owner = about.get("owner", "")
    assert await pair.reader.search(query, owner) == await pair.whole.search(query, owner)


async def test_what_is_kept_comes_back_as_the_store_gives_it(plain: SqliteAppendStore, reader: Store) -> None:
    await plain.create_conversation("Squares", id=TALK, model="claude-opus-5")
    first = await plain.append(TALK, ASKED)
    second = await plain.append(TALK, PARTIAL, status="streaming", finish="stop", extra={"a": [1]})
    assert await reader.path(TALK) == [first, second]
    row = await reader.conversation(TALK)
    assert (row.title, row.model, row.head, row.count) == ("Squares", "claude-opus-5", second.id, 2)


async def test_no_byte_of_a_seal_is_in_the_clear(tmp_path: Path) -> None:
    file = tmp_path / "talks.db"
    plain = await begun(file, KEY)
    turn = Turn("assistant", (Thinking("Hm.", seal=Seal("anthropic.signature", "c2VhbGVk")),))
    await plain.create_conversation(id=TALK)
    await plain.append(TALK, turn)
    await plain.aclose()
    assert b"c2VhbGVk" not in file.read_bytes()
    async with await open_store(place_of(file), KEY) as store:
        assert (await store.path(TALK))[0].turn == turn


# ---- where it does not lead ----


async def older(file: Path) -> None:
    await migrate(place_of(file), NEWEST)
    await migrate(place_of(file), REVISIONS[-2], down=True)


async def newer(file: Path) -> None:
    await migrate(place_of(file), NEWEST)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE thinkwire_version SET version_num = '9999'")
    connection.close()


async def empty_file(file: Path) -> None:
    file.touch()


async def damaged(file: Path) -> None:
    file.write_bytes(b"not a database at all" * 100)


async def folder(file: Path) -> None:
    file.mkdir()


async def nothing(file: Path) -> None:
    assert not file.exists()


@pytest.mark.parametrize("make", [nothing, empty_file, older, newer, damaged, folder])
async def test_what_only_the_store_can_open_is_left_to_it(
    tmp_path: Path, make: Callable[[Path], Awaitable[None]]
) -> None:
    file = tmp_path / "talks.db"
    await make(file)
    before = file.read_bytes() if file.is_file() else None
    assert await open_sqlite_append(place_of(file)) is None
    assert (file.read_bytes() if file.is_file() else None) == before


@pytest.mark.parametrize(("make", "words"), [(newer, "newer thinkwire"), (damaged, "not a database")])
async def test_the_store_says_why_it_cannot_be_opened(
    tmp_path: Path, make: Callable[[Path], Awaitable[None]], words: str
) -> None:
    await make(tmp_path / "talks.db")
    with pytest.raises(ConfigError, match=words):
        await open_to_begin(place_of(tmp_path / "talks.db"))


@pytest.mark.parametrize("make", [nothing, older])
async def test_the_first_time_makes_the_schema_and_the_next_is_quick(
    tmp_path: Path, make: Callable[[Path], Awaitable[None]]
) -> None:
    file = tmp_path / "talks.db"
    await make(file)
    kinds = []
    for _ in range(2):
        store = await open_to_begin(place_of(file))
        kinds.append(type(store))
        await store.aclose()
    assert kinds == [Store, SqliteAppendStore]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 or make is older


async def test_postgresql_is_the_stores() -> None:
    assert await open_sqlite_append("postgresql://me@localhost/talks") is None


async def test_a_short_key_is_refused(plain: SqliteAppendStore, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="openssl rand"):
        await open_sqlite_append(place_of(tmp_path / "talks.db"), "short")


# ---- trouble ----


async def test_every_connection_waits_and_is_durable(plain: SqliteAppendStore) -> None:
    def look() -> list[Any]:
        assert plain._connection is not None
        names = ("busy_timeout", "journal_mode", "foreign_keys", "synchronous")
        return [plain._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await plain._aside(look) == [30_000, "wal", 1, 2]


async def test_a_locked_file_stops_nothing_else_and_is_written_when_it_is_free(
    plain: SqliteAppendStore, reader: Store, tmp_path: Path
) -> None:
    other = sqlite3.connect(tmp_path / "talks.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(plain.create_conversation(id=TALK))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not writing.done()
    other.execute("COMMIT")
    other.close()
    await writing
    assert (await reader.conversation(TALK)).count == 0


async def test_a_file_that_stays_locked_is_said_as_the_store_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_PRAGMAS", ("PRAGMA busy_timeout = 1", *sqlite._PRAGMAS[1:]))
    file = tmp_path / "talks.db"
    plain = await begun(file)
    whole = await open_store(place_of(file))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    said = []
    for store in (plain, whole):
        with pytest.raises(StoreFailed) as failed:
            await store.create_conversation("a secret")
        said.append((str(failed.value), failed.value.advice))
    other.close()
    assert said == [(f"the database {file}: database is locked", "retry")] * 2
    await plain.create_conversation(id=TALK)
    await plain.aclose()
    await whole.aclose()


async def test_what_fails_half_way_leaves_nothing(
    plain: SqliteAppendStore, reader: Store, tmp_path: Path
) -> None:
    await plain.create_conversation(id=TALK)
    with sqlite3.connect(tmp_path / "talks.db") as connection:
        connection.execute(
            "CREATE TRIGGER no BEFORE UPDATE ON conversations BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    connection.close()
    with pytest.raises(StoreFailed, match="no room"):
        await plain.append(TALK, ASKED)
    assert await reader.messages(TALK) == []


async def test_what_is_not_there_is_named(plain: SqliteAppendStore) -> None:
    with pytest.raises(RowNotFound, match="no conversation 'nowhere'"):
        await plain.append("nowhere", ASKED)
    with pytest.raises(RowNotFound, match="no message 'nobody'"):
        await plain.revise("nobody", status="complete")


async def test_a_write_that_was_begun_is_finished_also_when_nobody_waits(
    plain: SqliteAppendStore, reader: Store
) -> None:
    await plain.create_conversation(id=TALK)
    task = asyncio.create_task(plain.append(TALK, ASKED))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [kept.turn for kept in await reader.path(TALK)] == [ASKED]


async def test_a_silent_answer_gives_signs_of_life(
    plain: SqliteAppendStore, reader: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heart, "BEAT", 0.01)
    await plain.create_conversation(id=TALK)
    kept = await plain.append(TALK, PARTIAL, status="streaming")
    async with asyncio.timeout(10):
        while (await reader.message(kept.id)).updated == kept.updated:
            await asyncio.sleep(0.01)
    await plain.revise(kept.id, status="complete")
    assert (await reader.message(kept.id)).status == "complete"


async def test_closing_interrupts_what_was_still_being_written(
    plain: SqliteAppendStore, reader: Store
) -> None:
    await plain.create_conversation(id=TALK)
    kept = await plain.append(TALK, PARTIAL, status="streaming")
    await plain.aclose()
    assert (await reader.message(kept.id)).status == "interrupted"
    assert [hit.message_id for hit in await reader.search("量子")] == [kept.id]


# ---- what it is for ----

WITHOUT_PACKAGES = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sqlalchemy", "aiosqlite", "alembic"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from thinkwire.cli.app import app
app(["ask", "--sim", "[[say:Here.]]"])
"""


def asked_without_packages() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_PACKAGES]
    return subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )


async def test_asking_loads_no_database_package_and_is_kept() -> None:
    await (await open_store()).aclose()
    done = asked_without_packages()
    assert (done.returncode, done.stdout) == (0, "Here.\n"), done.stderr
    assert "not kept" not in done.stderr
    async with await open_store() as store:
        (talk,) = await store.conversations()
        assert [kept.text for kept in await store.path(talk.id)] == ["[[say:Here.]]", "Here."]


def test_without_packages_and_without_a_file_it_says_what_to_install() -> None:
    done = asked_without_packages()
    assert (done.returncode, done.stdout) == (0, "Here.\n"), done.stderr
    assert "not kept: a store needs sqlalchemy: pip install 'thinkwire[store]'" in done.stderr
    assert not (Path(os.environ["THINKWIRE_DATA"]) / "thinkwire.db").exists()
