"""Reading and writing small files so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from thinkwire.config.paths import make_folder
from thinkwire.errors import ConfigError

LARGEST_FILE = 1024 * 1024


def read_text(path: Path) -> str | None:
    """A file's text; None when there is none."""
    try:
        if not path.exists():
            return None
        if not path.is_file():
            raise ConfigError(f"{path} is not a file")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise ConfigError(f"{path} is larger than {LARGEST_FILE // 1024} KiB")
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8") from None
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {reason(error)}") from None


def write_text(path: Path, text: str) -> None:
    """Replaces the file as a whole, readable by its owner alone; a link stays a link to the new text."""
    import tempfile

    target = Path(os.path.realpath(path))
    try:
        make_folder(target.parent)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(text.encode("utf-8"))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {reason(error)}") from None


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
