"""The facts that are compared, and how a value becomes one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Facts:
    """What must come out of an answer, whoever reads it."""

    id: str | None = None
    model: str | None = None
    text: str = ""
    thinking: str = ""
    seals: list[str] = field(default_factory=list)
    details: list[Any] = field(default_factory=list)
    """The `reasoning_details` of some chat servers, put together."""
    tool_calls: list[tuple[str, Any, str | None]] = field(default_factory=list)
    """Name, parsed arguments, and the id where the provider gave one."""
    natives: list[Any] = field(default_factory=list)
    """Blocks that only this wire knows, as they are."""
    order: list[str] = field(default_factory=list)
    """The kinds of blocks as they follow each other, neighbours of one kind as one."""
    finish: str | None = None
    input_total: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output_total: int | None = None
    reasoning: int | None = None
    error: bool = False

    def came(self, kind: str) -> None:
        """A block of that kind came next, or more of it."""
        if self.order[-1:] != [kind]:
            self.order.append(kind)


def count(value: Any) -> int | None:
    """A token count; what cannot be one is unknown."""
    return value if isinstance(value, int) and value >= 0 else None


def added(*counts: int | None) -> int | None:
    """The sum of what is known; unknown if nothing is."""
    known = [value for value in counts if value is not None]
    return sum(known) if known else None


def arguments(value: Any) -> Any:
    """Tool arguments as a value, whether the wire gave text or an object; none at all are an empty object."""
    if not isinstance(value, str):
        return value if value is not None else {}
    try:
        return json.loads(value) if value.strip() else {}
    except ValueError:
        return value
