"""Reads the part of YAML in which `deploy/compose.yaml` is written: maps by indentation, else JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_LINE = re.compile(r"( *)([\w.-]+):(?: (.*))?")
_COMMENT = re.compile(r"(^|\s)#.*$")
_VARIABLE = re.compile(r"\$\{(\w+)(?::([?-])([^}]*))?\}")


def read(text: str) -> dict[str, Any]:
    """The document; whatever is written in another way is an error."""
    root: dict[str, Any] = {}
    open_maps = [(-1, root)]
    for number, raw in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", raw).rstrip()
        if not line:
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"line {number} is not of the simple kind: {raw}")
        depth, key, value = len(found[1]), found[2], found[3]
        while open_maps[-1][0] >= depth:
            open_maps.pop()
        inside = open_maps[-1][1]
        if key in inside:
            raise ValueError(f"line {number} says {key} again")
        inside[key] = {} if value is None else _value(value)
        if value is None:
            open_maps.append((depth, inside[key]))
    return root


def _value(text: str) -> Any:
    return json.loads(text) if text[0] in '[{"' else text


def filled(text: str, known: Mapping[str, str]) -> str:
    """A value with `${NAME:?}` and `${NAME:-default}` filled in as Compose does it."""

    def fill(found: re.Match[str]) -> str:
        value = known.get(found[1], "")
        if not value and found[2] == "?":
            raise ValueError(f"{found[1]} is not set")
        return value or found[3] or ""

    return _VARIABLE.sub(fill, text)
