"""`/context`, `/cost`, `/explain`, `/tools`: what will be sent, what it cost, and why."""

from __future__ import annotations

import datetime
from collections import defaultdict
from typing import Any

import msgspec

from thinkwire.context import Effective
from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import dump_text
from thinkwire.reasoning.feedback import feedback
from thinkwire.session.commands.result import Reply, lines
from thinkwire.session.formatting import money, one_line, tokens
from thinkwire.session.session import Session
from thinkwire.session.tools import Spec, decide
from thinkwire.store.rows import MessageRow
from thinkwire.usage import added

_WIDTH = 30
_NAMES = {
    "sealed": "sealed thinking",
    "tool_calls": "tool calls",
    "tool_results": "tool results",
    "tools": "tool definitions",
    "media": "pictures, files",
}
_HISTORY = ("messages", "contents", "input")
_LONG = 80


async def context(session: Session, rest: str) -> Reply:
    """A picture of the window."""
    return lines(*picture(await session.effective()))


def picture(effective: Effective) -> list[str]:
    """What will be sent, by kind; what is kept and not sent; what is free."""
    whole = effective.limit or max(effective.total, 1)
    share = f" ({effective.total / whole:.0%})" if effective.limit else ""
    told = [f"Context: {effective.shown()} tokens{share}, by {effective.by}"]
    rows = [(_NAMES.get(kind, kind), tokens) for kind, tokens in effective.kinds.items() if tokens]
    if effective.limit is not None:
        rows.append(("free", max(0, effective.limit - effective.total)))
    told += [f"  {name:<16} {tokens:>11,}  {_bar(tokens, whole, name)}" for name, tokens in rows]
    if effective.dormant:
        told.append(f"  {'dormant thinking':<16} {effective.dormant:>11,}  kept here, not sent")
    return told


def _bar(part: int, whole: int, name: str) -> str:
    mark = "·" if name == "free" else "█"
    length = round(part / whole * _WIDTH)
    return mark * length if length else "▏"


async def cost(session: Session, rest: str) -> Reply:
    """Tokens and money of the conversation, model by model."""
    answers = answers_of(await session.keeper.path(session.conversation_id))
    if not answers:
        return lines("Nothing was asked yet.")
    by_model: defaultdict[str, list[MessageRow]] = defaultdict(list)
    for kept in answers:
        origin = kept.turn.origin
        by_model[(origin.model if origin else None) or "unknown"].append(kept)
    told = [f"{model}: {_sum(kept)}" for model, kept in by_model.items()]
    if len(by_model) > 1:
        told.append(f"together: {_sum(answers)}")
    return lines(*told)


def answers_of(path: list[MessageRow]) -> list[MessageRow]:
    """What models answered; a request that was refused outright is none."""
    return [
        kept
        for kept in path
        if kept.role == "assistant" and (kept.turn.blocks or kept.usage is not None or kept.failure is None)
    ]


def _sum(answers: list[MessageRow]) -> str:
    number = "1 answer" if len(answers) == 1 else f"{len(answers)} answers"
    return f"{number}, {tokens(added(kept.usage for kept in answers))} tokens, {money(total_cost(answers))}"


def total_cost(answers: list[MessageRow]) -> float | None:
    """None when the price of one of them is not known."""
    costs = [kept.cost for kept in answers]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


async def explain(session: Session, rest: str) -> Reply:
    """The plan and the body of the next request; long values are cut, seals are never shown."""
    prepared = await session.preview()
    plan = prepared.plan
    first, *others = feedback(plan)
    rows = [
        ("asked", plan.requested.said or "nothing"),
        ("outcome", plan.outcome),
        ("dialect", prepared.dialect.name),
        ("endpoint", prepared.url),
        *(("header", f"{name}: {value}") for name, value in prepared.headers.items()),
        *(("note", f"{note.code}: {note.message}") for note in prepared.notes),
        ("retires", _retires(session)),
    ]
    told = [first.replace("✓ Switched to", "Next request to"), *others]
    told += [f"  {name:<9} {value}" for name, value in rows if value]
    body = msgspec.json.format(dump_text(_brief(prepared.body)), indent=2)
    return lines(*told, *(f"  {line}" for line in body.splitlines()))


def _retires(session: Session) -> str:
    facts = session.plan().facts
    day = facts.retires if facts else None
    if day is None:
        return ""
    return f"{day} ({'gone' if day <= datetime.date.today() else 'the vendor shuts it down then'})"


def _brief(value: Any, key: str = "") -> Any:
    match value:
        case list() if key in _HISTORY:
            return f"({len(value)} messages)"
        case list() if key == "tools":
            return f"({len(value)} tools)"
        case dict():
            return {name: _brief(item, name) for name, item in value.items()}
        case list():
            return [_brief(item) for item in value]
        case str() if len(value) > _LONG:
            return f"{value[:_LONG]}… ({len(value):,} characters)"
    return value


async def tools(session: Session, rest: str) -> Reply:
    """The tools that the model may call, and on what terms."""
    try:
        specs = session.offered.specs
    except ConfigError as error:
        raise ConfigError(f"{error} /unset tools.enabled allows them all") from None
    if not specs:
        return lines("The model has no tools here.")
    width = max(len(spec.name) for spec in specs)
    terms = {"allow": "runs", "ask": "asks first", "deny": "refused"}
    told = [
        f"{spec.name:<{width}}  {terms[decide(session.policy, spec)]:<10}  {_purpose(spec)}" for spec in specs
    ]
    return lines(
        *told, "/set tools.enabled NAMES, /set tools.approve ask|allow|deny, /set tools.allow PATTERNS"
    )


def _purpose(spec: Spec) -> str:
    return one_line(spec.description or "", 50)
