"""TOML of settings: nested tables as dotted keys, lines for complaints, and the few values that we write."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*\[[ \t]*({_DOTTED})[ \t]*\][ \t]*(?:#.*)?\r?")
_ASSIGNMENT = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=")

_LONG = ('"""', "'''")
"""What a text of several lines begins and ends with."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')


def read(text: str, file: str) -> dict[str, Any]:
    """The dotted keys of a text, values unchecked; ConfigError names file and line of what is broken."""
    try:
        tree = tomllib.loads(text)
    except ValueError as error:
        end = f"at line {text.count(chr(10)) + 1}, the end"
        raise ConfigError(f"{file}: {str(error).replace('at end of document', end)}") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply") from None
    flat: dict[str, Any] = {}
    for key, value in _leaves(tree):
        if key in flat:
            raise ConfigError(f"{file}, line {line_of(text, key)}: {key} is there twice")
        flat[key] = value
    return flat


def _leaves(tree: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Without recursion: dotted keys can nest as deeply as a line is long."""
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict) and key not in KEYS and (value or _groups(key)):
            start = f"{key}." if key else ""
            waiting += [(start + name, inner) for name, inner in reversed(value.items())]
        else:
            yield key, value


def _groups(key: str) -> bool:
    """Whether this is the name of a group of settings, or of all."""
    return any(known.startswith(f"{key}." if key else "") for known in KEYS)


class SourceLocation(NamedTuple):
    """A line that begins a table or sets a key, by its full name."""

    line: int
    key: tuple[str, ...]
    table: tuple[str, ...]
    """The table that is open on this line."""
    header: bool


def locations(lines: Sequence[str]) -> Iterator[SourceLocation]:
    """Headers and assignments. A look-alike in an odd place may be among them; callers check."""
    table: tuple[str, ...] = ()
    inside = ""
    for number, line in enumerate(lines):
        if inside:
            inside = "" if inside in line else inside
            continue
        inside = next((quotes for quotes in _LONG if line.count(quotes) % 2), "")
        header = _HEADER.fullmatch(line)
        if header is not None:
            table = _parts(header[1])
            yield SourceLocation(number, table, table, True)
        elif (assigned := _ASSIGNMENT.match(line)) is not None:
            yield SourceLocation(number, (*table, *_parts(assigned[1])), table, False)


def _parts(dotted: str) -> tuple[str, ...]:
    parts = (part.strip("\"'") for part in re.findall(_PART, dotted))
    return tuple(".".join(parts).split("."))


def line_of(text: str, key: str) -> int:
    """The line on which a key or the nearest table around it is written, counted from 1."""
    found = {place.key: place.line for place in reversed(list(locations(text.split("\n"))))}
    wanted = tuple(key.split("."))
    for length in range(len(wanted), 0, -1):
        if wanted[:length] in found:
            return found[wanted[:length]] + 1
    return 1


def write(values: Mapping[str, Any]) -> str:
    """One dotted key per line."""
    return "".join(f"{key} = {write_value(value)}\n" for key, value in values.items())


def write_value(value: Any) -> str:
    """A setting's value: text, number, truth, list of texts, table of texts."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return '"' + _ESCAPED.sub(_escape, value) + '"'
        case list() | tuple():
            return f"[{', '.join(map(write_value, value))}]"
        case dict():
            inner = ", ".join(f"{name} = {write_value(entry)}" for name, entry in value.items())
            return f"{{ {inner} }}" if inner else "{}"
    raise TypeError(f"settings have no values of {type(value).__name__}")


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}"
