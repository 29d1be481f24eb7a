"""Seals at rest: encrypted with a key, and never the reason why a conversation cannot be read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.strategies import names, turns
from thinkwire.errors import ConfigError
from thinkwire.messages import Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.store import open_store
from thinkwire.store.seal_encryption import SealCipher

KEY = "a key of more than sixteen characters"
OTHER = "another key that is long enough as well"
SAFE = SealCipher(KEY)
SECRET = "c2VhbGVkLWJ5LWEtdmVuZG9y"
SEAL = Seal("anthropic.signature", SECRET)
TURN = Turn(
    "assistant",
    (
        Thinking("Let me see.", seal=SEAL),
        Text("Because.", seal=SEAL),
        ToolCall("1", "run", "{}", seal=SEAL),
        ToolResult("1", (Text("done", seal=SEAL),)),
    ),
)
UNSEALED = Turn(
    "assistant",
    (
        Thinking("Let me see."),
        Text("Because."),
        ToolCall("1", "run", "{}"),
        ToolResult("1", (Text("done"),)),
    ),
)


@settings(max_examples=30)
@given(turn=turns, place=names)
def test_what_is_locked_opens_again_at_its_place_only(turn: Turn, place: str) -> None:
    safe = SAFE
    locked = safe.write(turn, place)
    assert safe.read(locked, place) == (turn, 0)
    assert SealCipher().read(SealCipher().write(turn, place), place) == (turn, 0)
    moved, unopened = safe.read(locked, place + "x")
    assert (moved == turn) == (unopened == 0)


def test_no_byte_of_a_seal_is_in_the_clear() -> None:
    text = SealCipher(KEY).write(TURN, "id")
    assert SECRET not in text
    assert "anthropic.signature" not in text
    assert KEY not in text


@pytest.mark.parametrize("key", [None, OTHER], ids=["no key", "wrong key"])
def test_without_the_key_the_readable_part_is_there(key: str | None) -> None:
    assert SealCipher(key).read(SealCipher(KEY).write(TURN, "id"), "id") == (UNSEALED, 4)


def test_an_old_key_still_opens_when_a_new_one_locks() -> None:
    both = SealCipher(f"{OTHER}, {KEY}")
    assert both.read(SealCipher(KEY).write(TURN, "id"), "id") == (TURN, 0)
    assert SealCipher(OTHER).read(both.write(TURN, "id"), "id") == (TURN, 0)


def test_one_altered_byte_is_noticed() -> None:
    text = SealCipher(KEY).write(Turn("assistant", (Thinking("Hm", seal=SEAL),)), "id")
    place = text.index('"data":"') + 10
    altered = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
    assert SealCipher(KEY).read(altered, "id") == (Turn("assistant", (Thinking("Hm"),)), 1)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="openssl rand"):
        SealCipher("short")


@pytest.mark.anyio
async def test_a_store_without_its_key_loses_seals_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'talks.db'}"
    async with await open_store(url, key=KEY) as store:
        talk = await store.create_conversation()
        kept = await store.append(talk.id, TURN)
        assert kept.turn == TURN
        await store.revise(kept.id, turn=TURN, status="complete")
    with sqlite3.connect(tmp_path / "talks.db") as plain:
        assert SECRET not in "".join(plain.iterdump())
    plain.close()
    async with await open_store(url) as store:
        (kept,) = await store.path(talk.id)
        assert (kept.turn, kept.unopened, kept.damaged) == (UNSEALED, 4, False)
        await store.revise(kept.id, finish="stop")
    monkeypatch.setenv("THINKWIRE_STORE_KEY", KEY)
    async with await open_store(url) as store:
        (kept,) = await store.path(talk.id)
        assert (kept.turn, kept.unopened) == (TURN, 0)
