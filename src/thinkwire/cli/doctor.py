"""`thinkwire doctor`: what a provider would refuse of a stored conversation, and a mended copy."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import click
import msgspec

from thinkwire.cli.catalog import the_catalog
from thinkwire.cli.io import designed_errors
from thinkwire.cli.transcripts import read_file, write_file
from thinkwire.client.credentials import known_providers
from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import dump
from thinkwire.messages import Conversation
from thinkwire.providers import Provider, default_providers
from thinkwire.providers.encoding import encode_for
from thinkwire.reasoning.model_names import parse_name
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.reasoning.target import Target, find_target
from thinkwire.replay import Destination
from thinkwire.replay.doctor import examine, healed, mend_request
from thinkwire.replay.findings import Finding, Severity
from thinkwire.request import Request
from thinkwire.transcripts import Imported

_ASKED = (
    *("anthropic", "openai", "google", "xai", "openrouter"),
    *("qwen", "minimax", "deepseek", "moonshot"),
)
EVERYBODY = tuple(f"{name}/{default_providers()[name].first}" for name in _ASKED)
"""Whom a conversation is examined for when nobody is named: the first model of each of these providers."""

_COLUMNS = ("turn", "block", "how bad", "what", "mend")
_VERDICTS: tuple[tuple[Severity, str], ...] = (
    ("refused", "would be refused"),
    ("lost", "lost"),
    ("odd", "to know"),
)
_USUAL = {"anthropic": "anthropic", "gemini": "google", "openai-responses": "openai", "openai-chat": "openai"}


class DoctorTarget(msgspec.Struct, frozen=True):
    """What was read, for one destination."""

    name: str
    given: Request | Conversation
    provider: Provider
    destination: Destination

    def findings(self) -> tuple[Finding, ...]:
        given = self.given if isinstance(self.given, Request) else self.given.turns
        return examine(given, self.destination)


@click.command()
@click.argument("file")
@click.option("--model", metavar="PROVIDER/MODEL", help="Whom it shall go to; else whom the file names.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@click.option("--fix", is_flag=True, help="Write a mended copy; the findings then go to standard error.")
@click.option("-o", "--output", "out", metavar="OUT", help="Where the copy goes; else to standard output.")
def doctor(*, file: str, model: str | None, as_json: bool, fix: bool, out: str | None) -> None:
    """Find what a provider would refuse of a stored conversation, and mend it.

    FILE is a thinkwire conversation (JSON or JSONL), a request body of any provider, a Claude Code
    transcript or a Codex rollout; - is standard input. It is never changed, unless -o names it.
    Ends with 0 when nothing would be refused or lost (or a copy was written), with 1 otherwise.

    \b
    Examples:
      thinkwire doctor session.jsonl
      thinkwire doctor body.json --model gemini-3.8-flash
      thinkwire doctor talk.json --fix -o mended.json
    """
    if out is not None and not fix:
        raise click.UsageError("-o needs --fix")
    with designed_errors():
        imported = read_file(file)
        patients = _patients(imported, model)
        found = [(patient, patient.findings()) for patient in patients]
        if fix:
            write_file(out or "-", _fixed(imported, patients[0]))
        if as_json:
            told = [_as_dict(imported, *each) for each in found]
            click.echo(dump(told[0] if len(told) == 1 else told), err=fix and out in (None, "-"))
        else:
            _show(imported, found, err=fix and out in (None, "-"))
    serious = any(finding.severity != "odd" for _, findings in found for finding in findings)
    sys.exit(1 if serious and not fix else 0)


def _patients(imported: Imported, model: str | None) -> list[DoctorTarget]:
    """For the model that was asked for or that the file names, else one of each provider."""
    named = model or imported.model
    if imported.request is not None and named is None:
        named = next(name for name in EVERYBODY if name.startswith(f"{_USUAL[imported.format]}/"))
    if model is None and imported.request is None and not _is_known(named):
        return [_patient(imported, name, asked=False) for name in EVERYBODY]
    return [_patient(imported, named or "", asked=model is not None)]


def _is_known(model: str | None) -> bool:
    return model is not None and find_target(model, the_catalog(), known_providers()).provider is not None


def _patient(imported: Imported, model: str, *, asked: bool) -> DoctorTarget:
    name = parse_name(model)
    target = find_target(name.name, the_catalog(), known_providers())
    if target.provider is None and imported.request is not None and not asked:
        target = Target(name.name, known_providers()[_USUAL[imported.format]])
    if target.provider is None:
        raise ConfigError(f"nobody is known to have {name.name!r}; say --model PROVIDER/MODEL")
    facts = target.found.facts if target.found else None
    intent = name.intent or (read_intent(imported.request)[0] if imported.request else None)
    destination = Destination(
        provider=target.provider.name,
        model=target.model,
        dialect=_dialect(imported, target),
        facts=facts,
        thinking=intent is None or (intent.level != "none" and intent.on is not False and intent.budget != 0),
    )
    given = imported.request or imported.conversation
    return DoctorTarget(f"{target.provider.name}/{target.model}", given, target.provider, destination)


def _dialect(imported: Imported, target: Target) -> str:
    """The dialect of the request itself where the provider speaks it, else the model's own."""
    assert target.provider is not None
    if imported.request is not None and target.provider.route(imported.format) is not None:
        return imported.format
    return target.found.facts.dialect if target.found else target.provider.routes[0].dialect


