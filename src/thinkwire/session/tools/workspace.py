"""The folder that file tools are confined to.

Paths are walked one component at a time, each opened relative to the one before and never through a link:
links are read and walked by us, so that nothing that changes meanwhile can lead outside. Reading follows
links that stay inside; writing follows none, so that the path that was approved is the path that is written.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from thinkwire.config.paths import config_folder
from thinkwire.errors import ConfigError, Unsupported
from thinkwire.session.tools.tool import ToolFailed

MOST_LINKS = 40
DEEPEST = 100
PROTECTED = frozenset({".git", ".thinkwire.toml"})
"""Writing these would be running code, or changing what is allowed."""

_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


class ResolvedPath(NamedTuple):
    """Where a path leads: an open folder and a name in it; no name when it is the folder itself."""

    folder: int
    name: str | None
    path: str
    """Relative to the workspace, without links."""


class Workspace:
    """A folder, and the only way of the file tools into it."""

    def __init__(self, folder: Path | str) -> None:
        if os.open not in os.supports_dir_fd:
            raise Unsupported("file tools need a system that can open files relative to a folder")
        self.given = Path(os.path.abspath(folder))
        try:
            self.root = self.given.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"the workspace {folder} cannot be opened: {error}") from None
        if not self.root.is_dir():
            raise ConfigError(f"the workspace {folder} is not a folder")
        self._writing = threading.Lock()

    def subject(self, path: str) -> str | None:
        """The path as approval patterns see it: relative to the workspace and without links."""
        real = os.path.realpath(self.root.joinpath(*self._parts(path)))
        inside = os.path.relpath(real, self.root)
        return None if inside.split(os.sep)[0] == os.pardir else PurePosixPath(inside).as_posix()

    @contextmanager
    def place(self, path: str, *, follow: bool = True, make: bool = False) -> Iterator[ResolvedPath]:
        """The place of a path, open as long as the block lasts; ToolFailed says why there is none."""
        walk = _Walk(self, path, follow=follow, make=make)
        try:
            yield walk.go(self._parts(path))
        except OSError as error:
            raise ToolFailed(f"{path[:200]}: {error.strerror or 'cannot be opened'}.") from None
        finally:
            walk.close()

    @contextmanager
    def folder(self, path: str) -> Iterator[ResolvedPath]:
        """The place of a folder."""
        with self.place(path) as place:
            if place.name is not None:
                _stat(place)
                raise ToolFailed(f"{path[:200]} is a file, not a folder.")
            yield place

    @contextmanager
    def file(self, path: str, *, follow: bool = True) -> Iterator[int]:
        """An ordinary file, open for reading."""
        with self.place(path, follow=follow) as place:
            fd = _open_file(place)
            try:
                yield fd
            finally:
                os.close(fd)

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """One change at a time."""
        with self._writing:
            yield

    def write(self, path: str, data: bytes, *, unless_changed: os.stat_result | None = None) -> bool:
        """Put a file in place in one step, with the mode it had; True when it is new."""
        with self.place(path, follow=False, make=True) as place:
            if place.name is None:
                raise ToolFailed(f"{path[:200]} is a folder.")
            before = _stat_or_none(place)
            if before is not None and not stat.S_ISREG(before.st_mode):
                raise ToolFailed(f"{path[:200]} is not an ordinary file.")
            if unless_changed is not None and (
                before is None or _version(before) != _version(unless_changed)
            ):
                raise ToolFailed(f"{path[:200]} was changed meanwhile; read it again.")
            _replace(place, data, None if before is None else stat.S_IMODE(before.st_mode) & 0o777)
            return before is None

    def _parts(self, path: str) -> tuple[str, ...]:
        if path.count("/") > DEEPEST:
            raise ToolFailed(f"{path[:200]}… has too many parts.")
        if "\0" in path:
            raise ToolFailed("A path cannot contain a NUL character.")
        if path == "~" or path.startswith("~/"):
            raise ToolFailed("Paths are relative to the workspace; ~ is not known here.")
        pure = PurePosixPath(path)
        if not pure.is_absolute():
            return pure.parts
        for root in (self.root, self.given):
            if pure.is_relative_to(root):
                return pure.relative_to(root).parts
        raise outside(path)


def outside(path: str) -> ToolFailed:
    return ToolFailed(f"{path[:200]} is outside the workspace. Use paths relative to the workspace.")


def private_folders() -> list[tuple[int, int]]:
    """Folders that no tool enters, by device and number: the one with the user's keys and approvals."""
    with suppress(OSError):
        info = os.stat(config_folder())
        return [(info.st_dev, info.st_ino)]
    return []


