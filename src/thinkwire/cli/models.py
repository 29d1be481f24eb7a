"""`thinkwire models`: what is known about every model, and where it comes from."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import click
import msgspec

from thinkwire.catalog import Facts
from thinkwire.cli.catalog import the_catalog
from thinkwire.cli.io import designed_errors, write_json
from thinkwire.errors import ConfigError
from thinkwire.pricing import context_of, price_of
from thinkwire.reasoning.target import find_target

UNKNOWN = "?"

_COLUMNS: list[tuple[str, Callable[[Facts], str]]] = [
    ("provider", lambda facts: facts.provider),
    ("model", lambda facts: facts.id),
    ("thinks by", lambda facts: facts.mechanism),
    ("accepts", lambda facts: accepted(facts)),
    ("off", lambda facts: "yes" if facts.can_be_off else "no"),
    ("default", lambda facts: facts.default or UNKNOWN),
    ("shows", lambda facts: facts.visible),
    ("replay", lambda facts: facts.replay),
    ("context", lambda facts: _count(context_of(facts))),
    ("output", lambda facts: _count(facts.max_output)),
    ("$ in/out", lambda facts: _price(facts)),
    ("released", lambda facts: str(facts.released or UNKNOWN)),
    ("retires", lambda facts: str(facts.retires or "-")),
]


class _ModelsCommand(click.Command):
    """`models [MODEL]`, and beside it `models learned`. A model of that name is PROVIDER/learned."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] != ["learned"]:
            return super().make_context(info_name, args, parent, **extra)
        from thinkwire.cli.learned_facts import learned

        above = click.Context(click.Group(info_name), info_name=info_name, parent=parent)
        return learned.make_context("learned", args[1:], above, **extra)


@click.command(cls=_ModelsCommand)
@click.argument("model", required=False)
@click.option("--provider", metavar="NAME", help="Only this service's models.")
@click.option("--models", "overlay", metavar="FILE", help="A table of your own facts, on top of ours.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def models(model: str | None, provider: str | None, overlay: str | None, as_json: bool) -> None:
    """List every known model and how it thinks, or show one with its sources.

    `thinkwire models learned` lists what refusals have taught; see `thinkwire models learned --help`.

    \b
    Examples:
      thinkwire models --provider anthropic
      thinkwire models claude-sonnet-4-5
      thinkwire models --json | jq 'select(.mechanism == "budget") | .id'
      thinkwire models learned
    """
    with designed_errors():
        catalog = the_catalog(overlay)
        if model is not None:
            found = find_target(model, catalog).found
            if found is None:
                raise ConfigError(f"nobody knows {model!r}; `thinkwire models` lists what is known")
            _show_one(found.facts, found.by, as_json)
            return
        rows = [facts for facts in catalog if provider in (None, facts.provider)]
        if not rows:
            raise ConfigError(f"no provider {provider!r}; there are {', '.join(catalog.providers())}")
        if as_json:
            for facts in rows:
                write_json(_as_dict(facts))
        else:
            _table(rows)


def accepted(facts: Facts) -> str:
    """What the model takes, in a few words."""
    if facts.mechanism in ("budget", "toggle+budget") and facts.budget is not None:
        return f"{facts.budget.min:,}-{facts.budget.max:,} tokens"
    if facts.efforts:
        return " ".join(facts.efforts)
    return {"toggle": "on off", "always": "no control", "none": "-"}.get(facts.mechanism, UNKNOWN)


def _table(rows: list[Facts]) -> None:
    cells = [[name for name, _ in _COLUMNS], *([read(facts) for _, read in _COLUMNS] for facts in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(_COLUMNS))]
    for number, row in enumerate(cells):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.secho(line, bold=number == 0)


def _show_one(facts: Facts, by: str, as_json: bool) -> None:
    shown: dict[str, Any] = {**_as_dict(facts), "matched": by}
    if as_json:
        write_json(shown)
        return
    width = max(len(name) for name in shown)
    for name, value in shown.items():
        click.echo(f"{name:<{width}}  {value}")


def _as_dict(facts: Facts) -> dict[str, Any]:
    price = price_of(facts, datetime.date.today())
    return {**msgspec.to_builtins(facts), "context": context_of(facts), "price": msgspec.to_builtins(price)}


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _price(facts: Facts) -> str:
    price = price_of(facts, datetime.date.today())
    if price.input is None or price.output is None:
        return UNKNOWN
    return f"{price.input:g}/{price.output:g}"
