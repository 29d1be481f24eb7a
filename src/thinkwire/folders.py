"""Where things are kept: in $THINKWIRE_CONFIG, $THINKWIRE_STATE, $THINKWIRE_DATA, else the usual folders."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

NAME = "thinkwire"
LOOK_EVERY = 0.1
"""Seconds in which a file that others may change is looked at once."""


def config_folder() -> Path:
    """What the user wrote: settings, profiles, keys, tables of models."""
    return _own("THINKWIRE_CONFIG") or Path(_usual().user_config_dir(NAME, appauthor=False))


def state_folder() -> Path:
    """What thinkwire learnt."""
    return _own("THINKWIRE_STATE") or Path(_usual().user_state_dir(NAME, appauthor=False))


def data_folder() -> Path:
    """What the user made: conversations."""
    return _own("THINKWIRE_DATA") or Path(_usual().user_data_dir(NAME, appauthor=False))


def _own(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named) if named else None


def _usual() -> ModuleType:
    """Loaded when no variable decides."""
    import platformdirs

    return platformdirs


class SharedFile:
    """A file that other processes may change while this one runs. Asking costs nothing between two looks."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._name = os.fspath(path)
        self._clock = clock
        self._due = float("-inf")
        self._seen: tuple[int, ...] | None = None

    def changed(self) -> bool:
        """Whether it is another file than at the last look; to the first one it is, if it is there."""
        now = self._clock()
        if now < self._due:
            return False
        self._due = now + LOOK_EVERY
        before, self._seen = self._seen, self._look()
        return self._seen != before

    def look_again(self) -> None:
        """The next question looks, however soon it comes."""
        self._due = float("-inf")

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._name)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode
