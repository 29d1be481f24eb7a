"""`thinkwire models learned`: what refusals have taught about models, and what becomes of it."""

from __future__ import annotations

import datetime
import time
from typing import Any

import click

from thinkwire.cli.io import designed_errors, write_json
from thinkwire.client.learned_facts import EVERYONE, LearnedFact, LearnedFactsFile, default_learned_facts
from thinkwire.errors import ConfigError
from thinkwire.session.formatting import one_line, unmistakable

_COLUMNS = ("id", "provider", "model", "counts for", "what changed", "evidence", "expires")
_LONGEST = {"model": 40, "counts for": 40, "what changed": 60, "evidence": 70}
_FIELDS = {
    "efforts": "efforts",
    "off": "off",
    "budget": "budget",
    "mechanism": "control",
    "visible": "shows",
    "api": "API",
}
_LEFT_OUT = frozenset(("names", "dialect", "shape"))
"""What follows from the rest of a correction."""


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--forget", is_flag=True, help="Forget the facts with these ids.")
@click.option("--forget-all", is_flag=True, help="Forget every learned fact.")
@click.option("--promote", is_flag=True, help="Let the facts with these ids count for everyone.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def learned(*, ids: tuple[str, ...], forget: bool, forget_all: bool, promote: bool, as_json: bool) -> None:
    """List what refusals have taught about models; forget it, or promote it.

    A learned fact counts for the tenant or user whose request was refused, for thirty days. A promoted one
    counts for everyone. A gateway that runs takes a change within a second.

    \b
    Examples:
      thinkwire models learned
      thinkwire models learned --promote 3f1c0a92de
      thinkwire models learned --forget 3f1c0a92de 81b0c7f2aa
      thinkwire models learned --forget-all
    """
    with designed_errors():
        if forget + forget_all + promote > 1:
            raise ConfigError("--forget, --forget-all and --promote go one at a time")
        if (forget or promote) != bool(ids):
            raise ConfigError("ids go with --forget or --promote; `thinkwire models learned` lists them")
        file = default_learned_facts()
        if forget:
            _report("Forgotten", file.forget(list(ids)), as_json)
        elif promote:
            _report("Counts for everyone", file.promote(list(ids), time.time()), as_json)
        elif forget_all:
            count = file.forget_all(time.time())
            if as_json:
                write_json({"forgotten": count})
            else:
                click.echo(f"Forgotten: {_counted(count)}.")
        else:
            _list(file, as_json)


def _list(file: LearnedFactsFile, as_json: bool) -> None:
    facts = file.all(time.time())
    if as_json:
        for fact in facts:
            write_json(_as_dict(fact))
    elif facts:
        _table(facts)
    else:
        click.echo(f"Nothing was learned from refusals; {file.path} has no facts that count.")


def _report(done: str, facts: list[LearnedFact], as_json: bool) -> None:
    for fact in facts:
        if as_json:
            write_json(_as_dict(fact))
        else:
            said = f"{fact.id} ({fact.provider}/{fact.model}: {describe_change(fact)})"
            click.echo(f"{done}: {one_line(unmistakable(said), 150)}")


def _table(facts: list[LearnedFact]) -> None:
    cells = [_COLUMNS, *map(_cells, facts)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(_COLUMNS))]
    for number, row in enumerate(cells):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.secho(line, bold=number == 0)


def _cells(fact: LearnedFact) -> tuple[str, ...]:
    row = (
        *(fact.id, fact.provider, fact.model, describe_scope(fact.scope)),
        *(describe_change(fact), fact.evidence, _day(fact.expires)),
    )
    return tuple(
        one_line(unmistakable(cell), _LONGEST.get(name, 30)) for name, cell in zip(_COLUMNS, row, strict=True)
    )


def describe_scope(scope: str) -> str:
    """For whom a fact counts, in words."""
    kind, _, name = scope.partition(":")
    if scope == EVERYONE:
        return "everyone"
    return f"{kind} {name}" if name else "local user"


def describe_change(fact: LearnedFact) -> str:
    """What a correction changes, in plain words."""
    change = fact.change
    if change.get("mechanism") == "none":
        return "does not think"
    if change.get("mechanism") == "always":
        return "thinking cannot be controlled"
    parts = [
        f"{name}: {_value(change[field])}"
        for field, name in _FIELDS.items()
        if field in change and not (field == "efforts" and not change[field])
    ]
    others = sorted(change.keys() - _FIELDS.keys() - _LEFT_OUT)
    return "; ".join([*parts, *(f"{field}: {_value(change[field])}" for field in others)])


def _value(value: Any) -> str:
    match value:
        case None:
            return "not possible"
        case list():
            return " ".join(map(str, value)) or "none"
        case {"min": low, "max": high}:
            return f"{low} to {high} tokens"
    return str(value)


def _as_dict(fact: LearnedFact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "provider": fact.provider,
        "model": fact.model,
        "scope": fact.scope,
        "change": fact.change,
        "evidence": fact.evidence,
        "learned": _moment(fact.learned),
        "expires": _moment(fact.expires),
    }


def _moment(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")


def _day(seconds: float) -> str:
    return _moment(seconds)[:10]


def _counted(count: int) -> str:
    return "1 learned fact" if count == 1 else f"{count} learned facts"