class _Walk:
    """One walk along a path, and the folders it has open."""

    def __init__(self, workspace: Workspace, path: str, *, follow: bool, make: bool) -> None:
        self.root, self.path, self.follow, self.make = workspace.root, path, follow, make
        self.private = private_folders()
        self.names: list[str] = []
        self.folders = [os.open(self.root, _FOLDER)]
        self.links = 0

    def close(self) -> None:
        for folder in self.folders:
            os.close(folder)

    def go(self, parts: tuple[str, ...]) -> ResolvedPath:
        ahead = list(reversed(parts))
        while ahead:
            name = ahead.pop()
            if name == os.pardir:
                self._up()
                continue
            self._check_writable(name)
            try:
                self._enter(name)
            except (NotADirectoryError, FileNotFoundError, OSError) as error:
                step = self._step(name, error, last=not ahead)
                if step is None:
                    return ResolvedPath(self.folders[-1], name, "/".join((*self.names, name)))
                ahead += step
        return ResolvedPath(self.folders[-1], None, "/".join(self.names) or ".")

    def _step(self, name: str, error: OSError, *, last: bool) -> list[str] | None:
        """How to go on where a name is no folder: the parts to walk next; None when it is the end."""
        if error.errno == errno.ENOENT:
            if last:
                return None
            if not self.make:
                raise ToolFailed(f"{self.path[:200]}: there is no folder {name[:100]}.")
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.folders[-1])
            return [name]
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise error
        try:
            target = os.readlink(name, dir_fd=self.folders[-1])
        except OSError:
            if last:
                return None
            raise ToolFailed(f"{self.path[:200]}: {name[:100]} is not a folder.") from None
        return list(reversed(self._follow(name, target)))

    def _follow(self, name: str, target: str) -> tuple[str, ...]:
        if not self.follow:
            raise ToolFailed(f"{name[:100]} is a symbolic link; write to the file it stands for instead.")
        self.links += 1
        if self.links > MOST_LINKS:
            raise ToolFailed(f"{self.path[:200]}: too many symbolic links.")
        pure = PurePosixPath(target)
        if not pure.is_absolute():
            return pure.parts
        if not pure.is_relative_to(self.root):
            raise outside(self.path)
        while self.names:
            self._up()
        return pure.relative_to(self.root).parts

    def _enter(self, name: str) -> None:
        if len(self.names) >= DEEPEST:
            raise ToolFailed(f"{self.path[:200]} is too deep.")
        folder = os.open(name, _FOLDER, dir_fd=self.folders[-1])
        self.folders.append(folder)
        self.names.append(name)
        info = os.fstat(folder)
        if (info.st_dev, info.st_ino) in self.private:
            raise ToolFailed(f"{self.path[:200]} is where keys and settings are kept; tools do not go there.")

    def _up(self) -> None:
        if not self.names:
            raise outside(self.path)
        self.names.pop()
        os.close(self.folders.pop())

    def _check_writable(self, name: str) -> None:
        if self.follow:
            return
        # Some file systems take names that differ in case or in invisible characters for the same.
        plain = unicodedata.normalize("NFKC", name).casefold()
        if "".join(sign for sign in plain if unicodedata.category(sign) != "Cf") in PROTECTED:
            raise ToolFailed(f"Tools do not write to {name[:100]}.")


def _stat(place: ResolvedPath) -> os.stat_result:
    assert place.name is not None
    return os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)


def _stat_or_none(place: ResolvedPath) -> os.stat_result | None:
    try:
        return _stat(place)
    except FileNotFoundError:
        return None


def _version(info: os.stat_result) -> tuple[int, int, int]:
    return info.st_ino, info.st_size, info.st_mtime_ns


def _open_file(place: ResolvedPath) -> int:
    """Looked at before (opening a device can do things) and after (it may have been swapped)."""
    if place.name is None:
        raise ToolFailed(f"{place.path[:200]} is a folder; use list_files.")
    if not stat.S_ISREG(_stat(place).st_mode):
        raise ToolFailed(f"{place.path[:200]} is not an ordinary file.")
    fd = os.open(place.name, os.O_RDONLY | _FILE, dir_fd=place.folder)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ToolFailed(f"{place.path[:200]} is not an ordinary file.")
    return fd


def _replace(place: ResolvedPath, data: bytes, mode: int | None) -> None:
    assert place.name is not None
    draft = f".thinkwire-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE
    fd = os.open(draft, flags, 0o666 if mode is None else 0o600, dir_fd=place.folder)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        os.replace(draft, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=place.folder)
        raise
