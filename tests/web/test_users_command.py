"""`thinkwire users`, and the accounts in the store on both databases."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.postgres import PostgreSQL
from thinkwire.cli.users import users
from thinkwire.store import NameTaken, RowNotFound, Store, open_store
from thinkwire.store.schema import NEWEST
from thinkwire.store.store import migrate
from thinkwire.web.auth import passwords
from thinkwire.web.auth.security import digest


@pytest.fixture
def own(own_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_DATABASE_URL", own_url)


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(users, words, input=given)


def test_accounts_from_the_command_line(own: None) -> None:
    assert "no accounts" in run("list").output
    made = run("add", "ada", "--admin", "--password-stdin", given="correct horse\n")
    assert (made.exit_code, made.output) == (0, "ada can sign in and is an administrator.\n")
    assert run("add", "ADA", "--password-stdin", given="correct horse\n").exit_code == 1
    assert run("add", "bob", "--password-stdin", given="short\n").exit_code == 1
    assert run("add", "bob", given="correct horse\ncorrect horse\n").exit_code == 0
    rows = [json.loads(line) for line in run("list", "--json").output.splitlines()]
    assert [(row["name"], row["admin"]) for row in rows] == [("ada", True), ("bob", False)]
    assert "password" not in run("list", "--json").output
    assert run("passwd", "bob", "--password-stdin", given="battery staple\n").exit_code == 0
    assert run("passwd", "carl", "--password-stdin", given="battery staple\n").exit_code == 1
    assert "last administrator" in run("remove", "ada", "--yes").output
    assert run("remove", "bob", given="n\n").exit_code == 1
    assert run("remove", "bob", "--yes").exit_code == 0
    assert "removed" in run("list").output
    assert run("remove", "bob", "--yes").exit_code == 1
    assert run("remove", "bob", "--purge", "--yes").exit_code == 0
    assert "bob" not in run("list").output


def test_an_invitation_from_the_command_line_opens_the_door_once(own: None, own_url: str) -> None:
    token = json.loads(run("invite", "--admin", "--json").output)["token"]

    async def join() -> bool:
        async with await open_store(own_url) as store:
            return (await store.create_user("ada", "hash", invitation=digest(token))).admin

    assert asyncio.run(join()) is True
    with pytest.raises(NameTaken, match="invitation"):
        asyncio.run(join())


@pytest.mark.anyio
async def test_passwords_are_argon2_and_nobody_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    hash = await passwords.hashed("correct horse")
    assert hash.startswith("$argon2id$")
    assert await passwords.is_right("correct horse", hash)
    assert not await passwords.is_right("wrong horse", hash)
    assert not await passwords.is_right("nobody's password", None)


@pytest.fixture(params=["sqlite", "postgresql"])
def any_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        url: str = request.getfixturevalue("own_url")
        return url
    server: PostgreSQL = request.getfixturevalue("postgres")
    return server.database()


@pytest.mark.anyio
async def test_accounts_in_the_store(any_url: str) -> None:
    await migrate(any_url, NEWEST)
    async with await open_store(any_url) as store:
        await accounts(store)


async def accounts(store: Store) -> None:
    both = await asyncio.gather(
        *(store.create_user(name, "hash", admin=True, first=True) for name in ("ada", "eve")),
        return_exceptions=True,
    )
    assert sorted(type(one).__name__ for one in both) == ["NameTaken", "UserRow"]
    (ada,) = await store.users()
    assert await store.user_named("ADA") is not None or await store.user_named("EVE") is not None
    await store.sign_in(ada.id, digest("one"), time.time() + 60)
    await store.sign_in(ada.id, digest("two"), time.time() - 1)
    assert await store.signed_in(digest("one")) == ada
    assert await store.signed_in(digest("two")) is None
    await store.set_password(ada.id, "other")
    assert await store.signed_in(digest("one")) is None
    with pytest.raises(NameTaken, match="last administrator"):
        await store.remove_user(ada.id, purge=True)
    bob = await store.create_user("bob", "hash")
    talk = await store.create_conversation(owner=bob.id)
    upload = await store.add_upload(b"\x00\xff", name="a", media_type="image/png", owner=bob.id)
    assert (await store.upload(upload.id, bob.id))[1] == b"\x00\xff"
    with pytest.raises(RowNotFound):
        await store.upload(upload.id, ada.id)
    await store.remove_user(bob.id)
    assert await store.user_named("bob") is None
    assert (await store.conversation(talk.id)).owner == bob.id
    await store.remove_user(bob.id, purge=True)
    with pytest.raises(RowNotFound):
        await store.conversation(talk.id)
    with pytest.raises(RowNotFound):
        await store.remove_user(bob.id)
