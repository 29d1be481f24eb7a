"""Reasoning items and `Thinking`."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_responses.constants import ENCRYPTED, ITEM, NAME
from thinkwire.dialects.openai_responses.parse_context import id_of
from thinkwire.dialects.shared import as_extras, own
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.messages import Form, Seal, Thinking

BREAK = "\n\n"
"""Between the parts of a summary, which are paragraphs of their own."""

_KINDS = {"summary": "summary_text", "content": "reasoning_text"}
_FIELDS = frozenset({"type", "id", "summary", "content", "encrypted_content", "status"})
_MARKS = frozenset({"id", "parts", "summary", "content"})


def read_reasoning(item: JsonObject, shown: Form | None = None) -> Thinking:
    """The item as thinking. Raw text wins over a summary, unless `shown` says what was streamed already."""
    raw, said = _texts(item.get("content")), _texts(item.get("summary"))
    if shown is None or shown == "hidden":
        shown = "full" if any(raw) else "summary"
    texts, field, other = (raw, "content", "summary") if shown == "full" else (said, "summary", "content")
    fields: JsonObject = {}
    if any(texts) and _is_plain(item[field], _KINDS[field]):
        if len(texts) > 1:
            fields["parts"] = [len(text) for text in texts]
    elif item.get(field):
        fields[field] = item[field]
    if item.get(other):
        fields[other] = item[other]
    found = id_of(item)
    seal = _read_seal(item, found, raw=shown == "full")
    if any(texts) or seal is None or seal.scheme != ITEM:
        fields.update(_read_id(item, found, sealed=seal is not None))
    if item.get("status") is not None:
        fields["status"] = item["status"]
    return Thinking(
        BREAK.join(texts) if any(texts) else "",
        form=shown if any(texts) else "hidden",
        seal=seal,
        extras=as_extras(NAME, fields | unknown_fields(item, _FIELDS)),
    )


def _read_seal(item: JsonObject, found: str | None, *, raw: bool) -> Seal | None:
    encrypted = item.get("encrypted_content")
    if isinstance(encrypted, str) and encrypted:
        return Seal(ENCRYPTED, encrypted)
    return Seal(ITEM, found) if found is not None and not raw else None


def _read_id(item: JsonObject, found: str | None, *, sealed: bool) -> JsonObject:
    """The id as a field. Its lack is one too where nothing else tells that the thinking is of this wire."""
    if found is not None:
        return {"id": found}
    return {"id": None} if not sealed and not item.get("id") else {}


def _texts(parts: Any) -> list[str]:
    if isinstance(parts, str):
        return [parts]
    listed = parts if isinstance(parts, list) else []
    found = (part.get("text") if isinstance(part, dict) else part for part in listed)
    return [text for text in found if isinstance(text, str)]


def _is_plain(parts: Any, kind: str) -> bool:
    """Whether the texts say everything that this list says."""
    return isinstance(parts, list) and all(
        isinstance(part, dict)
        and len(part) == 2
        and part.get("type") == kind
        and isinstance(part.get("text"), str)
        for part in parts
    )


def is_own(block: Thinking) -> bool:
    """Whether this thinking came from this wire, and so may go back to it."""
    return block.seal.scheme in (ENCRYPTED, ITEM) if block.seal is not None else NAME in block.extras


def id_in(block: Thinking) -> str | None:
    """The item id that the block itself brings along."""
    if block.seal is not None and block.seal.scheme == ITEM:
        return block.seal.data
    found = own(block.extras, NAME).get("id")
    return found if isinstance(found, str) else None


def reasoning_item(block: Thinking, item_id: str | None, *, raw: bool) -> JsonObject:
    """The native item, its text `raw` or as a summary. A seal of another maker is left out."""
    extras = own(block.extras, NAME)
    kind = _KINDS["content" if raw else "summary"]
    texts = cut(block.text, extras.get("parts")) if block.text else []
    parts = [{"type": kind, "text": text} for text in texts]
    item: JsonObject = {"type": "reasoning"}
    if item_id is not None:
        item["id"] = item_id
    item["summary"] = extras.get("summary", [] if raw else parts)
    content = extras.get("content", parts if raw else None)
    if content:
        item["content"] = content
    if block.seal is not None and block.seal.scheme == ENCRYPTED:
        item["encrypted_content"] = block.seal.data
    item.update((key, value) for key, value in extras.items() if key not in _MARKS)
    return item


def cut(text: str, lengths: Any) -> list[str]:
    """The parts that a text was joined from; the whole text when the lengths do not fit it."""
    if not isinstance(lengths, list) or not all(type(length) is int and length >= 0 for length in lengths):
        return [text]
    parts: list[str] = []
    at = 0
    for length in lengths:
        parts.append(text[at : at + length])
        at += length + len(BREAK)
    return parts if BREAK.join(parts) == text else [text]
