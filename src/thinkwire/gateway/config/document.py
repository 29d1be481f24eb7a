"""A TOML file that remembers where everything stands, so that a complaint can name the line."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from thinkwire.errors import ConfigError

SourceLocation: TypeAlias = tuple[str | int, ...]
T = TypeVar("T", bound=msgspec.Struct)

_MISSING: Any = object()
_NEAR = 0.6
_LONGEST = 30
"""Characters of a number that are shown."""
_KINDS: tuple[tuple[type, str], ...] = ((str, "a text"), (list, "a list"), (dict, "a table"))


class Document:
    """Settings as they were written. Complaints are gathered; `finish` raises them all at once."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._complaints: list[tuple[int, str]] = []
        try:
            self.raw = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            message, line = _syntax(str(error), text)
            raise ConfigError(f"{file}, line {line}: {message}") from None
        except (ValueError, RecursionError):
            # Thousands of digits, or of brackets within each other.
            raise ConfigError(f"{file}, line 1: it has a number or a list that is too long to read") from None

    def get(self, *place: str | int) -> Any:
        """What stands at a place; None when nothing does."""
        found = _at(self.raw, place)
        return None if found is _MISSING else found

    def complain(self, place: SourceLocation, message: str) -> None:
        self._complaints.append((line_of(self._text, place), message))

    def finish(self) -> None:
        """Raises ConfigError if there was anything to complain about."""
        if self._complaints:
            ordered = sorted(self._complaints)
            raise ConfigError("\n".join(f"{self._file}, line {line}: {message}" for line, message in ordered))

    def table(self, *place: str | int) -> dict[str, Any]:
        """A table; empty when it is not there or not one."""
        value = _at(self.raw, place)
        if isinstance(value, dict):
            return value
        if value is not _MISSING:
            self.complain(place, f"{_spoken(place)} must be a table")
        return {}

    def known(self, place: SourceLocation, names: Iterable[str]) -> bool:
        """Whether a table has only settings of these names; the nearest is offered for any other."""
        names = list(names)
        unknown = [key for key in self.table(*place) if key not in names]
        for key in unknown:
            near = difflib.get_close_matches(key, names, 1, _NEAR)
            where = f" in {_spoken(place)}" if place else ""
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            self.complain((*place, key), f"no setting {key!r}{where}; {hint}")
        return not unknown

    def section(self, place: SourceLocation, kind: type[T]) -> T | None:
        """A table as a value of this kind; None when it cannot be one."""
        value = self.table(*place)
        if not self.known(place, [field.encode_name for field in msgspec.structs.fields(kind)]):
            return None
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            steps, message = _told(str(error), value, kind)
            self.complain((*place, *steps), message)
            return None


def line_of(text: str, place: SourceLocation) -> int:
    """The line on which a place begins, or the table around it when it is not in the text.

    The statement that brings a place starts after the longest beginning of the text that is whole without it.
    """
    whole = _parsed(text)
    while place and _at(whole, place) is _MISSING:
        place = place[:-1]
    if not place:
        return 1
    lines = text.split("\n")
    without, broken, end = 0, 0, len(lines)
    while (start := max(without, broken)) < end - 1:
        middle = (start + end) // 2
        for number in range(middle, start, -1):
            beginning = _parsed("\n".join(lines[:number]))
            if beginning is not None:
                here = _at(beginning, place) is not _MISSING
                without, end = (without, number) if here else (number, end)
                break
        else:
            broken = middle
    return without + 1


def _parsed(text: str) -> dict[str, Any] | None:
    """None where the text ends in the middle of something."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _at(value: Any, place: SourceLocation) -> Any:
    for step in place:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return value


def _told(complaint: str, given: Any, kind: type) -> tuple[SourceLocation, str]:
    """Where a value does not fit, and why: ``Expected `int`, got `str` - at `$.port` `` in our words.

    The only texts of a certain form are spans of time.
    """
    message, _, inner = complaint.partition(" - at ")
    steps: SourceLocation = tuple(
        name or int(index) for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", inner)
    )
    field = re.fullmatch(r"Object (missing required|contains unknown) field `([^`]+)`", message)
    if field is not None:
        steps = (*steps, field[2])
        message = "is missing" if field[1] == "missing required" else "there is no such setting"
    elif "matching regex" in message:
        message = "write a number and s, m, h, d or w, such as '7d'"
    name = ".".join(str(step) for step in steps)
    accepted = None if field is not None else accepted_at(kind, steps)
    if accepted is not None:
        return steps, f"{name} cannot be {_shown(_at(given, steps))}; it takes {accepted}"
    return steps, f"{name}: {message[:1].lower()}{message[1:]}"


def accepted_at(kind: type, steps: SourceLocation) -> str | None:
    """What a number or switch inside a struct takes, in words; None for fields of other types."""
    found: inspect.Type = inspect.type_info(kind)
    for step in steps:
        fields = found.fields if isinstance(found, inspect.StructType) else ()
        found = next((field.type for field in fields if field.encode_name == step), inspect.AnyType())
        if isinstance(found, inspect.UnionType):
            found = next(each for each in found.types if not isinstance(each, inspect.NoneType))
    match found:
        case inspect.IntType() | inspect.FloatType():
            what = "a whole number" if isinstance(found, inspect.IntType) else "a number"
            ends = ((word, end) for word, end in (("from", found.ge), ("to", found.le)) if end is not None)
            return " ".join([what, *(f"{word} {end}" for word, end in ends)])
        case inspect.BoolType():
            return "true or false"
    return None


def _shown(value: Any) -> str:
    """A number or switch as it was written; of other values only what they are, since they may be secret."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        text = str(value)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "a time")


def _spoken(place: SourceLocation) -> str:
    names = [str(step) for step in place if isinstance(step, str)]
    index = next((step for step in place if isinstance(step, int)), None)
    return f"[[{'.'.join(names)}]] number {index + 1}" if index is not None else f"[{'.'.join(names)}]"


def _syntax(message: str, text: str) -> tuple[str, int]:
    """The parser's complaint without its place, and the line of it."""
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
    if found is None:
        return message, 1
    line = int(found[1]) if found[1] else text.rstrip("\n").count("\n") + 1
    return message[: found.start()], line
