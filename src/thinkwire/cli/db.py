"""`thinkwire db`: where the store is, and the steps of its schema."""

from __future__ import annotations

from typing import Any

import click

from thinkwire.cli.io import designed_errors

_url = click.option("--url", metavar="URL", help="Another database than $THINKWIRE_DATABASE_URL or the file.")


@click.group()
def db() -> None:
    """The database of conversations."""


@db.command()
@_url
def path(url: str | None) -> None:
    """Print where the store is."""
    from thinkwire.store.location import the_place

    with designed_errors():
        click.echo(the_place(url).shown)


@db.command()
@_url
def current(url: str | None) -> None:
    """Print the step of the schema; exit code 1 if it is not the newest."""
    with designed_errors():
        opening = _opening()
        found = _run(_current(url))
        newest = opening.schema.NEWEST
        click.echo(f"{found or 'empty'}{'' if found == newest else f' (newest: {newest})'}")
    if found != newest:
        raise SystemExit(1)


@db.command()
@_url
def upgrade(url: str | None) -> None:
    """Bring the schema up to date. PostgreSQL needs it before the first use; SQLite does it by itself."""
    with designed_errors():
        opening = _opening()
        where = _run(opening.migrate(url, opening.schema.NEWEST))
        click.echo(f"{where} is at step {opening.schema.NEWEST}")


@db.command()
@click.argument("step")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_url
def downgrade(step: str, yes: bool, url: str | None) -> None:
    """Take the schema back to STEP, for an older thinkwire; `base` removes every table and its data."""
    with designed_errors():
        opening = _opening()
        known = ("base", *opening.schema.REVISIONS)
        if step not in known:
            raise click.UsageError(f"there is no step {step}; there are {', '.join(known)}")
        if not yes:
            click.confirm(f"Go back to {step}? What newer steps keep is lost", abort=True)
        where = _run(opening.migrate(url, step, down=True))
        click.echo(f"{where} is at step {step}")


async def _current(url: str | None) -> str | None:
    opening = _opening()
    place = opening.the_place(url)
    if place.file is not None and not place.file.exists():
        return None
    database = opening.the_database(place)
    try:
        found: str | None = await opening.version_of(database)
        return found
    finally:
        await database.close()


def _opening() -> Any:
    """Loaded here because it takes a second."""
    from thinkwire.errors import ConfigError

    try:
        from thinkwire.store import store as opening
    except ModuleNotFoundError as error:
        raise ConfigError(f"a store needs {error.name}: pip install 'thinkwire[store]'") from None
    return opening


def _run(work: Any) -> Any:
    import asyncio

    return asyncio.run(work)
