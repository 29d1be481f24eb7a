"""Changing one setting in a file that a person wrote, and nothing else: comments and order stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thinkwire.config import toml
from thinkwire.errors import ConfigError


def with_value(text: str, key: str, value: Any, file: str) -> str:
    """The text with one key set."""
    before = toml.read(text, file)
    wanted = before | {key: list(value) if isinstance(value, tuple) else value}
    lines = text.split("\n")
    at, rest = _without(lines, key, before, file)
    for candidate in _insertions(rest, key, toml.write_value(value), at):
        if _reads_as(candidate, wanted):
            return "\n".join(candidate)
    raise _by_hand(text, key, file)


def without_value(text: str, key: str, file: str) -> str:
    """The text with one key taken out; the same text when it is not there."""
    _, rest = _without(text.split("\n"), key, toml.read(text, file), file)
    return "\n".join(rest)


def _without(lines: list[str], key: str, before: dict[str, Any], file: str) -> tuple[int | None, list[str]]:
    """The lines without those that set the key, and where they were."""
    if key not in before:
        return None, lines
    wanted = {other: value for other, value in before.items() if other != key}
    for place in toml.locations(lines):
        if place.key != tuple(key.split(".")):
            continue
        for end in range(place.line + 1, len(lines) + 1):
            candidate = lines[: place.line] + lines[end:]
            if _reads_as(candidate, wanted):
                return place.line, candidate
    raise _by_hand("\n".join(lines), key, file)


def _insertions(lines: list[str], key: str, value: str, at: int | None) -> Iterator[list[str]]:
    """The lines with the key set: where it was, in its own table, or among the keys without a table."""
    found = list(toml.locations(lines))
    path = tuple(key.split("."))
    if at is not None:
        table = next((place.table for place in reversed(found) if place.line < at), ())
        yield _inserted(lines, at, path[len(table) :], value)
    for place in found:
        if place.header and path[: len(place.key)] == place.key:
            yield _inserted(lines, place.line + 1, path[len(place.key) :], value)
    free = [place.line for place in found if not place.table and not place.header]
    if not any(place.header for place in found):
        yield _inserted(lines, len(lines) - (lines[-1] == ""), path, value)
    yield _inserted(lines, free[-1] + 1 if free else 0, path, value)
    yield _inserted(lines, 0, path, value)


def _inserted(lines: list[str], at: int, path: tuple[str, ...], value: str) -> list[str]:
    last = [] if at < len(lines) else [""]
    return [*lines[:at], f"{'.'.join(path)} = {value}", *lines[at:], *last]


def _reads_as(lines: list[str], wanted: dict[str, Any]) -> bool:
    try:
        return toml.read("\n".join(lines), "") == wanted
    except ConfigError:
        return False


def _by_hand(text: str, key: str, file: str) -> ConfigError:
    line = toml.line_of(text, key)
    return ConfigError(f"{file}, line {line}: {key} cannot be changed alone there; please edit it by hand")
