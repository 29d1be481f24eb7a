"""The user's file, the project's file and the environment, as layers of settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from thinkwire.config import edit_toml as editing
from thinkwire.config.atomic_write import read_text, write_text
from thinkwire.config.paths import config_folder
from thinkwire.config.profiles import Profiles
from thinkwire.config.read_toml import read_values, refuse
from thinkwire.errors import ConfigError
from thinkwire.settings import Layer, Settings, check_value, checked_layer, setting_of

PROJECT_FILE = ".thinkwire.toml"


def user_file() -> Path:
    """`config.toml` in the configuration folder."""
    return config_folder() / "config.toml"


def project_file(folder: Path) -> Path | None:
    """The nearest `.thinkwire.toml`: in this folder or a parent, as far as home or the root."""
    home = Path(os.path.expanduser("~"))
    folder = Path(os.path.abspath(folder))
    for place in (folder, *folder.parents):
        if os.path.lexists(place / PROJECT_FILE):
            return place / PROJECT_FILE
        if place == home:
            return None
    return None


def load_settings(
    cwd: Path | None = None, profile: str | None = None, request: Mapping[str, Any] | None = None
) -> Settings:
    """Everything that is set for work in a folder, the working folder unless one is named.

    The profile is the one named here, in $THINKWIRE_PROFILE, or the default one, if any. Whatever is wrong in
    one of the places is a ConfigError, and nothing of it counts.
    """
    folder = working_folder() if cwd is None else cwd
    project = project_file(folder) if folder is not None else None
    layers = [
        checked_layer("request", request or {}),
        _profile_layer(profile),
        _environment_layer(),
        file_layer("project", project) if project is not None else Layer("project"),
        file_layer("user", user_file()),
    ]
    return Settings(tuple(layer for layer in layers if layer.values or layer.place))


def file_layer(source: str, path: Path) -> Layer:
    """A file's settings; an empty layer when there is no such file."""
    text = read_text(path)
    if text is None:
        return Layer(source)
    return Layer(source, read_values(text, str(path), project=source == "project"), str(path))


def change_file(path: Path, key: str, value: Any, *, project: bool = False) -> None:
    """Sets one key in a file, or takes it out when the value is None; the rest of the file stays as it is."""
    setting_of(key)
    text = read_text(path) or ""
    read_values(text, str(path), project=project)
    if value is None:
        changed = editing.without_value(text, key, str(path))
    else:
        value = check_value(key, value)
        refuse(key, value, project=project)
        changed = editing.with_value(text, key, value, str(path))
    if changed != text:
        write_text(path, changed)


def working_folder() -> Path | None:
    """Where we are; None in a folder that was deleted under us."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _profile_layer(named: str | None) -> Layer:
    profiles = Profiles()
    by_variable = os.environ.get("THINKWIRE_PROFILE")
    name = named or by_variable or profiles.default()
    if name is None:
        return Layer("profile")
    try:
        return Layer("profile", profiles.load(name), profiles.place(name))
    except ConfigError as error:
        if named:
            raise
        by_default = "chosen as the default; `thinkwire profile default --clear` drops it"
        raise ConfigError(
            f"{error} ({'chosen by $THINKWIRE_PROFILE' if by_variable else by_default})"
        ) from None


def _environment_layer() -> Layer:
    model = os.environ.get("THINKWIRE_MODEL")
    if not model:
        return Layer("environment")
    return checked_layer("environment", {"model": model}, "$THINKWIRE_MODEL")
