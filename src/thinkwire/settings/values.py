"""Values of settings: from what people type, from TOML, and back into words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from thinkwire.errors import ConfigError
from thinkwire.reasoning.levels import LADDER, parse_level
from thinkwire.settings.keys import SettingKey, clipped, setting_of

_YES = ("true", "on", "yes")
_NO = ("false", "off", "no")
_WHOLE = re.compile(r"[+-]?[0-9][0-9_,]{0,20}")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_TAKEN = ("role", "content", "name", "refusal", "audio", "tool_calls", "tool_call_id", "function_call")
"""Fields of a chat message that mean something else."""

NAME_LENGTH = 200


class _Unfit(Exception):
    """The value is not one of those allowed."""


def parse_value(key: str, text: str) -> Any:
    """The value that somebody typed, e.g. after `/set`; ConfigError lists what is allowed."""
    setting = setting_of(key)
    try:
        return _checked(setting, _FROM_TEXT[setting.kind](setting, text))
    except (_Unfit, ValueError, RecursionError):
        raise _complaint(setting, text) from None


def check_value(key: str, value: Any) -> Any:
    """A value from a file or a program in its usual form; ConfigError lists what is allowed."""
    setting = setting_of(key)
    try:
        return _checked(setting, value)
    except _Unfit:
        raise _complaint(setting, value) from None


def check_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """All of these, or none."""
    return {key: check_value(key, value) for key, value in values.items()}


def parse_assignments(texts: Iterable[str]) -> dict[str, Any]:
    """The values of several `KEY=VALUE`, or of none of them; of two for the same key the later counts."""
    values = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign:
            raise ConfigError(f"{clipped(text)!r} sets nothing; write KEY=VALUE")
        values[key.strip()] = parse_value(key.strip(), value)
    return values


def spelled(value: Any) -> str:
    """A value as one would type it; `-` for none."""
    match value:
        case None:
            return "-"
        case bool():
            return "true" if value else "false"
        case tuple() | list():
            plain = all(item == item.strip() and "," not in item and item[:1] != "[" for item in value)
            return ", ".join(value) if plain else json.dumps(list(value), ensure_ascii=False)
        case dict():
            plain = all(word == word.strip() and "," not in word for word in value.values())
            return (
                ", ".join(f"{level}={word}" for level, word in value.items())
                if plain
                else json.dumps(value, ensure_ascii=False)
            )
    return str(value)


def _complaint(setting: SettingKey, value: Any) -> ConfigError:
    try:
        given = clipped(repr(value) if isinstance(value, str) else str(value))
    except ValueError:  # an integer of thousands of digits
        given = "so large a number"
    return ConfigError(f"{setting.key} cannot be {given}; it takes {setting.allows} (e.g. {setting.example})")


def _choice_from_text(setting: SettingKey, text: str) -> Any:
    word = text.strip().lower()
    words = {str(value).lower(): value for value in setting.allowed}
    if word in words:
        return words[word]
    if True in setting.allowed and word in _YES + _NO:
        return word in _YES
    raise _Unfit


def _whole_from_text(setting: SettingKey, text: str) -> int:
    if _WHOLE.fullmatch(text.strip()) is None:
        raise _Unfit
    return int(re.sub(r"[_,]", "", text))


def _list_from_text(setting: SettingKey, text: str) -> Any:
    if text.strip().startswith("["):
        return json.loads(text)
    return [item.strip() for item in text.split(",")] if text.strip() else []


def _map_from_text(setting: SettingKey, text: str) -> Any:
    if text.strip().startswith("{"):
        return json.loads(text)
    words: dict[str, str] = {}
    for entry in text.split(","):
        level, _, word = entry.partition("=")
        if level.strip() in words:
            raise _Unfit
        words[level.strip()] = word.strip()
    return words


_FROM_TEXT: dict[str, Callable[[SettingKey, str], Any]] = {
    "text": lambda setting, text: text,
    "name": lambda setting, text: text,
    "field": lambda setting, text: text.strip(),
    "choice": _choice_from_text,
    "level": lambda setting, text: text,
    "integer": _whole_from_text,
    "number": lambda setting, text: float(text),
    "list": _list_from_text,
    "map": _map_from_text,
}


def _checked(setting: SettingKey, value: Any) -> Any:
    return _CHECKS[setting.kind](setting, value)


def _text(setting: SettingKey, value: Any) -> str:
    """Any text that can be written to a file."""
    if not isinstance(value, str) or re.search("[\ud800-\udfff]", value):
        raise _Unfit
    return value


def _name(setting: SettingKey, value: Any) -> str:
    name = _text(setting, value).strip()
    if not name.isprintable() or not 0 < len(name) <= NAME_LENGTH:
        raise _Unfit
    return name


def _field(setting: SettingKey, value: Any) -> str:
    if not isinstance(value, str) or _FIELD.fullmatch(value) is None or value in _TAKEN:
        raise _Unfit
    return value


def _choice(setting: SettingKey, value: Any) -> Any:
    for allowed in setting.allowed:
        if type(value) is type(allowed) and value == allowed:
            return allowed
    raise _Unfit


def _level(setting: SettingKey, value: Any) -> str:
    level = parse_level(value) if isinstance(value, str) else None
    if level is None:
        raise _Unfit
    return level


def _whole(setting: SettingKey, value: Any) -> int:
    if type(value) is not int or not setting.least <= value <= setting.most:
        raise _Unfit
    return value


def _number(setting: SettingKey, value: Any) -> float:
    if type(value) not in (int, float) or not setting.least <= value <= setting.most:
        raise _Unfit
    return float(value)


def _list(setting: SettingKey, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise _Unfit
    return tuple(_name(setting, item) for item in value)


def _map(setting: SettingKey, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise _Unfit
    words = {}
    for word, native in value.items():
        level = parse_level(word) if isinstance(word, str) else None
        if level not in LADDER or level in words:
            raise _Unfit
        words[level] = _name(setting, native)
    return {level: words[level] for level in LADDER if level in words}


_CHECKS: dict[str, Callable[[SettingKey, Any], Any]] = {
    "text": _text,
    "name": _name,
    "field": _field,
    "choice": _choice,
    "level": _level,
    "integer": _whole,
    "number": _number,
    "list": _list,
    "map": _map,
}
