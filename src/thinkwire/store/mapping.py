"""Values as columns, and columns as values again."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from thinkwire.errors import Failure
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Block, Origin, Text, Thinking, Turn
from thinkwire.notes import Note
from thinkwire.store.ids import new_id
from thinkwire.store.rows import BUCKETS, MessageRow
from thinkwire.store.seal_encryption import SealCipher
from thinkwire.store.search_text import folded, readable
from thinkwire.usage import Usage

_PREVIEW = 160
_LARGEST = 2**63 - 1

KEPT = tuple(name for name in MessageRow.__struct_fields__ if name not in ("unopened", "damaged"))
"""The columns that `read_message` needs."""

_usage = msgspec.json.Decoder(Usage).decode
_failure = msgspec.json.Decoder(Failure).decode
_tree = msgspec.json.Decoder().decode


def conversation_columns(
    title: str | None = None,
    model: str | None = None,
    settings: dict[str, Any] | None = None,
    agent_id: str | None = None,
    *,
    owner: str = "",
    id: str | None = None,
) -> dict[str, Any]:
    """A new, empty conversation."""
    now = time.time()
    return {
        "id": id or new_id(),
        "owner": owner,
        **title_columns(title),
        "model": model,
        "settings": dump_text(settings or {}),
        "agent_id": agent_id,
        "head": None,
        "preview": "",
        "count": 0,
        "created": now,
        "updated": now,
        "deleted": None,
    }


def title_columns(title: str | None) -> dict[str, str | None]:
    """A title, and what is searched of it."""
    title = None if title is None else readable(title)
    return {"title": title, "title_words": "" if title is None else folded(title) or title.lower()}


def turn_columns(turn: Turn, id: str, safe: SealCipher) -> dict[str, Any]:
    """A turn verbatim, and what can be read and asked for of it."""
    origin = turn.origin or Origin()
    return {
        "role": turn.role,
        "turn": safe.write(turn, id),
        "text": readable(turn.text),
        "thinking": readable(turn.thinking),
        "provider": _maybe_readable(origin.provider),
        "endpoint": _maybe_readable(origin.endpoint),
        "model": _maybe_readable(origin.model),
        "response_id": _maybe_readable(origin.response_id),
    }


def word_columns(text: str, thinking: str) -> dict[str, str | None]:
    """What is searched where the text itself cannot be."""
    return {"text_words": folded(text), "thinking_words": folded(thinking)}


def told_columns(told: dict[str, Any]) -> dict[str, Any]:
    """What is known of a message besides its turn; only what is given becomes a column."""
    columns = dict(told)
    if "usage" in told:
        columns |= _usage_columns(told["usage"])
    if "failure" in told:
        columns["failure"] = None if told["failure"] is None else dump_text(told["failure"])
    for name in ("notes", "extra"):
        if name in told:
            columns[name] = dump_text(told[name])
    return columns


def preview(text: str) -> str:
    """The first words on one line."""
    return " ".join(text[: 4 * _PREVIEW].split())[:_PREVIEW]


def read_message(row: dict[str, Any], safe: SealCipher) -> MessageRow:
    """A message as it was kept. What a newer version or an accident made unreadable is left out."""
    values = {name: row[name] for name in KEPT}
    try:
        turn, unopened = safe.read(values["turn"], values["id"])
        values |= {"turn": turn, "unopened": unopened, "text": turn.text, "thinking": turn.thinking}
    except (msgspec.DecodeError, AttributeError, TypeError, RecursionError):
        values |= {"turn": _readable_turn(values), "damaged": True}
    values["usage"] = _read(_usage, values["usage"])
    values["failure"] = _read(_failure, values["failure"])
    values["notes"] = _notes(values["notes"])
    values["extra"] = _read(_tree, values["extra"]) or {}
    return MessageRow(**values)


def _usage_columns(usage: Usage | None) -> dict[str, Any]:
    counts = {name: getattr(usage, name, None) for name in BUCKETS}
    known = {name: count if (count or 0) <= _LARGEST else None for name, count in counts.items()}
    return {"usage": None if usage is None else dump_text(usage), **known}


def _readable_turn(values: dict[str, Any]) -> Turn:
    blocks: list[Block] = [Thinking(values["thinking"])] if values["thinking"] else []
    return Turn(values["role"], (*blocks, Text(values["text"])))


def _notes(text: str) -> tuple[Note, ...]:
    found: list[Note] = []
    for item in _read(_tree, text) or ():
        try:
            found.append(msgspec.convert(item, Note))
        except msgspec.ValidationError:
            continue
    return tuple(found)


def _read(decode: Any, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return decode(text)
    except msgspec.DecodeError:
        return None


def _maybe_readable(text: str | None) -> str | None:
    return None if text is None else readable(text)
