"""Where things are kept: in $THINKWIRE_CONFIG, $THINKWIRE_STATE, $THINKWIRE_DATA, else the usual folders."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

NAME = "thinkwire"
CHECK_INTERVAL = 0.1
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


def make_folder(folder: Path) -> None:
    """Make a folder, and missing ones above it, for its owner alone, whatever the umask is.

    The configuration, state or data folder that exists already and that everybody can write to is closed to
    them.
    """
    missing = []
    above = folder
    while not above.is_dir() and above != above.parent:
        missing.append(above)
        above = above.parent
    for each in reversed(missing):
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:
            if not each.is_dir():
                raise
    if not missing:
        _check_writers(folder)


def _check_writers(folder: Path) -> None:
    """Remove write access of others to thinkwire's own folders, or warn where that may be on purpose."""
    if os.name != "posix":
        return
    found = os.stat(folder)
    if not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or folder in _warned:
        return
    if folder not in (config_folder(), state_folder(), data_folder()):
        return
    _warned.add(folder)
    is_shared = found.st_mode & stat.S_ISVTX or not found.st_mode & stat.S_IWOTH
    if is_shared or found.st_uid != os.geteuid():
        _warn("others can write to %s: run `chmod go-w %s`", folder, folder)
        return
    os.chmod(folder, stat.S_IMODE(found.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
    _warn("others could write to %s; only you can now", folder)


_warned: set[Path] = set()


def _warn(message: str, *about: Path) -> None:
    import logging

    logging.getLogger("thinkwire").warning(message, *about)


def _own(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named) if named else None


def _usual() -> ModuleType:
    """Loaded when no variable decides."""
    import platformdirs

    return platformdirs


class WatchedFile:
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
        self._due = now + CHECK_INTERVAL
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
