"""`thinkwire users`: who may use the web app."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from thinkwire.cli.io import designed_errors, write_json
from thinkwire.cli.numbers import FiniteRange
from thinkwire.errors import ConfigError

if TYPE_CHECKING:
    from thinkwire.store import Store, UserRow

SHORTEST = 8


@click.group()
def users() -> None:
    """Add, list and remove the accounts of the web app.

    \b
    Examples:
      thinkwire users add ada --admin
      thinkwire users invite --days 2
      thinkwire users list
      thinkwire users remove ada
    """


@users.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="May add and remove others.")
@click.option("--password-stdin", is_flag=True, help="Take the password from standard input.")
def add(name: str, admin: bool, password_stdin: bool) -> None:
    """Make an account."""
    with designed_errors():
        if not name.strip() or len(name) > 100:
            raise ConfigError("a name has 1 to 100 characters")
        password = _hashed(_password(password_stdin))
        user = _run(lambda store: store.create_user(name.strip(), password, admin=admin))
        click.echo(f"{user.name} can sign in{' and is an administrator' if user.admin else ''}.")


@users.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_command(as_json: bool) -> None:
    """Show the accounts."""
    with designed_errors():
        rows: list[UserRow] = _run(lambda store: store.users())
        if as_json:
            for row in rows:
                write_json(row)
            return
        if not rows:
            click.echo("There are no accounts; `thinkwire users add NAME --admin` makes the first.")
        width = max((len(row.name) for row in rows), default=0)
        for row in rows:
            kind = "removed" if row.removed else "administrator" if row.admin else "user"
            click.echo(f"{row.name:<{width}}  {kind:<13}  since {_day(row.created)}")


@users.command()
@click.argument("name")
@click.option("--password-stdin", is_flag=True, help="Take the password from standard input.")
def passwd(name: str, password_stdin: bool) -> None:
    """Give an account another password. Whoever is signed in with the old one is signed out."""
    with designed_errors():
        user = _run(lambda store: _named(store, name))
        password = _hashed(_password(password_stdin))
        _run(lambda store: store.set_password(user.id, password))
        click.echo(f"{user.name} has a new password.")


@users.command()
@click.argument("name")
@click.option("--purge", is_flag=True, help="Remove conversations, agents and files as well, for good.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(name: str, purge: bool, yes: bool) -> None:
    """Sign somebody out for good. What they said is kept unless it is purged."""
    with designed_errors():
        user = _run(lambda store: _named(store, name, removed=purge))
        if not yes:
            what = " and everything they have" if purge else ""
            click.confirm(f"Remove {user.name}{what}?", abort=True)
        _run(lambda store: store.remove_user(user.id, purge=purge))
        click.echo(f"{user.name} is removed.")


@users.command()
@click.option("--admin", is_flag=True, help="Whoever takes it becomes an administrator.")
@click.option("--days", type=FiniteRange(0, 365, min_open=True), default=7.0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def invite(admin: bool, days: float, as_json: bool) -> None:
    """Make an invitation and show it, once. It makes one account, at /#/join/TOKEN."""
    import time

    from thinkwire.web.auth.security import digest, new_token

    with designed_errors():
        token, expires = new_token(), time.time() + days * 86_400
        _run(lambda store: store.invite(digest(token), expires=expires, admin=admin))
        if as_json:
            write_json({"token": token, "expires": expires})
            return
        click.echo(token)
        click.echo(f"Good until {_day(expires)}. It is not kept, and not shown again.", err=True)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    if not SHORTEST <= len(password) <= 1024:
        raise ConfigError(f"a password has {SHORTEST} characters or more")
    return password


def _hashed(password: str) -> str:
    from thinkwire.web.auth.passwords import hashed_now

    return hashed_now(password)


async def _named(store: Store, name: str, *, removed: bool = False) -> UserRow:
    from thinkwire.store.accounts import name_key

    for user in await store.users():
        if name_key(user.name) == name_key(name) and (removed or user.removed is None):
            return user
    raise ConfigError(f"there is no account {name!r}; `thinkwire users list` shows them")


def _run(work: Callable[[Store], Awaitable[Any]]) -> Any:
    import asyncio

    from thinkwire.store import open_store

    async def once() -> Any:
        async with await open_store() as store:
            return await work(store)

    return asyncio.run(once())


def _day(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d")
