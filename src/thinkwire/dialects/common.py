"""Small things that every dialect needs."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, dump_text, parse
from thinkwire.messages import Document, Extras, Image, Opaque, ResultContent, Text
from thinkwire.notes import Note
from thinkwire.request import Request


def made_up_id(*facts: object) -> str:
    """An id for a call whose provider gave none: 22 base64url characters, the same for the same facts."""
    digest = hashlib.sha256("\x1f".join(map(str, facts)).encode("utf-8", "replace")).digest()
    return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()


def as_extras(dialect: str, fields: JsonObject) -> Extras:
    """Unread fields as extras; none at all for none."""
    return {dialect: fields} if fields else {}


def own(extras: Extras, dialect: str) -> JsonObject:
    """What this dialect had to say beyond the neutral format."""
    return extras.get(dialect, {})


def foreign_fields(request: Request, dialect: str) -> list[Note]:
    """Notes on what only another dialect knows: fields of the request, and fields inside it."""
    notes: list[Note] = []
    for name, fields in request.extras.items():
        listed = sorted([key for key in fields if not key.startswith("_")]) if name != dialect else []
        if listed:
            notes.append(_foreign(name, listed, dialect))
    inside: dict[str, Counter[str]] = {}
    for extras in _extras_inside(request):
        for name, fields in extras.items():
            if name != dialect:
                inside.setdefault(name, Counter()).update(_said(fields))
    notes += [_foreign_inside(name, counted, dialect) for name, counted in inside.items() if counted]
    return notes


_MARKS = frozenset(
    {
        *("id", "no_id", "type", "no_type", "role", "status", "string", "part", "parts", "item", "input"),
        *("summary", "content", "response"),
    }
)
"""Extras that remember a native form or identity; without them nothing is said less."""


def _said(fields: JsonObject) -> list[str]:
    return [key for key in fields if key not in _MARKS and not key.startswith("_")]


def _extras_inside(request: Request) -> list[Extras]:
    """All extras but the request's own; not the empty ones."""
    found = [text.extras for text in request.system if text.extras]
    for turn in request.turns:
        if turn.extras:
            found.append(turn.extras)
        for block in turn.blocks:
            if not isinstance(block, Opaque) and block.extras:
                found.append(block.extras)
    found += [tool.extras for tool in request.tools if not isinstance(tool, Opaque) and tool.extras]
    return found


def _foreign(name: str, listed: list[str], dialect: str) -> Note:
    message = f"{', '.join(listed)}: only {name} knows this; not sent to {dialect}"
    return Note("field.dropped", message, detail={"dialect": name, "fields": listed})


def _foreign_inside(name: str, fields: Counter[str], dialect: str) -> Note:
    listed = sorted(fields)
    times = f" ({fields.total()} times)" if fields.total() > 1 else ""
    message = (
        f"{', '.join(listed)} inside the conversation{times}: only {name} knows this; not sent to {dialect}"
    )
    return Note("field.dropped", message, detail={"dialect": name, "fields": listed, "inside": True})


def arguments_object(arguments: str) -> tuple[JsonObject, Note | None]:
    """Tool arguments as the object that some wires want. Broken ones travel as text, and are said."""
    if not arguments.strip():
        return {}, None
    try:
        value = parse(arguments)
    except MalformedInput:
        value = None
    if isinstance(value, dict):
        return value, None
    note = Note("tool_call.arguments_invalid", "tool arguments are not a JSON object; sent as text")
    return {"invalid_arguments": arguments}, note


def arguments_text(value: Any) -> str:
    """Tool arguments as text, whether the wire gave an object, a string or nothing."""
    if isinstance(value, str):
        return value
    return "" if value is None else dump_text(value)


def plain_text(content: Iterable[ResultContent]) -> str:
    """The text of a tool result, for wires that know nothing else."""
    return "\n".join(block.text for block in content if isinstance(block, Text))


def data_url(media: Image | Document) -> str | None:
    """The URL form of inline or linked media; None when it is neither."""
    if media.url is not None:
        return media.url
    if media.data is not None:
        return f"data:{media.media_type or 'application/octet-stream'};base64,{media.data}"
    return None


def split_data_url(url: str) -> tuple[str | None, str | None]:
    """`data:TYPE;base64,DATA` as (type, data); (None, None) for any other URL."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None, None
    return head[len("data:") : -len(";base64")] or None, data


def dropped_opaque(block: Opaque, dialect: str, path: str | None = None) -> Note:
    kind = block.data.get("type") if isinstance(block.data, dict) else None
    return Note(
        "block.dropped",
        f"a native {block.dialect} block ({kind or 'of unknown type'}) means nothing to {dialect}",
        path=path,
        detail={"dialect": block.dialect, "type": kind},
    )
