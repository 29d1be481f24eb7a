"""A terminal that may be closed at any moment: what is drawn on it then goes nowhere, and nothing waits."""

from __future__ import annotations

from typing import Any, TextIO

from textual.drivers.linux_driver import LinuxDriver


class ResilientFile:
    """A file that takes everything, also when there is nobody any more to read it."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._gone = False

    def write(self, text: str) -> None:
        self._try(self._file.write, text)

    def flush(self) -> None:
        self._try(self._file.flush)

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()

    def _try(self, does: Any, *args: str) -> None:
        if not self._gone:
            try:
                does(*args)
            except (OSError, ValueError):
                self._gone = True


class ResilientDriver(LinuxDriver):
    """The usual driver; a closed terminal is no disaster, since the signal that says so ends the chat."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file: Any = ResilientFile(self._file)

    def run_input_thread(self) -> None:
        try:
            super().run_input_thread()
        except OSError:
            return
