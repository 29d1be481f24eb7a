"""Native fields of an answer that arrive in pieces, joined once at the end."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from thinkwire.jsonvalue import JsonObject


class _Pieces:
    """A string or a list in the making."""

    __slots__ = ("parts",)

    def __init__(self, first: str | list[Any]) -> None:
        self.parts: list[Any] = [first]

    def joined(self) -> str | list[Any]:
        if type(self.parts[0]) is str:
            return "".join(self.parts)
        return [item for part in self.parts for item in part]


class GrowingFields:
    """Fields whose strings, lists and objects may grow; anything else that comes again replaces the value.

    Growing takes time for the new piece alone, not for all that came before it.
    """

    def __init__(
        self,
        fields: JsonObject | None = None,
        *,
        texts: Collection[str] | None = None,
        levels: int | None = None,
    ) -> None:
        """`texts` are the names of the strings that grow, None for all of them. `levels` says how deep
        objects are merged instead of replaced, None for any depth.
        """
        self._fields: JsonObject = {} if fields is None else fields
        self._texts = texts
        self._levels = levels
        self._own = {id(self._fields): self._fields}
        self._growing: list[tuple[JsonObject, str]] = []

    def add(self, key: str, value: Any) -> None:
        """Take a piece of a field."""
        self._add(self._fields, key, value, 0)

    def replace(self, key: str, value: Any) -> None:
        """Set a field, whatever was there."""
        self._fields[key] = value

    def whole(self) -> JsonObject:
        """The fields with all their pieces joined."""
        for store, key in self._growing:
            if type(pieces := store.get(key)) is _Pieces:
                store[key] = pieces.joined()
        self._growing.clear()
        return self._fields

    def _add(self, store: JsonObject, key: str, value: Any, level: int) -> None:
        known: Any = store.get(key)
        kind = type(known.parts[0]) if type(known) is _Pieces else type(known)
        if type(value) is not kind:
            store[key] = value
        elif kind is list or (kind is str and (self._texts is None or key in self._texts)):
            if type(known) is not _Pieces:
                known = store[key] = _Pieces(known)
                self._growing.append((store, key))
            known.parts.append(value)
        elif kind is dict and (self._levels is None or level < self._levels):
            if id(known) not in self._own:
                known = store[key] = dict(known)
                self._own[id(known)] = known
            for name in value:
                self._add(known, name, value[name], level + 1)
        else:
            store[key] = value
