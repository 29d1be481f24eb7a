"""Stores in trouble, secrets that are wrong, and files that tell nothing."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.redis import running
from thinkwire.errors import ConfigError
from thinkwire.gateway.common.secret_box import SecretBox, load_secrets, secret_file
from thinkwire.gateway.ledger import open_ledger
from thinkwire.messages import Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.request import Request

KEY = bytes(range(32))
SECRETS = [b"call_abc", b"I should look", b"SIGNATURE", b"tenant-name", b"deepseek"]
TURN = Turn(
    "assistant",
    (Thinking("I should look.", seal=Seal("x", "SIGNATURE")), ToolCall("call_abc", "ls", "{}")),
    origin=Origin("deepseek", model="v4"),
)
DROPPED = Request(turns=(Turn("assistant", (ToolCall("call_abc", "ls", "{}"),)),))


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.mark.anyio
async def test_nothing_can_be_read_in_the_file_and_only_its_owner_can_open_it(state: Path) -> None:
    async with await open_ledger() as ledger:
        await ledger.remember("tenant-name", "deepseek/v4", TURN)
        for path in state.iterdir():
            assert path.stat().st_mode & 0o077 == 0, path
            assert not [word for word in SECRETS if word in path.read_bytes()]


@pytest.mark.anyio
async def test_a_value_moved_to_another_tenants_name_does_not_open(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    async with await open_ledger(str(path), key=KEY) as ledger:
        await ledger.remember("mine", "u", TURN)
        await ledger.remember("yours", "u", Turn("assistant", (Thinking("Other."), TURN.blocks[1])))
    with sqlite3.connect(path) as db:
        (first, _), (second, _) = db.execute("SELECT id, value FROM turns").fetchall()
        db.execute("UPDATE names SET turn = CASE WHEN turn = ? THEN ? ELSE ? END", (first, second, first))
    db.close()
    async with await open_ledger(str(path), key=KEY) as ledger:
        for tenant in ("mine", "yours"):
            assert await ledger.restore(tenant, "u", DROPPED) == (DROPPED, ())


@pytest.mark.anyio
async def test_a_file_that_is_no_database_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    path.write_bytes(b"not a database, but long enough to be taken for one" * 20)
    with pytest.raises(ConfigError, match=r"l\.db cannot be used: file is not a database"):
        await open_ledger(str(path), key=KEY)


@pytest.mark.anyio
async def test_a_store_that_breaks_later_loses_memory_but_no_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "l.db"
    async with await open_ledger(str(path), key=KEY) as ledger:
        await ledger.remember("t", "u", TURN)
        with sqlite3.connect(path) as db:
            db.execute("DROP TABLE names")
        db.close()
        with caplog.at_level(logging.WARNING, "thinkwire.gateway.ledger"):
            assert not await ledger.remember("t", "u", TURN)
            request, notes = await ledger.restore("t", "u", DROPPED)
        assert request == DROPPED
        assert [note.code for note in notes] == ["thinking.dropped"]
        assert "no such table" in caplog.text
        assert "SIGNATURE" not in caplog.text


@pytest.mark.anyio
@pytest.mark.needs("redis")
async def test_redis_may_go_away_in_the_middle() -> None:
    with running() as server:
        ledger = await open_ledger(server.url, key=KEY)
        assert await ledger.remember("t", "u", TURN)
        assert [word for word in SECRETS if word in server.say("KEYS *")] == []
    async with ledger:
        assert not await ledger.remember("t", "u", TURN)
        assert [note.code for note in (await ledger.restore("t", "u", DROPPED))[1]] == ["thinking.dropped"]


@pytest.mark.anyio
async def test_a_closed_ledger_says_so(tmp_path: Path) -> None:
    ledger = await open_ledger(str(tmp_path / "l.db"), key=KEY)
    await ledger.aclose()
    await ledger.aclose()
    with pytest.raises(ConfigError, match="closed"):
        await ledger.stats()


CRASHING = """
import asyncio, os, signal, sys
from thinkwire.gateway.ledger import open_ledger
from thinkwire.messages import Origin, Thinking, ToolCall, Turn

