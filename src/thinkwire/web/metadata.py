"""What is told about a message beside what it says: how it ended, what it took, what was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from thinkwire.messages import Thinking
from thinkwire.usage import Usage, added
from thinkwire.web.api.message_groups import MessageGroup
from thinkwire.web.errors import shown
from thinkwire.web.ui_stream.parts import notes_of, parts_of

Metadata = dict[str, Any]


def ui_message(group: MessageGroup, *, running: bool = False) -> dict[str, Any]:
    """A message in the form of the AI SDK's `UIMessage`."""
    return {
        "id": group.id,
        "role": group.role,
        "parts": parts_of(group, running=running),
        "metadata": metadata_of(group, running=running),
    }


def metadata_of(group: MessageGroup, *, running: bool = False) -> Metadata:
    """The numbers of all requests of an answer together; what one of them does not tell is null."""
    first = group.kept[0]
    told: Metadata = {"status": "complete", "parent_id": first.parent_id, "created": first.created}
    if group.role == "user" or not group.answers:
        return told
    answers = group.answers
    last = answers[-1]
    asked = last.extra.get("asked") or {}
    origin = last.turn.origin
    usage = added(kept.usage for kept in answers)
    return told | {
        "status": "streaming" if running else _status(group),
        "model": (origin.model if origin else None) or asked.get("model"),
        "provider": (origin.provider if origin else None) or asked.get("provider"),
        "usage": usage_shown(usage),
        "cost": _sum(kept.cost for kept in answers),
        "elapsed_thinking": _known_sum(kept.elapsed_thinking for kept in answers),
        "notes": [{"code": note.code, "message": note.message} for note in notes_of(group)],
        "failure": shown(last.failure) if last.failure else None,
        "requested": asked.get("requested"),
        "effective": asked.get("effective"),
        "finish": last.finish,
        "thinking_skipped": None if running else thinking_skipped(group, usage),
        "updated": group.last.updated,
    }


def usage_shown(usage: Usage | None) -> dict[str, int | None] | None:
    """Disjoint buckets and their sums; null is unknown."""
    if usage is None:
        return None
    fields = msgspec.structs.asdict(usage)
    del fields["extras"]
    return fields


def thinking_skipped(group: MessageGroup, usage: Usage | None) -> dict[str, str] | None:
    """Why thinking that was asked for is not there; null when it is there, or nobody asked."""
    last = group.answers[-1]
    asked = last.extra.get("asked") or {}
    if last.status != "complete" or not _wanted(asked.get("requested") or {}):
        return None
    if any(isinstance(block, Thinking) for kept in group.answers for block in kept.turn.blocks):
        return None
    for note in notes_of(group):
        if note.code in ("replay.thinking_off", "reasoning.unsupported", "reasoning.unknown_host"):
            return {"code": note.code, "message": note.message}
    if (tokens := usage.output_reasoning if usage else None) is not None and tokens > 0:
        message = f"it thought for {tokens:,} tokens, and the provider shows none of it"
        return {"code": "hidden", "message": message}
    if (asked.get("effective") or {}).get("on") is False:
        return {"code": "off", "message": "thinking was off for this answer"}
    return {"code": "none", "message": "the model answered without thinking"}


def _wanted(requested: dict[str, Any]) -> bool:
    if requested.get("on") is False or requested.get("budget") == 0:
        return False
    level = requested.get("level")
    if level is not None:
        return level not in ("none", "auto")
    return bool(requested.get("budget") or requested.get("on"))


def _status(group: MessageGroup) -> str:
    """Nobody is writing it any more, even if the store has not noticed yet, or a tool was to be run."""
    last = group.answers[-1]
    return "interrupted" if last.status in ("streaming", "complete") and not group.finished else last.status


def _sum(numbers: Iterable[float | None]) -> float | None:
    known = list(numbers)
    return None if any(number is None for number in known) else sum(number or 0 for number in known)


def _known_sum(numbers: Iterable[float | None]) -> float | None:
    """None when none of them is known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
