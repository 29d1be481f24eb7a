"""Settings out of a TOML text, checked, with file and line in every complaint."""

from __future__ import annotations

import re
from typing import Any

from thinkwire.config import toml
from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS, check_value

_SECRET = re.compile(
    r"keys?|.*(?:api[_-]?key|[_-]key|token|secret|passw(?:or)?d|credentials?|bearer|authorization)",
    re.IGNORECASE,
)


def read_values(text: str, file: str, *, project: bool = False) -> dict[str, Any]:
    """All the settings in a text, or ConfigError."""
    values = {}
    for key, value in toml.read(text, file).items():
        try:
            refuse(key, value, project=project)
            values[key] = check_value(key, value)
        except ConfigError as error:
            raise ConfigError(f"{file}, line {toml.line_of(text, key)}: {error}") from None
    return values


def refuse(key: str, value: Any, *, project: bool) -> None:
    """A file of settings holds no keys; a project's file, which travels with it, lets no tool run unasked."""
    if key not in KEYS and isinstance(value, str) and any(map(_SECRET.fullmatch, key.split("."))):
        place = "a project file is shared with others" if project else "settings are shown and copied"
        raise ConfigError(
            f"a key does not belong here, because {place}; "
            "put it into its environment variable or into keys.toml in the configuration folder"
        )
    if project and (key == "tools.allow" or (key == "tools.approve" and value == "allow")):
        raise ConfigError(f"{key} cannot be loosened by a project; set it in your own configuration")
