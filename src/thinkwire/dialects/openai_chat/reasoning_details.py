"""`reasoning_details`: entries that arrive in pieces and must go back whole and in order."""

from __future__ import annotations

from collections import deque
from typing import Any

from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, dump_text, parse
from thinkwire.messages import Form, Seal

SCHEME = "openrouter.details"
FIELD = "reasoning_details"

_MERGED = ("reasoning.text", "reasoning.summary", None)
_TELLING = 3
_MOST_ALIKE = 100
"""Entries of one type and index among which the one to go on with is looked for, the latest first."""


class Details:
    """The entries of one thinking block.

    Entries of later deltas are merged into earlier ones of the same type, index and id: text and summary
    grow, a signature is added. Entries of one delta are never merged with each other, nor are encrypted ones,
    nor those of a type we do not know.
    """

    __slots__ = ("_by_kind", "_entries", "opaque")

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._by_kind: dict[tuple[Any, str], list[int]] = {}
        """Places of the entries that may go on, by type and index."""
        self.opaque = False
        """Whether there is anything that only its maker can read."""

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, raws: list[Any]) -> str:
        """Takes the entries of one delta; gives the readable text that is new."""
        before = len(self._entries)
        fresh: list[str] = []
        for raw in raws:
            entry = self._earlier(raw)
            if entry is None:
                entry = _Entry(raw)
                self._entries.append(entry)
                fresh.append(entry.text)
            else:
                fresh.append(entry.merge(raw))
            self.opaque = self.opaque or entry.opaque
        for at in range(before, len(self._entries)):
            fields = self._entries[at].fields
            if type(fields) is dict and fields.get("type") in _MERGED:
                self._by_kind.setdefault(_kind_of(fields), []).append(at)
        return "".join(fresh)

    @property
    def form(self) -> Form:
        """What kind of text it is, if there is any."""
        return "summary" if {entry.key for entry in self._entries if entry.key} == {"summary"} else "full"

    def seal(self, *, verbatim: bool) -> Seal | None:
        """All entries. Streams open with entries that say nothing yet; those that never did are left out."""
        values = [entry.value() for entry in self._entries if verbatim or entry.size or entry.opaque]
        return Seal(SCHEME, dump_text(values)) if values else None

    def _earlier(self, raw: Any) -> _Entry | None:
        """The entry that `raw` goes on with, among those of earlier deltas."""
        if type(raw) is not dict or raw.get("type") not in _MERGED:
            return None
        places = self._by_kind.get(_kind_of(raw), ())
        for at in places[-_MOST_ALIKE:][::-1]:
            if self._entries[at].goes_on_with(raw):
                return self._entries[at]
        return None


