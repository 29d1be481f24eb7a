"""`thinkwire profile`: settings under a name."""

from __future__ import annotations

from typing import Any

import click

from thinkwire.cli.config import table
from thinkwire.cli.io import designed_errors, write_json
from thinkwire.config import ProfileEntry, Profiles
from thinkwire.errors import ConfigError
from thinkwire.settings import parse_assignments, spelled

_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")


@click.group()
def profile() -> None:
    """Save, show and choose profiles: settings under a name.

    Use one with --profile NAME, with $THINKWIRE_PROFILE, or make it the default.
    """


@profile.command()
@click.argument("name")
@click.argument("assignments", nargs=-1, metavar="KEY=VALUE...")
@click.option("--from", "base", metavar="PROFILE", help="Begin with this profile's settings.")
@click.option("--force", is_flag=True, help="Overwrite a profile that is damaged.")
def save(name: str, assignments: tuple[str, ...], base: str | None, force: bool) -> None:
    """Write a profile of these settings, in place of one of the same name.

    \b
    Examples:
      thinkwire profile save deep model=claude-opus-5 reasoning.effort=high
      thinkwire profile save my-kimi --from kimi-k2-thinking reasoning.effort=max
    """
    with designed_errors():
        profiles = Profiles()
        values = profiles.load(base) if base is not None else {}
        path = profiles.save(name, values | parse_assignments(assignments), force=force)
        click.echo(f"Profile {name!r} saved ({path})")


@profile.command(name="list")
@_JSON
def list_profiles(as_json: bool) -> None:
    """List the profiles, yours and those that come with the package."""
    with designed_errors():
        entries = Profiles().list()
        if as_json:
            for entry in entries:
                write_json(entry)
            return
        table([["profile", "from", ""], *([entry.name, _from(entry), _remark(entry)] for entry in entries)])


@profile.command()
@click.argument("name")
@_JSON
def show(name: str, as_json: bool) -> None:
    """Print a profile's settings."""
    with designed_errors():
        profiles = Profiles()
        values: dict[str, Any] = profiles.load(name)
        if as_json:
            write_json({"name": name, "place": profiles.place(name), "values": values})
            return
        click.echo(f"{name} ({profiles.place(name)})")
        for key, value in values.items():
            click.echo(f"  {key} = {spelled(value)}")


@profile.command()
@click.argument("name")
def delete(name: str) -> None:
    """Delete a profile of yours."""
    with designed_errors():
        profiles = Profiles()
        was_default = profiles.default() == name
        profiles.delete(name)
        click.echo(f"Profile {name!r} deleted")
        if was_default and profiles.default() is None:
            click.echo("It was the default; now there is none.")


@profile.command()
@click.argument("name", required=False)
@click.option("--clear", is_flag=True, help="Load no profile by default.")
def default(name: str | None, clear: bool) -> None:
    """Choose the profile that is loaded when none is named; without NAME, print it."""
    with designed_errors():
        profiles = Profiles()
        if clear and name is not None:
            raise ConfigError("either NAME or --clear, not both")
        if clear:
            profiles.set_default(None)
            click.echo("No profile is loaded by default.")
        elif name is None:
            click.echo(profiles.default() or "No profile is loaded by default.")
        else:
            profiles.set_default(name)
            click.echo(f"Profile {name!r} set as default. It will be loaded when none is named.")


def _from(entry: ProfileEntry) -> str:
    return "package" if entry.shipped else "you"


def _remark(entry: ProfileEntry) -> str:
    remarks = ["default"] if entry.default else []
    return ", ".join([*remarks, f"damaged: {entry.flaw}"] if entry.flaw else remarks)
