"""Damaged files: a cache is moved aside and begun anew, what counts money stays as it is."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import pytest

from thinkwire.errors import ConfigError
from thinkwire.gateway.auth.keys import Tenant
from thinkwire.gateway.common import shared_sqlite as sqlite
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.ledger import Ledger, open_ledger
from thinkwire.gateway.pipeline.services import open_services
from thinkwire.messages import Origin, Text, Thinking, Turn
from thinkwire.request import Request

pytestmark = pytest.mark.anyio

KEY = bytes(range(32))
TURN = Turn("assistant", (Thinking("Kept."), Text("Said.")), origin=Origin("deepseek", model="v4"))
DROPPED = Request(turns=(Turn("assistant", (Text("Said."),)),))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    monkeypatch.setenv("THINKWIRE_STATE", str(folder))
    return folder


async def works(ledger: Ledger) -> bool:
    if not await ledger.remember("t", "u", TURN):
        return False
    restored, _ = await ledger.restore("t", "u", DROPPED)
    return restored.turns[0].blocks[0] == TURN.blocks[0]


def copies(path: Path) -> list[Path]:
    found = path.parent.glob(f"{path.name}.damaged-*")
    return [one for one in found if not one.name.endswith(("-wal", "-shm"))]


async def filled(path: Path, count: int = 200) -> None:
    async with await open_ledger(str(path), key=KEY) as ledger:
        for number in range(count):
            turn = Turn("assistant", (Thinking(f"{number} " * 200), Text(f"Said {number}.")))
            assert await ledger.remember("t", "u", turn)


def break_page(path: Path, table: str) -> None:
    """Overwrite the first page of a table."""
    db = sqlite3.connect(path)
    (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    db.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


async def not_a_database(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to be taken for one" * 20)


async def truncated(path: Path) -> None:
    await filled(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 3)


async def broken_index(path: Path) -> None:
    await filled(path)
    break_page(path, "turns_by_use")


@pytest.mark.parametrize("damage", [not_a_database, truncated, broken_index])
@pytest.mark.parametrize("name", ["ledger.db", "responses.db"])
async def test_a_gateway_starts_although_a_cache_is_damaged(
    name: str, damage: object, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = state / name
    await damage(path)  # type: ignore[operator]
    before = path.read_bytes()
    with caplog.at_level(logging.ERROR):
        async with open_services(GatewayConfig()) as parts:
            assert parts.ledger is not None
            assert await works(parts.ledger)
            assert (await parts.readiness.report()).is_ready
    (copy,) = copies(path)
    assert copy.read_bytes() == before, "nothing is thrown away"
    assert str(copy) in caplog.text


async def test_damage_that_is_found_while_it_runs_loses_no_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ledger.db"
    await filled(path)
    break_page(path, "names")
    async with await open_ledger(str(path), key=KEY, resilient=True) as ledger:
        assert not copies(path), "what is looked at in the beginning is whole"
        assert await works(ledger)
        assert (await ledger.stats()).turns == 1
    assert len(copies(path)) == 1
    assert "malformed" in caplog.text


async def test_gateways_on_one_file_move_it_aside_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    await filled(path)
    break_page(path, "names")
    opened = [await open_ledger(str(path), key=KEY, resilient=True) for _ in range(3)]
    for ledger in opened:
        assert await works(ledger)
    assert [(await ledger.stats()).turns for ledger in opened] == [1, 1, 1], "all of them use the new file"
    assert len(copies(path)) == 1
    for ledger in opened:
        await ledger.aclose()


async def test_a_file_that_was_deleted_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_LOOK_EVERY", 0.0)
    path = tmp_path / "ledger.db"
    async with await open_ledger(str(path), key=KEY, resilient=True) as ledger:
        assert await works(ledger)
        for file in tmp_path.glob("ledger.db*"):
            file.unlink()
        assert await works(ledger)
        assert path.exists()


async def test_a_file_that_is_something_else_stays_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Buy milk. " * 200)
    async with await open_ledger(str(path), key=KEY, resilient=True) as ledger:
        assert not await works(ledger)
        with pytest.raises(ConfigError, match="name another file"):
            await ledger.ping()
    assert path.read_text() == "Buy milk. " * 200
    assert not copies(path)


async def test_a_disk_that_damages_every_file_is_not_filled(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for _ in range(7):
        await not_a_database(path)
        async with await open_ledger(str(path), key=KEY, resilient=True):
            pass
    assert len(copies(path)) == 5
    async with await open_ledger(str(path), key=KEY, resilient=True) as ledger:
        with pytest.raises(ConfigError, match="check the disk"):
            await ledger.ping()


async def test_a_command_moves_nothing_aside(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    await not_a_database(path)
    with pytest.raises(ConfigError, match="file is not a database"):
        await open_ledger(str(path), key=KEY)
    assert not copies(path)


async def test_damaged_spending_is_never_begun_anew(state: Path) -> None:
    path = state / "spending.db"
    await not_a_database(path)
    before = path.read_bytes()
    async with open_services(GatewayConfig()) as parts:
        with pytest.raises(Refusal) as refused:
            await parts.limits.reserve(Tenant("t", "t", spend_per_day=5.0), 1.0)
        assert refused.value.status == 503
        report = await parts.readiness.report()
        assert report.checks["limits"] == "cannot be read"
    assert path.read_bytes() == before
    assert not copies(path)