class _Entry:
    """One entry, with its text in pieces."""

    __slots__ = ("_cumulative", "_parts", "fields", "key", "opaque", "size")

    def __init__(self, raw: Any) -> None:
        self.fields = dict(raw) if type(raw) is dict else raw
        self.key: str | None = None
        self._parts: list[str] = []
        self.size = 0
        self._cumulative = False
        self.opaque = _is_opaque(raw)
        if type(raw) is dict:
            self.key, text = _readable(raw)
            self._parts, self.size = ([text] if text else []), len(text)

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def value(self) -> Any:
        if self.key is not None and len(self._parts) > 0:
            return self.fields | {self.key: self.text}
        return self.fields

    def goes_on_with(self, raw: JsonObject) -> bool:
        mine = self.fields
        if type(mine) is not dict or mine.get("type") != raw.get("type"):
            return False
        if mine.get("index") != raw.get("index"):
            return False
        ours, theirs = mine.get("id"), raw.get("id")
        if ours is not None and theirs is not None and ours != theirs:
            return False
        return not (mine.get("signature") and _readable(raw)[1])

    def merge(self, raw: JsonObject) -> str:
        key, text = _readable(raw)
        if not self.size and not self.opaque:
            # It said nothing yet. What now comes is the entry itself.
            self.fields = raw | {name: value for name, value in self.fields.items() if raw.get(name) is None}
        for name, value in raw.items():
            if name != key and (value is not None or name not in self.fields):
                self.fields[name] = value
        self.opaque = self.opaque or _is_opaque(raw)
        if key is None:
            return ""
        if self.key is None:
            self.key = key
            self.fields[key] = ""
        return self._grow(text) if text else ""

    def _grow(self, text: str) -> str:
        """New text, which some servers send together with all that came before it (quirk Q33).

        A piece counts as cumulative when it is longer than everything before it and begins with it, and that
        was at least three visible characters; or when the first three pieces each begin with the one before.
        Words that repeat themselves ("ha", "ha", "haha") are no longer than all before them, or are too few.
        """
        if self._cumulative or len(text) > self.size > 0:
            seen = self._seen(text)
            if seen is not None:
                self._cumulative = True
                self._parts, self.size = [text], len(text)
                return text[len(seen) :]
        self._parts.append(text)
        self.size += len(text)
        return text

    def _seen(self, text: str) -> str | None:
        """What of a cumulative `text` was there before; None when it is not cumulative."""
        total = self.text if len(text) >= self.size else None
        tells = total is not None and (self._cumulative or len(total.strip()) >= _TELLING)
        if total is not None and tells and text.startswith(total):
            return total
        if len(self._parts) == 2:
            first, second = self._parts
            if second != first and second.startswith(first) and text != second and text.startswith(second):
                return second
        return None


def read_entries(data: str) -> list[Any]:
    """The entries inside a seal; MalformedInput if there are none."""
    value = parse(data)
    if type(value) is not list or not value:
        raise MalformedInput("reasoning details are an array of entries")
    return value


def joined(arrays: list[list[Any]]) -> list[Any]:
    """The entries of several thinking blocks as one array.

    A signature that came after its block had ended goes to the text that it signs.
    """
    if len(arrays) == 1:
        return arrays[0]
    entries: list[Any] = []
    unsigned_texts: dict[str, deque[int]] = {}
    for entry in (entry for array in arrays for entry in array):
        places = unsigned_texts.get(_index_of(entry)) if _is_signature(entry) else None
        if places:
            signed = places.popleft()
            entries[signed] = entries[signed] | {"signature": entry["signature"]}
            continue
        if type(entry) is dict and entry.get("type") == "reasoning.text" and not entry.get("signature"):
            unsigned_texts.setdefault(_index_of(entry), deque()).append(len(entries))
        entries.append(entry)
    return entries


def unsigned(entry: Any, formats: tuple[str, ...]) -> bool:
    """Whether this is readable text of a format that wants a signature and has none."""
    return (
        isinstance(entry, dict)
        and entry.get("type") == "reasoning.text"
        and entry.get("format") in formats
        and not entry.get("signature")
    )


def _is_signature(entry: Any) -> bool:
    """Whether an entry is nothing but the signature of an earlier text."""
    return (
        type(entry) is dict
        and bool(entry.get("signature"))
        and entry.get("type") == "reasoning.text"
        and not _readable(entry)[1]
    )


def _kind_of(raw: JsonObject) -> tuple[Any, str]:
    return raw.get("type"), _index_of(raw)


def _index_of(entry: JsonObject) -> str:
    """The index of an entry, which may be any JSON value, as something to look it up by."""
    return dump_text(entry.get("index"))


def _readable(raw: JsonObject) -> tuple[str | None, str]:
    """The key and the words of an entry that people can read."""
    for key in ("text", "summary"):
        value = raw.get(key)
        if type(value) is str:
            return key, value
    return None, ""


def _is_opaque(raw: Any) -> bool:
    if type(raw) is not dict:
        return True
    return bool(raw.get("data") or raw.get("signature")) or raw.get("type") not in _MERGED
