"""Files of one JSON object per line: bounded, numbered, and forgiving about a last line that was cut off."""

from __future__ import annotations

import datetime
from collections import Counter
from typing import Any, NamedTuple

from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, kind, parse
from thinkwire.notes import Note

BOM = b"\xef\xbb\xbf"


class JsonLine(NamedTuple):
    """One object, and the number of its line from 1."""

    number: int
    value: JsonObject

    @property
    def path(self) -> str:
        return f"line {self.number}"


def bad_line(number: int, message: str) -> MalformedInput:
    return MalformedInput(message, path=f"line {number}")


def read_lines(data: bytes, notes: list[Note]) -> list[JsonLine]:
    """The objects. A writer that was killed leaves half a line at the end, which is skipped, with a Note."""
    raw = data.removeprefix(BOM).split(b"\n")
    lines: list[JsonLine] = []
    for number, text in enumerate(raw, 1):
        if not text.strip():
            continue
        try:
            value = parse(text)
        except MalformedInput as error:
            if number == len(raw) and lines:
                notes.append(Note("import.skipped", f"line {number} was cut off and is left out"))
                break
            raise bad_line(number, error.message) from None
        if type(value) is not dict:
            raise bad_line(number, f"expected an object, got {kind(value)}")
        lines.append(JsonLine(number, value))
    return lines


def skipped(kinds: Counter[str], what: str = "lines that are no part of the conversation") -> list[Note]:
    """One Note for everything that was left out."""
    if not kinds:
        return []
    listed = ", ".join(f"{count} {name}" for name, count in sorted(kinds.items()))
    return [Note("import.skipped", f"{what}: {listed}", detail=dict(kinds))]


def seconds(value: Any) -> float | None:
    """An ISO time as seconds since the epoch; None when it is none."""
    try:
        return datetime.datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def word(value: Any) -> str | None:
    """The value if it is a string that says something."""
    return value if isinstance(value, str) and value else None
