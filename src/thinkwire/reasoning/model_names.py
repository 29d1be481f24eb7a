"""Model names that carry a level: `NAME/high`, `NAME(high)`, `NAME(16384)`, `NAME:thinking`."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.levels import parse_level

_PARENTHESES = re.compile(r"(?P<name>.+)\((?P<tail>[^()]+)\)")


class ModelName(msgspec.Struct, frozen=True):
    """A model's name and what was asked of it in the same breath."""

    name: str
    intent: Intent | None = None


@lru_cache(maxsize=1024)
def parse_name(text: str) -> ModelName:
    """Splits off a level or budget. A tail after the last slash counts only if it is a level."""
    text = text.strip()
    head, slash, tail = text.rpartition("/")
    level = parse_level(tail) if slash and head else None
    if level is not None:
        return ModelName(head, Intent(level=level, said=f"/{tail}"))
    found = _PARENTHESES.fullmatch(text)
    if found is not None:
        intent = _in_parentheses(found["tail"].strip())
        if intent is not None:
            return ModelName(found["name"].strip(), intent)
    if text.endswith(":thinking") and text != ":thinking":
        return ModelName(text.removesuffix(":thinking"), Intent(on=True, said=":thinking"))
    return ModelName(text)


def _in_parentheses(tail: str) -> Intent | None:
    level = parse_level(tail)
    if level is not None:
        return Intent(level=level, said=f"({tail})")
    if re.fullmatch(r"-1|\d[\d_,]*", tail):
        return Intent(budget=int(re.sub(r"[_,]", "", tail)), said=f"({tail})")
    return None
