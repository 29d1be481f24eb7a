"""Small things that every dialect needs."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, dump_text, parse
from thinkwire.messages import Block, Document, Extras, Image, Opaque, ResultContent, Text
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
    for name in request.extras:
        if name != dialect:
            listed = sorted([key for key in request.extras[name] if not key.startswith("_")])
            if listed:
                notes.append(_foreign(name, listed, dialect))
    inside: dict[str, list[str]] = {}
    for extras in _extras_inside(request):
        for name in extras:
            if name != dialect:
                inside.setdefault(name, []).extend(_said(extras[name]))
    for name in inside:
        if inside[name]:
            notes.append(_foreign_inside(name, Counter(inside[name]), dialect))
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
    found = []
    for text in request.system:
        if text.extras:
            found.append(text.extras)
    for turn in request.turns:
        if turn.extras:
            found.append(turn.extras)
        for block in turn.blocks:
            if not isinstance(block, Opaque) and block.extras:
                found.append(block.extras)
    for tool in request.tools:
        if not isinstance(tool, Opaque) and tool.extras:
            found.append(tool.extras)
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


def plain_words(blocks: Sequence[Block], dialect: str) -> str | None:
    """What blocks say that are one text and, in this dialect, nothing besides."""
    if len(blocks) != 1:
        return None
    block = blocks[0]
    if type(block) is not Text or dialect in block.extras or block.seal is not None or block.refusal:
        return None
    return block.text


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