def _fixed(imported: Imported, patient: DoctorTarget) -> bytes:
    if not isinstance(patient.given, Request):
        mended = healed(patient.given.turns, patient.destination)
        return Conversation(patient.given.system, mended.turns).to_json() + b"\n"
    if patient.destination.dialect != imported.format:
        wires = f"--from {imported.format} --to {patient.destination.dialect}"
        raise ConfigError(
            f"{patient.name} does not speak {imported.format}; turn the request into its language first "
            f"(`thinkwire wire convert --request {wires}`)"
        )
    request, cure = mend_request(patient.given, patient.destination)
    body = encode_for(patient.provider, imported.format, request).body
    if cure.thinking_off:
        body["thinking"] = {"type": "disabled"}
    return dump(body) + b"\n"


def _as_dict(imported: Imported, patient: DoctorTarget, findings: tuple[Finding, ...]) -> dict[str, Any]:
    return {
        "format": imported.format,
        "model": patient.name,
        "turns": len(imported.conversation.turns),
        "findings": findings,
        "notes": imported.notes,
    }


def _show(imported: Imported, found: list[tuple[DoctorTarget, tuple[Finding, ...]]], *, err: bool) -> None:
    for note in imported.notes:
        click.echo(f"note  {note.message}", err=True)
    if len(found) > 1:
        _overview(found, err=err)
        return
    patient, findings = found[0]
    click.echo(f"{patient.name}: {_summary(findings)}", err=err)
    _table([_COLUMNS, *map(_row, findings)] if findings else [], err=err)


def _overview(found: list[tuple[DoctorTarget, tuple[Finding, ...]]], *, err: bool) -> None:
    rows = [(patient.name, _summary(findings), _kinds(findings)) for patient, findings in found]
    _table([("model", "verdict", "what"), *rows], err=err)
    click.echo("\nSay --model PROVIDER/MODEL to see where.", err=err)


def _summary(findings: tuple[Finding, ...]) -> str:
    counts = Counter(finding.severity for finding in findings)
    said = [f"{counts[name]} {word}" for name, word in _VERDICTS if counts[name]]
    return ", ".join(said) or "nothing is wrong"


def _kinds(findings: tuple[Finding, ...]) -> str:
    return ", ".join(sorted({finding.code for finding in findings}))


def _row(finding: Finding) -> tuple[str, ...]:
    block = "" if finding.block is None else str(finding.block)
    what = f"{finding.code}: {finding.message}"
    return (str(finding.turn), block, finding.severity, _printable(what), _printable(finding.mend))


def _printable(text: str) -> str:
    """One line without control characters: names and ids come from files that anybody may have written."""
    return "".join(char if char.isprintable() else "�" for char in text)


def _table(rows: list[tuple[str, ...]], *, err: bool) -> None:
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  " + "  ".join(cells).rstrip(), err=err)
