"""Headers: which of the client's travel on, and what the gateway tells in its own."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any, TypeAlias

from thinkwire.jsonvalue import ascii_json
from thinkwire.notes import Note

Scope: TypeAlias = MutableMapping[str, Any]
HeaderPairs: TypeAlias = list[tuple[bytes, bytes]]

FORWARDED: dict[str, tuple[str, ...]] = {
    "anthropic": ("anthropic-beta", "anthropic-version"),
    "openai-chat": ("openai-beta",),
    "openai-responses": ("openai-beta", "x-openai-internal-codex-responses-lite"),
    "gemini": (),
}
"""What a client may tell the provider beside the body, when both speak the same dialect. Nothing else goes
on: no account or project (the key is the gateway's), no user agent, no facts about the client's machine."""

_RAW = {name: name.encode() for names in FORWARDED.values() for name in names}
_GROUPED = "thinkwire.headers"
"""Where a scope keeps its headers by name, once somebody has asked."""

HEADER_LIMIT = 4096
NOTES_LIMIT = 8192


def headers_of(scope: Scope, name: bytes) -> list[str]:
    """Every value of a header, in order."""
    return (scope.get(_GROUPED) or grouped(scope)).get(name) or []


def grouped(scope: Scope) -> dict[bytes, list[str]]:
    """All headers by their names; made once for a scope."""
    known: dict[bytes, list[str]] | None = scope.get(_GROUPED)
    if known is not None:
        return known
    by_name: dict[bytes, list[str]] = {}
    for key, value in scope["headers"]:
        text = str(value, "latin-1")
        if key in by_name:
            by_name[key].append(text)
        else:
            by_name[key] = [text]
    scope[_GROUPED] = by_name
    return by_name


def header_of(scope: Scope, name: bytes) -> str | None:
    """The value of a header; the last one, where it came more than once."""
    values = (scope.get(_GROUPED) or grouped(scope)).get(name)
    return values[-1] if values else None


def forwarded_headers(scope: Scope, dialect: str) -> dict[str, str]:
    """The client's headers that go on to a provider of the same dialect."""
    given = scope.get(_GROUPED) or grouped(scope)
    found: dict[str, str] = {}
    for name in FORWARDED.get(dialect, ()):
        if _RAW[name] in given:
            value = ",".join(given[_RAW[name]])
            if value and header_value(value) == value:
                found[name] = value
    return found


def header_value(text: str, limit: int = HEADER_LIMIT) -> str:
    """A text as a header can carry it: visible ASCII, one line, cut to a limit."""
    text = text[:limit]
    if not (text.isascii() and text.isprintable()):
        text = "".join(letter if " " <= letter <= "~" else "?" for letter in text)
    return text.strip()


def told_headers(
    notes: Sequence[Note] = (), *, requested: str | None = None, effective: str | None = None
) -> HeaderPairs:
    """`x-thinkwire-requested`, `-effective` and `-notes`, the last as JSON; 8 kB at most, all together."""
    pairs = [
        (name, header_value(value, 200).encode())
        for name, value in ((b"x-thinkwire-requested", requested), (b"x-thinkwire-effective", effective))
        if value is not None
    ]
    if not notes:
        return pairs
    room = (
        NOTES_LIMIT - sum(len(name) + len(value) + 4 for name, value in pairs) - len("x-thinkwire-notes") - 4
    )
    told = _notes_within(list(notes), room)
    return [*pairs, (b"x-thinkwire-notes", told.encode())] if told else pairs


def _notes_within(notes: list[Note], room: int) -> str:
    """Whole where they fit; else codes without messages, then as many of those as fit."""
    if not notes:
        return ""
    whole = ascii_json([{"code": note.code, "message": note.message} for note in notes])
    if len(whole) <= room:
        return whole
    codes = [{"code": code} for code in dict.fromkeys(note.code for note in notes)]
    while len(ascii_json(codes)) > room:
        codes.pop()
    return ascii_json(codes)
