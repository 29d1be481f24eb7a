"""Accounts: who may use the web app, who is signed in, and who was invited. Secrets are kept as digests."""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from thinkwire.store.database import Repository
from thinkwire.store.errors import NameTaken, RowNotFound
from thinkwire.store.ids import new_id
from thinkwire.store.rows import UserRow
from thinkwire.store.search_text import readable
from thinkwire.store.tables import agents, conversations, invitations, profiles, sign_ins, uploads, users

_ABOUT = "accounts"
_LOCK_NUMBER = 7_446_912_231
"""The number of PostgreSQL's advisory lock: changes to accounts are made one after the other."""
_USER = [users.c.id, users.c.name, users.c.admin, users.c.created, users.c.removed]


def name_key(name: str) -> str:
    """What makes two names the same."""
    return " ".join(readable(name).casefold().split())


class Accounts(Repository):
    """The operations on users, sign-ins and invitations."""

    async def create_user(
        self,
        name: str,
        password: str,
        *,
        admin: bool = False,
        first: bool = False,
        invitation: str | None = None,
    ) -> UserRow:
        """A new account; `password` is a hash.

        `first` needs that there is none yet; an invitation is used up, and says who is an administrator.
        """
        row = {
            "id": new_id(),
            "name": readable(name),
            "name_key": name_key(name),
            "password": password,
            "admin": admin,
            "created": time.time(),
            "removed": None,
        }

        async def work(connection: AsyncConnection) -> None:
            await _lock(connection)
            if first and await connection.scalar(sa.select(sa.func.count()).select_from(users)):
                raise NameTaken("there are accounts already; ask an administrator for an invitation")
            if invitation is not None:
                row["admin"] = await _use(connection, invitation)
            if await connection.scalar(sa.select(users.c.id).where(users.c.name_key == row["name_key"])):
                raise NameTaken(f"the name {name!r} is taken")
            await connection.execute(users.insert(), row)

        await self.database.write(work, _ABOUT)
        return await self.user(str(row["id"]))

    async def user(self, id: str) -> UserRow:
        """One account, removed or not."""
        rows = await self.database.rows(sa.select(*_USER).where(users.c.id == id))
        if not rows:
            raise RowNotFound("user", id)
        return _user(rows[0])

    async def user_named(self, name: str) -> tuple[UserRow, str] | None:
        """The account of this name that can sign in, and its password's hash."""
        query: sa.Select[Any] = sa.select(*_USER, users.c.password).where(users.c.name_key == name_key(name))
        rows = await self.database.rows(query.where(users.c.removed.is_(None)))
        return (_user(rows[0]), str(rows[0].password)) if rows else None

    async def users(self) -> list[UserRow]:
        """Every account by name, removed ones too."""
        rows = await self.database.rows(sa.select(*_USER).order_by(users.c.name_key))
        return [_user(row) for row in rows]

    async def has_users(self) -> bool:
        return bool(await self.database.rows(sa.select(users.c.id).limit(1)))

    async def set_password(self, id: str, password: str) -> None:
        """Another password; whoever is signed in with the old one is signed out."""

        async def work(connection: AsyncConnection) -> None:
            change = users.update().where(users.c.id == id).values(password=password)
            if not (await connection.execute(change)).rowcount:
                raise RowNotFound("user", id)
            await connection.execute(sign_ins.delete().where(sign_ins.c.user_id == id))

        await self.database.write(work, _ABOUT)

    async def remove_user(self, id: str, *, purge: bool = False) -> None:
        """Nobody signs in with it any more. Its conversations stay, unless they are purged with it."""

        async def work(connection: AsyncConnection) -> None:
            await _lock(connection)
            found = (await connection.execute(sa.select(*_USER).where(users.c.id == id))).first()
            if found is None:
                raise RowNotFound("user", id)
            if found.admin and found.removed is None and await _admins(connection) == 1:
                raise NameTaken(f"{found.name} is the last administrator; make another one first")
            await connection.execute(sign_ins.delete().where(sign_ins.c.user_id == id))
            if not purge:
                change = users.update().where(users.c.id == id, users.c.removed.is_(None))
                await connection.execute(change.values(removed=time.time()))
                return
            for table in (conversations, agents, profiles, uploads):
                await connection.execute(table.delete().where(table.c.owner == id))
            await connection.execute(users.delete().where(users.c.id == id))

        await self.database.write(work, _ABOUT)

    async def sign_in(self, user_id: str, digest: str, expires: float) -> None:
        """Keeps the digest of a session's token; sessions that are over are forgotten."""
        now = time.time()
        row = {"digest": digest, "user_id": user_id, "created": now, "expires": expires}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(sign_ins.delete().where(sign_ins.c.expires < now))
            await connection.execute(sign_ins.insert(), row)

        await self.database.write(work, _ABOUT)

    async def signed_in(self, digest: str) -> UserRow | None:
        """Whose session this is; None when it is over or was never one."""
        query = sa.select(*_USER).join_from(sign_ins, users, users.c.id == sign_ins.c.user_id)
        query = query.where(sign_ins.c.digest == digest, sign_ins.c.expires > time.time())
        rows = await self.database.rows(query.where(users.c.removed.is_(None)))
        return _user(rows[0]) if rows else None

    async def sign_out(self, digest: str) -> None:
        await self.database.write(
            lambda connection: connection.execute(sign_ins.delete().where(sign_ins.c.digest == digest)),
            _ABOUT,
        )

    async def invite(
        self, digest: str, *, expires: float, invited_by: str | None = None, admin: bool = False
    ) -> None:
        """Keeps the digest of an invitation's token."""
        now = time.time()
        row = {"digest": digest, "invited_by": invited_by, "admin": admin, "created": now, "expires": expires}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(invitations.delete().where(invitations.c.expires < now))
            await connection.execute(invitations.insert(), row)

        await self.database.write(work, _ABOUT)


async def _lock(connection: AsyncConnection) -> None:
    """SQLite's writer has the lock already."""
    if connection.dialect.name == "postgresql":
        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK_NUMBER)))


async def _use(connection: AsyncConnection, digest: str) -> bool:
    """Uses an invitation up; whether it makes an administrator."""
    i = invitations.c
    taken = invitations.delete().where(i.digest == digest, i.expires > time.time()).returning(i.admin)
    row = (await connection.execute(taken)).first()
    if row is None:
        raise NameTaken("this invitation was used, or is too old; ask for another one")
    return bool(row.admin)


async def _admins(connection: AsyncConnection) -> int:
    query = sa.select(sa.func.count()).select_from(users)
    count = await connection.scalar(query.where(users.c.admin.is_(True), users.c.removed.is_(None)))
    return int(count or 0)


def _user(row: sa.Row[Any]) -> UserRow:
    return UserRow(id=row.id, name=row.name, admin=bool(row.admin), created=row.created, removed=row.removed)
