"""`thinkwire config`: what is set, where it comes from, and changing it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from thinkwire.cli.io import designed_errors, write_json
from thinkwire.client.credentials import keys_file
from thinkwire.config import PROJECT_FILE, Profiles, change_file, load_settings, project_file, user_file
from thinkwire.config.files import working_folder
from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS, Row, Settings, parse_value, setting_of, spelled

_PROFILE = click.option("--profile", metavar="NAME", help="With this profile instead of the default one.")
_PROJECT = click.option(
    "--project", is_flag=True, help=f"In the project's {PROJECT_FILE} instead of your own file."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")
_LONG = 60


@click.group()
def config() -> None:
    """Show and change settings.

    A request's own settings come first, then the session's, the profile's, the agent's, $THINKWIRE_MODEL, the
    project's .thinkwire.toml, your config.toml, the model's facts, and last the built-in default.
    """


@config.command()
@_PROFILE
@_JSON
def show(profile: str | None, as_json: bool) -> None:
    """Print every setting, its value, and where that comes from.

    \b
    Examples:
      thinkwire config show
      thinkwire config show --profile kimi-k2-thinking
      thinkwire config show --json | jq 'select(.source != "default")'
    """
    with designed_errors():
        rows = load_settings(profile=profile).rows()
        if as_json:
            for row in rows:
                write_json(_as_dict(row))
        else:
            table(
                [["setting", "value", "from"], *([row.key, _short(row.value), _origin(row)] for row in rows)]
            )


@config.command()
@click.argument("key")
@_PROFILE
@_JSON
def get(key: str, profile: str | None, as_json: bool) -> None:
    """Print one setting's value; nothing when it is unset."""
    with designed_errors():
        row = _row(load_settings(profile=profile), key)
        if as_json:
            write_json(_as_dict(row) | {"help": KEYS[key].help, "allowed": KEYS[key].allows})
        elif row.value is not None:
            click.echo(spelled(row.value))


@config.command(name="set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@_PROJECT
def set_value(key: str, value: str, project: bool) -> None:
    """Set KEY to VALUE in your file. Comments and everything else in the file stay.

    \b
    Examples:
      thinkwire config set reasoning.effort high
      thinkwire config set reasoning.maxTokens -1
      thinkwire config set --project model claude-opus-5
    """
    with designed_errors():
        parsed = parse_value(key, value)
        path = _file(project)
        change_file(path, key, parsed, project=project)
        click.echo(f"{key} = {spelled(parsed)} ({path})")
        _say_if_hidden(key, "project" if project else "user")


@config.command()
@click.argument("key")
@_PROJECT
def unset(key: str, project: bool) -> None:
    """Take KEY out of your file; what counts then is printed."""
    with designed_errors():
        setting_of(key)
        path = _file(project)
        change_file(path, key, None, project=project)
        row = _standing(key)
        click.echo(
            f"{key} is now {_short(row.value)} ({_origin(row)})" if row else f"{key} is taken out ({path})"
        )


@config.command()
@_JSON
def path(as_json: bool) -> None:
    """Print where settings, profiles and keys are kept."""
    with designed_errors():
        folder = working_folder()
        found = project_file(folder) if folder else None
        places = {
            "user": str(user_file()),
            "project": str(found) if found else None,
            "profiles": str(Profiles().folder),
            "keys": str(keys_file()),
        }
        if as_json:
            write_json(places)
            return
        for name, place in places.items():
            click.echo(f"{name:<8}  {place or f'no {PROJECT_FILE} here or above'}")


def table(rows: list[list[str]]) -> None:
    """Aligned columns, the first row in bold where the terminal may be adorned."""
    color = False if os.environ.get("NO_COLOR") else None
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.secho(line, bold=number == 0, color=color)


def _row(settings: Settings, key: str) -> Row:
    setting_of(key)
    return next(row for row in settings.rows() if row.key == key)


def _as_dict(row: Row) -> dict[str, Any]:
    return {"key": row.key, "value": row.value, "source": row.source, "place": row.place or None}


def _origin(row: Row) -> str:
    if row.source == "default" and row.value is None:
        return "unset"
    return f"{row.source}: {row.place}" if row.place else row.source


def _short(value: Any) -> str:
    """One line, printable whatever a file says."""
    text = "".join(char if char.isprintable() else " " for char in spelled(value)) or "(empty)"
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _file(project: bool) -> Path:
    if not project:
        return user_file()
    folder = working_folder()
    if folder is None:
        raise ConfigError("this folder does not exist any more; there is no project here")
    return project_file(folder) or folder / PROJECT_FILE


def _say_if_hidden(key: str, source: str) -> None:
    """A stronger layer's word on the same setting still counts; whoever sets it should know."""
    row = _standing(key)
    if row is not None and row.source != source:
        click.echo(f"note: {_origin(row)} says {_short(row.value)}, and that counts", err=True)


def _standing(key: str) -> Row | None:
    """What counts after a change; None when something else is wrong, which is not this command's matter."""
    try:
        return _row(load_settings(), key)
    except ConfigError:
        return None
