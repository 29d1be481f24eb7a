"""Looking behind: why a message came out as it did, and what everything took."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec

from thinkwire.errors import MalformedInput
from thinkwire.messages import Thinking
from thinkwire.store import MessageRow
from thinkwire.usage import added
from thinkwire.web import schemas as shapes
from thinkwire.web.api import ownership as owned
from thinkwire.web.api.message_groups import MessageGroup, MessageTree, groups
from thinkwire.web.errors import Problem
from thinkwire.web.metadata import metadata_of, usage_shown
from thinkwire.web.request import ApiRequest
from thinkwire.web.ui_stream.parts import notes_of


async def explain(call: ApiRequest) -> shapes.Explained:
    """An answer's requests, its last one in full: requested, effective, observed."""
    kept = await owned.message(call)
    group = await _group(call, kept)
    if group is None or not group.answers:
        raise Problem(409, "not_an_answer", "only answers can be explained")
    asked = [answer.extra.get("asked") or {} for answer in group.answers]
    last = asked[-1]
    told = metadata_of(group)
    return shapes.Explained(
        requested=last.get("requested"),
        effective=last.get("effective"),
        observed=_observed(group),
        outcome=last.get("outcome"),
        lines=[str(line).strip() for line in last.get("lines", ())],
        notes=[shapes.ToldNote(note.code, note.message) for note in notes_of(group)],
        request=_request(last),
        requests=[_summary(answer, each) for answer, each in zip(group.answers, asked, strict=True)],
        usage=told.get("usage"),
        cost=told.get("cost"),
        failure=told.get("failure"),
    )


async def usage(call: ApiRequest) -> shapes.Usage:
    """Tokens and cost by day, model and agent. Days are of UTC plus `offset` seconds; both ends count."""
    query = call.query
    since = _moment(query.since, "since", query.offset) or 0.0
    until = _moment(query.until, "until", query.offset, whole_day=True)
    rows = await call.web.store.usage(call.owner, since, until, utc_offset=query.offset)
    names = {agent.id: agent.name for agent in await call.web.store.agents(call.owner)}
    return shapes.Usage(
        [
            shapes.UsageEntry(**msgspec.structs.asdict(row), agent=names.get(row.agent_id or ""))
            for row in rows
        ]
    )


async def _group(call: ApiRequest, kept: MessageRow) -> MessageGroup | None:
    store = call.web.store
    end = MessageTree(await store.tree(kept.conversation_id)).newest_under(kept.id)
    path = await store.path(kept.conversation_id, end)
    found = (group for group in groups(path) if any(each.id == kept.id for each in group.kept))
    return next((group for group in found if group.role == "assistant"), None)


def _request(asked: dict[str, Any]) -> dict[str, Any] | None:
    if not asked:
        return None
    names = ("provider", "model", "dialect", "endpoint", "headers", "controls", "body", "context")
    return {name: asked.get(name) for name in names}


def _observed(group: MessageGroup) -> dict[str, Any]:
    """What the provider did, as far as it can be seen."""
    blocks = [block for kept in group.answers for block in kept.turn.blocks if isinstance(block, Thinking)]
    counted = added(kept.usage for kept in group.answers)
    told = metadata_of(group)
    return {
        "thought": bool(blocks) or bool(counted and counted.output_reasoning),
        "blocks": len(blocks),
        "forms": sorted({block.form for block in blocks}),
        "readable_characters": sum(len(block.text) for block in blocks),
        "sealed": sum(block.seal is not None for block in blocks),
        "reasoning_tokens": counted.output_reasoning if counted else None,
        "elapsed_thinking": told["elapsed_thinking"],
        "skipped": told["thinking_skipped"],
        "finish": told["finish"],
    }


def _summary(kept: MessageRow, asked: dict[str, Any]) -> dict[str, Any]:
    return {
        "message_id": kept.id,
        "status": kept.status,
        "provider": asked.get("provider"),
        "model": asked.get("model"),
        "effective": asked.get("effective"),
        "outcome": asked.get("outcome"),
        "usage": usage_shown(kept.usage),
        "cost": kept.cost,
        "elapsed_thinking": kept.elapsed_thinking,
        "finish": kept.finish,
    }


def _moment(text: str, name: str, offset: float, *, whole_day: bool = False) -> float | None:
    """A day (`2026-11-16`), or seconds since the epoch; the last day counts as a whole."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        day = datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC)
    except ValueError:
        raise MalformedInput("expected a day like 2026-11-16, or seconds", path=name) from None
    return day.timestamp() - offset + (86_400 if whole_day else 0)