async def main():
    ledger = await open_ledger(sys.argv[1], key=bytes(range(32)))
    turn = Turn("assistant", (Thinking("Kept."), ToolCall("call_abc", "ls", "{}")), origin=Origin("d"))
    assert await ledger.remember("t", "u", turn)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_what_was_remembered_outlives_a_killed_process(tmp_path: Path) -> None:
    path = str(tmp_path / "l.db")
    assert subprocess.run([sys.executable, "-c", CRASHING, path]).returncode == -signal.SIGKILL

    async def after() -> Request:
        async with await open_ledger(path, key=KEY) as ledger:
            return (await ledger.restore("t", "u", DROPPED))[0]

    assert asyncio.run(after()).turns[0].blocks[0] == Thinking("Kept.")


def test_the_secret_is_made_once_and_is_its_owners(state: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: load_secrets(), range(16)))
    assert len(found) == 1
    assert [path.name for path in state.iterdir()] == ["gateway.key"]
    assert secret_file().stat().st_mode & 0o777 == 0o600
    assert len(secret_file().read_bytes()) == 32


def test_the_environment_wins_and_may_hold_several(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [base64.b64encode(bytes([number]) * 32).decode() for number in range(2)]
    monkeypatch.setenv("THINKWIRE_GATEWAY_KEY", f" {keys[0]}, {keys[1].rstrip('=')}\n")
    assert load_secrets() == (bytes(32), b"\x01" * 32)
    assert not state.exists()


@pytest.mark.parametrize("value", ["short", "!" * 44, "A" * 40, f"{'A' * 43}=,"])
def test_a_key_that_is_none_is_refused_and_not_shown(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_GATEWAY_KEY", value)
    with pytest.raises(ConfigError, match="openssl rand") as caught:
        load_secrets()
    assert value not in str(caught.value)


def test_a_secret_that_others_can_read_is_refused(state: Path) -> None:
    load_secrets()
    secret_file().chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        load_secrets()


def test_a_broken_secret_is_refused(state: Path) -> None:
    load_secrets()
    secret_file().write_bytes(b"x" * 31)
    with pytest.raises(ConfigError, match="32 bytes"):
        load_secrets()


def test_a_folder_that_cannot_be_made_is_told(state: Path) -> None:
    state.write_text("in the way")
    with pytest.raises(ConfigError, match=r"gateway\.key cannot be"):
        load_secrets()


def test_secrets_do_not_show() -> None:
    assert repr(SecretBox(KEY, "carrier")) == "Box(…)"
    with pytest.raises(ConfigError, match="at least 16"):
        SecretBox(b"short", "carrier")


def test_purposes_do_not_open_each_other() -> None:
    locked = SecretBox(KEY, "carrier").lock(b"data", b"t")
    assert SecretBox(KEY, "ledger").unlock(locked, b"t") is None
    assert SecretBox(KEY, "carrier").unlock(locked, b"t") == b"data"
    assert SecretBox(KEY, "carrier").names("a", "bc") != SecretBox(KEY, "carrier").names("ab", "c")


def test_missing_parts_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("redis.asyncio", "asyncpg", "cryptography.hazmat.primitives.ciphers.aead"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=r"thinkwire\[redis\]"):
        asyncio.run(open_ledger("redis://127.0.0.1:1", key=KEY))
    with pytest.raises(ConfigError, match=r"thinkwire\[postgres\]"):
        asyncio.run(open_ledger("postgresql://127.0.0.1:1/d", key=KEY))
    with pytest.raises(ConfigError, match=r"thinkwire\[gateway\]"):
        SecretBox(KEY, "carrier")


@pytest.mark.parametrize(("url", "name"), [("sqlite:///x.db", "x.db"), ("x.db", "x.db")])
def test_addresses_of_files(url: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def opening() -> None:
        async with await open_ledger(url, key=KEY) as ledger:
            await ledger.remember("t", "u", Turn("assistant", (Thinking("a"), Text("b"))))

    asyncio.run(opening())
    assert (tmp_path / name).exists()
    assert os.listdir(tmp_path) == [name]
