"""Arguments out of a tool's schema and the user's words: plausible, valid, always the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from thinkwire.request import Tool

Schema = dict[str, Any]

FILE = re.compile(
    r"(?<![\w/.@:])(?:[\w.~-]*/)*[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w/@])|(?<![\w/])(?:/[\w.-]+)+"
)
_PLACE = re.compile(r"\b(?:in|for|at|of|to)\s+((?:[A-Z][\w'-]+\s?)+)|(?<!^)\b([A-Z][a-z'-]+)\b")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PATHS = ("path", "file", "filename", "filepath")
_COMMANDS = ("command", "commands", "cmd", "script", "shell")
_PLACES = ("city", "location", "place", "country", "town")
_DEPTH = 4
_MOST_ITEMS = 64
"""Items of an array; a quarter of it at each level below."""
_MOST_EXACT = 2**53


def properties(tool: Tool) -> dict[str, Any]:
    found = (tool.schema or {}).get("properties")
    return found if isinstance(found, dict) else {}


def wants_path(tool: Tool) -> str | None:
    """The property in which a tool wants a file; None if it wants none."""
    return _first(tool, _PATHS)


def wants_command(tool: Tool) -> str | None:
    """The property in which a tool wants a command to run."""
    return _first(tool, _COMMANDS)


def _first(tool: Tool, names: tuple[str, ...]) -> str | None:
    for name in properties(tool):
        if _bare(name) in names or any(_bare(name).endswith(word) for word in names):
            return name
    return None


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def command_value(tool: Tool, name: str, command: str) -> Any:
    """A command as the tool wants it: a string, the words of one, or a list of several."""
    kind = properties(tool)[name].get("type") if isinstance(properties(tool)[name], dict) else None
    if kind != "array":
        return command
    return [command] if _bare(name).endswith("commands") else ["bash", "-lc", command]


def arguments_for(tool: Tool, text: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the schema requires, filled from the user's words; `given` values first."""
    known = properties(tool)
    required = (tool.schema or {}).get("required")
    wanted = _names(required, known) if isinstance(required, list) else list(known)[:1]
    filled = {name: value_for(known[name], name, text) for name in wanted}
    return filled | (given or {})


def value_for(schema: Any, name: str, text: str, depth: int = 0) -> Any:
    """A value that the schema accepts, about what was asked."""
    if not isinstance(schema, dict) or depth > _DEPTH:
        return _string(name, text)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return next((word for word in schema["enum"] if str(word).lower() in text.lower()), schema["enum"][0])
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return value_for(schema[key][0], name, text, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((word for word in kind if word != "null"), "null")
    return _FILLERS.get(str(kind).lower(), _plain)(schema, name, text, depth)


def _object(schema: Schema, name: str, text: str, depth: int) -> Any:
    inner = schema.get("properties")
    fields = inner if isinstance(inner, dict) else {}
    required = schema.get("required")
    wanted = _names(required, fields) if isinstance(required, list) else list(fields)
    return {key: value_for(fields[key], key, text, depth + 1) for key in fields if key in wanted}


def _names(required: list[Any], fields: Schema) -> list[str]:
    """The names of fields among what a schema requires, which may be anything."""
    return [name for name in required if isinstance(name, str) and name in fields]


def _array(schema: Schema, name: str, text: str, depth: int) -> Any:
    least = _bound(schema, "minItems", 1)
    size = int(min(max(1, least), max(1, _MOST_ITEMS >> 2 * depth)))
    return [value_for(schema.get("items", {}), name, text, depth + 1)] * size


def _number(schema: Schema, name: str, text: str, depth: int) -> Any:
    found = _NUMBER.search(text)
    number = float(found[0]) if found else _bound(schema, "minimum", 1) or 1.0
    number = max(number, _bound(schema, "minimum", number))
    number = min(number, _bound(schema, "maximum", number))
    if abs(number) > _MOST_EXACT:  # inf among them, which JSON has not
        return _MOST_EXACT if number > 0 else -_MOST_EXACT
    return int(number) if str(schema.get("type")).lower() == "integer" or number.is_integer() else number


def _bound(schema: Schema, key: str, otherwise: float) -> float:
    """A limit that a schema sets; `otherwise` where there is none, or no number."""
    value = schema.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return float(otherwise)


def _plain(schema: Schema, name: str, text: str, depth: int) -> Any:
    value = _string(name, text)
    most = _bound(schema, "maxLength", len(value))
    return value[: max(0, int(min(most, len(value))))]


_FILLERS: dict[str, Callable[[Schema, str, str, int], Any]] = {
    "object": _object,
    "array": _array,
    "number": _number,
    "integer": _number,
    "boolean": lambda schema, name, text, depth: True,
    "null": lambda schema, name, text, depth: None,
}


def _string(name: str, text: str) -> str:
    bare = _bare(name)
    if any(bare.endswith(word) for word in _PATHS) and (found := FILE.search(text)):
        return found[0]
    if any(bare.endswith(word) for word in _COMMANDS):
        return "ls"
    if bare in _PLACES and (places := places_in(text)):
        return places[0]
    return " ".join(text.split())[:200] or "simulated"


def places_in(text: str) -> list[str]:
    """Capitalised names, those after a preposition first."""
    found = list(_PLACE.finditer(text))
    after = [match[1].strip() for match in found if match[1]]
    return list(dict.fromkeys(after or [match[2] for match in found]))
