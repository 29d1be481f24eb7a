"""Profiles: settings under a name, one TOML file each, beside the examples that come with the package."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from thinkwire.config import toml
from thinkwire.config.atomic_write import read_text, reason, write_text
from thinkwire.config.paths import config_folder
from thinkwire.config.read_toml import read_values
from thinkwire.errors import ConfigError
from thinkwire.settings import KEYS, check_values

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class ProfileEntry(msgspec.Struct, frozen=True):
    """A profile in a list. `flaw` says why it cannot be loaded."""

    name: str
    shipped: bool
    default: bool = False
    flaw: str | None = None


class Profiles:
    """The profiles of a folder, `profiles` in the configuration folder unless another is named.

    A user's profile hides a shipped one of the same name.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or config_folder() / "profiles"
        self._default = self.folder / "default"

    def load(self, name: str) -> dict[str, Any]:
        """A profile's settings; ConfigError when there is none, or when it is damaged."""
        path = self._path(name)
        text = read_text(path)
        if text is not None:
            return read_values(text, str(path))
        if name in _shipped():
            return read_values(_shipped()[name].read_text("utf-8"), self.place(name))
        known = ", ".join(self._names()) or "none yet"
        raise ConfigError(f"there is no profile {name!r}; there are: {known}")

    def place(self, name: str) -> str:
        """Where a profile is read from."""
        path = self._path(name)
        return (
            str(path) if os.path.exists(path) or name not in _shipped() else f"profile {name} of the package"
        )

    def save(self, name: str, values: Mapping[str, Any], *, force: bool = False) -> Path:
        """Writes a profile as a whole. One that is damaged is overwritten only by force."""
        path = self._path(name)
        checked = check_values(values)
        if not checked:
            raise ConfigError("nothing is set, so there is nothing to save")
        if not force:
            self._check_before_overwriting(path)
        write_text(path, toml.write({key: checked[key] for key in KEYS if key in checked}))
        return path

    def delete(self, name: str) -> None:
        """Removes a user's profile; if it was the default one, there is none any more."""
        path = self._path(name)
        try:
            path.unlink()
        except FileNotFoundError:
            if name in _shipped():
                message = f"{name} comes with the package; save your own {name} to change it"
                raise ConfigError(message) from None
            self.load(name)
        except OSError as error:
            raise ConfigError(f"{path} cannot be deleted: {reason(error)}") from None
        if self.default() == name and name not in _shipped():
            self.set_default(None)

    def list(self) -> tuple[ProfileEntry, ...]:
        """Every profile by name, the damaged ones with what is wrong with them."""
        default = self.default()
        return tuple(
            ProfileEntry(name, not os.path.exists(self._path(name)), name == default, self._flaw(name))
            for name in self._names()
        )

    def default(self) -> str | None:
        """The profile that is loaded when none is named."""
        name = (read_text(self._default) or "").strip()
        if name and NAME.fullmatch(name) is None:
            raise ConfigError(f"{self._default} does not hold a profile's name; delete it")
        return name or None

    def set_default(self, name: str | None) -> None:
        """Chooses the profile that is loaded when none is named; None chooses none."""
        if name is not None:
            self.load(name)
            write_text(self._default, f"{name}\n")
            return
        try:
            self._default.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"{self._default} cannot be deleted: {reason(error)}") from None

    def _check_before_overwriting(self, path: Path) -> None:
        try:
            read_values(read_text(path) or "", str(path))
        except ConfigError as error:
            raise ConfigError(f"{error} (it stays as it is; overwrite it with --force)") from None

    def _path(self, name: str) -> Path:
        """The only way from a name to a file."""
        if NAME.fullmatch(name) is None:
            raise ConfigError(
                f"{name[:70]!r} cannot name a profile; use up to 64 letters, digits, `.`, `_`, `-`, "
                "beginning with a letter or digit"
            )
        return self.folder / f"{name}.toml"

    def _names(self) -> tuple[str, ...]:
        try:
            own = {path.stem for path in self.folder.glob("*.toml") if NAME.fullmatch(path.stem)}
        except OSError as error:
            raise ConfigError(f"{self.folder} cannot be read: {reason(error)}") from None
        return tuple(sorted(own | set(_shipped())))

    def _flaw(self, name: str) -> str | None:
        try:
            self.load(name)
        except ConfigError as error:
            return str(error)
        return None


def _shipped() -> dict[str, Path]:
    """The examples that come with the package."""
    return {file.stem: file for file in (Path(__file__).parent / "data" / "profiles").glob("*.toml")}
