"""`thinkwire explain`: what a model would be sent, and why, before a byte leaves."""

from __future__ import annotations

import re
from typing import Any

import click
import msgspec

from thinkwire.catalog import Catalog
from thinkwire.cli.catalog import the_catalog, with_learned_facts
from thinkwire.cli.dialect import DIALECT, NAMES
from thinkwire.cli.io import chunks, designed_errors, whole, write_json
from thinkwire.client.credentials import find_key, known_providers
from thinkwire.client.routing import asks_for_thinking, choose_route
from thinkwire.dialects import Dialect
from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import dump_text, parse_object
from thinkwire.messages import Text, Turn
from thinkwire.reasoning.explain import Explanation, difference, explain
from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.levels import LEVELS, native_word, parse_level
from thinkwire.reasoning.model_names import parse_name
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.reasoning.plan import Setting
from thinkwire.reasoning.target import Target, all_targets, find_target
from thinkwire.request import Request
from thinkwire.settings.keys import LARGEST

SAMPLE = Request(turns=(Turn("user", (Text("Hello"),)),))


@click.command(name="explain")
@click.argument("model", required=False)
@click.option(
    "--thinking-budget",
    type=click.IntRange(-1, LARGEST),
    metavar="N",
    help="Tokens; 0 is off, -1 lets the model decide.",
)
@click.option("--max-tokens", type=click.IntRange(1, LARGEST), metavar="N", help="The ceiling of the answer.")
@click.option("--request", "file", metavar="FILE", help="A client's request body; - is standard input.")
@click.option("--from", "source", type=DIALECT, metavar=NAMES, help="The dialect of that request.")
@click.option("--all", "everything", is_flag=True, help="Every known model, one line each.")
@click.option("--level", default="med", show_default=True, help="The level for --all.")
@click.option("--models", "overlay", metavar="FILE", help="A table of your own facts, on top of ours.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def explain_command(*, model: str | None, **options: Any) -> None:
    """Show what MODEL[/LEVEL] would be sent, and why. Nothing is sent.

    \b
    Examples:
      thinkwire explain claude-sonnet-4-5/med
      thinkwire explain openrouter/anthropic/claude-opus-5/high --json
      thinkwire explain gemini-2.5-flash --thinking-budget 12000
      thinkwire explain kimi-k3 --request body.json --from anthropic
      thinkwire explain --all --level high
    """
    with designed_errors():
        catalog = the_catalog(options["overlay"])
        if options["everything"]:
            _matrix(catalog, options["level"], options["as_json"])
            return
        if model is None:
            raise ConfigError("which model? thinkwire explain MODEL[/LEVEL], or --all")
        named = parse_name(model)
        request, said, before = _request(options["file"], options["source"])
        intent = _intent(named.intent or said, options["thinking_budget"])
        if options["max_tokens"]:
            request = msgspec.structs.replace(request, max_tokens=options["max_tokens"])
        providers = known_providers()
        routed = choose_route(
            named.name,
            asks_for_thinking(intent, named.name, catalog),
            lambda provider: find_key(provider) is not None,
            providers,
        )
        told = explain(with_learned_facts(find_target(routed.name, catalog, providers)), intent, request)
        told = msgspec.structs.replace(told, notes=(*routed.notes, *told.notes))
        changes = difference(_before(told, before, request), told.body)
        if options["as_json"]:
            write_json(as_dict(told) | ({"diff": changes} if options["file"] else {}))
        else:
            _page(told, changes)


def _request(file: str | None, source: Dialect | None) -> tuple[Request, Intent, dict[str, Any] | None]:
    if file is None:
        return SAMPLE, Intent(), None
    if source is None:
        raise ConfigError("--request needs --from DIALECT: in which language is the request written?")
    body = parse_object(whole(chunks(file)))
    request = source.decode_request(body)
    intent, request = read_intent(request)
    return request, intent, body | {"": source.name}


def _intent(intent: Intent, budget: int | None) -> Intent:
    if budget is None:
        return intent
    said = f"{intent.said} --thinking-budget={budget}".strip()
    return msgspec.structs.replace(intent, budget=budget, said=said)


def _before(told: Explanation, body: dict[str, Any] | None, request: Request) -> dict[str, Any]:
    """What the body is compared with: the client's own in the same dialect, else the bare translation."""
    if body is not None and body.pop("") == told.dialect:
        return body
    return told.untouched


def as_dict(told: Explanation) -> dict[str, Any]:
    """The explanation as every machine gets it."""
    plan = told.plan
    return {
        "provider": plan.provider or None,
        "model": plan.model,
        "dialect": told.dialect,
        "endpoint": told.endpoint,
        "requested": plan.requested,
        "effective": plan.effective,
        "outcome": plan.outcome,
        "controls": plan.controls,
        "notes": [{"code": note.code, "text": note.message} for note in told.notes],
        "headers": told.headers,
        "body": told.body,
        "feedback": told.feedback,
    }


def _page(told: Explanation, changes: list[dict[str, Any]]) -> None:
    plan = told.plan
    for line in told.feedback:
        click.echo(line)
    click.echo()
    _row("asked", plan.requested.said or "nothing")
    _row("outcome", plan.outcome)
    _row("dialect", told.dialect)
    _row("endpoint", told.endpoint or "unknown")
    for name, value in told.headers.items():
        _row("header", f"{name}: {value}")
    for note in told.notes:
        _row("note", f"{note.code}: {note.message}")
    click.echo()
    changed = {change["path"].split(".")[0].split("[")[0] for change in changes}
    for line in _pretty(told.body):
        key = re.match(r'  "(\w+)"', line)
        mark = bool(key and key[1] in changed)
        click.secho(f"{'+' if mark else ' '} {line}", bold=mark, fg="green" if mark else None)
    if changes:
        click.echo()
        for change in changes:
            _row("changed", f"{change['path']}: {_short(change['before'])} → {_short(change['after'])}")


def _row(label: str, text: str) -> None:
    click.echo(f"  {label:<9} {text}")


def _short(value: Any) -> str:
    text = "nothing" if value is None else dump_text(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _pretty(body: dict[str, Any]) -> list[str]:
    return msgspec.json.format(dump_text(body), indent=2).splitlines()


def _matrix(catalog: Catalog, level: str, as_json: bool) -> None:
    asked = parse_level(level)
    if asked is None:
        raise ConfigError(f"no level {level!r}; there are {', '.join(LEVELS)}")
    intent = Intent(level=asked, said=f"/{level}")
    rows = [_matrix_row(target, explain(target, intent, SAMPLE)) for target in all_targets(catalog)]
    if as_json:
        for row in rows:
            write_json(row)
        return
    widths = [max(len(row[key]) for row in rows) for key in ("provider", "model", "outcome", "effective")]
    for row in rows:
        cells = (row["provider"], row["model"], row["outcome"], row["effective"])
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        click.echo(f"{line}  {dump_text(row['patch'])}")


def _matrix_row(target: Target, told: Explanation) -> dict[str, Any]:
    return {
        "provider": told.plan.provider,
        "model": target.model,
        "outcome": told.plan.outcome,
        "effective": _effective(told.plan.effective),
        "patch": told.plan.patch,
        "notes": [note.code for note in told.notes],
    }


def _effective(setting: Setting) -> str:
    if setting.on is None:
        return "provider default"
    if not setting.on:
        return "off"
    if setting.between_tools:
        return "between tools"
    if setting.budget is not None:
        return "dynamic" if setting.budget < 0 else f"{setting.budget:,} tokens"
    word = parse_level(setting.effort or "")
    return (native_word(word) if word else setting.effort) or "on"
