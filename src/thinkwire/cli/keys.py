"""`thinkwire keys`: who may use the gateway."""

from __future__ import annotations

import datetime
import math
from typing import Any

import click
import msgspec

from thinkwire.cli.io import designed_errors, write_json


class _Finite(click.FloatRange):
    """A number in a range; NaN and infinity, which Python reads as numbers, are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


@click.group()
def keys() -> None:
    """Make, list and revoke the access keys of the gateway.

    \b
    Examples:
      thinkwire keys create ci --models 'openai/*' --spend-per-day 5 --rate 60 --expires 90
      thinkwire keys list
      thinkwire keys revoke ci
    """


@keys.command()
@click.argument("name")
@click.option("--models", "patterns", multiple=True, metavar="PATTERN", help="Only models of these names.")
@click.option("--spend-per-day", type=_Finite(0, min_open=True), metavar="USD", help="US dollars.")
@click.option("--rate", type=click.IntRange(1), metavar="N", help="Requests a minute.")
@click.option("--expires", type=_Finite(0, 36_500, min_open=True), metavar="DAYS")
@click.option("--operator", is_flag=True, help="May read the series of all keys at /metrics.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def create(*, name: str, patterns: tuple[str, ...], as_json: bool, **limits: Any) -> None:
    """Make a key and show it, once."""
    from thinkwire.gateway.auth.keys import KeyFile

    days = limits["expires"]
    until = None if days is None else _now() + datetime.timedelta(days=days)
    with designed_errors():
        key, secret = KeyFile().create(
            name,
            models=patterns,
            rate_per_minute=limits["rate"],
            spend_per_day=limits["spend_per_day"],
            expires=until,
            operator=limits["operator"],
        )
        _show(key, secret, as_json)


@keys.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_command(as_json: bool) -> None:
    """Show the keys, without their secrets."""
    from thinkwire.gateway.auth.keys import KeyFile, LastUsed

    with designed_errors():
        file = KeyFile()
        found = file.read()
        used = LastUsed().read()
        rows = [_row(key, used.get(key.id)) for key in (found.key if found else ())]
        if as_json:
            for row in rows:
                write_json(row)
        elif rows:
            _table(rows)
        else:
            still = " Keys are needed all the same; delete the file to end that." if found else ""
            click.echo(f"There are no keys in {file.path}.{still}")


@keys.command()
@click.argument("name_or_id")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def rotate(name_or_id: str, as_json: bool) -> None:
    """Give a key a new secret. Its owner keeps limits and everything that the gateway remembers."""
    from thinkwire.gateway.auth.keys import KeyFile

    with designed_errors():
        key, secret = KeyFile().rotate(name_or_id)
        _show(key, secret, as_json)


@keys.command()
@click.argument("name_or_id")
def revoke(name_or_id: str) -> None:
    """Make a key void, within a tenth of a second."""
    from thinkwire.gateway.auth.keys import KeyFile

    with designed_errors():
        file = KeyFile()
        key, left = file.revoke(name_or_id)
        click.echo(f"The key {key.name} ({key.id}) is void.")
        if not left:
            click.echo(f"No key is left; a gateway still needs one until {file.path} is deleted.")


def _show(key: Any, secret: str, as_json: bool) -> None:
    if as_json:
        write_json({**_row(key, None), "key": secret})
        return
    click.echo(secret)
    click.echo(f"This is the key of {key.name} ({key.id}). It is not kept, and not shown again.", err=True)


def _row(key: Any, used: float | None) -> dict[str, Any]:
    """A key as it is listed, without its digest."""
    fields: dict[str, Any] = {"models": [], "rate_per_minute": None, "spend_per_day": None, "expires": None}
    fields["operator"] = False
    fields |= msgspec.to_builtins(key)
    del fields["digest"]
    fields["expired"] = key.expired(_now().timestamp())
    fields["last_used"] = None if used is None else _when(used)
    return fields


def _table(rows: list[dict[str, Any]]) -> None:
    names = ("id", "name", "models", "rate", "usd/day", "created", "expires", "last used")
    cells = [names, *(_cells(row) for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(names))]
    for number, row in enumerate(cells):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.secho(line, bold=number == 0)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    expires = str(row["expires"] or "never")[:10] + (" (expired)" if row["expired"] else "")
    return (
        row["id"],
        row["name"] + (" (operator)" if row["operator"] else ""),
        " ".join(row["models"]) or "any",
        str(row["rate_per_minute"] or "any"),
        "any" if row["spend_per_day"] is None else f"{row['spend_per_day']:g}",
        row["created"][:10],
        expires,
        str(row["last_used"] or "?")[:16].replace("T", " "),
    )


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def _when(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")
