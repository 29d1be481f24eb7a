"""Reading JSON that we did not write: bounded, typed, and with the place in every complaint."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from thinkwire.errors import MalformedInput

JsonObject: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def parse(data: bytes | str) -> Any:
    """JSON of any kind; MalformedInput says where it breaks."""
    try:
        return _decode(data)
    except UnicodeError:
        raise MalformedInput("not UTF-8") from None
    except RecursionError:
        raise MalformedInput("nested too deeply") from None
    except msgspec.DecodeError as error:
        return _parse_surrogates(data, str(error))


def parse_object(data: bytes | str) -> JsonObject:
    try:
        value = _decode(data)
    except (ValueError, RecursionError):
        value = parse(data)
    if type(value) is not dict:
        raise MalformedInput(f"expected an object, got {kind(value)}")
    return value


def parse_as(data: bytes | str, type: Any) -> Any:
    """JSON of our own format, checked; MalformedInput names the field that does not fit."""
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        raise MalformedInput(_sentence(message), path=place.strip("`").removeprefix("$.") or "$") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        parse(data)
        raise


def _parse_surrogates(data: bytes | str, complaint: str) -> Any:
    """Some servers escape half a surrogate pair; the standard library reads it, and it becomes U+FFFD."""
    try:
        text = data if isinstance(data, str) else data.decode()
        if "\\ud" in text.lower():
            return repaired(json.loads(text, parse_constant=_no_constant))
    except (ValueError, RecursionError):
        pass
    raise MalformedInput(_sentence(complaint))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _sentence(complaint: str) -> str:
    return complaint[:1].lower() + complaint[1:] if not complaint.startswith("JSON") else complaint


def repaired(value: Any) -> Any:
    """The same value with lone surrogates replaced by U+FFFD."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list() | tuple():
            return [repaired(item) for item in value]
        case dict():
            return {repaired(key): repaired(item) for key, item in value.items()}
    return value


def dump(value: Any) -> bytes:
    """Compact JSON. Characters that UTF-8 cannot carry are replaced, never refused."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(repaired(msgspec.to_builtins(value)))
    except RecursionError:
        raise MalformedInput("nested too deeply") from None


def dump_text(value: Any) -> str:
    return dump(value).decode()


def ascii_json(value: Any) -> str:
    """JSON in visible ASCII on one line, whatever is in it."""
    text = dump_text(value)
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    units = (letter.encode("utf-16-be") for letter in text)
    return "".join(
        unit.decode("utf-16-be")
        if unit < b"\x00\x7f"
        else "".join(f"\\u{unit[at]:02x}{unit[at + 1]:02x}" for at in range(0, len(unit), 2))
        for unit in units
    )


def kind(value: Any) -> str:
    """A JSON value's kind, in words for an error message."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"


def render(path: Path) -> str:
    """`('messages', 2, 'text')` as `messages[2].text`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "$"


def malformed(path: Path, expected: str, value: Any) -> MalformedInput:
    return MalformedInput(f"expected {expected}, got {kind(value)}", path=render(path))


def require_str(obj: JsonObject, key: str, path: Path) -> str:
    value = obj.get(key)
    if type(value) is str:
        return value
    if key not in obj:
        raise MalformedInput("required field is missing", path=render((*path, key)))
    raise malformed((*path, key), "a string", value)


def opt_str(obj: JsonObject, key: str, path: Path) -> str | None:
    value = obj.get(key)
    if value is None or type(value) is str:
        return value
    raise malformed((*path, key), "a string", value)


def opt_bool(obj: JsonObject, key: str, path: Path) -> bool | None:
    value = obj.get(key)
    if value is None or type(value) is bool:
        return value
    raise malformed((*path, key), "a boolean", value)


def opt_int(obj: JsonObject, key: str, path: Path) -> int | None:
    value = obj.get(key)
    if value is None or type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    raise malformed((*path, key), "a whole number", value)


def opt_number(obj: JsonObject, key: str, path: Path) -> float | None:
    value = obj.get(key)
    if value is None or type(value) is int or (type(value) is float and math.isfinite(value)):
        return value
    raise malformed((*path, key), "a number", value)


def opt_object(obj: JsonObject, key: str, path: Path) -> JsonObject | None:
    value = obj.get(key)
    if value is None or type(value) is dict:
        return value
    raise malformed((*path, key), "an object", value)


def require_object(obj: JsonObject, key: str, path: Path) -> JsonObject:
    value = obj.get(key)
    if type(value) is dict:
        return value
    if key not in obj:
        raise MalformedInput("required field is missing", path=render((*path, key)))
    raise malformed((*path, key), "an object", value)


def opt_list(obj: JsonObject, key: str, path: Path) -> list[Any]:
    """The array, empty when it is null or absent."""
    value = obj.get(key)
    if value is None:
        return []
    if type(value) is list:
        return value
    raise malformed((*path, key), "an array", value)


def opt_strings(obj: JsonObject, key: str, path: Path) -> tuple[str, ...]:
    """A string or an array of strings."""
    value = obj.get(key)
    if type(value) is str:
        return (value,)
    items = opt_list(obj, key, path)
    for index, item in enumerate(items):
        if type(item) is not str:
            raise malformed((*path, key, index), "a string", item)
    return tuple(items)


def objects(items: list[Any], path: Path) -> Iterator[tuple[JsonObject, Path]]:
    """Each element, which must be an object, with its path."""
    for index, item in enumerate(items):
        at = (*path, index)
        if type(item) is not dict:
            raise malformed(at, "an object", item)
        yield item, at


def unknown_fields(obj: JsonObject, known: frozenset[str]) -> JsonObject:
    """The fields that nobody has read."""
    if known.issuperset(obj):
        return {}
    return {key: value for key, value in obj.items() if key not in known}
