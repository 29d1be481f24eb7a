"""Function arguments that arrive in pieces, as Vertex sends them when it is asked to."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from thinkwire.dialects.gemini.constants import camel
from thinkwire.jsonvalue import JsonObject

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")
_MOST_ITEMS = 10_000
_DEEPEST = 100
_VALUES = ("stringValue", "numberValue", "boolValue")


class PartialArguments:
    """Builds the arguments from `partialArgs`: each piece names its place with a JSON path."""

    def __init__(self) -> None:
        self.value: JsonObject = {}
        self._growing: list[tuple[Any, str | int]] = []
        self.regular = True
        """False once a piece could not be placed."""

    def add(self, pieces: Any) -> None:
        for piece in pieces if isinstance(pieces, list) else ():
            if not isinstance(piece, dict) or not self._place(camel(piece)):
                self.regular = False

    def whole(self) -> JsonObject:
        """The arguments with all pieces of their strings joined."""
        for holder, step in self._growing:
            if type(pieces := holder[step]) is _Pieces:
                holder[step] = "".join(pieces)
        self._growing.clear()
        return self.value

    def _place(self, piece: JsonObject) -> bool:
        steps = _steps(piece.get("jsonPath"))
        if not steps:
            return False
        value = next((piece[name] for name in _VALUES if piece.get(name) is not None), None)
        holder: Any = self.value
        for step, following in pairwise(steps):
            holder = _enter(holder, step, [] if isinstance(following, int) else {})
        before = _enter(holder, steps[-1], None)
        if not _fits(holder, steps[-1]):
            return False
        if isinstance(before, str) and isinstance(value, str):
            before = holder[steps[-1]] = _Pieces((before,))
            self._growing.append((holder, steps[-1]))
        if type(before) is _Pieces and isinstance(value, str):
            before.append(value)
        else:
            holder[steps[-1]] = value
        return True


class _Pieces(list[str]):
    """A string in the making."""


def _steps(path: Any) -> list[str | int]:
    if not isinstance(path, str) or not path.startswith("$"):
        return []
    found = list(_STEP.finditer(path, 1))
    if len(found) > _DEEPEST or sum(len(step[0]) for step in found) != len(path) - 1:
        return []
    return [int(step[2]) if step[2] else step[1] or step[3] or step[4] or "" for step in found]


def _fits(holder: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(holder, dict)
    return type(holder) is list and step < _MOST_ITEMS


def _enter(holder: Any, step: str | int, fresh: Any) -> Any:
    """What is at this step, made if nothing is; None if the step does not fit what is there."""
    if not _fits(holder, step):
        return None
    if type(holder) is list and isinstance(step, int):
        holder.extend([None] * (step + 1 - len(holder)))
    elif step not in holder:
        holder[step] = None
    if holder[step] is None:
        holder[step] = fresh
    return holder[step]
